/**
 * revocation.ts: which of a user's tokens are revoked, and what the Worker remembers of it.
 *
 * directory → REVOKED → guard, sockets
 * One small value says it for one user, so it is handed on whole, and the newest one holds.
 */

import { REVOCATION_MS } from "../../shared/limits.ts"
import type { Claims } from "./verify-token.ts"

export interface Revoked {
  /** Grows with every revocation. */
  readonly n: number
  /** Ids (`jti`) of tokens that were revoked one by one. */
  readonly tokens: readonly string[]
  /** Every token issued up to then is revoked; seconds since 1970, null where that never happened. */
  readonly upTo: number | null
}

export const NOTHING_REVOKED: Revoked = { n: 0, tokens: [], upTo: null }

/** A token that does not say when it was issued counts as issued long ago. */
export function isRevoked(claims: Claims, revoked: Revoked): boolean {
  return isCovered(claims, revoked) || (claims.token !== null && revoked.tokens.includes(claims.token))
}

/** Whether this token was revoked with all others of its user. */
export function isCovered({ issued }: Claims, { upTo }: Revoked): boolean {
  // Not `issued <= upTo`: where `issued` is no number the token is revoked too.
  return upTo !== null && !(issued > upTo)
}

/** Users that one isolate remembers. */
const MAX_REMEMBERED = 1_000

export interface RevokedMemory {
  /** What `ask` said, at most REVOCATION_MS ago. `who` names tenant and user. */
  of(who: string, now: number, ask: () => Promise<Revoked>): Promise<Revoked>
  forget(who: string): void
}

/** Answers are shared between requests, questions are not: the platform ties those to the request that asked. */
export function createRevokedMemory(max = MAX_REMEMBERED): RevokedMemory {
  const known = new Map<string, { readonly at: number; readonly revoked: Revoked }>()
  return {
    async of(who, now, ask) {
      const held = known.get(who)
      // A clock that was set back makes it old, not new.
      if (held !== undefined && held.at <= now && now - held.at < REVOCATION_MS) return held.revoked
      const revoked = await ask()
      known.delete(who)
      known.set(who, { at: now, revoked })
      for (const oldest of known.keys()) {
        if (known.size <= max) break
        known.delete(oldest)
      }
      return revoked
    },
    forget(who) {
      known.delete(who)
    },
  }
}
