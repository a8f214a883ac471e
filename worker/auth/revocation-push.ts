/**
 * revocation-push.ts: the sessions that may hold sockets of a user are told what was revoked.
 *
 * directory → TELL → session → its sockets
 * Whoever was told is written down; whoever was not stays as it was, for the directory's alarm.
 */

import type { Env } from "../env.ts"
import type { Holder, Ledger } from "./revocation-rows.ts"
import type { Revoked } from "./revocation.ts"

/** A session that does not answer for so long was not told, in milliseconds. */
const TELL_MS = 5_000

/** Sessions that are told at once: more would only wait for each other. */
const TOLD_AT_ONCE = 50

/** Tells every holder that does not know the newest revocations, each once. Never rejects for a session's sake. */
export async function tellHolders(env: Env, ledger: Ledger, revoked: Revoked): Promise<void> {
  const holders = ledger.untold(revoked.n)
  for (let at = 0; at < holders.length; at += TOLD_AT_ONCE) {
    await Promise.all(holders.slice(at, at + TOLD_AT_ONCE).map((holder) => tell(env, ledger, revoked, holder)))
  }
}

async function tell(env: Env, ledger: Ledger, revoked: Revoked, { session, tenant, user }: Holder): Promise<void> {
  try {
    await inTime(env.SESSION.getByName(`${tenant}:${session}`).revoke({ tenant, user }, revoked), TELL_MS)
    ledger.tell(session, revoked.n)
  } catch (error) {
    console.error(JSON.stringify({ event: "revocation_not_told", session, message: String(error) }))
  }
}

/** Rejects where nothing came for so long; what comes later is dropped. */
async function inTime(work: Promise<unknown>, ms: number): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no answer in ${ms} ms`)), ms)
  await Promise.race([work, late]).finally(() => clearTimeout(timer))
}
