/** request-actor.ts: who makes a request, as the audit log records it. */

import type { Context } from "hono"
import type { Actor } from "../../platform/rpc/actor.ts"
import type { Claims } from "../../platform/rpc/claims.ts"
import type { AppEnv } from "../request-body.ts"

/** Who makes a request that `authorize` admitted. Only a request with the operator's secret has no claims. */
export function readActor(context: Context<AppEnv>): Actor {
  const claims = context.get("claims") as Claims | undefined
  if (claims === undefined) return { kind: "operator", id: "", address: null }
  const { key, user } = claims
  return key === undefined ? { kind: "user", id: user, address: null } : { kind: "key", id: key, address: null }
}
