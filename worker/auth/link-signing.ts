/**
 * link-signing.ts: addresses that are good for a while: who may fetch which file, document or remote address.
 *
 * sign route → MEDIA KEYS → token in a URL → MEDIA KEYS → serving route
 * HS256 JWTs through jose, with a key derived from the deployment's secret: no token of a user passes for one of these,
 * nor one of these for a user's. The audience says what it opens.
 */

import { errors, jwtVerify, SignJWT } from "jose"
import * as v from "valibot"
import { idSchema } from "../../shared/protocol/event.ts"
import { fail, type Result, succeed } from "../../shared/fault.ts"
import { SIGNED_URL_SECONDS, SIGNED_URL_STEP_SECONDS } from "../../shared/limits.ts"
import { deriveKey } from "./verify-token.ts"

/** What a signed address opens: a file, a canvas document, or something elsewhere. */
export type LinkAudience = "media" | "canvas" | "remote"

export interface LinkClaims {
  readonly tenant: string
  readonly session: string
  /** The asset's id; in the audience `remote` the address. */
  readonly what: string
  /** Seconds since 1970. */
  readonly expires: number
}

const payloadSchema = v.object({ tenant: idSchema, session: idSchema, sub: v.string(), exp: v.number() })

/** When what is signed now ends, in seconds since 1970: the same for a while, so that the same address is the same token. */
export function computeLinkExpiry(nowMs: number): number {
  const step = SIGNED_URL_STEP_SECONDS
  return Math.floor(nowMs / 1000 / step) * step + SIGNED_URL_SECONDS
}

/** Signs what `claims` names. The same claims, the same token. */
export async function signLink(secret: string, audience: LinkAudience, claims: LinkClaims): Promise<string> {
  const { tenant, session, what, expires } = claims
  return await new SignJWT({ tenant, session })
    .setProtectedHeader({ alg: "HS256" })
    .setAudience(audience)
    .setSubject(what)
    .setExpirationTime(expires)
    .sign(await deriveKey(secret, "media"))
}

/**
 * Shapes  token → claims.
 * Errors  `link_expired`; `link_invalid` for any other fault, also another audience.
 */
export async function verifyLink(
  secret: string,
  audience: LinkAudience,
  token: string,
  nowMs: number,
): Promise<Result<LinkClaims>> {
  try {
    const { payload } = await jwtVerify(token, await deriveKey(secret, "media"), {
      algorithms: ["HS256"],
      audience,
      currentDate: new Date(nowMs),
      requiredClaims: ["exp", "sub"],
    })
    const parsed = v.safeParse(payloadSchema, payload)
    if (!parsed.success) return fail({ reason: "link_invalid" })
    const { tenant, session, sub, exp } = parsed.output
    return succeed({ tenant, session, what: sub, expires: exp })
  } catch (error) {
    return fail({ reason: error instanceof errors.JWTExpired ? "link_expired" : "link_invalid" })
  }
}
