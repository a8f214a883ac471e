/**
 * session-pages.ts: joins pages of the session list into the list that has been loaded. Pure.
 *
 * The loaded list is a range without gaps, from the newest activity on. Source: SPEC PG75.
 */

import type { SessionPage, SessionSummary } from "../../shared/protocol/http-body.ts"

export interface LoadedSessions extends SessionPage {
  /** `active` of the newest session when the first page was last loaded. */
  readonly newest: number
}

export const NO_SESSIONS: LoadedSessions = { sessions: [], next: null, newest: Number.NEGATIVE_INFINITY }

/** Puts a new first page in front. Loaded sessions that it should contain but doesn't were deleted. */
export function mergeFirstPage(loaded: LoadedSessions, page: SessionPage): LoadedSessions {
  const last = page.sessions.at(-1)?.active ?? Number.NEGATIVE_INFINITY
  const newest = page.sessions[0]?.active ?? Number.NEGATIVE_INFINITY
  // Otherwise there may be sessions between the two that were never loaded.
  const isContiguous = page.next !== null && last <= loaded.newest
  const older = isContiguous ? withoutListed(loaded.sessions, page).filter(({ active }) => active <= last) : []
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
