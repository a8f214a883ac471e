/**
 * signed-links.ts: requests signed URLs for the media being rendered.
 *
 * segment → element → LINKS → POST /v1/sessions/:id/media/sign → element
 * URLs in segments can't be fetched without a signature. URLs that are needed at the same time are signed in one
 * request, and the signed URLs are kept until they expire. An element that fails to load requests a new signed URL. If
 * the server can't be reached, the request is retried with increasing delays. Source: SPEC PG38, PG55.
 */

import { type ReadonlySignal, type Signal, signal } from "@preact/signals"
import type { SignResponse } from "../../shared/protocol/http-body.ts"
import { MAX_SIGNED_URLS, SIGNED_URL_SECONDS } from "../../shared/asset-limits.ts"
import { MAX_URL_CHARS } from "../../shared/limits.ts"
import { isPermanentRefusal, RequestError } from "../net/http-request.ts"
import { retryDelayMs } from "../net/retry-delay.ts"

export type SignedLink =
  | { readonly at: "asking" }
  | { readonly at: "ready"; readonly href: string }
  /** The media doesn't exist, or the user isn't allowed to see it. */
  | { readonly at: "refused" }
  /** The request failed and will be retried. */
  | { readonly at: "failed" }

export interface LinkSignerDeps {
  signUrls(urls: readonly string[]): Promise<SignResponse>
  now(): number
  random(): number
  /** Calls `callback` after `ms` milliseconds. Returns a function that cancels the call. */
  setTimer(ms: number, callback: () => void): () => void
}

/** URLs that are needed within this time, in milliseconds, share one request. */
const BATCH_DELAY_MS = 5
/**
 * A signed URL is not used within this time before its expiry, in milliseconds, so that it is still valid when the
 * fetch starts.
 */
const EXPIRY_MARGIN_MS = 30_000
/** Minimum and maximum time for which a signed URL is kept, in milliseconds, in case the device's clock is wrong. */
const MIN_LIFE_MS = 60_000
const MAX_LIFE_MS = SIGNED_URL_SECONDS * 1000

interface LinkEntry {
  readonly link: Signal<SignedLink>
  /** Milliseconds since 1970. */
  expiresAt: number
  isRequested: boolean
}

const ASKING_LINK: SignedLink = { at: "asking" }
const REFUSED_LINK: SignedLink = { at: "refused" }
/** One shared object, so that another failure does not change the signal. */
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

  /** Returns the link's current state without sending a request. */
  getLink(url: string): ReadonlySignal<SignedLink> {
    return this.#getEntry(url).link
  }

  /** Requests a link unless a valid one exists. Called when the media is rendered. */
  requestLink(url: string): void {
    if (!this.#isUsable(this.#getEntry(url))) this.renewLink(url)
  }

  /** Requests a new link, for example because the current one failed. */
  renewLink(url: string): void {
    const entry = this.#getEntry(url)
    if (entry.isRequested) return
    // The server would refuse a whole request that contains this URL.
    if (url.length > MAX_URL_CHARS) return this.#settleEntry(url, REFUSED_LINK, 0)
    entry.link.value = ASKING_LINK
    this.#queueUrl(url, entry)
  }

  /**
   * Retries the failed requests. Called after a delay, and when the server is reachable again. The links remain
   * `failed` until the server responds.
   */
  retryFailed(): void {
    this.stopRetrying()
    for (const [url, entry] of this.#entries) {
      if (entry.link.peek().at === "failed" && !entry.isRequested) this.#queueUrl(url, entry)
    }
  }

  /** Cancels the pending retry. Called when no media is rendered any more. */
  stopRetrying(): void {
    this.#cancelRetry?.()
    this.#cancelRetry = null
  }

  /** Resolves with a valid link, or with the state that says why there is none. */
  resolveLink(url: string): Promise<SignedLink> {
    this.requestLink(url)
    const { link } = this.#getEntry(url)
    return new Promise((resolve) => {
      const unsubscribe = link.subscribe((current) => {
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

  #isUsable({ link, expiresAt, isRequested }: LinkEntry): boolean {
    if (isRequested) return true
    const { at } = link.peek()
    return at === "refused" || (at === "ready" && expiresAt - EXPIRY_MARGIN_MS > this.#deps.now())
  }

  #queueUrl(url: string, entry: LinkEntry): void {
    entry.isRequested = true
    this.#queuedUrls.push(url)
    if (this.#queuedUrls.length === 1) this.#deps.setTimer(BATCH_DELAY_MS, () => this.#flushQueue())
  }

  #flushQueue(): void {
    const urls = this.#queuedUrls
    this.#queuedUrls = []
    for (let start = 0; start < urls.length; start += MAX_SIGNED_URLS)
      void this.#requestLinks(urls.slice(start, start + MAX_SIGNED_URLS))
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
      const isRefused = error instanceof RequestError && isPermanentRefusal(error)
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
