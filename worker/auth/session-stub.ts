/** session-stub.ts: the RPC stub of a session object. */

import type { Env } from "../env.ts"

/** Creating a stub neither calls the object nor creates a session. */
export function createSessionStub(env: Env, tenant: string, id: string) {
  return env.SESSION.getByName(`${tenant}:${id}`)
}
