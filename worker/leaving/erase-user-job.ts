/**
 * erase-user-job.ts: erases a user: sessions, directory, and the row in the tenant object.
 *
 * refuse all tokens ▶ erase sessions ▶ wait until no isolate trusts a token ▶ erase new sessions ▶ tombstone
 */

import { BODY_MS, TOKEN_TRUST_MS } from "../../shared/limits.ts"
import { SYSTEM_ACTOR } from "../platform/rpc/actor.ts"
import type { Env } from "../env.ts"
import type { SessionOwner } from "../platform/rpc/claims.ts"
import { createPrivateKey } from "../platform/session-key.ts"
import { directoryStub, sessionStub } from "../platform/rpc/object-stubs.ts"
import { type ErasureCount, eraseSessions } from "./erase-data.ts"
import { deleteAllTransferFiles } from "./export-files.ts"
import type { Job } from "./job-rows.ts"
import { addTally, type LeavingHost, type SliceResult } from "./leaving-host.ts"

const SESSIONS_PER_SLICE = 25

/**
 * How much longer a request that was admitted at the last moment can take, in milliseconds: first for its body, and
 * then for its work or the registration of its socket.
 */
export const REQUEST_MS = BODY_MS + 10_000

interface ErasureProgress extends ErasureCount {
  /** When all tokens were refused, in milliseconds since 1970; absent before that. */
  readonly refusedAt?: number
  /** The name of the user's usage ledger, once all usage was reported. `endErasure` deletes it from the directory. */
  readonly ledger?: string | null
}

export async function runEraseUserSlice(host: LeavingHost, job: Job): Promise<SliceResult> {
  const { env, rows, content, storage, now } = host
  const { tenant, target: user } = job
  const owner = { tenant, user }
  const { refusedAt, ledger: knownLedger } = job.progress as ErasureProgress
  const directory = directoryStub(env, owner)
  if (refusedAt === undefined) {
    await directory.beginErasure()
    // Archives contain the user's conversations and cannot be rewritten. The archives' rows were deleted when the
    // erasure was requested.
    await deleteAllTransferFiles(host, tenant)
    return { isDone: false, progress: { refusedAt: now() } satisfies ErasureProgress, tally: job.tally, due: now() }
  }
  const { listed, tally: total } = await eraseSessions(host, job, owner, SESSIONS_PER_SLICE)
  const next: ErasureProgress = knownLedger === undefined ? { refusedAt } : { refusedAt, ledger: knownLedger }
  if (listed > 0) return { isDone: false, progress: next, tally: total, due: now() }
  const settledAt = refusedAt + TOKEN_TRUST_MS + REQUEST_MS
  if (now() < settledAt) return { isDone: false, progress: next, tally: total, due: settledAt }
  await eraseShares(env, owner)
  // A slow upload may have stored a file of an import that was cancelled.
  await deleteAllTransferFiles(host, tenant)
  // The user's spending remains in the tenant's totals, without the user's name. A retry makes this call again, because
  // usage may have been reported since.
  const ledger = (await directory.closeUsage()) ?? knownLedger ?? null
  // Saved before `endErasure` deletes the ledger, because another process could not find it after that.
  rows.saveProgress(job.id, { progress: { refusedAt, ledger }, tally: total, due: now(), updated: now() })
  await directory.endErasure(true)
  storage.transactionSync(() => {
    const erased = addTally(total, { users: content.findUser(user) === null ? 0 : 1 })
    content.removeUser(user, ledger)
    content.record(SYSTEM_ACTOR, "user.erased", user, { ...erased })
    rows.saveProgress(job.id, { progress: next, tally: erased, due: now(), updated: now() })
  })
  return { isDone: true }
}

/** Number of shared sessions per request to the directory. */
const SHARES_PER_PAGE = 100

/** Removes the user from the sessions that others share with the user. Can be repeated. */
async function eraseShares(env: Env, { tenant, user }: SessionOwner): Promise<void> {
  const directory = directoryStub(env, { tenant, user })
  for (;;) {
    const shares = await directory.listShared(SHARES_PER_PAGE)
    for (const { owner, id } of shares) {
      // Only the objects themselves can tell whether the session's key is its public id or a private key.
      for (const key of [id, createPrivateKey(id, owner)])
        await sessionStub(env, tenant, key).removeViewer({ tenant, user: owner }, user)
      await directory.removeShared(owner, id)
    }
    if (shares.length < SHARES_PER_PAGE) return
  }
}
