/**
 * oauth-client.ts: the requests of a sign-in to an OpenID provider, with `oauth4webapi`.
 */

import * as oauth from "oauth4webapi"
import { createAuthentication, createRequestOptions, ProviderUnreachable } from "../auth/issuer/oauth-fetch.ts"
import type { Env } from "../env.ts"
import type { SignInClient } from "../settings/issuer-config.ts"
import type { SignInError } from "../../shared/protocol/sign-in.ts"
import type { SignInTransaction } from "./sign-in-cookies.ts"

/** Creates the provider's URL to which `/auth/login` redirects. */
export async function createAuthorizationUrl(
  { config, metadata }: SignInClient,
  { state, nonce, verifier }: Pick<SignInTransaction, "state" | "nonce" | "verifier">,
  redirectUri: string,
): Promise<string> {
  // Clients are registered with both endpoints.
  const url = new URL(metadata.authorization_endpoint ?? "")
  const parameters = {
    client_id: config.client_id,
    response_type: "code",
    redirect_uri: redirectUri,
    scope: config.scopes,
    state,
    nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url.href
}

export function createTransactionSecrets(): Pick<SignInTransaction, "state" | "nonce" | "verifier"> {
  return {
    state: oauth.generateRandomState(),
    nonce: oauth.generateRandomNonce(),
    verifier: oauth.generateRandomCodeVerifier(),
  }
}

/**
 * Exchanges the provider's response for an ID token. Checks the token's claims but not its signature. Throws; see
 * `toSignInError`.
 */
export async function fetchIdToken(
  env: Env,
  client: SignInClient,
  { state, nonce, verifier }: SignInTransaction,
  callback: URL,
  redirectUri: string,
): Promise<string> {
  const server = createServer(client)
  const oauthClient: oauth.Client = { client_id: client.config.client_id }
  const parameters = oauth.validateAuthResponse(server, oauthClient, callback, state)
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    oauthClient,
    createAuthentication(client.clientSecret, client.metadata.token_endpoint_auth_methods_supported),
    parameters,
    redirectUri,
    verifier,
    createRequestOptions(env),
  )
  const options = { expectedNonce: nonce, requireIdToken: true }
  const tokens = await oauth.processAuthorizationCodeResponse(server, oauthClient, response, options)
  return tokens.id_token ?? ""
}

function createServer({ metadata, config }: SignInClient): oauth.AuthorizationServer {
  const { issuer, token_endpoint = "", authorization_response_iss_parameter_supported = false } = metadata
  return {
    issuer,
    token_endpoint,
    authorization_response_iss_parameter_supported,
    id_token_signing_alg_values_supported: [...config.algorithms],
  }
}

/** Returns the public code for an error that `fetchIdToken` throws. */
export function toSignInError(error: unknown): SignInError {
  if (error instanceof ProviderUnreachable) return "provider_unreachable"
  if (error instanceof oauth.AuthorizationResponseError)
    return error.error === "access_denied" ? "consent_denied" : "provider_failed"
  if (error instanceof oauth.OperationProcessingError) {
    if (error.code === oauth.JWT_TIMESTAMP_CHECK) return "clock_skewed"
    if (error.code === oauth.JWT_CLAIM_COMPARISON) return "identity_invalid"
  }
  return "provider_failed"
}
