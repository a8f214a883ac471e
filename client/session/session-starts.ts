/**
 * session-starts.ts: first words, and the session that is made for them.
 *
 * composer → STARTS → POST /v1/sessions → room
 * Kept on the shelf until their session is there, and tried again until then. One page at a time is at it, so that no
 * words make two sessions; when it is closed, the next goes on. Source: SPEC PG14, SO15.
 */

import { MAX_TITLE_CHARS } from "../../shared/limits.ts"
import { type Api, RequestError } from "../net/api.ts"
import { toExcerpt } from "../words/excerpt.ts"
import { retryDelayMs } from "../net/socket-link.ts"
import { Outbox, type KeyValueStorage, type OutboxEntry } from "../net/outbox.ts"

export interface SessionStartsDeps {
  readonly api: Api
  readonly storage: KeyValueStorage
  random(): number
  setTimer(ms: number, callback: () => void): () => void
  /** Runs the call when no other page of this browser is inside one of the same name. */
  withLock(name: string, callback: () => Promise<void>): Promise<void>
}

export interface SessionStartsHandlers {
  /** How they stand: under way, or in whose words they are not. */
  onChange(entry: OutboxEntry): void
  onCreated(entry: OutboxEntry, session: string): void
}

export class SessionStarts {
  readonly #deps: SessionStartsDeps
  readonly #handlers: SessionStartsHandlers
  readonly #outbox: Outbox
  /** How those stand that are on their way from this page; null: another page is at it. */
  readonly #inProgress = new Map<string, OutboxEntry | null>()
  readonly #pauses = new Set<() => void>()

  constructor(deps: SessionStartsDeps, handlers: SessionStartsHandlers) {
    this.#deps = deps
    this.#handlers = handlers
    this.#outbox = new Outbox(deps.storage, "")
  }

  addEntry(entry: OutboxEntry): void {
    this.#outbox.addEntry(entry)
    void this.#startUnderLock(entry, () => true)
  }

  /** Those that a closed page left behind, and another page's as soon as it is closed. */
  resumeStored(): void {
    this.#outbox.mergeStored()
    for (const entry of this.#outbox.listPending()) {
      // Whoever was at it before may have done it.
      if (!this.#inProgress.has(entry.id)) void this.#startUnderLock(entry, () => this.#outbox.isStored(entry.id))
    }
  }

  /** The oldest that stands here without a session. */
  findOldest(): OutboxEntry | null {
    const entries = this.#outbox.entries.peek()
    return (
      entries.flatMap((entry) => (entry.error === null ? (this.#inProgress.get(entry.id) ?? []) : entry))[0] ?? null
    )
  }

  retryEntry(id: string): void {
    const entry = this.#outbox.entries.peek().find((known) => known.id === id)
    if (entry === undefined) return
    if (this.#inProgress.has(id)) this.skipPauses()
    else this.addEntry({ ...entry, error: null })
  }

  discardEntry(id: string): void {
    this.#outbox.removeEntry(id)
    this.skipPauses()
  }

  /** The machine is back: what waits for another try does not wait any longer. */
  skipPauses(): void {
    for (const endPause of [...this.#pauses]) endPause()
  }

  async #startUnderLock(entry: OutboxEntry, isStillPending: () => boolean): Promise<void> {
    const { id } = entry
    this.#inProgress.set(id, null)
    try {
      await this.#deps.withLock(`cuecard.start.${id}`, async () => {
        if (!isStillPending()) return this.#outbox.removeEntry(id)
        this.#reportEntry(entry)
        await this.#createSession(entry)
      })
    } finally {
      this.#inProgress.delete(id)
    }
  }

  async #createSession(entry: OutboxEntry): Promise<void> {
    const isWanted = (): boolean => this.#outbox.entries.peek().some(({ id }) => id === entry.id)
    for (let attempt = 1; isWanted(); attempt++) {
      try {
        const session = await this.#deps.api.createSession(deriveTitle(entry), entry.id)
        if (isWanted()) this.#handlers.onCreated(entry, session)
        return this.#outbox.removeEntry(entry.id)
      } catch (error) {
        const isRefused = error instanceof RequestError && error.status < 500 && error.status !== 429
        const text = error instanceof RequestError ? error.message : "The server could not be reached."
        this.#reportEntry({ ...entry, error: text })
        if (isRefused) return this.#outbox.markFailed(entry.id, text)
      }
      await this.#pause(retryDelayMs(attempt, this.#deps.random()))
    }
  }

  #reportEntry(entry: OutboxEntry): void {
    this.#inProgress.set(entry.id, entry)
    this.#handlers.onChange(entry)
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const finish = (): void => {
        cancel()
        this.#pauses.delete(finish)
        resolve()
      }
      const cancel = this.#deps.setTimer(ms, finish)
      this.#pauses.add(finish)
    })
  }
}

/** The first line of the first words, cut at a word where there is one; without words the name of what was sent. */
export function deriveTitle({ content, attachments = [] }: Pick<OutboxEntry, "content" | "attachments">): string {
  const text = content.trim() === "" ? (attachments[0]?.label ?? "") : content
  const line = text.trim().split("\n", 1)[0]?.replace(/\s+/g, " ") ?? ""
  const shortened = toExcerpt(line, MAX_TITLE_CHARS - 1)
  return shortened === line ? line : shortened.replace(/\s\S{0,30}…$/, "…")
}
