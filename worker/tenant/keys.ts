/**
 * keys.ts: who is asking: signed tokens in, claims out.
 *
 * request → KEYS → claims → session, directory
 * HS256 JWTs through jose, the algorithm pinned. The claims `tenant`, `sub` (user) and `exp` are required.
 */

import { errors, jwtVerify, SignJWT } from "jose"
import * as v from "valibot"
import { idSchema } from "../../shared/event.ts"
import { fail, type Result, succeed } from "../../shared/fault.ts"
import { parseJson } from "../../shared/frame.ts"

export interface Claims {
  readonly tenant: string
  readonly user: string
  /** Seconds since 1970. */
  readonly expires: number
}

const payloadSchema = v.object({ tenant: idSchema, sub: idSchema, exp: v.number() })
const claimsSchema = v.object({ tenant: idSchema, user: idSchema, expires: v.number() })

/** Header in which the Worker hands verified claims to an object; one from outside is thrown away. */
export const CLAIMS_HEADER = "x-cuecard-claims"

/** Clocks of those who sign may be so far ahead or behind, in seconds. */
const CLOCK_TOLERANCE_SECONDS = 5

function keyOf(secret: string): Uint8Array {
  return new TextEncoder().encode(secret)
}

/**
 * Shapes  token → claims.
 * Errors  `token_expired`; `token_invalid` for a wrong signature, algorithm, shape or id.
 */
export async function verifyToken(token: string, secret: string, now: number): Promise<Result<Claims>> {
  try {
    const { payload } = await jwtVerify(token, keyOf(secret), {
      ...{ algorithms: ["HS256"], clockTolerance: CLOCK_TOLERANCE_SECONDS, currentDate: new Date(now) },
      requiredClaims: ["tenant", "sub", "exp"],
    })
    const parsed = v.safeParse(payloadSchema, payload)
    if (!parsed.success) return fail({ reason: "token_invalid" })
    const { tenant, sub, exp } = parsed.output
    return succeed({ tenant, user: sub, expires: exp })
  } catch (error) {
    return fail({ reason: error instanceof errors.JWTExpired ? "token_expired" : "token_invalid" })
  }
}

/** Signs a token. Lifetime ends at `claims.expires`. */
export function issueToken(claims: Claims, secret: string): Promise<string> {
  return new SignJWT({ tenant: claims.tenant })
    .setProtectedHeader({ alg: "HS256" })
    .setSubject(claims.user)
    .setExpirationTime(claims.expires)
    .sign(keyOf(secret))
}

/** The claims that the Worker verified and passed on with a request; null where there are none. */
export function claimsFrom(request: Request): Claims | null {
  const parsed = v.safeParse(claimsSchema, parseJson(request.headers.get(CLAIMS_HEADER) ?? ""))
  return parsed.success ? parsed.output : null
}
