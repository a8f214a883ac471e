/**
 * session-starts.ts: creates the session for a new conversation's first message.
 *
 * composer → STARTS → POST /v1/sessions → session controller
 * The message is kept in storage, and the request is retried, until the session exists. Only one tab at a time handles
 * a message, so that a message doesn't create two sessions; if that tab is closed, another tab takes over. Source: SPEC
 * PG14, SO15.
 */

import { MAX_TITLE_CHARS } from "../../shared/limits.ts"
import type { Api } from "../net/api.ts"
import { describeError, isPermanentRefusal, RequestError } from "../net/http-request.ts"
import { toExcerpt } from "../words/format/excerpt.ts"
import { retryDelayMs } from "../net/retry-delay.ts"
import { Outbox, type KeyValueStorage, type OutboxEntry } from "../net/outbox.ts"

export interface SessionStartsDeps {
  readonly api: Api
  readonly storage: KeyValueStorage
  random(): number
  setTimer(ms: number, callback: () => void): () => void
  /** Runs the callback once no other tab of this browser holds the lock with this name. */
  withLock(name: string, callback: () => Promise<void>): Promise<void>
}

export interface SessionStartsHandlers {
  /** Called when a tab begins to handle a message and, with `entry.error` set, after each failed attempt. */
  onChange(entry: OutboxEntry): void
  onCreated(entry: OutboxEntry, session: string): void
}

export class SessionStarts {
  readonly #deps: SessionStartsDeps
  readonly #handlers: SessionStartsHandlers
  readonly #outbox: Outbox
  /** The messages that this tab is handling, by id; null while this tab is waiting for another tab's lock. */
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

  /** Handles the messages left behind by closed tabs, and those of open tabs once these tabs are closed. */
  resumeStored(): void {
    this.#outbox.mergeStored()
    for (const entry of this.#outbox.listPending()) {
      // The tab that held the lock before may already have sent the message.
      if (!this.#inProgress.has(entry.id)) void this.#startUnderLock(entry, () => this.#outbox.isStored(entry.id))
    }
  }

  /**
   * Of the messages without a session, returns the oldest one that this tab is handling or that the server refused;
   * null if there is none.
   */
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

  /** Ends all pauses between attempts, so that requests are retried at once and discarded messages are dropped. */
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
        const session = await this.#deps.api.createSession(deriveTitle(entry), entry.id, entry.options)
        if (isWanted()) this.#handlers.onCreated(entry, session)
        return this.#outbox.removeEntry(entry.id)
      } catch (error) {
        const isRefused = error instanceof RequestError && isPermanentRefusal(error)
        const text = describeError(error)
        this.#reportEntry({ ...entry, error: text })
        if (isRefused) return this.#outbox.markFailed(entry.id, text)
      }
      await this.#sleep(retryDelayMs(attempt, this.#deps.random()))
    }
  }

  #reportEntry(entry: OutboxEntry): void {
    this.#inProgress.set(entry.id, entry)
    this.#handlers.onChange(entry)
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const endSleep = (): void => {
        cancel()
        this.#pauses.delete(endSleep)
        resolve()
      }
      const cancel = this.#deps.setTimer(ms, endSleep)
      this.#pauses.add(endSleep)
    })
  }
}

/**
 * Returns the message's first line, cut between words if possible. If the message has no text, returns the name of the
 * first attachment.
 */
export function deriveTitle({ content, attachments = [] }: Pick<OutboxEntry, "content" | "attachments">): string {
  const text = content.trim() === "" ? (attachments[0]?.label ?? "") : content
  const line = text.trim().split("\n", 1)[0]?.replace(/\s+/g, " ") ?? ""
  const shortened = toExcerpt(line, MAX_TITLE_CHARS - 1)
  return shortened === line ? line : shortened.replace(/\s\S{0,30}…$/, "…")
}
