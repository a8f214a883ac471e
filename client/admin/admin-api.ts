/** admin-api.ts: the admin page's requests. */

import { createJsonRequest, parseBody, readJson } from "../net/http-request.ts"
import { sendWithRateLimitRetry } from "../net/rate-limit-retry.ts"
import type { RequestHold } from "../net/request-hold.ts"
import { TokenSource, type TokenSourceDeps } from "../net/token-source.ts"

/** Default timeout of a request, in milliseconds. */
const REQUEST_TIMEOUT_MS = 30_000
/** Timeout for transferring one file, in milliseconds; enough for tens of megabytes on a slow connection. */
export const TRANSFER_TIMEOUT_MS = 10 * 60_000

/** Every method throws RequestError, with the server's error message, if the server refuses the request. */
export class AdminApi extends TokenSource {
  async get<T>(path: string, parse: (value: unknown) => T | null): Promise<T> {
    return await parseBody(await this.fetchAuthorized(path), parse)
  }

  async send<T>(method: string, path: string, body: object, parse: (value: unknown) => T | null): Promise<T> {
    return await parseBody(await this.fetchAuthorized(path, createJsonRequest(method, body)), parse)
  }

  /** Sends a request whose response matters only if it is a refusal. */
  async sendAction(method: string, path: string, body?: object): Promise<void> {
    const init = body === undefined ? { method } : createJsonRequest(method, body)
    await readJson(await this.fetchAuthorized(path, init))
  }

  async download(path: string, signal?: AbortSignal): Promise<Blob> {
    const response = await this.fetchAuthorized(path, signal === undefined ? {} : { signal }, TRANSFER_TIMEOUT_MS)
    if (!response.ok) await readJson(response)
    return await response.blob()
  }
}

/** Builds a path in which `id` is URL-encoded. */
export function pathOf(folder: string, id: string, rest = ""): string {
  return `${folder}/${encodeURIComponent(id)}${rest}`
}

/**
 * Creates the function that sends the page's requests, each with a timeout. A rate-limited request (429 with a short
 * `Retry-After`) is sent again after the wait. Sending the request again is safe even if it changes data, because a
 * rate-limited request has no effect. No other failure is retried.
 */
export function createAdminFetch(
  hold: RequestHold,
  send: (url: string, init: RequestInit) => Promise<Response>,
): TokenSourceDeps["fetch"] {
  return (url, init, timeoutMs = REQUEST_TIMEOUT_MS) =>
    sendWithRateLimitRetry(hold, () => {
      const timeout = AbortSignal.timeout(timeoutMs)
      return send(url, { ...init, signal: init.signal ? AbortSignal.any([timeout, init.signal]) : timeout })
    })
}
