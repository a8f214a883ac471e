/** erase-data.ts: erases the sessions of one user. */

import type { Env } from "../env.ts"
import { mediaBucket } from "../platform/media-bucket.ts"
import type { SessionOwner } from "../platform/rpc/claims.ts"
import { directoryStub, sessionStub } from "../platform/rpc/object-stubs.ts"
import type { Tally } from "../../shared/protocol/http-body.ts"
import { deletePrefix } from "./archive-files.ts"
import { NO_TALLY } from "./job-rows.ts"
import { addTally } from "./leaving-host.ts"
import { walkSessionGroup } from "./session-group.ts"

/**
 * Erases up to `limit` sessions of a user, with the sessions of the agents that were asked in them. Returns what is gone, and
 * how many sessions were listed. Can be repeated: a session leaves the list last.
 */
export async function eraseSessions(
  env: Env,
  owner: SessionOwner,
  limit: number,
): Promise<{ readonly listed: number; readonly tally: Tally }> {
  const directory = directoryStub(env, owner)
  const entries = await directory.listEntries(null, limit)
  let tally = NO_TALLY
  for (const { id } of entries) {
    tally = addTally(tally, await eraseGroup(env, owner, id))
    await directory.removeSession(id)
  }
  return { listed: entries.length, tally }
}

async function eraseGroup(env: Env, owner: SessionOwner, root: string): Promise<Tally> {
  const { tenant } = owner
  const group: string[] = []
  for await (const { id } of walkSessionGroup(env, owner, root)) group.push(id)
  let tally = NO_TALLY
  // The user's session last, because it knows the others: a repeated attempt finds them through it.
  for (const id of group.reverse()) {
    // Counted here; the session's object would delete its files too.
    const prefix = `${tenant}/${id}/`
    for (let isDone = false; !isDone; ) {
      const deleted = await deletePrefix(mediaBucket(env, tenant), prefix)
      tally = addTally(tally, { files: deleted.objects, bytes: deleted.bytes })
      isDone = deleted.isDone
    }
    const erased = await sessionStub(env, tenant, id).erase(owner, true)
    if (erased.ok) tally = addTally(tally, { [id === root ? "sessions" : "agent_sessions"]: 1 })
  }
  return tally
}
