/**
 * revocation-push.ts: the sessions that may hold sockets of a user are told what was revoked.
 *
 * directory → TELL → session → its sockets
 * Whoever was told is written down; whoever was not stays as it was, for the directory's alarm.
 */

import type { Env } from "../env.ts"
import type { SocketHolder, RevocationRows } from "./revocation-rows.ts"
import type { RevocationState } from "./revocation.ts"
import { createSessionStub } from "./session-stub.ts"

/** A session that does not answer for so long was not told, in milliseconds. */
const PUSH_TIMEOUT_MS = 5_000

/** Sessions that are told at once: more would only wait for each other. */
const MAX_CONCURRENT_PUSHES = 50

/** Tells every holder that does not know the newest revocations, each once. Never rejects for a session's sake. */
export async function pushRevocations(env: Env, ledger: RevocationRows, revoked: RevocationState): Promise<void> {
  const holders = ledger.listUnnotifiedHolders(revoked.n)
  for (let at = 0; at < holders.length; at += MAX_CONCURRENT_PUSHES) {
    await Promise.all(
      holders.slice(at, at + MAX_CONCURRENT_PUSHES).map((holder) => pushToHolder(env, ledger, revoked, holder)),
    )
  }
}

async function pushToHolder(
  env: Env,
  ledger: RevocationRows,
  revoked: RevocationState,
  { session, tenant, user }: SocketHolder,
): Promise<void> {
  try {
    await withTimeout(createSessionStub(env, tenant, session).revoke({ tenant, user }, revoked), PUSH_TIMEOUT_MS)
    ledger.markNotified(session, revoked.n)
  } catch (error) {
    console.error(JSON.stringify({ event: "revocation_not_told", session, message: String(error) }))
  }
}

/** Rejects where nothing came for so long; what comes later is dropped. */
async function withTimeout(work: Promise<unknown>, ms: number): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no answer in ${ms} ms`)), ms)
  await Promise.race([work, late]).finally(() => clearTimeout(timer))
}
