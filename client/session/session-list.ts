/**
 * session-list.ts: the sessions there are, as the server said last and as this page knows better.
 *
 * GET /v1/sessions, rooms, the reader's wishes → SESSIONS → sidebar
 * A wish is shown at once and taken back with the server's words where it is refused. What other pages do is asked for
 * when the reader comes back, and now and then while they look; no session is woken for it. Source: SPEC PG31–PG33, PG53.
 */

import { type Signal, signal } from "@preact/signals"
import type { SessionSummary } from "../../shared/protocol/http-body.ts"
import { type Api, RequestError } from "../net/api.ts"

/** The list is asked for so often while something runs elsewhere, in milliseconds. */
const BUSY_REFRESH_MS = 5_000
/** And so often while nothing does. */
const IDLE_REFRESH_MS = 60_000
/** Coming back asks at once, but not more often than this, in milliseconds. */
const MIN_REFRESH_INTERVAL_MS = 1_500

export interface SessionListDeps {
  readonly api: Api
  now(): number
  setTimer(ms: number, callback: () => void): () => void
  /** Does anybody look? */
  isVisible(): boolean
}

/** What the reader has to be told once, in words. */
export interface Notice {
  readonly text: string
  readonly isFault: boolean
  /** It stands there until something else is to be told: what it tells of is under way. */
  readonly isSticky: boolean
}

export class SessionList {
  /** Newest activity first. */
  readonly sessions: Signal<readonly SessionSummary[]> = signal([])
  /** The server said once what there is. */
  readonly isLoaded = signal(false)
  readonly notice: Signal<Notice | null> = signal(null)
  readonly #deps: SessionListDeps
  #rows: readonly SessionSummary[] = []
  /** Titles that are on their way. */
  readonly #pendingTitles = new Map<string, string>()
  readonly #erasingIds = new Set<string>()
  /** What the open rooms see themselves. */
  readonly #localRunning = new Map<string, boolean>()
  /** Grows with every change of ours that the server took: what it said before that is old. */
  #changeCount = 0
  #refreshedAt = Number.NEGATIVE_INFINITY
  #cancelPolling: (() => void) | null = null

  constructor(deps: SessionListDeps) {
    this.#deps = deps
  }

  async refresh(): Promise<void> {
    const changeCount = this.#changeCount
    this.#refreshedAt = this.#deps.now()
    try {
      const rows = await this.#deps.api.listSessions()
      if (changeCount !== this.#changeCount) return await this.refresh()
      this.#rows = rows
      this.isLoaded.value = true
      this.#publishList()
    } catch {
      // The list is a convenience; the open session says for itself when the server is away.
    }
  }

  /** Asks again now and then, as long as somebody looks. */
  startPolling(): void {
    this.#cancelPolling?.()
    const runsElsewhere = this.#rows.some(({ id, running }) => running && !this.#localRunning.has(id))
    this.#cancelPolling = this.#deps.setTimer(runsElsewhere ? BUSY_REFRESH_MS : IDLE_REFRESH_MS, () => {
      if (this.#deps.isVisible()) void this.refresh()
      this.startPolling()
    })
  }

  /** The reader is back. */
  refreshIfStale(): void {
    if (this.#deps.now() - this.#refreshedAt >= MIN_REFRESH_INTERVAL_MS)
      void this.refresh().then(() => this.startPolling())
  }

  /** An open room knows first whether it is at work. */
  setLocalRunning(id: string, isRunning: boolean): void {
    if (this.#localRunning.get(id) === isRunning) return
    this.#localRunning.set(id, isRunning)
    this.#publishList()
  }

  /** The room was left: from here on the server knows better; until it says so, this is the last word. */
  clearLocalRunning(id: string): void {
    const running = this.#localRunning.get(id)
    this.#localRunning.delete(id)
    if (running === undefined) return
    this.#rows = this.#rows.map((row) => (row.id === id ? { ...row, running } : row))
    this.startPolling()
  }

  /** Something was said there just now. */
  markActive(id: string): void {
    const active = this.#deps.now()
    this.#rows = this.#rows.map((row) => (row.id === id ? { ...row, active: Math.max(row.active, active) } : row))
    this.#publishList()
  }

  /** Null where there is none of this id. */
  findSession(id: string): SessionSummary | null {
    return this.sessions.peek().find((row) => row.id === id) ?? null
  }

  async renameSession(id: string, title: string): Promise<void> {
    const before = this.findSession(id)?.title
    if (title === before) return
    this.#pendingTitles.set(id, title)
    this.#publishList()
    try {
      const savedTitle = await this.#deps.api.renameSession(id, title)
      this.#changeCount++
      this.#rows = this.#rows.map((row) => (row.id === id ? { ...row, title: savedTitle } : row))
    } catch (error) {
      this.showNotice(`“${formatTitle(before)}” could not be renamed: ${describeError(error)}`, true)
    } finally {
      // A later wish stands.
      if (this.#pendingTitles.get(id) === title) this.#pendingTitles.delete(id)
      this.#publishList()
    }
  }

  isErasing(id: string): boolean {
    return this.#erasingIds.has(id)
  }

  /**
   * False where it could not be, and stands there again. One that is not there any more is erased as well.
   * `isQuiet`: the reader did not ask for it, and is told nothing.
   */
  async eraseSession(id: string, isSilent = false): Promise<boolean> {
    const title = this.findSession(id)?.title
    this.#erasingIds.add(id)
    this.#publishList()
    try {
      await this.#deps.api.eraseSession(id)
      this.#changeCount++
      this.#rows = this.#rows.filter((row) => row.id !== id)
      return true
    } catch (error) {
      if (!isSilent) this.showNotice(`“${formatTitle(title)}” could not be deleted: ${describeError(error)}`, true)
      return false
    } finally {
      this.#erasingIds.delete(id)
      this.#publishList()
    }
  }

  showNotice(text: string, isFault = false, isSticky = false): void {
    this.notice.value = { text, isFault, isSticky }
  }

  dismissNotice(): void {
    this.notice.value = null
  }

  #publishList(): void {
    this.sessions.value = this.#rows
      .filter(({ id }) => !this.#erasingIds.has(id))
      .map((row) => {
        const title = this.#pendingTitles.get(row.id) ?? row.title
        const running = this.#localRunning.get(row.id) ?? row.running
        return title === row.title && running === row.running ? row : { ...row, title, running }
      })
      .sort((a, b) => b.active - a.active || b.created - a.created)
  }
}

/** What a session without a title is called. */
export function formatTitle(title: string | undefined): string {
  return title === undefined || title === "" ? "Untitled" : title
}

export function describeError(error: unknown): string {
  return error instanceof RequestError ? error.message : "The server could not be reached."
}
