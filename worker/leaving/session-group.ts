/** session-group.ts: finds the agent sessions that belong to a user's session. */

import type { Env } from "../env.ts"
import type { SessionOwner } from "../platform/rpc/claims.ts"
import { sessionStub } from "../platform/rpc/object-stubs.ts"
import type { StoredSession } from "../platform/rpc/session-types.ts"

/**
 * Yields a session and all agents' sessions to which it sent questions, directly or through other agents. Skips erased
 * sessions.
 */
export async function* walkSessionGroup(env: Env, owner: SessionOwner, root: string): AsyncGenerator<StoredSession> {
  const known = new Set([root])
  for (const id of known) {
    const described = await sessionStub(env, owner.tenant, id).describe(owner)
    if (!described.ok) continue
    // Iterating over a set includes elements that are added during the iteration.
    for (const { session } of described.value.asks) known.add(session)
    yield described.value
  }
}
