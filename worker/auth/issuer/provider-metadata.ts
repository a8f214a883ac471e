/** provider-metadata.ts: finds the endpoints of an OpenID provider (OpenID Connect Discovery). */

import * as v from "valibot"
import { fail, type Result, succeed } from "../../../shared/fault.ts"
import { MAX_URL_CHARS } from "../../../shared/limits.ts"
import type { IssuerConfig, ProviderMetadata } from "../../settings/issuer-config.ts"
import { checkProviderUrl, fetchProviderJson, type ProviderEnv } from "./provider-fetch.ts"

const urlSchema = v.pipe(v.string(), v.maxLength(MAX_URL_CHARS))

const metadataSchema = v.object({
  issuer: urlSchema,
  jwks_uri: urlSchema,
  authorization_endpoint: v.optional(urlSchema),
  token_endpoint: v.optional(urlSchema),
  token_endpoint_auth_methods_supported: v.optional(v.pipe(v.array(v.string()), v.maxLength(50))),
  authorization_response_iss_parameter_supported: v.optional(v.boolean()),
  // Sign-ins and keys do not depend on this endpoint, so an unusable one is ignored.
  end_session_endpoint: v.optional(v.unknown()),
})

/**
 * Finds the endpoints of an issuer. Fetches nothing if `jwks_uri` is configured and `client_id` is not.
 *
 * Errors: `issuer_refused` with `issuer_differs` if the provider states another issuer, and with `malformed` if
 * endpoints that a sign-in needs are missing; those of `fetchProviderJson`.
 */
export async function discoverProvider(config: IssuerConfig, env: ProviderEnv): Promise<Result<ProviderMetadata>> {
  const { issuer, jwks_uri, client_id } = config
  const own = checkProviderUrl(issuer, env)
  if (!own.ok) return own
  if (jwks_uri !== undefined && client_id === undefined) return await checkUrls({ issuer, jwks_uri }, env)
  const found = await fetchProviderJson(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`, env)
  if (!found.ok) return found
  const parsed = v.safeParse(metadataSchema, found.value)
  if (!parsed.success) return fail({ reason: "issuer_refused", because: "malformed" })
  const { end_session_endpoint, ...metadata } = parsed.output
  if (metadata.issuer !== issuer) return fail({ reason: "issuer_refused", because: "issuer_differs" })
  const { authorization_endpoint, token_endpoint } = metadata
  if (client_id !== undefined && (authorization_endpoint === undefined || token_endpoint === undefined))
    return fail({ reason: "issuer_refused", because: "malformed" })
  const end = isUsableUrl(end_session_endpoint, env) ? { end_session_endpoint } : {}
  return await checkUrls({ ...metadata, jwks_uri: jwks_uri ?? metadata.jwks_uri, ...end }, env)
}

function isUsableUrl(value: unknown, env: ProviderEnv): value is string {
  return v.is(urlSchema, value) && checkProviderUrl(value, env).ok
}

async function checkUrls(metadata: ProviderMetadata, env: ProviderEnv): Promise<Result<ProviderMetadata>> {
  const { jwks_uri, authorization_endpoint, token_endpoint } = metadata
  for (const text of [jwks_uri, authorization_endpoint, token_endpoint]) {
    const checked = text === undefined ? succeed("") : checkProviderUrl(text, env)
    if (!checked.ok) return checked
  }
  return succeed(metadata)
}
