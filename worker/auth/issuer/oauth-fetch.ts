/**
 * oauth-fetch.ts: sends the requests of `oauth4webapi` to authorization servers, under the rules of provider-fetch.ts.
 */

import * as oauth from "oauth4webapi"
import { type ProviderEnv, requestProvider } from "./provider-fetch.ts"

/** Thrown through `oauth4webapi`, whose fetch cannot return a fault. */
export class ProviderUnreachable extends Error {}

/** Creates the options of a request to an authorization server. */
export function createRequestOptions(env: ProviderEnv) {
  return { [oauth.customFetch]: createFetch(env), [oauth.allowInsecureRequests]: env.ENVIRONMENT === "local" }
}

function createFetch(env: ProviderEnv) {
  return async (
    url: string,
    init: oauth.CustomFetchOptions<string, URLSearchParams | undefined>,
  ): Promise<Response> => {
    const { method, headers, body = null } = init
    const response = await requestProvider(url, env, { method, headers, body })
    if (response.ok) return response.value
    const isUnreachable = response.fault.reason === "issuer_refused" && response.fault.because === "unreachable"
    throw new (isUnreachable ? ProviderUnreachable : Error)(JSON.stringify(response.fault))
  }
}

/**
 * Returns how a client authenticates. `methods`: the methods in the server's metadata, or else the standard's default.
 * A client without a secret is public.
 */
export function createAuthentication(
  secret: string | null,
  methods: readonly string[] = ["client_secret_basic"],
): oauth.ClientAuth {
  if (secret === null) return oauth.None()
  const isPost = !methods.includes("client_secret_basic") && methods.includes("client_secret_post")
  return isPost ? oauth.ClientSecretPost(secret) : oauth.ClientSecretBasic(secret)
}
