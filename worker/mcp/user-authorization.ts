/**
 * user-authorization.ts: lets a user give an MCP server access to their own account, with the authorization code flow
 * and PKCE. Source: SPEC MP11-MP14, MP17.
 *
 * The administrator names the issuer, and its metadata must name the same issuer. A response must come from that issuer
 * (RFC 9207, if the issuer supports it), and each server has its own callback URL. So no authorization server can
 * redeem another server's code. Tokens are requested for the server's URL only (RFC 8707).
 */

import * as oauth from "oauth4webapi"
import { fail, type McpFlaw, type Result, succeed } from "../../shared/fault.ts"
import { createAuthentication, createRequestOptions, ProviderUnreachable } from "../auth/issuer/oauth-fetch.ts"
import { describeError, log } from "../platform/log.ts"
import { checkProviderUrl, type ProviderEnv } from "../auth/issuer/provider-fetch.ts"
import type { McpClient, UserTokens } from "../settings/mcp-config.ts"
import { findIssuerMetadata, type IssuerMetadata } from "./issuer-metadata.ts"

/** Maximum length of an access or refresh token, in characters. Both are sealed together (MAX_SECRET_CHARS). */
const MAX_TOKEN_CHARS = 8_000

/** A token without an expiry is renewed after this time, in seconds. */
const DEFAULT_LIFETIME_SECONDS = 3_600

/**
 * Maximum lifetime of a token, in seconds: a year. A token that can't be renewed is used until the server refuses it.
 */
const MAX_LIFETIME_SECONDS = 365 * 86_400

export interface AuthorizationRequest {
  /** The URL at which the user grants access. */
  readonly url: string
  readonly state: string
  readonly verifier: string
}

/**
 * Creates the URL at which the user grants access. Errors: `issuer` if the metadata is missing or wrong, or if the
 * issuer doesn't support PKCE.
 */
export async function createAuthorizationRequest(
  env: ProviderEnv,
  client: McpClient,
  redirectUri: string,
): Promise<Result<AuthorizationRequest, McpFlaw>> {
  const metadata = await findIssuerMetadata(env, client.issuer)
  const endpoint = checkProviderUrl(String(metadata?.authorization_endpoint ?? ""), env)
  if (metadata === null || !endpoint.ok || !supportsPkce(metadata)) return fail("issuer")
  const [state, verifier] = [oauth.generateRandomState(), oauth.generateRandomCodeVerifier()]
  const url = new URL(endpoint.value)
  const parameters = {
    client_id: client.client_id,
    response_type: "code",
    redirect_uri: redirectUri,
    ...(client.scope !== undefined && { scope: client.scope }),
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    resource: client.resource,
    // OpenID Connect grants this scope only if the user was asked.
    ...(client.scope?.split(" ").includes("offline_access") && { prompt: "consent" }),
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return succeed({ url: url.href, state, verifier })
}

/** Whether the issuer supports PKCE. Metadata may omit the methods, so support is assumed if they are absent. */
function supportsPkce({ code_challenge_methods_supported: methods }: IssuerMetadata): boolean {
  return !Array.isArray(methods) || methods.includes("S256")
}

/**
 * Exchanges the code of a callback for tokens.
 *
 * Errors: `not_connected` if the code is refused; `unauthorized` if the response is an error, or belongs to another
 * request or issuer; `unreachable`; `issuer`.
 */
export async function redeemCallback(
  env: ProviderEnv,
  client: McpClient,
  { state, verifier }: Pick<AuthorizationRequest, "state" | "verifier">,
  callback: URL,
  redirectUri: string,
): Promise<Result<UserTokens, McpFlaw>> {
  return await requestTokens(env, client, async (server, authentication) => {
    const own: oauth.Client = { client_id: client.client_id }
    const parameters = oauth.validateAuthResponse(server, own, callback, state)
    const options = { ...createRequestOptions(env), additionalParameters: { resource: client.resource } }
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      own,
      authentication,
      parameters,
      redirectUri,
      verifier,
      options,
    )
    return await oauth.processAuthorizationCodeResponse(server, own, response)
  })
}

