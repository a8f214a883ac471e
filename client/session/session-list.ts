/**
 * session-list.ts: the sessions there are, as the server said last and as this page knows better.
 *
 * GET /v1/sessions, rooms, the reader's wishes → SESSIONS → sidebar
 * A wish is shown at once and taken back with the server's words where it is refused. What other pages do is asked for
 * when the reader comes back, and now and then while they look; no session is woken for it. Source: SPEC PG31–PG33.
 */

import { type Signal, signal } from "@preact/signals"
import type { SessionSummary } from "../../shared/protocol/frame.ts"
import { type Api, RequestError } from "../net/api.ts"

/** The list is asked for so often while something runs elsewhere, in milliseconds. */
const BUSY_MS = 5_000
/** And so often while nothing does. */
const CALM_MS = 60_000
/** Coming back asks at once, but not more often than this, in milliseconds. */
const AGAIN_MS = 1_500

export interface SessionsDeps {
  readonly api: Api
  now(): number
  after(ms: number, call: () => void): () => void
  /** Does anybody look? */
  isVisible(): boolean
}

/** What the reader has to be told once, in words. */
export interface Notice {
  readonly text: string
  readonly isFault: boolean
  /** It stands there until something else is to be told: what it tells of is under way. */
  readonly isLasting: boolean
}

export class Sessions {
  /** Newest activity first. */
  readonly list: Signal<readonly SessionSummary[]> = signal([])
  /** The server said once what there is. */
  readonly isLoaded = signal(false)
  readonly notice: Signal<Notice | null> = signal(null)
  readonly #deps: SessionsDeps
  #rows: readonly SessionSummary[] = []
  /** Titles that are on their way. */
  readonly #titles = new Map<string, string>()
  readonly #erasing = new Set<string>()
  /** What the open rooms see themselves. */
  readonly #seen = new Map<string, boolean>()
  /** Grows with every change of ours that the server took: what it said before that is old. */
  #changes = 0
  #askedAt = Number.NEGATIVE_INFINITY
  #cancelWatch: (() => void) | null = null

  constructor(deps: SessionsDeps) {
    this.#deps = deps
  }

  async refresh(): Promise<void> {
    const changes = this.#changes
    this.#askedAt = this.#deps.now()
    try {
      const rows = await this.#deps.api.sessions()
      if (changes !== this.#changes) return await this.refresh()
      this.#rows = rows
      this.isLoaded.value = true
      this.#publish()
    } catch {
      // The list is a convenience; the open session says for itself when the server is away.
    }
  }

  /** Asks again now and then, as long as somebody looks. */
  watch(): void {
    this.#cancelWatch?.()
    const runsElsewhere = this.#rows.some(({ id, running }) => running && !this.#seen.has(id))
    this.#cancelWatch = this.#deps.after(runsElsewhere ? BUSY_MS : CALM_MS, () => {
      if (this.#deps.isVisible()) void this.refresh()
      this.watch()
    })
  }

  /** The reader is back. */
  wake(): void {
    if (this.#deps.now() - this.#askedAt >= AGAIN_MS) void this.refresh().then(() => this.watch())
  }

  /** An open room knows first whether it is at work. */
  see(id: string, isRunning: boolean): void {
    if (this.#seen.get(id) === isRunning) return
    this.#seen.set(id, isRunning)
    this.#publish()
  }

  /** The room was left: from here on the server knows better; until it says so, this is the last word. */
  unsee(id: string): void {
    const running = this.#seen.get(id)
    this.#seen.delete(id)
    if (running === undefined) return
    this.#rows = this.#rows.map((row) => (row.id === id ? { ...row, running } : row))
    this.watch()
  }

  /** Something was said there just now. */
  touch(id: string): void {
    const active = this.#deps.now()
    this.#rows = this.#rows.map((row) => (row.id === id ? { ...row, active: Math.max(row.active, active) } : row))
    this.#publish()
  }

  /** Null where there is none of this id. */
  find(id: string): SessionSummary | null {
    return this.list.peek().find((row) => row.id === id) ?? null
  }

  async rename(id: string, title: string): Promise<void> {
    const before = this.find(id)?.title
    if (title === before) return
    this.#titles.set(id, title)
    this.#publish()
    try {
      const named = await this.#deps.api.rename(id, title)
      this.#changes++
      this.#rows = this.#rows.map((row) => (row.id === id ? { ...row, title: named } : row))
    } catch (error) {
      this.tell(`“${nameOf(before)}” could not be renamed: ${wordsOf(error)}`, true)
    } finally {
      // A later wish stands.
      if (this.#titles.get(id) === title) this.#titles.delete(id)
      this.#publish()
    }
  }

  isErasing(id: string): boolean {
    return this.#erasing.has(id)
  }

  /**
   * False where it could not be, and stands there again. One that is not there any more is erased as well.
   * `isQuiet`: the reader did not ask for it, and is told nothing.
   */
  async erase(id: string, isQuiet = false): Promise<boolean> {
    const title = this.find(id)?.title
    this.#erasing.add(id)
    this.#publish()
    try {
      await this.#deps.api.erase(id)
      this.#changes++
      this.#rows = this.#rows.filter((row) => row.id !== id)
      return true
    } catch (error) {
      if (!isQuiet) this.tell(`“${nameOf(title)}” could not be deleted: ${wordsOf(error)}`, true)
      return false
    } finally {
      this.#erasing.delete(id)
      this.#publish()
    }
  }

  tell(text: string, isFault = false, isLasting = false): void {
    this.notice.value = { text, isFault, isLasting }
  }

  hush(): void {
    this.notice.value = null
  }

  #publish(): void {
    this.list.value = this.#rows
      .filter(({ id }) => !this.#erasing.has(id))
      .map((row) => {
        const title = this.#titles.get(row.id) ?? row.title
        const running = this.#seen.get(row.id) ?? row.running
        return title === row.title && running === row.running ? row : { ...row, title, running }
      })
      .sort((a, b) => b.active - a.active || b.created - a.created)
  }
}

/** What a session without a title is called. */
export function nameOf(title: string | undefined): string {
  return title === undefined || title === "" ? "Untitled" : title
}

export function wordsOf(error: unknown): string {
  return error instanceof RequestError ? error.message : "The server could not be reached."
}
