/**
 * search-pages.ts: runs the tool `search`. Returns the pages that the deployment's search service finds, with checked
 * URLs and cleaned text. Loaded on the first call; each service is loaded when it is used. Source: SPEC BT8, BT9.
 */

import { decodeHTML } from "entities/decode"
import type { Json } from "../../../shared/json.ts"
import { MAX_URL_CHARS } from "../../../shared/limits.ts"
import { cutText } from "../../../shared/text/cut-text.ts"
import { checkPublicUrl } from "../../../shared/text/public-url.ts"
import { rejectOnAbort } from "../../platform/abort.ts"
import { startTimeout } from "../../platform/timeout.ts"
import { cleanPageText } from "../page/clean-page-text.ts"
import { failSearch, type FoundPage, type SearchResult, type SearchService } from "./search-service.ts"
import type { SearchEnv } from "./search-tool.ts"

/** Maximum number of results per call. */
const MAX_RESULTS = 5
const MAX_TITLE_CHARS = 200
const MAX_QUOTE_CHARS = 600

type Answer = { readonly [key: string]: Json }

/** Searches with the configured service. Errors: those of the tool. */
export async function searchPages(
  query: string,
  env: SearchEnv,
  signal: AbortSignal,
  timeoutMs: number,
): Promise<Answer> {
  const name = env.SEARCH_SERVICE ?? "sample"
  if (name === "sample") {
    const { searchSampleLibrary } = await import("./sample-library.ts")
    return { query, sample: true, sources: [...searchSampleLibrary(query, MAX_RESULTS)] }
  }
  const found = await searchInTime(await loadService(name, env), query, signal, timeoutMs)
  if (!found.ok) return { error: "The search failed.", details: found.fault.details }
  return { query, service: name, sources: listSources(found.value) }
}

/**
 * Loads the service, or returns the reason why it can't be used. With wrong settings, every call fails, because samples
 * must not be mistaken for real pages.
 */
async function loadService(name: string, env: SearchEnv): Promise<SearchService | string> {
  const { SEARCH_API_KEY: key, SEARCH_URL } = env
  const url = SEARCH_URL?.replace(/\/+$/, "")
  switch (name) {
    case "brave":
      if (key === undefined) return "SEARCH_API_KEY is missing."
      return (await import("./brave-search.ts")).createBraveSearch(key, url)
    case "tavily":
      if (key === undefined) return "SEARCH_API_KEY is missing."
      return (await import("./tavily-search.ts")).createTavilySearch(key, url)
    case "searxng":
      if (url === undefined) return "SEARCH_URL is missing."
      return (await import("./searxng-search.ts")).createSearxngSearch(url, key)
    default:
      return `SEARCH_SERVICE is "${name}"; it must be "sample", "brave", "tavily" or "searxng".`
  }
}

async function searchInTime(
  service: SearchService | string,
  query: string,
  signal: AbortSignal,
  timeoutMs: number,
): Promise<SearchResult> {
  if (typeof service === "string") return failSearch(service)
  const timeout = startTimeout(signal, timeoutMs)
  try {
    return await rejectOnAbort(service.search(query, MAX_RESULTS, timeout.signal), timeout.signal)
  } catch {
    return failSearch(signal.aborted ? "The call was stopped." : "The service did not respond in time.")
  } finally {
    timeout.clear()
  }
}

/** Lists the first pages with a public URL, each once. */
function listSources(pages: readonly FoundPage[]): Json[] {
  const sources = new Map<string, Json>()
  for (const { url, title, quote } of pages) {
    const checked = url.length > MAX_URL_CHARS ? null : checkPublicUrl(url)
    if (checked?.ok !== true || sources.has(checked.value.href)) continue
    sources.set(checked.value.href, {
      url: checked.value.href,
      title: toLine(title, MAX_TITLE_CHARS) || checked.value.host,
      quote: toLine(quote, MAX_QUOTE_CHARS),
    })
    if (sources.size >= MAX_RESULTS) break
  }
  return [...sources.values()]
}

/** Reduces text to one line without tags. Services mark words with `<strong>`, and escape other markup. */
function toLine(text: string, maxChars: number): string {
  // Only the beginning is read, so that the time doesn't depend on the length of the text.
  const plain = decodeHTML(text.slice(0, maxChars * 4).replace(/<\/?[a-z]\w{0,10}>/gi, ""))
  return cutText(cleanPageText(plain).replace(/\s+/g, " ").trim(), maxChars)
}
