/** request-actor.ts: the actor of a request, as the audit log records it. */

import type { Context } from "hono"
import { groupAddress, truncateAddress } from "./client-address.ts"
import type { Actor, Administrator } from "../../platform/rpc/actor.ts"
import { type Claims, getRole } from "../../platform/rpc/claims.ts"
import type { AppEnv } from "../request-body.ts"

/** The header with the client's IP address. The platform sets it, and overwrites any value that a client sends. */
const ADDRESS_HEADER = "cf-connecting-ip"

/**
 * Returns the actor of a request that `authorize` admitted. Only a request with the operator's secret has no claims.
 */
export function readActor(context: Context<AppEnv>): Actor {
  const claims = context.get("claims") as Claims | undefined
  if (claims === undefined) return createActor(context, "operator")
  return claims.key === undefined ? createActor(context, "user", claims.user) : createActor(context, "key", claims.key)
}

/** Like `readActor`, with the role that limits which changes the actor may make. */
export function readAdministrator(context: Context<AppEnv>): Administrator {
  return { actor: readActor(context), role: getRole(context.get("claims")) }
}

/**
 * Creates an actor with the request's address. Used directly by routes outside the access table, such as the sign-in.
 */
export function createActor(context: Context<AppEnv>, kind: Actor["kind"], id = ""): Actor {
  return { kind, id, address: truncateAddress(context.req.header(ADDRESS_HEADER) ?? "") }
}

/** Returns the client's address in the form that limits use as a key; null if the platform provides none. */
export function readLimitAddress(context: Context<AppEnv>): string | null {
  return groupAddress(context.req.header(ADDRESS_HEADER) ?? "")
}
