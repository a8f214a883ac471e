/** archived-sessions.ts: loads the archived sessions, page by page. Source: SPEC LB30. */

import type { SessionPage } from "../../../shared/protocol/http-body.ts"
import { parseSessionList } from "../../../shared/protocol/responses.ts"
import { parseBody } from "../../net/http-request.ts"
import type { SessionList } from "../../session/session-list.ts"
import type { SessionRouter } from "../../session/session-router.ts"
import { listChangesOf } from "./list-changes.ts"

/** Maximum number of pages loaded to find a session. */
const MAX_SEARCHED_PAGES = 10

/** Returns the first page of the archive or, if `after` is a page's `next`, the page after it. */
export async function loadArchivedPage(
  { api, sessionList }: SessionRouter,
  after: string | null,
): Promise<SessionPage> {
  const query = after === null ? "" : `&after=${encodeURIComponent(after)}`
  // A conversation that is being archived appears in the response only after that change has been saved.
  await listChangesOf(sessionList).untilSaved()
  const response = await api.fetchAuthorized(`/v1/sessions?archived=1${query}`)
  const { sessions, next = null } = await parseBody(response, parseSessionList)
  const known = new Set(sessions.map(({ id }) => id))
  sessionList.archived.value = [...sessionList.archived.peek().filter(({ id }) => !known.has(id)), ...sessions]
  return { sessions, next }
}

/** Loads pages of the archive until one contains the session, but at most MAX_SEARCHED_PAGES. */
export async function findArchived(router: SessionRouter, id: string): Promise<void> {
  let after: string | null = null
  for (let page = 0; page < MAX_SEARCHED_PAGES && !isArchived(router.sessionList, id); page++) {
    const { next } = await loadArchivedPage(router, after)
    if (next === null) return
    after = next
  }
}

export function isArchived({ archived }: SessionList, id: string): boolean {
  return archived.value.some((row) => row.id === id)
}

/** Called when the user has renamed a session. */
export function retitleArchived({ archived }: SessionList, id: string, title: string): void {
  archived.value = archived.peek().map((row) => (row.id === id ? { ...row, title } : row))
}

/** Called when a session is no longer in the archive. */
export function dropArchived({ archived }: SessionList, id: string): void {
  archived.value = archived.peek().filter((row) => row.id !== id)
}
