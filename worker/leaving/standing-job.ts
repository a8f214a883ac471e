/**
 * standing-job.ts: makes the sockets of all users reconnect after the tenant's standing has changed, so that sockets
 * and requests have the same rights.
 */

import { directoryStub } from "../platform/rpc/object-stubs.ts"
import type { Job } from "./job-rows.ts"
import type { LeavingHost, SliceResult } from "./leaving-host.ts"

const USERS_PER_SLICE = 50

export async function runStandingSlice({ env, content, now }: LeavingHost, job: Job): Promise<SliceResult> {
  const { user = null } = job.progress as { readonly user?: string }
  const users = content.listUsers(user, USERS_PER_SLICE)
  for (const { id } of users) await directoryStub(env, { tenant: job.tenant, user: id }).closeSockets(job.tenant)
  const last = users.at(-1)
  return last === undefined
    ? { isDone: true }
    : { isDone: false, progress: { user: last.id }, tally: job.tally, due: now() }
}
