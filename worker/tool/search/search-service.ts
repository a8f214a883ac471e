/**
 * search-service.ts: the interface of search services, and the request that they share. Source: SPEC BT8, BT9.
 */

import { fail, type Result, succeed } from "../../../shared/fault.ts"
import { parseJson, type Json } from "../../../shared/json.ts"
import { readBounded } from "../../platform/read-bounded.ts"

/** A page as returned by a service, unchecked. */
export interface FoundPage {
  readonly url: string
  readonly title: string
  readonly quote: string
}

/**
 * Why a search failed, as a sentence for the model and the user. It never contains a key, a URL or text from a service.
 */
export interface SearchFault {
  readonly details: string
}

export type SearchResult = Result<readonly FoundPage[], SearchFault>

export interface SearchService {
  /** Does not throw, and returns soon after the signal is aborted. It may return more pages than `limit`. */
  search(query: string, limit: number, signal: AbortSignal): Promise<SearchResult>
}

/** Maximum size of a response, in bytes: many times the usual size. */
const MAX_RESPONSE_BYTES = 1024 * 1024

export const failSearch = (details: string) => fail<SearchFault>({ details })

/**
 * Sends a request and returns the JSON of its response. Redirects are not followed, because the operator chose the
 * host.
 */
export async function fetchSearchJson(
  url: string,
  init: RequestInit,
  signal: AbortSignal,
): Promise<Result<Json | undefined, SearchFault>> {
  try {
    const response = await fetch(url, { ...init, signal, redirect: "manual" })
    if (response.status !== 200) {
      await response.body?.cancel()
      return failSearch(describeStatus(response.status))
    }
    const bytes = await readBounded(response.body, MAX_RESPONSE_BYTES, signal)
    return bytes === null
      ? failSearch("The service's response is too large.")
      : succeed(parseJson(new TextDecoder().decode(bytes)))
  } catch {
    return failSearch(
      signal.aborted
        ? "The service did not respond in time."
        : "The service can't be reached, or its response was cut off.",
    )
  }
}

function describeStatus(status: number): string {
  switch (status) {
    case 401:
    case 403:
      return `The service refused the request (${status}). The operator has to check its key and settings.`
    case 402:
    case 429:
      return `The service's limit is used up (${status}). Try again later.`
    default:
      return `The service returned status ${status}.`
  }
}
