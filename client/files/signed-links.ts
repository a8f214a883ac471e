/**
 * signed-links.ts: where media that is being drawn can be fetched for now.
 *
 * segment → element → SIGNED → POST /v1/sessions/:id/media/sign → element
 * Segments hold addresses that nobody can fetch. What is drawn within a moment is asked for at once, remembered until it
 * runs out, and asked for anew by an element that failed. Where the server could not be asked it is asked again, later
 * each time, until it could. Source: SPEC PG38.
 */

import { type ReadonlySignal, type Signal, signal } from "@preact/signals"
import type { SignAnswer } from "../../shared/protocol/asset.ts"
import { MAX_SIGNED_URLS, MAX_URL_CHARS } from "../../shared/limits.ts"
import { RequestError } from "../net/api.ts"
import { retryDelayMs } from "../net/socket-link.ts"

export type Address =
  | { readonly at: "asking" }
  | { readonly at: "ready"; readonly href: string }
  /** There is no such thing, or not for this reader. */
  | { readonly at: "refused" }
  /** The server could not be asked; it will be. */
  | { readonly at: "failed" }

export interface SignerDeps {
  sign(urls: readonly string[]): Promise<SignAnswer>
  now(): number
  random(): number
  /** Calls back after so many milliseconds; returns what cancels it. */
  after(ms: number, call: () => void): () => void
}

/** What is drawn within so long is asked for together, in milliseconds. */
const GATHER_MS = 5
/** An address is not handed out so shortly before it runs out, in milliseconds: the fetch has to begin. */
const SPARE_MS = 30_000
/** However the machine's clock stands: an address is kept for a minute at least, and an hour at most, in milliseconds. */
const MIN_LIFE_MS = 60_000
const MAX_LIFE_MS = 3_600_000

/** Of these another token, or a while, may help. */
const PASSING: readonly number[] = [401, 408, 429]

interface Entry {
  readonly address: Signal<Address>
  /** Milliseconds since 1970. */
  until: number
  isAsked: boolean
}

const ASKING: Address = { at: "asking" }
const REFUSED: Address = { at: "refused" }
/** Always the same: an address that fails again changes nothing. */
const FAILED: Address = { at: "failed" }

export class Signer {
  readonly #deps: SignerDeps
  readonly #entries = new Map<string, Entry>()
  #gathered: string[] = []
  #failures = 0
  #cancelRetry: (() => void) | null = null

  constructor(deps: SignerDeps) {
    this.#deps = deps
  }

  /** How it stands. Looking at it asks nothing. */
  address(url: string): ReadonlySignal<Address> {
    return this.#entry(url).address
  }

  /** It is being drawn: asks where nothing is known that still holds. */
  want(url: string): void {
    if (!this.#holds(this.#entry(url))) this.renew(url)
  }

  /** What is known does not hold, whatever was said. */
  renew(url: string): void {
    const entry = this.#entry(url)
    if (entry.isAsked) return
    // It is none, and would spoil the request for its neighbours.
    if (url.length > MAX_URL_CHARS) return this.#settle(url, REFUSED, 0)
    entry.address.value = ASKING
    this.#gather(url, entry)
  }

  /** The server is there again: asks once more for what could not be asked. Until it says so, nothing looks otherwise. */
  retry(): void {
    this.rest()
    for (const [url, entry] of this.#entries) {
      if (entry.address.peek().at === "failed" && !entry.isAsked) this.#gather(url, entry)
    }
  }

  /** Nobody draws any more: what failed is left as it is. */
  rest(): void {
    this.#cancelRetry?.()
    this.#cancelRetry = null
  }

  /** One that holds, or why there is none. */
  fresh(url: string): Promise<Address> {
    this.want(url)
    const { address } = this.#entry(url)
    return new Promise((done) => {
      const stop = address.subscribe((now) => {
        if (now.at === "asking") return
        done(now)
        queueMicrotask(() => stop())
      })
    })
  }

  #entry(url: string): Entry {
    const known = this.#entries.get(url)
    if (known !== undefined) return known
    const entry: Entry = { address: signal(ASKING), until: 0, isAsked: false }
    this.#entries.set(url, entry)
    return entry
  }

  #holds({ address, until, isAsked }: Entry): boolean {
    if (isAsked) return true
    const { at } = address.peek()
    return at === "refused" || (at === "ready" && until - SPARE_MS > this.#deps.now())
  }

  #gather(url: string, entry: Entry): void {
    entry.isAsked = true
    this.#gathered.push(url)
    if (this.#gathered.length === 1) this.#deps.after(GATHER_MS, () => this.#flush())
  }

  #flush(): void {
    const urls = this.#gathered
    this.#gathered = []
    for (let at = 0; at < urls.length; at += MAX_SIGNED_URLS) void this.#ask(urls.slice(at, at + MAX_SIGNED_URLS))
  }

  async #ask(urls: readonly string[]): Promise<void> {
    try {
      const { signed, expires } = await this.#deps.sign(urls)
      this.#failures = 0
      const hrefs = new Map(signed.map(({ url, href }) => [url, href]))
      const now = this.#deps.now()
      const until = now + Math.min(Math.max(expires * 1000 - now, MIN_LIFE_MS), MAX_LIFE_MS)
      for (const url of urls) {
        const href = hrefs.get(url) ?? null
        this.#settle(url, href === null ? REFUSED : { at: "ready", href }, until)
      }
    } catch (error) {
      const isRefused = error instanceof RequestError && error.status < 500 && !PASSING.includes(error.status)
      for (const url of urls) this.#settle(url, isRefused ? REFUSED : FAILED, 0)
      if (!isRefused) this.#retryLater()
    }
  }

  #retryLater(): void {
    if (this.#cancelRetry !== null) return
    this.#failures++
    this.#cancelRetry = this.#deps.after(retryDelayMs(this.#failures, this.#deps.random()), () => this.retry())
  }

  #settle(url: string, address: Address, until: number): void {
    const entry = this.#entry(url)
    Object.assign(entry, { until, isAsked: false })
    entry.address.value = address
  }
}
