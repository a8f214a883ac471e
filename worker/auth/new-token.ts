/** new-token.ts: issues all tokens of the server, with the newest token key of their tenant. */

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
 * Issues a token for `seconds`. `asOf`: when the caller began to read the data behind the token, such as the user's role, in milliseconds
 * since 1970. A revocation after that time also revokes the token. Cost: a request to the tenant's object, then
 * cached.
 */
export async function issueNewToken(env: Env, claims: NewToken, seconds: number, asOf: number): Promise<IssuedToken> {
  const { newestTokenKey } = await getTenantAccess(env, claims.tenant)
  // `iat` keeps its fraction: a token issued just after a revocation must not look as if it was issued before it.
  const issued = asOf / 1000
  const expires = Math.floor(issued) + seconds
  const issuedClaims = { ...claims, expires, token: nanoid(), issued, generation: newestTokenKey }
  return { token: await issueToken(issuedClaims, env.JWT_SECRET ?? ""), expires }
}
