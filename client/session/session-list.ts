/**
 * session-list.ts: the user's sessions: the server's list, with this page's changes applied.
 *
 * GET /v1/sessions, open sessions, the user's changes → LIST → sidebar
 * A change is shown at once; if the server refuses it, the change is undone and the server's text is shown. The list is
 * fetched when the user returns to the page, and at intervals while the page is visible. Fetching the list activates no
 * session objects. Older pages of the list are loaded on demand. Source: SPEC PG31–PG33, PG53, PG75.
 */

import { type Signal, signal } from "@preact/signals"
import type { SessionSummary, SharedSession } from "../../shared/protocol/http-body.ts"
import type { Api } from "../net/api.ts"
import { describeError } from "../net/http-request.ts"
import { appText, conversationText } from "../words/page-text.ts"
import { appendPage, mergeFirstPage, NO_SESSIONS } from "./session-pages.ts"

/**
 * Refresh interval in milliseconds while a session that isn't open is running, or while all attempts to fetch the list
 * have failed.
 */
const BUSY_REFRESH_MS = 5_000
/** Refresh interval otherwise, in milliseconds. */
const IDLE_REFRESH_MS = 60_000
/** Minimum time between two refreshes when the user returns to the page, in milliseconds. */
const MIN_REFRESH_INTERVAL_MS = 1_500

export interface SessionListDeps {
  readonly api: Api
  now(): number
  setTimer(ms: number, callback: () => void): () => void
  /** Returns whether the page is visible. */
  isVisible(): boolean
}

/** Whether there are more sessions after the loaded ones. */
export type MoreSessions = "none" | "available" | "loading" | "failed"

/** A message in the notice bar. */
export interface Notice {
  readonly text: string
  readonly isFault: boolean
  /** True while the reported operation is still running. Such a notice is shown until the next one. */
  readonly isSticky: boolean
  /** The notice's button. */
  readonly action?: { readonly label: string; readonly run: () => void }
}

type UpdateRows = (rows: readonly SessionSummary[]) => readonly SessionSummary[]

