/**
 * session-sharing.ts: shares a session with users of its tenant, who may then read it.
 *
 * The session's rows decide who may read it. The entries in the users' directories are only for listing and are updated
 * afterwards.
 */

import { type Result, succeed } from "../../shared/fault.ts"
import type { SharedSession } from "../../shared/protocol/http-body.ts"
import type { Env } from "../env.ts"
import { log } from "../platform/log.ts"
import { directoryStub } from "../platform/rpc/object-stubs.ts"
import { keyToPublicId } from "../platform/session-key.ts"
import type { LiveSession } from "./live-session.ts"

/** Shares the session with a user. Returns the entry for that user's list. Errors: `viewers_full`. */
export function addViewer({ row, store }: LiveSession, user: string): Result<SharedSession> {
  const added = store.viewers.add(user, Date.now())
  if (!added.ok) return added
  const title = store.readSession()?.title ?? ""
  return succeed({ id: keyToPublicId(row.id), owner: row.user, title, since: added.value.since })
}

/** Ends the sharing with a user. After this call, nothing more is sent to that user. */
export function removeViewer({ store, sockets }: LiveSession, user: string): Result<null> {
  store.viewers.remove(user)
  sockets.closeViewer(user, { reason: "session_unknown" })
  return succeed(null)
}

/** Updates the title in the lists of all viewers. Never rejects: a list that missed the change shows an old title. */
export async function renameForViewers(env: Env, { row, store }: LiveSession, title: string): Promise<void> {
  const { tenant, user: owner, id } = row
  const renaming = store.viewers
    .list()
    .map(({ user }) => directoryStub(env, { tenant, user }).renameShared(owner, keyToPublicId(id), title))
  await Promise.all(renaming).catch(() => log("touch_failed", { id }))
}

/** Removes the session from the lists of all viewers. Rejects if one cannot be reached; a retry is safe. */
export async function removeFromViewers(env: Env, { row, store }: LiveSession): Promise<void> {
  const { tenant, user: owner, id } = row
  const removing = store.viewers
    .list()
    .map(({ user }) => directoryStub(env, { tenant, user }).removeShared(owner, keyToPublicId(id)))
  await Promise.all(removing)
}
