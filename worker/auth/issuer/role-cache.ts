/** role-cache.ts: a short-lived cache of the stored roles of issuers' users. */

import { SOCKET_REGISTER_MS, TOKEN_TRUST_MS } from "../../../shared/limits.ts"
import { FreshCache } from "../../platform/fresh-cache.ts"
import type { Role, SessionOwner } from "../../platform/rpc/claims.ts"
import { userKey } from "../../platform/rpc/object-stubs.ts"

/** Maximum number of users that an isolate caches. */
const MAX_CACHED_USERS = 2_000

/**
 * How long a cached role is trusted, in milliseconds. A socket that opens with a stored role is checked again at most 2
 * × SOCKET_REGISTER_MS later, so the total stays within TOKEN_TRUST_MS (access/authorize.ts).
 */
const ROLE_TRUST_MS = TOKEN_TRUST_MS - 2 * SOCKET_REGISTER_MS

const roleCache = new FreshCache<Role>(ROLE_TRUST_MS, MAX_CACHED_USERS)

export function getCachedRole(user: SessionOwner, now: number): Role | undefined {
  return roleCache.get(userKey(user), now)
}

export function cacheRole(user: SessionOwner, role: Role, now: number): void {
  roleCache.set(userKey(user), role, now)
}

/** Makes a change to a user's role effective at once in this isolate. */
export function clearCachedRole(user: SessionOwner): void {
  roleCache.delete(userKey(user))
}
