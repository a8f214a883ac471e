/**
 * session-pages.ts: joins the loaded pages of the session list. Pure.
 *
 * The loaded list has no gaps: it starts with the pinned sessions, followed by the others, most recently active first.
 * Source: SPEC PG75.
 */

import type { SessionPage, SessionSummary } from "../../shared/protocol/http-body.ts"

export interface LoadedSessions extends SessionPage {
  /** The `active` value of the newest unpinned session when the first page was last loaded. */
  readonly newest: number
}

export const NO_SESSIONS: LoadedSessions = { sessions: [], next: null, newest: Number.NEGATIVE_INFINITY }

/**
 * Puts a new first page in front of the loaded sessions. Loaded sessions that this page should contain but doesn't were
 * deleted, archived or unpinned, so they are dropped.
 */
export function mergeFirstPage(loaded: LoadedSessions, page: SessionPage): LoadedSessions {
  const last = page.sessions.at(-1)?.active ?? Number.NEGATIVE_INFINITY
  // Pinned sessions come first, however old they are.
  const newest = page.sessions.find(({ pinned }) => !pinned)?.active ?? Number.NEGATIVE_INFINITY
  // Otherwise, there may be sessions between the new page and the loaded list that were never loaded.
  const isContiguous = page.next !== null && last <= loaded.newest
  const older = isContiguous
    ? withoutListed(loaded.sessions, page).filter(({ active, pinned }) => active <= last && !pinned)
    : []
  return { sessions: [...page.sessions, ...older], next: older.length === 0 ? page.next : loaded.next, newest }
}

/** Adds the page that was requested with `loaded.next`. */
export function appendPage(loaded: LoadedSessions, page: SessionPage): LoadedSessions {
  return { ...loaded, sessions: [...withoutListed(loaded.sessions, page), ...page.sessions], next: page.next }
}

function withoutListed(sessions: readonly SessionSummary[], page: SessionPage): readonly SessionSummary[] {
  const listed = new Set(page.sessions.map(({ id }) => id))
  return sessions.filter(({ id }) => !listed.has(id))
}
