/**
 * session-starts.ts: first words, and the session that is made for them.
 *
 * composer → STARTS → POST /v1/sessions → room
 * Kept on the shelf until their session is there, and tried again until then. One page at a time is at it, so that no
 * words make two sessions; when it is closed, the next goes on. Source: SPEC PG14, SO13.
 */

import { MAX_TITLE_CHARS } from "../../shared/limits.ts"
import { type Api, RequestError } from "../net/api.ts"
import { excerpt } from "../words/excerpt.ts"
import { retryDelayMs } from "../net/socket-link.ts"
import { Outbox, type Shelf, type Unsent } from "../net/outbox.ts"

export interface StartsDeps {
  readonly api: Api
  readonly shelf: Shelf
  random(): number
  after(ms: number, call: () => void): () => void
  /** Runs the call when no other page of this browser is inside one of the same name. */
  claim(name: string, call: () => Promise<void>): Promise<void>
}

export interface StartsHandlers {
  /** How they stand: under way, or in whose words they are not. */
  told(entry: Unsent): void
  made(entry: Unsent, session: string): void
}

export class Starts {
  readonly #deps: StartsDeps
  readonly #handlers: StartsHandlers
  readonly #outbox: Outbox
  /** How those stand that are on their way from this page; null: another page is at it. */
  readonly #under = new Map<string, Unsent | null>()
  readonly #pauses = new Set<() => void>()

  constructor(deps: StartsDeps, handlers: StartsHandlers) {
    this.#deps = deps
    this.#handlers = handlers
    this.#outbox = new Outbox(deps.shelf, "")
  }

  add(entry: Unsent): void {
    this.#outbox.add(entry)
    void this.#begin(entry, () => true)
  }

  /** Those that a closed page left behind, and another page's as soon as it is closed. */
  collect(): void {
    this.#outbox.collect()
    for (const entry of this.#outbox.waiting()) {
      // Whoever was at it before may have done it.
      if (!this.#under.has(entry.id)) void this.#begin(entry, () => this.#outbox.isKept(entry.id))
    }
  }

  /** The oldest that stands here without a session. */
  first(): Unsent | null {
    const kept = this.#outbox.entries.peek()
    return kept.flatMap((entry) => (entry.error === null ? (this.#under.get(entry.id) ?? []) : entry))[0] ?? null
  }

  retry(id: string): void {
    const entry = this.#outbox.entries.peek().find((known) => known.id === id)
    if (entry === undefined) return
    if (this.#under.has(id)) this.hurry()
    else this.add({ ...entry, error: null })
  }

  discard(id: string): void {
    this.#outbox.remove(id)
    this.hurry()
  }

  /** The machine is back: what waits for another try does not wait any longer. */
  hurry(): void {
    for (const end of [...this.#pauses]) end()
  }

  async #begin(entry: Unsent, isOurs: () => boolean): Promise<void> {
    const { id } = entry
    this.#under.set(id, null)
    try {
      await this.#deps.claim(`cuecard.start.${id}`, async () => {
        if (!isOurs()) return this.#outbox.remove(id)
        this.#tell(entry)
        await this.#make(entry)
      })
    } finally {
      this.#under.delete(id)
    }
  }

  async #make(entry: Unsent): Promise<void> {
    const isWanted = (): boolean => this.#outbox.entries.peek().some(({ id }) => id === entry.id)
    for (let tries = 1; isWanted(); tries++) {
      try {
        const session = await this.#deps.api.createSession(titleOf(entry), entry.id)
        if (isWanted()) this.#handlers.made(entry, session)
        return this.#outbox.remove(entry.id)
      } catch (error) {
        const isRefused = error instanceof RequestError && error.status < 500 && error.status !== 429
        const text = error instanceof RequestError ? error.message : "The server could not be reached."
        this.#tell({ ...entry, error: text })
        if (isRefused) return this.#outbox.fail(entry.id, text)
      }
      await this.#pause(retryDelayMs(tries, this.#deps.random()))
    }
  }

  #tell(entry: Unsent): void {
    this.#under.set(entry.id, entry)
    this.#handlers.told(entry)
  }

  #pause(ms: number): Promise<void> {
    return new Promise((done) => {
      const end = (): void => {
        cancel()
        this.#pauses.delete(end)
        done()
      }
      const cancel = this.#deps.after(ms, end)
      this.#pauses.add(end)
    })
  }
}

/** The first line of the first words, cut at a word where there is one; without words the name of what was sent. */
export function titleOf({ content, attachments = [] }: Pick<Unsent, "content" | "attachments">): string {
  const words = content.trim() === "" ? (attachments[0]?.label ?? "") : content
  const line = words.trim().split("\n", 1)[0]?.replace(/\s+/g, " ") ?? ""
  const cut = excerpt(line, MAX_TITLE_CHARS - 1)
  return cut === line ? line : cut.replace(/\s\S{0,30}…$/, "…")
}
