/**
 * organize-sessions.ts: changes one or more sessions. A change is shown at once, saved with POST /v1/sessions/bulk, and
 * undone if the server refuses it.
 *
 * After that, other tabs of the browser reload the list. Source: SPEC LB21, LB22, LB26.
 */

import type { BulkResult, SessionSummary } from "../../../shared/protocol/http-body.ts"
import { createParser, hasShape, isBoolean, isListOf, isString } from "../../../shared/protocol/shape-check.ts"
import { MAX_BULK_SESSIONS } from "../../../shared/user-limits.ts"
import { createJsonRequest, describeError, parseBody, RequestError } from "../../net/http-request.ts"
import { formatTitle } from "../../session/session-list.ts"
import type { SessionRouter } from "../../session/session-router.ts"
import { organizingText } from "../../words/parts/organizing-text.ts"
import { listChangesOf } from "./list-changes.ts"

export type OrganizeAction =
  | { readonly action: "archive" | "unarchive" | "pin" | "unpin" | "read" | "unread" | "delete" | "restore" }
  | { readonly action: "move"; readonly folder: string | null }

const parseResults = createParser<{ readonly results: readonly BulkResult[] }>({
  results: isListOf(hasShape({ id: isString, ok: isBoolean })),
})

/** How long a notice with the undo button is shown, in milliseconds. The server can undo a deletion for 30 seconds. */
const UNDO_NOTICE_MS = 20_000

const channel = typeof BroadcastChannel === "function" ? new BroadcastChannel("cuecard.list") : null

/** Calls `reload` when another tab has changed sessions or folders. Returns a function that stops this. */
export function watchOtherTabs(reload: () => void): () => void {
  channel?.addEventListener("message", reload)
  return () => channel?.removeEventListener("message", reload)
}

/** Tells the other tabs that sessions or folders have changed. */
export function tellOtherTabs(): void {
  channel?.postMessage("changed")
}

/** Changes sessions. Returns whether all of them were changed. A failure is shown to the user. */
export async function organizeSessions(
  router: SessionRouter,
  ids: readonly string[],
  action: OrganizeAction,
): Promise<boolean> {
  const { sessionList } = router
  let failure: BulkFailure | null = null
  try {
    await listChangesOf(sessionList).changeSessions(new Set(ids), toRowChange(action), async () => {
      failure = await saveChange(router, ids, action)
      return failure.ids
    })
  } catch (error) {
    sessionList.showNotice(organizingText.changeFailed(describeError(error)), true)
    return false
  }
  tellOtherTabs()
  return failure === null || reportFailure(router, ids.length, failure)
}

interface BulkFailure {
  readonly ids: ReadonlySet<string>
  /** The error of the first session that could not be changed; null if all were changed. */
  readonly error: RequestError | null
}

function reportFailure({ sessionList }: SessionRouter, count: number, { ids, error }: BulkFailure): boolean {
  if (error === null) return true
  const reason = describeError(error)
  const text = count === 1 ? organizingText.changeFailed(reason) : organizingText.someFailed(ids.size, reason)
  sessionList.showNotice(text, true)
  return false
}

async function saveChange(
  { api }: SessionRouter,
  ids: readonly string[],
  action: OrganizeAction,
): Promise<BulkFailure> {
  const failed: Extract<BulkResult, { ok: false }>[] = []
  for (let start = 0; start < ids.length; start += MAX_BULK_SESSIONS) {
    const body = { ids: ids.slice(start, start + MAX_BULK_SESSIONS), ...action, undo: action.action === "delete" }
    const response = await api.fetchAuthorized("/v1/sessions/bulk", createJsonRequest("POST", body))
    for (const result of (await parseBody(response, parseResults)).results) if (!result.ok) failed.push(result)
  }
  // If another tab has already deleted a session, its deletion is treated as successful.
  const unsaved = failed.filter(({ code }) => action.action !== "delete" || code !== "session_unknown")
  const [first] = unsaved
  const error = first === undefined ? null : new RequestError(409, first.text, first.code)
  return { ids: new Set(unsaved.map(({ id }) => id)), error }
}

/** Returns the change to the list's entries; null if the sessions disappear from the list. */
function toRowChange(action: OrganizeAction): Partial<SessionSummary> | null {
  switch (action.action) {
    case "archive":
    case "delete":
      return null
    case "pin":
      return { pinned: true }
    case "unpin":
      return { pinned: undefined }
    case "read":
      return { unread: undefined }
    case "unread":
      return { unread: true }
    case "move":
      return { folder: action.folder ?? undefined }
    case "unarchive":
    case "restore":
      return {}
  }
}

/** Archives sessions, and offers to undo this. */
export function archiveSessions(router: SessionRouter, ids: readonly string[]): void {
  const rows = findRows(router, ids)
  // Created before the rows disappear from the list, because the text may contain a title.
  const text = nameSessions(router, ids, organizingText.archived, organizingText.archivedMany)
  const saved = organizeSessions(router, ids, { action: "archive" })
  showUndo(router, text, async () => {
    if (await saved) await relistSessions(router, ids, rows, "unarchive")
  })
}

/**
 * Deletes sessions, and offers to undo this. The server erases them later, even if the page is closed. An open session
 * is closed, and its draft and unsent messages are dropped; undoing the deletion restores the draft.
 */
export function deleteSessions(router: SessionRouter, ids: readonly string[]): void {
  const openId = router.controller.peek()?.id ?? ""
  const rows = findRows(router, ids)
  const text = nameSessions(router, ids, organizingText.deleted, organizingText.deletedMany)
  for (const id of ids) router.closeSession(id)
  const restoreDrafts: (() => void)[] = []
  const saved = organizeSessions(router, ids, { action: "delete" }).then((isSaved) => {
    if (isSaved) restoreDrafts.push(...ids.map((id) => router.forgetStored(id)))
    return isSaved
  })
  showUndo(router, text, async () => {
    if (!(await saved) || !(await relistSessions(router, ids, rows, "restore"))) return
    for (const restoreDraft of restoreDrafts) restoreDraft()
    // The user may have opened another session in the meantime.
    if (ids.includes(openId) && router.controller.peek() === null) router.showSession(openId)
  })
}

async function relistSessions(
  router: SessionRouter,
  ids: readonly string[],
  rows: readonly SessionSummary[],
  action: "unarchive" | "restore",
): Promise<boolean> {
  listChangesOf(router.sessionList).relistSessions(rows)
  const isRestored = await organizeSessions(router, ids, { action })
  // After a failure, the server's list shows which sessions were restored.
  void router.sessionList.refresh()
  return isRestored
}

function showUndo({ sessionList }: SessionRouter, text: string, undo: () => Promise<void>): void {
  const run = (): void => {
    sessionList.dismissNotice()
    void undo()
  }
  const action = { label: organizingText.undo, run }
  const notice = { text, isFault: false, isSticky: true, action }
  sessionList.notice.value = notice
  setTimeout(() => {
    if (sessionList.notice.peek() === notice) sessionList.dismissNotice()
  }, UNDO_NOTICE_MS)
}

function findRows({ sessionList }: SessionRouter, ids: readonly string[]): readonly SessionSummary[] {
  return sessionList.sessions.peek().filter(({ id }) => ids.includes(id))
}

function nameSessions(
  { sessionList }: SessionRouter,
  ids: readonly string[],
  nameOne: (title: string) => string,
  nameMany: (count: number) => string,
): string {
  const [id = ""] = ids
  return ids.length === 1 ? nameOne(formatTitle(sessionList.findTitle(id))) : nameMany(ids.length)
}
