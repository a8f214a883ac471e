/**
 * revocation.ts: checks tokens against the revocation state of their user.
 *
 * The state is small, so it is always passed whole, and a newer state replaces an older one.
 */

import { TOKEN_TRUST_MS } from "../../shared/limits.ts"
import type { Claims } from "../platform/rpc/claims.ts"
import type { RevocationState } from "../platform/rpc/directory-rpc.ts"
import { FreshCache } from "../platform/fresh-cache.ts"

/**
 * Maximum number of a user's unexpired tokens that can be revoked individually. Once MAX_REVOKED_LIMITED_TOKENS are
 * revoked, tokens of a narrower scope can no longer revoke tokens. The list is limited because every check reads it.
 * SPEC AU14.
 */
export const MAX_REVOKED_TOKENS = 1_000
export const MAX_REVOKED_LIMITED_TOKENS = 800

export const NO_REVOCATIONS: RevocationState = { n: 0, tokens: [], upTo: null }

/** Whether a token is revoked: individually, with its sign-in, or together with all tokens of its user. */
export function isRevoked(claims: Claims, revoked: RevocationState): boolean {
  const { token, login } = claims
  const isListed = (id: string): boolean => revoked.tokens.includes(id)
  return (
    isIssuedBeforeCutoff(claims, revoked) ||
    (token !== null && isListed(token)) ||
    (login !== undefined && isListed(login))
  )
}

/** Returns the reason to refuse a request with this token; null if there is none. */
export function findTokenFault(claims: Claims, revoked: RevocationState): TokenFault | null {
  if (revoked.suspended === true) return { reason: "user_suspended" }
  return isRevoked(claims, revoked) ? { reason: "token_revoked" } : null
}

type TokenFault = { readonly reason: "user_suspended" | "token_revoked" }

/**
 * Whether a token was issued before all tokens of its user were revoked. A token without `iat` is treated as issued
 * before the revocation.
 */
export function isIssuedBeforeCutoff({ issued }: Pick<Claims, "issued">, { upTo }: RevocationState): boolean {
  // Not `issued <= upTo`: a token whose `issued` is NaN is revoked too.
  return upTo !== null && !(issued > upTo)
}

/** Maximum number of users whose revocation state an isolate caches. */
const MAX_CACHED_USERS = 1_000

/** Creates a cache of revocation states, keyed by `userKey`. */
export function createRevocationCache(maxUsers = MAX_CACHED_USERS): FreshCache<RevocationState> {
  return new FreshCache(TOKEN_TRUST_MS, maxUsers)
}
