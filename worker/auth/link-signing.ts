/**
 * link-signing.ts: signs and verifies temporary links to assets, canvas documents and remote media.
 *
 * The links contain HS256 JWTs. Their key is derived from the deployment's secret, so a user's token is not valid in a
 * link, and a link's token is not valid as a user's token. A link's audience states its kind.
 */

import { errors, jwtVerify, SignJWT } from "jose"
import * as v from "valibot"
import { idSchema } from "../../shared/protocol/event.ts"
import { tenantIdSchema } from "../platform/tenant-id.ts"
import { fail, type Result, succeed } from "../../shared/fault.ts"
import { SIGNED_URL_SECONDS, SIGNED_URL_STEP_SECONDS } from "../../shared/asset-limits.ts"
import { deriveKey } from "./verify-token.ts"

/** The kind of content that a link gives access to: an asset, a canvas document, or remote media. */
export type LinkAudience = "media" | "canvas" | "remote"

/** The kinds of links to the files of a shared copy. No link is valid both as one of these and as a LinkAudience. */
export type ShareAudience = "share-media" | "share-canvas"

export interface LinkClaims {
  readonly tenant: string
  /** The session's public id (platform/session-key.ts). Links of version 0.1.0 don't name a user. */
  readonly session: string
  readonly user?: string | undefined
  /** The user for whom the link was signed, if it is not the session's owner (`user`). */
  readonly viewer?: string | undefined
  /**
   * Whether the link is for the readers of a shared copy. If so, `session` is the copy's id at first, and the session's
   * key once the link has been checked.
   */
  readonly isShare?: boolean
  /** The asset's id; for the audience `remote`, the URL. */
  readonly what: string
  /** Seconds since 1970. */
  readonly expires: number
}

const payloadSchema = v.object({
  tenant: tenantIdSchema,
  session: idSchema,
  user: v.optional(idSchema),
  viewer: v.optional(idSchema),
  sub: v.string(),
  exp: v.number(),
})

/**
 * Returns the expiry of a link signed now, in seconds since 1970. The expiry is rounded so that links signed at about
 * the same time are identical and can be cached.
 */
export function computeLinkExpiry(nowMs: number): number {
  const step = SIGNED_URL_STEP_SECONDS
  return Math.floor(nowMs / 1000 / step) * step + SIGNED_URL_SECONDS
}

/** Signs a link. The same claims always result in the same token. */
export async function signLink(
  secret: string,
  audience: LinkAudience | ShareAudience,
  claims: LinkClaims,
): Promise<string> {
  const { tenant, session, user, viewer, what, expires } = claims
  return await new SignJWT({ tenant, session, user, viewer })
    .setProtectedHeader({ alg: "HS256" })
    .setAudience(audience)
    .setSubject(what)
    .setExpirationTime(expires)
    .sign(await deriveKey(secret, "media"))
}

/**
 * Verifies a link of this audience, or of the corresponding audience for shared copies. Errors: `link_expired`;
 * `link_invalid` for any other fault, including another audience.
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
      audience: [audience, `share-${audience}`],
      currentDate: new Date(nowMs),
      requiredClaims: ["exp", "sub"],
    })
    const parsed = v.safeParse(payloadSchema, payload)
    if (!parsed.success) return fail({ reason: "link_invalid" })
    const { tenant, session, user, viewer, sub, exp } = parsed.output
    const claims = { tenant, session, user, viewer, what: sub, expires: exp }
    return succeed(payload.aud === audience ? claims : { ...claims, isShare: true })
  } catch (error) {
    return fail({ reason: error instanceof errors.JWTExpired ? "link_expired" : "link_invalid" })
  }
}
