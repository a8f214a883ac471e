/**
 * post-signed.ts: sends one signed request to a tenant's service, and reads the response, up to a size limit. Source:
 * SPEC TW3, TW4.
 *
 * message → POST SIGNED → response
 * Errors: throws the reason of `signal` when it is aborted. Every other outcome is a return value.
 */

import { MAX_RESULT_BYTES } from "../../shared/limits.ts"
import { checkServiceUrl } from "../auth/service-url.ts"
import type { Env } from "../env.ts"
import { readBounded } from "../platform/read-bounded.ts"
import type { WebhookEndpoint } from "../settings/webhooks/webhook-tool.ts"
import { createSignatureHeaders } from "./webhook-signature.ts"

/** The response statuses after which the same request may be sent again. */
const RETRIED_STATUSES = new Set([429, 502, 503, 504])

export interface WebhookMessage {
  /** The same whenever the message is sent again. */
  readonly id: string
  readonly body: string
}

export type WebhookResponse =
  /** The service was busy or could not be reached. */
  | { readonly kind: "retry" }
  /** The service will answer later (202). */
  | { readonly kind: "later" }
  /** The request or its response can't be used. */
  | { readonly kind: "refused"; readonly details: string }
  | { readonly kind: "answered"; readonly ok: boolean; readonly status: number; readonly text: string }

export async function postSigned(
  env: Env,
  { url, secrets }: WebhookEndpoint,
  { id, body }: WebhookMessage,
  signal: AbortSignal,
): Promise<WebhookResponse> {
  const address = checkServiceUrl(url, env)
  if (address === null) return { kind: "refused", details: "The address of the service can't be used." }
  const timestamp = Math.floor(Date.now() / 1000)
  const headers = await createSignatureHeaders(secrets, { id, timestamp, body })
  const response = await fetch(address, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json", accept: "application/json" },
    body,
    redirect: "manual",
    signal,
  }).catch((error: unknown) => {
    if (signal.aborted) throw error
    return null
  })
  return response === null ? { kind: "retry" } : await readResponse(response, signal)
}

async function readResponse(response: Response, signal: AbortSignal): Promise<WebhookResponse> {
  const { status, ok } = response
  const isRedirect = status >= 300 && status < 400
  if (status === 202 || isRedirect || RETRIED_STATUSES.has(status)) {
    await response.body?.cancel().catch(() => {})
    if (status === 202) return { kind: "later" }
    return isRedirect
      ? { kind: "refused", details: "The service responded with a redirect; redirects aren't followed." }
      : { kind: "retry" }
  }
  const bytes = await readBounded(response.body, MAX_RESULT_BYTES, signal)
  if (bytes === null) return { kind: "refused", details: `The response is larger than ${MAX_RESULT_BYTES} bytes.` }
  return { kind: "answered", ok, status, text: new TextDecoder().decode(bytes) }
}
