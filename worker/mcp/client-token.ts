/**
 * client-token.ts: requests an access token for an MCP server, with the client's own credentials (RFC 6749, section
 * 4.4).
 *
 * The administrator names the issuer, and the metadata must name the same one. An MCP server cannot choose who receives
 * the secret, so it cannot make the client confuse authorization servers. The token is for this server only (RFC 8707).
 * Source: SPEC MP7.
 */

import { fail, type McpFlaw, type Result, succeed } from "../../shared/fault.ts"
import { isJsonObject, parseJson } from "../../shared/json.ts"
import { type ProviderEnv, requestProvider } from "../auth/issuer/provider-fetch.ts"
import { findIssuerMetadata } from "./issuer-metadata.ts"

export interface ClientAccess {
  readonly issuer: string
  readonly client_id: string
  readonly clientSecret: string
  readonly scope?: string | undefined
  /** The URL of the MCP server. */
  readonly resource: string
}

export interface ClientToken {
  readonly token: string
  /** Null: the issuer does not specify a lifetime. */
  readonly lifetimeMs: number | null
}

/** Maximum length of an access token, in characters. */
const MAX_TOKEN_CHARS = 8_192

export async function requestClientToken(
  env: ProviderEnv,
  access: ClientAccess,
): Promise<Result<ClientToken, McpFlaw>> {
  const metadata = await findIssuerMetadata(env, access.issuer)
  if (metadata === null) return fail("issuer")
  const { client_id, clientSecret, scope, resource } = access
  const body = new URLSearchParams({
    grant_type: "client_credentials",
    resource,
    ...(scope !== undefined && { scope }),
  })
  const credentials = btoa(`${encodeURIComponent(client_id)}:${encodeURIComponent(clientSecret)}`)
  const headers = { authorization: `Basic ${credentials}`, accept: "application/json" }
  const response = await requestProvider(metadata.token_endpoint, env, { method: "POST", headers, body })
  if (!response.ok || response.value.status !== 200) return fail("unauthorized")
  return readToken(parseJson(await response.value.text()))
}

function readToken(value: unknown): Result<ClientToken, McpFlaw> {
  if (!isJsonObject(value)) return fail("unauthorized")
  const { access_token, token_type, expires_in } = value
  const isBearer = typeof token_type === "string" && token_type.toLowerCase() === "bearer"
  const isUsable = typeof access_token === "string" && /^[\x21-\x7e]+$/.test(access_token)
  if (!isBearer || !isUsable || access_token.length > MAX_TOKEN_CHARS) return fail("unauthorized")
  const lifetimeMs = typeof expires_in === "number" && expires_in > 0 ? Math.min(expires_in, 86_400) * 1000 : null
  return succeed({ token: access_token, lifetimeMs })
}
