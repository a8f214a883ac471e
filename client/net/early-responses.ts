/**
 * early-responses.ts: the responses to the requests that public/start-requests.js sent while the page's scripts were
 * loading: a token and the newest page of the open conversation. Each is used once. Source: SPEC PF9.
 */

interface EarlyResponse {
  readonly response: Response
  /** The header of the request, if it had one. */
  readonly authorization?: string
}

declare global {
  /** The early responses by path, defined by public/start-requests.js. Undefined if that file could not be loaded. */
  var earlyResponses: Record<string, Promise<EarlyResponse>> | undefined
}

/** Returns the early response if this request was sent early with the same token. Otherwise sends the request. */
export async function fetchOnce(path: string, init: RequestInit, send: () => Promise<Response>): Promise<Response> {
  const early = globalThis.earlyResponses?.[path]
  delete globalThis.earlyResponses?.[path]
  const known = await early?.catch(() => null)
  const authorization = new Headers(init.headers).get("authorization") ?? undefined
  return known != null && known.authorization === authorization ? known.response : await send()
}
