/** erase-data.ts: erases the sessions of one user, and counts them. */

import type { Tally } from "../../shared/protocol/http-body.ts"
import type { Env } from "../env.ts"
import { mediaBucket } from "../platform/media-bucket.ts"
import type { SessionOwner } from "../platform/rpc/claims.ts"
import { directoryStub, sessionStub } from "../platform/rpc/object-stubs.ts"
import { deleteWholePrefix, measurePrefix } from "./archive-files.ts"
import { type Job, NO_TALLY } from "./job-rows.ts"
import { addTally, type LeavingHost } from "./leaving-host.ts"
import { walkSessionGroup } from "./session-group.ts"

/**
 * Part of an erasure's progress: the session that is being erased, with its tally. The session's content is counted
 * before the erasure and added to the job's tally afterwards, so that a killed process counts nothing twice and misses
 * nothing.
 */
export interface ErasureCount {
  readonly counted?: { readonly session: string; readonly tally: Tally } | undefined
}

/**
 * Erases up to `limit` sessions of a user, with the sessions of the agents that were asked in them. Returns the job's
 * tally and the number of sessions that were listed. Can be repeated, because a session is removed from the list last.
 * The job's progress is stored before each session is erased.
 */
export async function eraseSessions(
  { env, rows, now }: LeavingHost,
  job: Job,
  owner: SessionOwner,
  limit: number,
): Promise<{ readonly listed: number; readonly tally: Tally }> {
  const directory = directoryStub(env, owner)
  const entries = await directory.listEntries(null, limit)
  const progress = job.progress as ErasureCount
  let { tally } = job
  let { counted } = progress
  for (const { id: session } of entries) {
    if (counted?.session !== session) {
      // If another session was counted, an earlier process was killed after erasing it.
      tally = addTally(tally, counted?.tally ?? NO_TALLY)
      counted = { session, tally: await countGroup(env, owner, session) }
      rows.saveProgress(job.id, { progress: { ...progress, counted }, tally, due: job.due, updated: now() })
    }
    await eraseGroup(env, owner, session)
    await directory.removeSession(session)
    tally = addTally(tally, counted.tally)
    counted = undefined
  }
  return { listed: entries.length, tally: addTally(tally, counted?.tally ?? NO_TALLY) }
}

/** Counts the content of a user's session, including its agents' sessions. */
async function countGroup(env: Env, owner: SessionOwner, root: string): Promise<Tally> {
  let tally = NO_TALLY
  for await (const { id } of walkSessionGroup(env, owner, root)) {
    const { objects: files, bytes } = await measurePrefix(mediaBucket(env, owner.tenant), `${owner.tenant}/${id}/`)
    tally = addTally(tally, { [id === root ? "sessions" : "agent_sessions"]: 1, files, bytes })
  }
  return tally
}

async function eraseGroup(env: Env, owner: SessionOwner, root: string): Promise<void> {
  const { tenant } = owner
  const group: string[] = []
  for await (const { id } of walkSessionGroup(env, owner, root)) group.push(id)
  // The user's session is erased last, because a retry finds the other sessions through it.
  for (const id of group.reverse()) {
    await deleteWholePrefix(mediaBucket(env, tenant), `${tenant}/${id}/`)
    await sessionStub(env, tenant, id).erase(owner, true)
  }
}
