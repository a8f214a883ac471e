/**
 * issuer-config.ts: the configuration of a tenant's OpenID providers, and the parts of it that token verification and
 * sign-ins need. Pure.
 */

import type { JWK } from "jose"
import * as v from "valibot"
import { MAX_URL_CHARS } from "../../shared/limits.ts"
import { removeControls } from "../../shared/text/title.ts"
import { ROLES, type Role } from "../platform/rpc/claims.ts"

/** The prefix of every user id that is derived from an issuer. Other ids may also begin with it. */
export const FOREIGN_USER_PREFIX = "o_"

/** Maximum number of issuers per tenant: enough for its own providers and for a change of provider. */
export const MAX_ISSUERS = 10

/** Maximum length of a claim's name, in characters. Names may be URLs. */
const MAX_CLAIM_NAME_CHARS = 128
const MAX_AUDIENCE_CHARS = 256
const MAX_SECRET_CHARS = 1_024
const MAX_LABEL_CHARS = 60
const MAX_PARTIES = 10
const MAX_REQUIRED_CLAIMS = 5
const MAX_CLAIM_VALUES = 20

/** Algorithms with a public key. HS256 is never accepted, because the public key itself would be a valid secret. */
export const ISSUER_ALGORITHMS = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
] as const

const DEFAULT_ALGORITHMS: (typeof ISSUER_ALGORITHMS)[number][] = ["RS256", "PS256", "ES256", "EdDSA"]
const DEFAULT_ROLES: Role[] = ["admin", "member", "viewer"]

/** An issuer's name, which is part of URLs. */
export const issuerNameSchema = v.pipe(v.string(), v.regex(/^[a-z0-9-]{1,40}$/))

const printableSchema = (max: number) => v.pipe(v.string(), v.maxLength(max), v.regex(/^[\x21-\x7e]+$/))
const claimName = printableSchema(MAX_CLAIM_NAME_CHARS)
const label = v.pipe(v.string(), v.transform(removeControls), v.trim(), v.minLength(1), v.maxLength(MAX_LABEL_CHARS))

const claimValue = printableSchema(MAX_AUDIENCE_CHARS)
const requiredClaims = v.pipe(
  v.record(
    claimName,
    v.union([claimValue, v.pipe(v.array(claimValue), v.minLength(1), v.maxLength(MAX_CLAIM_VALUES))]),
  ),
  v.maxEntries(MAX_REQUIRED_CLAIMS),
)

function createSetSchema<const T extends readonly string[]>(allowed: T) {
  const list = v.pipe(v.array(v.picklist(allowed)), v.minLength(1), v.maxLength(allowed.length))
  return v.pipe(
    list,
    v.transform((entries) => [...new Set(entries)]),
  )
}

/** Strict: a misspelt `algorithms` must not silently mean the default. */
export const issuerSchema = v.strictObject({
  issuer: printableSchema(MAX_URL_CHARS),
  audience: printableSchema(MAX_AUDIENCE_CHARS),
  algorithms: v.optional(createSetSchema(ISSUER_ALGORITHMS), DEFAULT_ALGORITHMS),
  user_claim: v.optional(claimName, "sub"),
  name_claim: v.optional(claimName, "name"),
  role_claim: v.optional(claimName),
  /** The roles that the issuer's users can have, whether from a claim or from the stored user. */
  roles: v.optional(createSetSchema(ROLES), DEFAULT_ROLES),
  authorized_parties: v.optional(v.pipe(v.array(printableSchema(MAX_AUDIENCE_CHARS)), v.maxLength(MAX_PARTIES)), []),
  /**
   * For each claim, the accepted values; a token must have one of them. Needed for public providers, where anybody can
   * have an account.
   */
  required_claims: v.optional(requiredClaims, {}),
  jwks_uri: v.optional(printableSchema(MAX_URL_CHARS)),
  client_id: v.optional(printableSchema(MAX_AUDIENCE_CHARS)),
  /** Absent: keeps the stored secret. Null: removes it. */
  client_secret: v.optional(v.nullable(printableSchema(MAX_SECRET_CHARS))),
  scopes: v.optional(
    v.pipe(v.string(), v.regex(/^openid(?: [\x21\x23-\x5b\x5d-\x7e]{1,60}){0,9}$/)),
    "openid profile email",
  ),
  label: v.optional(label),
  /** Whether signing out on the page also opens the provider's sign-out page. */
  logout: v.optional(v.boolean()),
})

export type IssuerInput = v.InferOutput<typeof issuerSchema>

/** The configuration without the secret. */
export type IssuerConfig = Omit<IssuerInput, "client_secret">

/** An issuer as administrators see it. Times are milliseconds since 1970. */
export interface IssuerView extends Omit<IssuerConfig, "role_claim" | "jwks_uri" | "client_id"> {
  readonly name: string
  readonly role_claim: string | null
  readonly jwks_uri: string | null
  readonly client_id: string | null
  readonly has_client_secret: boolean
  readonly label: string
  readonly logout: boolean
  readonly created: number
  /** When its keys were last fetched. */
  readonly keys_fetched: number
}

/** The keys and settings for verifying a token. */
export interface IssuerKeys {
  readonly name: string
  readonly config: IssuerConfig
  /** Public keys for signatures (`parseKeySet`). */
  readonly keys: readonly JWK[]
  /** When the keys must no longer be used, in milliseconds since 1970. */
  readonly trustedUntil: number
}

/** The endpoints of a provider that a sign-in uses. All of them were checked. */
export interface ProviderMetadata {
  readonly issuer: string
  readonly jwks_uri: string
  readonly authorization_endpoint?: string | undefined
  readonly token_endpoint?: string | undefined
  readonly token_endpoint_auth_methods_supported?: readonly string[] | undefined
  readonly authorization_response_iss_parameter_supported?: boolean | undefined
  readonly end_session_endpoint?: string | undefined
}

/** The settings of an issuer that a sign-in needs. */
export interface SignInClient {
  readonly name: string
  readonly config: IssuerConfig & { readonly client_id: string }
  readonly metadata: ProviderMetadata
  /** Null: a public client. */
  readonly clientSecret: string | null
  /**
   * Changes when the issuer is replaced by one whose users may be different people. A sign-in ends when its generation
   * is no longer current.
   */
  readonly generation: number
}

/**
 * Returns the role from a claim, which is a string or a list of strings: the highest role that the claim names and the
 * issuer may grant. If there is none, returns the role of a new user, so that users lose a role that the provider no
 * longer sends.
 */
export function claimToRole(value: unknown, config: Pick<IssuerConfig, "roles">): Role {
  const named = Array.isArray(value) ? value : [value]
  return ROLES.find((role) => config.roles.includes(role) && named.includes(role)) ?? limitRole("member", config)
}

/** Whether a token has the claims that the issuer requires. If a claim is a list, any of its values can match. */
export function hasRequiredClaims(
  payload: { readonly [name: string]: unknown },
  { required_claims }: Pick<IssuerConfig, "required_claims">,
): boolean {
  return Object.entries(required_claims).every(([name, wanted]) => {
    const value = payload[name]
    const values = (Array.isArray(value) ? value : [value]).map((entry) => (entry === true ? "true" : entry))
    return [wanted].flat().some((text) => values.includes(text))
  })
}

/** Limits a user's role to the highest role that the issuer may grant. */
export function limitRole(role: Role, { roles }: Pick<IssuerConfig, "roles">): Role {
  return ROLES.slice(ROLES.indexOf(role)).find((lower) => roles.includes(lower)) ?? "viewer"
}