/**
 * Renews the tokens. Errors: `not_connected` if the server refuses the refresh token; `unauthorized` if it refuses our
 * client; `unreachable`; `issuer`.
 */
export async function refreshTokens(
  env: ProviderEnv,
  client: McpClient,
  refreshToken: string,
): Promise<Result<UserTokens, McpFlaw>> {
  const refreshed = await requestTokens(env, client, async (server, authentication) => {
    const own: oauth.Client = { client_id: client.client_id }
    const options = { ...createRequestOptions(env), additionalParameters: { resource: client.resource } }
    const response = await oauth.refreshTokenGrantRequest(server, own, authentication, refreshToken, options)
    return await oauth.processRefreshTokenResponse(server, own, response)
  })
  // A server that doesn't rotate refresh tokens returns none.
  return refreshed.ok ? succeed({ ...refreshed.value, refresh: refreshed.value.refresh ?? refreshToken }) : refreshed
}

/**
 * Asks the authorization server to revoke the access (RFC 7009). Fails silently: the tokens are deleted here in any
 * case.
 */
export async function revokeTokens(env: ProviderEnv, client: McpClient, tokens: UserTokens): Promise<void> {
  const metadata = await findIssuerMetadata(env, client.issuer)
  if (metadata === null || typeof metadata.revocation_endpoint !== "string") return
  const authentication = createAuthentication(client.clientSecret, listMethods(metadata))
  const own = { client_id: client.client_id }
  const token = tokens.refresh ?? tokens.access
  await oauth.revocationRequest(metadata, own, authentication, token, createRequestOptions(env)).catch(() => {})
}

async function requestTokens(
  env: ProviderEnv,
  client: McpClient,
  request: (
    server: oauth.AuthorizationServer,
    authentication: oauth.ClientAuth,
  ) => Promise<oauth.TokenEndpointResponse>,
): Promise<Result<UserTokens, McpFlaw>> {
  const metadata = await findIssuerMetadata(env, client.issuer)
  if (metadata === null) return fail("issuer")
  try {
    return readTokens(await request(metadata, createAuthentication(client.clientSecret, listMethods(metadata))))
  } catch (error) {
    log("mcp_token_failed", { error: describeError(error) })
    if (isTemporary(error)) return fail("unreachable")
    const isEnded = error instanceof oauth.ResponseBodyError && error.error === "invalid_grant"
    return fail(isEnded ? "not_connected" : "unauthorized")
  }
}

/** Whether the error is temporary: a busy or failing server has not refused the token. */
function isTemporary(error: unknown): boolean {
  if (error instanceof ProviderUnreachable) return true
  if (!(error instanceof oauth.ResponseBodyError) && !(error instanceof oauth.OperationProcessingError)) return false
  const status = error instanceof oauth.ResponseBodyError ? error.status : readStatus(error.cause)
  return status === 429 || status >= 500
}

function readStatus(cause: unknown): number {
  return cause instanceof Response ? cause.status : 0
}

function listMethods({ token_endpoint_auth_methods_supported: methods }: IssuerMetadata): string[] | undefined {
  return Array.isArray(methods) ? methods.filter((method) => typeof method === "string") : undefined
}

function readTokens(response: oauth.TokenEndpointResponse): Result<UserTokens, McpFlaw> {
  const { access_token: access, token_type, expires_in } = response
  const refresh = response.refresh_token ?? null
  const all = [access, ...(refresh === null ? [] : [refresh])]
  const isUsable = all.every((token) => /^[\x21-\x7e]+$/.test(token) && token.length <= MAX_TOKEN_CHARS)
  if (token_type.toLowerCase() !== "bearer" || !isUsable) return fail("unauthorized")
  const assumed = refresh === null ? MAX_LIFETIME_SECONDS : DEFAULT_LIFETIME_SECONDS
  const isStated = typeof expires_in === "number" && expires_in > 0
  const lifetime = isStated ? Math.min(expires_in, MAX_LIFETIME_SECONDS) : assumed
  return succeed({ access, refresh, expires: Date.now() + lifetime * 1000 })
}