export class SessionList {
  /** The sessions, most recently active first. */
  readonly sessions: Signal<readonly SessionSummary[]> = signal([])
  /** Whether the list has been fetched at least once. */
  readonly isLoaded = signal(false)
  /** True if all attempts to fetch the list have failed so far. */
  readonly isUnreachable = signal(false)
  /** The error of the last attempt to load the list or its next page; null if it succeeded. */
  loadError: unknown = null
  readonly more: Signal<MoreSessions> = signal("none")
  /** The sessions that other users share with the user, newest first. The sidebar loads them. */
  readonly shared: Signal<readonly SharedSession[]> = signal([])
  /** The archived sessions that have been loaded. */
  readonly archived: Signal<readonly SessionSummary[]> = signal([])
  readonly notice: Signal<Notice | null> = signal(null)
  /** Adds what the initial render doesn't need: changes that are being saved, and sessions in folders. */
  adaptRows: UpdateRows = (rows) => rows
  readonly #deps: SessionListDeps
  #loaded = NO_SESSIONS
  /** When messages were sent on this page, by session id. The server's list might not reflect that yet. */
  readonly #sentAt = new Map<string, number>()
  /** Titles that are being saved. */
  readonly #pendingTitles = new Map<string, string>()
  readonly #erasingIds = new Set<string>()
  /** Whether each open session is running, as its controller reports it. */
  readonly #localRunning = new Map<string, boolean>()
  /**
   * The number of changes that the server has accepted. A list that was requested before the last change is outdated.
   */
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
      const page = await this.#deps.api.listSessions()
      if (changeCount !== this.#changeCount) return await this.refresh()
      this.#loaded = mergeFirstPage(this.#loaded, page)
      this.#sentAt.clear()
      this.isLoaded.value = true
      this.isUnreachable.value = false
      this.loadError = null
      this.#publishList()
    } catch (error) {
      // The next refresh tries again.
      this.loadError = error
      this.isUnreachable.value = !this.isLoaded.peek()
    }
  }

  /** Loads the next page, if there is one. After a failure, `more` is "failed" and the next call tries again. */
  async loadMore(): Promise<void> {
    const { next } = this.#loaded
    if (next === null || this.more.peek() === "loading") return
    const changeCount = this.#changeCount
    this.more.value = "loading"
    try {
      const page = await this.#deps.api.listSessions(next)
      // If something else was loaded or changed meanwhile, the next call requests the page again.
      if (changeCount === this.#changeCount && this.#loaded.next === next) this.#loaded = appendPage(this.#loaded, page)
      this.more.value = "available"
      this.loadError = null
      this.#publishList()
    } catch (error) {
      this.loadError = error
      this.more.value = "failed"
    }
  }

  /** Removes a session that turned out not to exist from the list. */
  forgetSession(id: string): void {
    this.editRows((rows) => rows.filter((row) => row.id !== id))
    void this.refresh()
  }

  /** Applies a change that the server has made to the list, and updates what is shown. */
  editRows(update: UpdateRows): void {
    this.#changeCount++
    this.#updateRows(update)
    this.#publishList()
  }

  /** Refreshes the list at intervals while the page is visible. */
  startPolling(): void {
    this.#cancelPolling?.()
    const runsElsewhere = this.#loaded.sessions.some(({ id, running }) => running && !this.#localRunning.has(id))
    const isUrgent = runsElsewhere || this.isUnreachable.peek()
    this.#cancelPolling = this.#deps.setTimer(isUrgent ? BUSY_REFRESH_MS : IDLE_REFRESH_MS, () => {
      if (this.#deps.isVisible()) void this.refresh()
      this.startPolling()
    })
  }

  stopPolling(): void {
    this.#cancelPolling?.()
    this.#cancelPolling = null
  }

  /** Refreshes the list unless that was done recently. Called when the user returns to the page. */
  refreshIfStale(): void {
    const isRecent = this.#deps.now() - this.#refreshedAt < MIN_REFRESH_INTERVAL_MS
    // An earlier failure doesn't count, because the device may just have come online.
    if (!isRecent || this.isUnreachable.peek()) void this.refresh().then(() => this.startPolling())
  }

  /** Records whether an open session is running, which its controller reports earlier than the list. */
  setLocalRunning(id: string, isRunning: boolean): void {
    if (this.#localRunning.get(id) === isRunning) return
    this.#localRunning.set(id, isRunning)
    this.#publishList()
  }

  /** Called when the user leaves a session. The list keeps the session's last known state until the next refresh. */
  clearLocalRunning(id: string): void {
    const running = this.#localRunning.get(id)
    this.#localRunning.delete(id)
    if (running === undefined) return
    this.#updateRows((rows) => rows.map((row) => (row.id === id ? { ...row, running } : row)))
    if (this.#cancelPolling !== null) this.startPolling()
  }

  /** Called when a message has just been sent in this session. */
  markActive(id: string): void {
    this.#sentAt.set(id, this.#deps.now())
    this.#publishList()
  }

  /** Returns null if the list has no such session. */
  findSession(id: string): SessionSummary | null {
    return this.sessions.peek().find((row) => row.id === id) ?? null
  }

  /** Returns the title of one of the user's own sessions, or of one that is shared with the user. */
  findTitle(session: string): string | undefined {
    return [...this.sessions.value, ...this.shared.value, ...this.archived.value].find(
      (row) => toSessionRef(row) === session,
    )?.title
  }

  /** Renames a session. If that fails, the error is shown. */
  async renameSession(id: string, title: string): Promise<void> {
    const before = this.findSession(id)?.title
    if (title === before) return
    await this.saveTitle(id, title).catch((error: unknown) =>
      this.showNotice(conversationText.renameFailed(formatTitle(before), describeError(error)), true),
    )
  }

  /** Renames a session. If that fails, restores the old title in the list and rejects. */
  async saveTitle(id: string, title: string): Promise<void> {
    this.#pendingTitles.set(id, title)
    this.#publishList()
    try {
      const savedTitle = await this.#deps.api.renameSession(id, title)
      this.#changeCount++
      this.#updateRows((rows) => rows.map((row) => (row.id === id ? { ...row, title: savedTitle } : row)))
    } finally {
      // The user may have entered another title in the meantime.
      if (this.#pendingTitles.get(id) === title) this.#pendingTitles.delete(id)
      this.#publishList()
    }
  }

  isErasing(id: string): boolean {
    return this.#erasingIds.has(id)
  }

  /** Erases a session. If that fails, lists the session again and rejects. Succeeds if the session doesn't exist. */
  async removeSession(id: string): Promise<void> {
    this.#erasingIds.add(id)
    this.#publishList()
    try {
      await this.#deps.api.eraseSession(id)
      this.#changeCount++
      this.#updateRows((rows) => rows.filter((row) => row.id !== id))
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

  #updateRows(update: UpdateRows): void {
    this.#loaded = { ...this.#loaded, sessions: update(this.#loaded.sessions) }
  }

  #publishList(): void {
    if (this.more.peek() !== "loading") this.more.value = this.#loaded.next === null ? "none" : "available"
    this.sessions.value = this.adaptRows(this.#loaded.sessions)
      .filter(({ id }) => !this.#erasingIds.has(id))
      .map((row) => {
        const title = this.#pendingTitles.get(row.id) ?? row.title
        const running = this.#localRunning.get(row.id) ?? row.running
        const active = Math.max(row.active, this.#sentAt.get(row.id) ?? 0)
        const isUnchanged = title === row.title && running === row.running && active === row.active
        return isUnchanged ? row : { ...row, title, running, active }
      })
      .sort((a, b) => b.active - a.active || b.created - a.created)
  }
}

/**
 * Returns the name of a session in the page's URL: its id, preceded by the owner if another user shares the session.
 */
export function toSessionRef({ id, owner }: { readonly id: string; readonly owner?: string }): string {
  return owner === undefined ? id : `${owner}/${id}`
}

/** Returns the title to show. */
export function formatTitle(title: string | undefined): string {
  return title === undefined || title === "" ? appText.untitled : title
}
