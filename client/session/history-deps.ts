/** history-deps.ts: the dependencies of the code that loads history, and the size of its pages. */

import type { Api } from "../net/api.ts"
import type { TranscriptStore } from "./transcript-store.ts"

/** Number of messages per page of history, including the newest page. */
export const PAGE_MESSAGES = 24

/**
 * Maximum number of messages in the document at once. A resume adds up to MAX_RESUME_MESSAGES before other messages are
 * dropped. SPEC LT1.
 */
export const MAX_SHOWN_MESSAGES = 150

export interface HistoryDeps {
  readonly session: string
  readonly api: Pick<Api, "getHistoryPage" | "fetchAuthorized">
  readonly store: TranscriptStore
  /** Maximum number of messages shown. If absent, all loaded messages are shown. SPEC LT1. */
  readonly maxMessages?: number | undefined
  now(): number
  scheduleRender(callback: () => void): void
  /** Returns whether the session was closed. */
  isClosed(): boolean
}
