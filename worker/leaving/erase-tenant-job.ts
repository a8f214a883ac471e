/**
 * erase-tenant-job.ts: erases a tenant after its grace period.
 *
 * refuse everything ▶ wait until no isolate trusts a token ▶ users ▶ bucket ▶ claims ▶ own rows
 * One row remains, which contains the receipt. Because of this row, tokens are refused and the id cannot be used again.
 */

import { TOKEN_TRUST_MS } from "../../shared/limits.ts"
import { SYSTEM_ACTOR } from "../platform/rpc/actor.ts"
import { mediaBucket } from "../platform/media-bucket.ts"
import { directoryStub } from "../platform/rpc/object-stubs.ts"
import { deletePrefix } from "./archive-files.ts"
import { type ErasureCount, eraseSessions } from "./erase-data.ts"
import { removeTransferRows } from "./export-files.ts"
import { REQUEST_MS } from "./erase-user-job.ts"
import type { Tally } from "../../shared/protocol/http-body.ts"
import type { Job } from "./job-rows.ts"
import { jobToReceipt } from "./job-views.ts"
import { addTally, type LeavingHost, type SliceResult } from "./leaving-host.ts"

const SESSIONS_PER_SLICE = 25
const USERS_PER_SLICE = 25

interface ErasureProgress extends ErasureCount {
  readonly step?: "users" | "bucket"
  /** The last user who was erased. */
  readonly user?: string
}

export async function runEraseTenantSlice(host: LeavingHost, job: Job): Promise<SliceResult> {
  const { rows, storage, now } = host
  const progress = job.progress as ErasureProgress
  if (progress.step === "users") return await eraseUsers(host, job, progress)
  if (progress.step === "bucket") return await eraseBucket(host, job, progress)
  storage.transactionSync(() => {
    rows.setStanding({ status: "erased", erases: null, receipt: null })
    // A running import would add data to a tenant that is being erased.
    removeTransferRows(host, SYSTEM_ACTOR)
  })
  const due = now() + TOKEN_TRUST_MS + REQUEST_MS
  return { isDone: false, progress: { step: "users" }, tally: job.tally, due }
}

async function eraseUsers(host: LeavingHost, job: Job, progress: ErasureProgress): Promise<SliceResult> {
  const { env, content, now } = host
  const users = content.listUsers(progress.user ?? null, USERS_PER_SLICE)
  let { user: last } = progress
  let current = job
  let sessionsLeft = SESSIONS_PER_SLICE
  for (const { id: user } of users) {
    const owner = { tenant: job.tenant, user }
    const directory = directoryStub(env, owner)
    await directory.beginErasure()
    const { listed, tally } = await eraseSessions(host, current, owner, sessionsLeft)
    current = continueAfter(current, tally, last)
    sessionsLeft -= listed
    if (sessionsLeft <= 0) break
    // No token of the tenant is accepted any more, so nothing has been added since the sessions were listed.
    await directory.endErasure(false)
    last = user
    current = continueAfter(current, addTally(tally, { users: 1 }), last)
  }
  const step = users.length === 0 ? "bucket" : "users"
  return { isDone: false, progress: { ...(current.progress as object), step }, tally: current.tally, due: now() }
}

/** Returns the state from which the job continues, possibly in another process. */
function continueAfter(job: Job, tally: Tally, user: string | undefined): Job {
  const progress: ErasureProgress = { step: "users", ...(user === undefined ? {} : { user }) }
  return { ...job, tally, progress }
}

async function eraseBucket(host: LeavingHost, job: Job, progress: ErasureProgress): Promise<SliceResult> {
  const { env, storage, rows, content, now } = host
  const { tenant } = job
  const { isDone } = await deletePrefix(mediaBucket(env, tenant), `${tenant}/`)
  if (!isDone) return { isDone: false, progress, tally: job.tally, due: now() }
  await content.releaseClaims()
  const receipt = jobToReceipt({ ...job, state: "done", updated: now() })
  storage.transactionSync(() => {
    content.deleteAllRows()
    rows.setStanding({ status: "erased", erases: null, receipt })
  })
  return { isDone: true }
}
