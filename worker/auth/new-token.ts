/** new-token.ts: issues all of the server's tokens. Each is signed with the newest token key of its tenant. */

import { nanoid } from "nanoid"
import type { Env } from "../env.ts"
import type { Claims } from "../platform/rpc/claims.ts"
import { getTenantAccess } from "./tenant-access-cache.ts"
import { issueToken } from "./verify-token.ts"

export type NewToken = Pick<Claims, "tenant" | "user" | "scope" | "session" | "role" | "login">

export interface IssuedToken {
  readonly token: string
  /** Seconds since 1970. */
  readonly expires: number
}

/**
 * Issues a token that is valid for `seconds`. `asOf` is the time, in milliseconds since 1970, when the caller began to
 * read the data in the token, such as the user's role. A revocation after that time also revokes the token. Cost: a
 * request to the tenant's object, whose response is cached.
 */
export async function issueNewToken(env: Env, claims: NewToken, seconds: number, asOf: number): Promise<IssuedToken> {
  const { newestTokenKey } = await getTenantAccess(env, claims.tenant)
  // `iat` keeps its fraction, because a token issued just after a revocation must not look as if it was issued before
  // the revocation.
  const issued = asOf / 1000
  const expires = Math.floor(issued) + seconds
  const issuedClaims = { ...claims, expires, token: nanoid(), issued, generation: newestTokenKey }
  return { token: await issueToken(issuedClaims, env.JWT_SECRET ?? ""), expires }
}
