/** provider-metadata.ts: finds the addresses of an OpenID provider (OpenID Connect Discovery). */

import * as v from "valibot"
import { fail, type Result, succeed } from "../../../shared/fault.ts"
import { MAX_URL_CHARS } from "../../../shared/limits.ts"
import type { IssuerConfig, ProviderMetadata } from "../../settings/issuer-config.ts"
import { checkProviderUrl, fetchProviderJson, type ProviderEnv } from "./provider-fetch.ts"

const address = v.pipe(v.string(), v.maxLength(MAX_URL_CHARS))

const metadataSchema = v.object({
  issuer: address,
  jwks_uri: address,
  authorization_endpoint: v.optional(address),
  token_endpoint: v.optional(address),
  token_endpoint_auth_methods_supported: v.optional(v.pipe(v.array(v.string()), v.maxLength(50))),
  authorization_response_iss_parameter_supported: v.optional(v.boolean()),
  // Sign-ins and keys do not depend on this address, so an unusable one is ignored.
  end_session_endpoint: v.optional(v.unknown()),
})

/**
 * Finds the addresses of an issuer. Fetches nothing if `jwks_uri` is configured and `client_id` is not.
 *
 * Errors: `issuer_refused`: `issuer_differs` if the provider states another issuer, `malformed` if addresses that a sign-in
 * needs are missing, and those of `fetchProviderJson`.
 */
export async function discoverProvider(config: IssuerConfig, env: ProviderEnv): Promise<Result<ProviderMetadata>> {
  const { issuer, jwks_uri, client_id } = config
  const own = checkProviderUrl(issuer, env)
  if (!own.ok) return own
  if (jwks_uri !== undefined && client_id === undefined) return await checkAddresses({ issuer, jwks_uri }, env)
  const found = await fetchProviderJson(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`, env)
  if (!found.ok) return found
  const parsed = v.safeParse(metadataSchema, found.value)
  if (!parsed.success) return fail({ reason: "issuer_refused", because: "malformed" })
  const { end_session_endpoint, ...metadata } = parsed.output
  if (metadata.issuer !== issuer) return fail({ reason: "issuer_refused", because: "issuer_differs" })
  const { authorization_endpoint, token_endpoint } = metadata
  if (client_id !== undefined && (authorization_endpoint === undefined || token_endpoint === undefined))
    return fail({ reason: "issuer_refused", because: "malformed" })
  const end = isUsableAddress(end_session_endpoint, env) ? { end_session_endpoint } : {}
  return await checkAddresses({ ...metadata, jwks_uri: jwks_uri ?? metadata.jwks_uri, ...end }, env)
}

function isUsableAddress(value: unknown, env: ProviderEnv): value is string {
  return v.is(address, value) && checkProviderUrl(value, env).ok
}

async function checkAddresses(metadata: ProviderMetadata, env: ProviderEnv): Promise<Result<ProviderMetadata>> {
  const { jwks_uri, authorization_endpoint, token_endpoint } = metadata
  for (const text of [jwks_uri, authorization_endpoint, token_endpoint]) {
    const checked = text === undefined ? succeed("") : checkProviderUrl(text, env)
    if (!checked.ok) return checked
  }
  return succeed(metadata)
}
