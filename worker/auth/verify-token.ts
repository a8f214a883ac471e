/**
 * verify-token.ts: verifies and issues tokens, and derives keys from the deployment's secret.
 *
 * Tokens are JWTs, and HS256 is the only algorithm accepted. The claims `tenant`, `sub` (the user) and `exp` are
 * required. `jti` and `iat` identify a token for revocation, and `scope` limits what the token grants. The server signs
 * with a key of the tenant and names the key in `kid`. A token without such a `kid` is signed with the deployment's
 * secret itself.
 */

import { errors, type JWTHeaderParameters, jwtVerify, SignJWT } from "jose"
import * as v from "valibot"
import { idSchema } from "../../shared/protocol/event.ts"
import { fail, type Result, succeed } from "../../shared/fault.ts"
import { parseJson } from "../../shared/json.ts"
import { BoundedMap } from "../platform/bounded-map.ts"
import { type Claims, getScope, ROLES, SCOPES } from "../platform/rpc/claims.ts"
import { tenantIdSchema } from "../platform/tenant-id.ts"

/**
 * Maximum length of a token id, in characters. The id is passed in a header and stored in the attachment of each
 * socket.
 */
const MAX_TOKEN_ID_CHARS = 256

const tokenIdSchema = v.pipe(v.string(), v.regex(/^[\x20-\x7e]+$/), v.maxLength(MAX_TOKEN_ID_CHARS))

const payloadSchema = v.object({
  tenant: tenantIdSchema,
  sub: idSchema,
  // JSON.parse reads 1e999 as infinity, but JSON.stringify cannot pass infinity on to an object.
  exp: v.pipe(v.number(), v.finite()),
  jti: v.optional(tokenIdSchema),
  iat: v.optional(v.pipe(v.number(), v.finite()), 0),
  scope: v.optional(v.picklist(SCOPES), "user"),
  session: v.optional(idSchema),
  role: v.optional(v.picklist(ROLES)),
  /** The sign-in from which the token was issued. */
  sid: v.optional(tokenIdSchema),
})

const claimsSchema = v.object({
  tenant: tenantIdSchema,
  user: idSchema,
  expires: v.number(),
  token: v.nullable(tokenIdSchema),
  issued: v.number(),
  scope: v.optional(v.picklist(SCOPES)),
  session: v.optional(idSchema),
  role: v.optional(v.picklist(ROLES)),
  hasStoredRole: v.optional(v.boolean()),
  login: v.optional(tokenIdSchema),
  sharedBy: v.optional(idSchema),
  generation: v.optional(v.number()),
})

/** Header in which the Worker passes verified claims to an object. A header sent by the client is overwritten. */
export const CLAIMS_HEADER = "x-cuecard-claims"

/** Tolerated clock difference between the server and the issuer of a token, in seconds. */
export const CLOCK_TOLERANCE_SECONDS = 5

/**
 * Maximum length of a token that is parsed, in characters: ten times that of the longest token that the server issues.
 */
const MAX_OWN_TOKEN_CHARS = 8 * 1024

/** The tenant's key that signs a token. Generations are numbered from 1. */
export interface TokenKeyId {
  readonly tenant: string
  readonly generation: number
}

const KID_PREFIX = "cuecard:"
const KID_PATTERN = /^cuecard:([^:]{1,100}):([1-9][0-9]{0,8})$/

/** Returns the `kid` of a tenant's key. No tenant id contains a colon. */
export function formatKid({ tenant, generation }: TokenKeyId): string {
  return `${KID_PREFIX}${tenant}:${generation}`
}

/** Parses a `kid`; null if it is not that of a tenant's key. */
export function parseKid(kid: string): TokenKeyId | null {
  const [, tenant, digits] = KID_PATTERN.exec(kid) ?? []
  return v.is(tenantIdSchema, tenant) ? { tenant, generation: Number(digits) } : null
}

/**
 * Returns the key that a token's header names; null if it is the deployment's secret. Throws if the header names a key
 * that cannot exist.
 */
function readTokenKeyId({ kid, typ }: { readonly kid?: unknown; readonly typ?: unknown }): TokenKeyId | null {
  // Other issuers that hold the secret may use their own key ids.
  if (typeof kid !== "string" || !kid.startsWith(KID_PREFIX)) return null
  const id = parseKid(kid)
  if (id === null || typ !== undefined) throw new errors.JWTInvalid("not a header that is signed here")
  return id
}

function encodeSecret(secret: string): Uint8Array {
  return new TextEncoder().encode(secret)
}

/**
 * Verifies a token.
 *
 * Errors: `token_expired`; `token_invalid` for a wrong signature, algorithm, shape or id, or an `iat` in the future.
 */
