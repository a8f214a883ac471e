/**
 * revocation.ts: which of a user's tokens are revoked, and what the Worker remembers of it.
 *
 * directory → REVOKED → guard, sockets
 * One small value says it for one user, so it is handed on whole, and the newest one holds.
 */

import { TOKEN_TRUST_MS } from "../../shared/limits.ts"
import type { Claims } from "./verify-token.ts"

export interface RevocationState {
  /** Grows with every revocation. */
  readonly n: number
  /** Ids (`jti`) of tokens that were revoked one by one. */
  readonly tokens: readonly string[]
  /** Every token issued up to then is revoked; seconds since 1970, null where that never happened. */
  readonly upTo: number | null
}

export const NO_REVOCATIONS: RevocationState = { n: 0, tokens: [], upTo: null }

/** A token that does not say when it was issued counts as issued long ago. */
export function isRevoked(claims: Claims, revoked: RevocationState): boolean {
  return isRevokedWithAll(claims, revoked) || (claims.token !== null && revoked.tokens.includes(claims.token))
}

/** Whether this token was revoked with all others of its user. */
export function isRevokedWithAll({ issued }: Claims, { upTo }: RevocationState): boolean {
  // Not `issued <= upTo`: where `issued` is no number the token is revoked too.
  return upTo !== null && !(issued > upTo)
}

/** Users that one isolate remembers. */
const MAX_CACHED_USERS = 1_000

export interface RevocationCache {
  /** What `ask` said, at most REVOCATION_MS ago. `who` names tenant and user. */
  getOrFetch(userKey: string, now: number, fetchState: () => Promise<RevocationState>): Promise<RevocationState>
  delete(userKey: string): void
}

/** Answers are shared between requests, questions are not: the platform ties those to the request that asked. */
export function createRevocationCache(maxUsers = MAX_CACHED_USERS): RevocationCache {
  const entries = new Map<string, { readonly at: number; readonly revoked: RevocationState }>()
  return {
    async getOrFetch(userKey, now, fetchState) {
      const cached = entries.get(userKey)
      // A clock that was set back makes it old, not new.
      if (cached !== undefined && cached.at <= now && now - cached.at < TOKEN_TRUST_MS) return cached.revoked
      const revoked = await fetchState()
      entries.delete(userKey)
      entries.set(userKey, { at: now, revoked })
      for (const oldest of entries.keys()) {
        if (entries.size <= maxUsers) break
        entries.delete(oldest)
      }
      return revoked
    },
    delete(userKey) {
      entries.delete(userKey)
    },
  }
}
