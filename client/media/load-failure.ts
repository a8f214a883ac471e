/** load-failure.ts: finds the text that explains why media couldn't be loaded: the server's, if it sent one. */

import { errorText } from "../words/page-text.ts"

const REFETCH_TIMEOUT_MS = 10_000

export const UNREACHABLE_TEXT = errorText.loadFailed
export const GONE_TEXT = errorText.mediaGone

/** Returns the error text in the body of a response that isn't ok. */
export async function readErrorText(response: Response): Promise<string> {
  const text: unknown = Reflect.get(Object(await response.json()), "text")
  return typeof text === "string" ? text : UNREACHABLE_TEXT
}

/**
 * Fetches a URL again to learn why an element failed to load it, because the element's error event doesn't say.
 * Returns null if the URL now loads.
 */
export async function fetchFailureReason(href: string): Promise<string | null> {
  try {
    const response = await fetch(href, { signal: AbortSignal.timeout(REFETCH_TIMEOUT_MS) })
    if (response.ok) {
      void response.body?.cancel()
      return null
    }
    return await readErrorText(response)
  } catch {
    return UNREACHABLE_TEXT
  }
}