export async function verifyToken(token: string, secret: string, now: number): Promise<Result<Claims>> {
  if (token.length > MAX_OWN_TOKEN_CHARS) return fail({ reason: "token_invalid" })
  let derived: CryptoKey | null = null
  const findKey = async (header: JWTHeaderParameters): Promise<CryptoKey | Uint8Array> => {
    const id = readTokenKeyId(header)
    if (id === null) return encodeSecret(secret)
    // The key is cached only after the signature is verified, because anybody can name a key.
    derived = await readTokenKey(secret, id)
    return derived
  }
  try {
    const { payload, protectedHeader } = await jwtVerify(token, findKey, {
      algorithms: ["HS256"],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      currentDate: new Date(now),
      requiredClaims: ["tenant", "sub", "exp"],
    })
    const parsed = v.safeParse(payloadSchema, payload)
    if (!parsed.success) return fail({ reason: "token_invalid" })
    const { tenant, sub, exp, jti, iat, scope, session, role, sid } = parsed.output
    if (scope === "external" && session === undefined) return fail({ reason: "token_invalid" })
    const keyId = readTokenKeyId(protectedHeader)
    if (keyId !== null && keyId.tenant !== tenant) return fail({ reason: "token_invalid" })
    if (keyId !== null && derived !== null) cacheTokenKey(secret, keyId, derived)
    // A token from the future would escape every revocation of the tokens issued so far.
    if (iat > now / 1000 + CLOCK_TOLERANCE_SECONDS) return fail({ reason: "token_invalid" })
    const limits = { scope: scope === "user" ? undefined : scope, session, role }
    const optional = withoutAbsent({ ...limits, login: sid, generation: keyId?.generation })
    return succeed({ tenant, user: sub, expires: exp, token: jti ?? null, issued: iat, ...optional })
  } catch (error) {
    return fail({ reason: error instanceof errors.JWTExpired ? "token_expired" : "token_invalid" })
  }
}

/**
 * Signs a token that expires at `claims.expires`. Uses the tenant's key `claims.generation`, or the secret if there is
 * no generation. Routes issue tokens through `issueNewToken` (new-token.ts).
 */
export async function issueToken(claims: Claims, secret: string): Promise<string> {
  const { tenant, user, expires, token, issued, session, role, login, generation } = claims
  const scope = getScope(claims) === "user" ? undefined : claims.scope
  const id = generation === undefined ? null : { tenant, generation }
  return await new SignJWT(withoutAbsent({ tenant, scope, session, role, sid: login, jti: token ?? undefined }))
    .setProtectedHeader(id === null ? { alg: "HS256" } : { alg: "HS256", kid: formatKid(id) })
    .setSubject(user)
    .setIssuedAt(issued)
    .setExpirationTime(expires)
    .sign(id === null ? encodeSecret(secret) : await deriveTokenKey(secret, id))
}

/** Omits the fields that are undefined. */
function withoutAbsent<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never
}

/** Returns the key that seals a tenant's exports. It cannot be derived from a token. */
export async function deriveExportKey(secret: string, tenant: string): Promise<CryptoKey> {
  return await deriveKey(secret, `export ${tenant}`)
}

/**
 * Maximum number of derived keys that all requests of one isolate share. Deriving a key takes three calls to the
 * platform's crypto API.
 */
const MAX_CACHED_KEYS = 1_000
const tokenKeys = new BoundedMap<string, CryptoKey>(MAX_CACHED_KEYS)

/** Returns the key that signs the tokens of one tenant. The key cannot verify tokens of another tenant. */
export async function deriveTokenKey(secret: string, { tenant, generation }: TokenKeyId): Promise<CryptoKey> {
  const key = await readTokenKey(secret, { tenant, generation })
  cacheTokenKey(secret, { tenant, generation }, key)
  return key
}

async function readTokenKey(secret: string, id: TokenKeyId): Promise<CryptoKey> {
  return tokenKeys.get(formatCacheKey(secret, id)) ?? (await deriveKey(secret, formatPurpose(id)))
}

function cacheTokenKey(secret: string, id: TokenKeyId, key: CryptoKey): void {
  const cacheKey = formatCacheKey(secret, id)
  if (!tokenKeys.has(cacheKey)) tokenKeys.set(cacheKey, key)
}

function formatPurpose({ tenant, generation }: TokenKeyId): string {
  return `token ${tenant} ${generation}`
}

function formatCacheKey(secret: string, id: TokenKeyId): string {
  return `${secret}\0${formatPurpose(id)}`
}

const HMAC = { name: "HMAC", hash: "SHA-256" }

/** Derives an independent key for one purpose. It reveals nothing about the secret or any other derived key. */
export async function deriveKey(secret: string, purpose: string): Promise<CryptoKey> {
  return await crypto.subtle.importKey("raw", await deriveBytes(secret, purpose), HMAC, false, ["sign", "verify"])
}

/** Returns the 32 bytes of a derived key. */
export async function deriveBytes(secret: string, purpose: string): Promise<ArrayBuffer> {
  const master = await crypto.subtle.importKey("raw", encodeSecret(secret), HMAC, false, ["sign"])
  return await crypto.subtle.sign("HMAC", master, new TextEncoder().encode(`cuecard ${purpose}`))
}

/** Returns the verified claims that the Worker passed on with a request; null if there are none. */
export function readClaims(request: Request): Claims | null {
  const parsed = v.safeParse(claimsSchema, parseJson(request.headers.get(CLAIMS_HEADER) ?? ""))
  return parsed.success ? parsed.output : null
}
