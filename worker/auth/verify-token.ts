/**
 * verify-token.ts: who is asking: signed tokens in, claims out.
 *
 * request → KEYS → claims → session, directory
 * HS256 JWTs through jose, the algorithm pinned. The claims `tenant`, `sub` (user) and `exp` are required; `jti` and
 * `iat` say which token to revoke, `scope` what it is good for.
 */

import { errors, jwtVerify, SignJWT } from "jose"
import * as v from "valibot"
import { idSchema } from "../../shared/protocol/event.ts"
import { fail, type Result, succeed } from "../../shared/fault.ts"
import { parseJson } from "../../shared/json.ts"

export interface Claims {
  readonly tenant: string
  readonly user: string
  /** Seconds since 1970. */
  readonly expires: number
  /** Its id (`jti`); null: it has none, and can be revoked only with all others of its user. */
  readonly token: string | null
  /** Seconds since 1970, `iat`; 0: it does not say. */
  readonly issued: number
  /** What it is good for; absent: `user`. */
  readonly scope?: Scope | undefined
  /** Of an `external` token: the one session that it is for. */
  readonly session?: string | undefined
}

/** `user`: what its user may do. `external`: to answer from outside in one session. `admin`: to configure the tenant. */
const scopeSchema = v.picklist(["user", "external", "admin"])
export type Scope = v.InferOutput<typeof scopeSchema>

/** A token without a scope is one of its user. */
export function getScope({ scope = "user" }: Pick<Claims, "scope">): Scope {
  return scope
}

/** Names a user's directory, and a user in the Worker's memory. */
export function createUserKey({ tenant, user }: Pick<Claims, "tenant" | "user">): string {
  return `${tenant}:${user}`
}

/** Longest id of a token; it travels in a header and in each socket's attachment. */
const MAX_TOKEN_ID_CHARS = 256

const tokenIdSchema = v.pipe(v.string(), v.regex(/^[\x20-\x7e]+$/), v.maxLength(MAX_TOKEN_ID_CHARS))

const payloadSchema = v.object({
  tenant: idSchema,
  sub: idSchema,
  exp: v.number(),
  jti: v.optional(tokenIdSchema),
  iat: v.optional(v.number(), 0),
  scope: v.optional(scopeSchema, "user"),
  session: v.optional(idSchema),
})

const claimsSchema = v.object({
  tenant: idSchema,
  user: idSchema,
  expires: v.number(),
  token: v.nullable(tokenIdSchema),
  issued: v.number(),
  scope: v.optional(scopeSchema),
  session: v.optional(idSchema),
})

/** Header in which the Worker hands verified claims to an object; one from outside is thrown away. */
export const CLAIMS_HEADER = "x-cuecard-claims"

/** Clocks of those who sign may be so far ahead or behind, in seconds. */
export const CLOCK_TOLERANCE_SECONDS = 5

function encodeSecret(secret: string): Uint8Array {
  return new TextEncoder().encode(secret)
}

/**
 * Shapes  token → claims.
 * Errors  `token_expired`; `token_invalid` for a wrong signature, algorithm, shape or id, and for one from the future.
 */
export async function verifyToken(token: string, secret: string, now: number): Promise<Result<Claims>> {
  try {
    const { payload } = await jwtVerify(token, encodeSecret(secret), {
      algorithms: ["HS256"],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      currentDate: new Date(now),
      requiredClaims: ["tenant", "sub", "exp"],
    })
    const parsed = v.safeParse(payloadSchema, payload)
    if (!parsed.success) return fail({ reason: "token_invalid" })
    const { tenant, sub, exp, jti, iat, scope, session } = parsed.output
    if (scope === "external" && session === undefined) return fail({ reason: "token_invalid" })
    // Or it would outlive every revocation of what was issued up to now.
    if (iat > now / 1000 + CLOCK_TOLERANCE_SECONDS) return fail({ reason: "token_invalid" })
    const scopeClaims = { ...(scope === "user" ? {} : { scope }), ...(session === undefined ? {} : { session }) }
    return succeed({ tenant, user: sub, expires: exp, token: jti ?? null, issued: iat, ...scopeClaims })
  } catch (error) {
    return fail({ reason: error instanceof errors.JWTExpired ? "token_expired" : "token_invalid" })
  }
}

/** Signs a token. Lifetime ends at `claims.expires`. */
export function issueToken(claims: Claims, secret: string): Promise<string> {
  const { tenant, user, expires, token, issued, session } = claims
  const scope = getScope(claims)
  const scopeClaims = { ...(scope === "user" ? {} : { scope }), ...(session === undefined ? {} : { session }) }
  return new SignJWT({ tenant, ...scopeClaims, ...(token === null ? {} : { jti: token }) })
    .setProtectedHeader({ alg: "HS256" })
    .setSubject(user)
    .setIssuedAt(issued)
    .setExpirationTime(expires)
    .sign(encodeSecret(secret))
}

/** The key with which a tenant's exports are vouched for; nobody can make one from a token. */
export async function deriveExportKey(secret: string, tenant: string): Promise<CryptoKey> {
  return await deriveKey(secret, `export ${tenant}`)
}

/** A key of its own for one purpose, which tells nothing about the secret or any other key. */
export async function deriveKey(secret: string, purpose: string): Promise<CryptoKey> {
  const hmac = { name: "HMAC", hash: "SHA-256" }
  const master = await crypto.subtle.importKey("raw", encodeSecret(secret), hmac, false, ["sign"])
  const derived = await crypto.subtle.sign("HMAC", master, new TextEncoder().encode(`cuecard ${purpose}`))
  return await crypto.subtle.importKey("raw", derived, hmac, false, ["sign", "verify"])
}

/** The claims that the Worker verified and passed on with a request; null where there are none. */
export function readClaims(request: Request): Claims | null {
  const parsed = v.safeParse(claimsSchema, parseJson(request.headers.get(CLAIMS_HEADER) ?? ""))
  return parsed.success ? parsed.output : null
}
