/** request-actor.ts: who makes a request, as the audit log records it. */

import type { Context } from "hono"
import type { Actor } from "../../platform/rpc/actor.ts"
import type { Claims } from "../../platform/rpc/claims.ts"
import type { AppEnv } from "../request-body.ts"

/** Who makes a request that `authorize` admitted. Only a request with the operator's secret has no claims. */
export function readActor(context: Context<AppEnv>): Actor {
  const claims = context.get("claims") as Claims | undefined
  if (claims === undefined) return createActor(context, "operator")
  return claims.key === undefined ? createActor(context, "user", claims.user) : createActor(context, "key", claims.key)
}

export function createActor(_context: Context<AppEnv>, kind: Actor["kind"], id = ""): Actor {
  return { kind, id, address: null }
}
