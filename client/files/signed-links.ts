/**
 * signed-links.ts: where media that is being drawn can be fetched for now.
 *
 * segment → element → SIGNED → POST /v1/sessions/:id/media/sign → element
 * Segments hold addresses that nobody can fetch. What is drawn within a moment is asked for at once, remembered until it
 * runs out, and asked for anew by an element that failed. Where the server could not be asked it is asked again, later
 * each time, until it could. Source: SPEC PG38, PG55.
 */

import { type ReadonlySignal, type Signal, signal } from "@preact/signals"
import type { SignResponse } from "../../shared/protocol/http-body.ts"
import { MAX_SIGNED_URLS, MAX_URL_CHARS } from "../../shared/limits.ts"
import { RequestError } from "../net/api.ts"
import { retryDelayMs } from "../net/socket-link.ts"

export type SignedLink =
  | { readonly at: "asking" }
  | { readonly at: "ready"; readonly href: string }
  /** There is no such thing, or not for this reader. */
  | { readonly at: "refused" }
  /** The server could not be asked; it will be. */
  | { readonly at: "failed" }

export interface LinkSignerDeps {
  signUrls(urls: readonly string[]): Promise<SignResponse>
  now(): number
  random(): number
  /** Calls back after so many milliseconds; returns what cancels it. */
  setTimer(ms: number, callback: () => void): () => void
}

/** What is drawn within so long is asked for together, in milliseconds. */
const BATCH_DELAY_MS = 5
/** An address is not handed out so shortly before it runs out, in milliseconds: the fetch has to begin. */
const EXPIRY_MARGIN_MS = 30_000
/** However the machine's clock stands: an address is kept for a minute at least, and an hour at most, in milliseconds. */
const MIN_LIFE_MS = 60_000
const MAX_LIFE_MS = 3_600_000

/** Of these another token, or a while, may help. */
const TRANSIENT_STATUSES: readonly number[] = [401, 408, 429]

interface LinkEntry {
  readonly link: Signal<SignedLink>
  /** Milliseconds since 1970. */
  expiresAt: number
  isRequested: boolean
}

const ASKING_LINK: SignedLink = { at: "asking" }
const REFUSED_LINK: SignedLink = { at: "refused" }
/** Always the same: an address that fails again changes nothing. */
const FAILED_LINK: SignedLink = { at: "failed" }

export class LinkSigner {
  readonly #deps: LinkSignerDeps
  readonly #entries = new Map<string, LinkEntry>()
  #queuedUrls: string[] = []
  #failures = 0
  #cancelRetry: (() => void) | null = null

  constructor(deps: LinkSignerDeps) {
    this.#deps = deps
  }

  /** How it stands. Looking at it asks nothing. */
  getLink(url: string): ReadonlySignal<SignedLink> {
    return this.#getEntry(url).link
  }

  /** It is being drawn: asks where nothing is known that still holds. */
  requestLink(url: string): void {
    if (!this.#isUsable(this.#getEntry(url))) this.renewLink(url)
  }

  /** What is known does not hold, whatever was said. */
  renewLink(url: string): void {
    const entry = this.#getEntry(url)
    if (entry.isRequested) return
    // It is none, and would spoil the request for its neighbours.
    if (url.length > MAX_URL_CHARS) return this.#settleEntry(url, REFUSED_LINK, 0)
    entry.link.value = ASKING_LINK
    this.#queueUrl(url, entry)
  }

  /** The server is there again: asks once more for what could not be asked. Until it says so, nothing looks otherwise. */
  retryFailed(): void {
    this.stopRetrying()
    for (const [url, entry] of this.#entries) {
      if (entry.link.peek().at === "failed" && !entry.isRequested) this.#queueUrl(url, entry)
    }
  }

  /** Nobody draws any more: what failed is left as it is. */
  stopRetrying(): void {
    this.#cancelRetry?.()
    this.#cancelRetry = null
  }

  /** One that holds, or why there is none. */
  resolveLink(url: string): Promise<SignedLink> {
    this.requestLink(url)
    const { link: address } = this.#getEntry(url)
    return new Promise((resolve) => {
      const unsubscribe = address.subscribe((current) => {
        if (current.at === "asking") return
        resolve(current)
        queueMicrotask(() => unsubscribe())
      })
    })
  }

  #getEntry(url: string): LinkEntry {
    const known = this.#entries.get(url)
    if (known !== undefined) return known
    const entry: LinkEntry = { link: signal(ASKING_LINK), expiresAt: 0, isRequested: false }
    this.#entries.set(url, entry)
    return entry
  }

  #isUsable({ link: address, expiresAt: until, isRequested: isAsked }: LinkEntry): boolean {
    if (isAsked) return true
    const { at } = address.peek()
    return at === "refused" || (at === "ready" && until - EXPIRY_MARGIN_MS > this.#deps.now())
  }

  #queueUrl(url: string, entry: LinkEntry): void {
    entry.isRequested = true
    this.#queuedUrls.push(url)
    if (this.#queuedUrls.length === 1) this.#deps.setTimer(BATCH_DELAY_MS, () => this.#flushQueue())
  }

  #flushQueue(): void {
    const urls = this.#queuedUrls
    this.#queuedUrls = []
    for (let at = 0; at < urls.length; at += MAX_SIGNED_URLS)
      void this.#requestLinks(urls.slice(at, at + MAX_SIGNED_URLS))
  }

  async #requestLinks(urls: readonly string[]): Promise<void> {
    try {
      const { signed, expires } = await this.#deps.signUrls(urls)
      this.#failures = 0
      const hrefs = new Map(signed.map(({ url, href }) => [url, href]))
      const now = this.#deps.now()
      const expiresAt = now + Math.min(Math.max(expires * 1000 - now, MIN_LIFE_MS), MAX_LIFE_MS)
      for (const url of urls) {
        const href = hrefs.get(url) ?? null
        this.#settleEntry(url, href === null ? REFUSED_LINK : { at: "ready", href }, expiresAt)
      }
    } catch (error) {
      const isRefused =
        error instanceof RequestError && error.status < 500 && !TRANSIENT_STATUSES.includes(error.status)
      for (const url of urls) this.#settleEntry(url, isRefused ? REFUSED_LINK : FAILED_LINK, 0)
      if (!isRefused) this.#scheduleRetry()
    }
  }

  #scheduleRetry(): void {
    if (this.#cancelRetry !== null) return
    this.#failures++
    this.#cancelRetry = this.#deps.setTimer(retryDelayMs(this.#failures, this.#deps.random()), () => this.retryFailed())
  }

  #settleEntry(url: string, link: SignedLink, expiresAt: number): void {
    const entry = this.#getEntry(url)
    Object.assign(entry, { expiresAt, isRequested: false })
    entry.link.value = link
  }
}
