/**
 * guarded-fetch.ts: sends all requests to MCP servers. Only requests to the registered URL are sent, redirects are not
 * followed, and the number of requests, the bytes and the nesting of responses are limited. Source: SPEC MP2, MP15.
 */

import type { McpFlaw } from "../../shared/fault.ts"
import { createJsonMeter } from "../../shared/json.ts"
import { checkProviderUrl, type ProviderEnv } from "../auth/issuer/provider-fetch.ts"

/** Maximum number of bytes in all responses of one operation: a result of MAX_RESULT_BYTES and its envelope. */
export const MAX_MCP_BYTES = 2 * 1024 * 1024

/** Maximum number of requests in one operation. Enough for the handshake with an old server and the pages of a list. */
const MAX_MCP_REQUESTS = 12

/**
 * Maximum number of lines in an event stream. Every event is parsed, and parsing a large number of small ones would
 * take seconds of CPU time.
 */
const MAX_STREAM_LINES = 6_000

/** Thrown when a request isn't allowed, or when a response is refused or exceeds a limit. */
export class McpBoundError extends Error {
  readonly flaw: McpFlaw

  constructor(flaw: McpFlaw) {
    super(flaw)
    this.flaw = flaw
  }
}

export interface GuardedFetch {
  readonly fetch: (input: string | URL, init?: RequestInit) => Promise<Response>
  /** Aborted when the caller stops, and when a limit is exceeded. */
  readonly signal: AbortSignal
  /** Returns the first limit that was exceeded; null if none was. The protocol package can hide the error. */
  readonly readFlaw: () => McpFlaw | null
}

export function createGuardedFetch(address: string, env: ProviderEnv, signal: AbortSignal): GuardedFetch {
  let flaw: McpFlaw | null = null
  let requestsLeft = MAX_MCP_REQUESTS
  const budget = { bytesLeft: MAX_MCP_BYTES }
  const stop = new AbortController()
  const stopped = AbortSignal.any([signal, stop.signal])
  const refuse = (because: McpFlaw): never => {
    flaw ??= because
    stop.abort()
    throw new McpBoundError(because)
  }
  const send = async (input: string | URL, init: RequestInit = {}): Promise<Response> => {
    // The package asks servers of protocol version 2025-11-25 for a stream of notifications, which Cuecard doesn't use.
    if (init.method === "GET") return new Response(null, { status: 405 })
    const url = checkProviderUrl(address, env)
    if (!url.ok || String(input) !== address) return refuse("address")
    if (requestsLeft-- <= 0) return refuse("too_many")
    const signals = init.signal == null ? [stopped] : [stopped, init.signal]
    const request = { ...init, redirect: "manual", signal: AbortSignal.any(signals) } as const
    const response = await fetch(url.value, request).catch((error: unknown) => {
      if (request.signal.aborted) throw error
      // The protocol package would report a network error as a malformed response.
      return refuse("unreachable")
    })
    if (response.status >= 300 && response.status < 400)
      return await cancelAndRefuse(response, () => refuse("redirect"))
    if (response.status === 401 || response.status === 403)
      return await cancelAndRefuse(response, () => refuse("unauthorized"))
    return response.body === null ? response : new Response(guardBody(response, budget, refuse), response)
  }
  return { fetch: send, signal: stopped, readFlaw: () => flaw }
}

async function cancelAndRefuse(response: Response, refuse: () => never): Promise<never> {
  await response.body?.cancel().catch(() => {})
  return refuse()
}

/** Passes a body on, and fails at the first byte or nesting level beyond the limits. An event's data is one line. */
function guardBody(
  { body, headers }: Response,
  budget: { bytesLeft: number },
  refuse: (flaw: McpFlaw) => never,
): ReadableStream<Uint8Array> {
  const isStream = (headers.get("content-type") ?? "").includes("text/event-stream")
  const decoder = new TextDecoder()
  let isWithinBounds = createJsonMeter()
  let linesLeft = MAX_STREAM_LINES
  const readText = (text: string): void => {
    for (const [i, piece] of (isStream ? text.split(/[\r\n]/) : [text]).entries()) {
      if (i > 0) {
        isWithinBounds = createJsonMeter()
        linesLeft -= 1
        if (linesLeft < 0) refuse("too_many")
      }
      if (!isWithinBounds(piece)) refuse("too_deep")
    }
  }
  return (body as ReadableStream<Uint8Array>).pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        budget.bytesLeft -= chunk.byteLength
        if (budget.bytesLeft < 0) refuse("too_large")
        readText(decoder.decode(chunk, { stream: true }))
        controller.enqueue(chunk)
      },
    }),
  )
}
