/**
 * revocation-push.ts: tells the sessions that may hold a user's sockets which tokens were revoked.
 *
 * Each successful notification is recorded. The directory's alarm retries the failed ones.
 */

import type { Env } from "../env.ts"
import type { RevocationState } from "../platform/rpc/directory-rpc.ts"
import { describeError, logError } from "../platform/log.ts"
import { sessionStub } from "../platform/rpc/object-stubs.ts"
import { withTimeout } from "../platform/timeout.ts"
import type { RevocationRows, SocketHolder } from "./revocation-rows.ts"

/** How long to wait for a session's response, in milliseconds. After that, the session is treated as not notified. */
const PUSH_TIMEOUT_MS = 5_000

/** Maximum number of sessions that are notified at the same time. */
const MAX_CONCURRENT_PUSHES = 50

/** Sends one notification to each holder that lacks the newest revocations. Does not reject if a notification fails. */
export async function pushRevocations(env: Env, rows: RevocationRows, revoked: RevocationState): Promise<void> {
  const holders = rows.listUnnotifiedHolders(revoked.n)
  for (let start = 0; start < holders.length; start += MAX_CONCURRENT_PUSHES) {
    const batch = holders.slice(start, start + MAX_CONCURRENT_PUSHES)
    await Promise.all(batch.map((holder) => pushToHolder(env, rows, revoked, holder)))
  }
}

async function pushToHolder(
  env: Env,
  rows: RevocationRows,
  revoked: RevocationState,
  { session, tenant, user }: SocketHolder,
): Promise<void> {
  try {
    const revoking = sessionStub(env, tenant, session).revoke({ tenant, user }, revoked)
    await withTimeout(revoking, PUSH_TIMEOUT_MS, () => new Error(`no response within ${PUSH_TIMEOUT_MS} ms`))
    rows.markNotified(session, revoked.n)
  } catch (error) {
    logError("revocation_not_told", { session, error: describeError(error) })
  }
}
