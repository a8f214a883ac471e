/**
 * load-failure.ts: finds the reason why media couldn't be loaded (the server's, if it sent one), and words it in the
 * page's language.
 */

import { describeError, type RequestError, toRequestError } from "../net/http-request.ts"
import { mediaText } from "../words/parts/media-text.ts"

const REFETCH_TIMEOUT_MS = 10_000

/** A fault is kept as a value and worded when it is rendered, because the language can change in the meantime. */
export type LoadFault = "unreachable" | "gone" | "unsupported" | RequestError

export function describeLoadFault(fault: LoadFault): string {
  switch (fault) {
    case "unreachable":
      return mediaText.loadFailed
    case "gone":
      return mediaText.gone
    case "unsupported":
      return mediaText.unsupported
    default:
      return describeError(fault)
  }
}

/** Returns the fault in the body of a response that isn't ok. */
export async function readLoadFault(response: Response): Promise<LoadFault> {
  const body: unknown = await response.json()
  return typeof Reflect.get(Object(body), "text") === "string" ? toRequestError(response.status, body) : "unreachable"
}

/**
 * Fetches a URL again to learn why an element failed to load it, because the element's error event doesn't say.
 * Returns null if the URL now loads.
 */
export async function fetchLoadFault(href: string): Promise<LoadFault | null> {
  try {
    const response = await fetch(href, { signal: AbortSignal.timeout(REFETCH_TIMEOUT_MS) })
    if (response.ok) {
      void response.body?.cancel()
      return null
    }
    return await readLoadFault(response)
  } catch {
    return "unreachable"
  }
}
