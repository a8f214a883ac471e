/**
 * provider-fetch.ts: sends requests to OpenID providers. Only public https URLs are allowed, redirects are not
 * followed, and size and time are limited.
 */

import { type Fault, fail, type IssuerFlaw, type Result, succeed } from "../../../shared/fault.ts"
import { isJsonObject, parseJson } from "../../../shared/json.ts"
import { readBounded } from "../../platform/read-bounded.ts"
import { readTimeLimits, type TimeLimitsEnv } from "../../platform/time-limits.ts"
import { checkServiceUrl, type ServiceUrlEnv } from "../service-url.ts"

/** Maximum size of a provider's response, in bytes: enough for more than a hundred keys. SPEC OI4. */
export const MAX_PROVIDER_BYTES = 64 * 1024

/** Maximum nesting of a provider's JSON. Metadata and key sets have three levels, and some providers add a few. */
const MAX_PROVIDER_DEPTH = 10

export type ProviderEnv = TimeLimitsEnv & ServiceUrlEnv

function createRefusal(because: IssuerFlaw): { readonly ok: false; readonly fault: Fault } {
  return fail({ reason: "issuer_refused", because })
}

/** Checks a provider's URL. A local deployment may also use http on this machine. Errors: `issuer_refused`. */
export function checkProviderUrl(text: string, env: ProviderEnv): Result<string> {
  const url = checkServiceUrl(text, env)
  return url === null ? createRefusal("address") : succeed(url)
}

/**
 * Sends a request and returns its response with the whole body. A redirect is not followed; it is returned as the
 * response.
 *
 * Errors: `issuer_refused` (`address`, `too_large`, `unreachable`).
 */
export async function requestProvider(
  url: string,
  env: ProviderEnv,
  init: RequestInit = {},
): Promise<Result<Response>> {
  const checked = checkProviderUrl(url, env)
  if (!checked.ok) return checked
  const abort = new AbortController()
  const timer = setTimeout(() => abort.abort(), readTimeLimits(env).providerMs)
  try {
    const response = await fetch(checked.value, { ...init, redirect: "manual", signal: abort.signal })
    const bytes = await readBounded(response.body, MAX_PROVIDER_BYTES, abort.signal)
    if (bytes === null) return createRefusal("too_large")
    const { status, headers } = response
    return succeed(new Response(bytes.length === 0 ? null : bytes, { status, headers }))
  } catch {
    return createRefusal("unreachable")
  } finally {
    clearTimeout(timer)
  }
}

/** Fetches a JSON object. Errors: those of `requestProvider`; `issuer_refused` (`status`, `malformed`). */
export async function fetchProviderJson(
  url: string,
  env: ProviderEnv,
): Promise<Result<{ readonly [key: string]: unknown }>> {
  const response = await requestProvider(url, env, { headers: { accept: "application/json" } })
  if (!response.ok) return response
  if (response.value.status !== 200) return createRefusal("status")
  const value = parseJson(await response.value.text(), MAX_PROVIDER_DEPTH)
  return isJsonObject(value) ? succeed(value) : createRefusal("malformed")
}
