/** tavily-search.ts: the Tavily Search API (docs.tavily.com, POST /search). */

import * as v from "valibot"
import { succeed } from "../../../shared/fault.ts"
import { failSearch, fetchSearchJson, type SearchService } from "./search-service.ts"

const DEFAULT_URL = "https://api.tavily.com"

const responseSchema = v.object({
  results: v.array(v.object({ title: v.string(), url: v.string(), content: v.optional(v.string(), "") })),
})

export function createTavilySearch(key: string, url: string = DEFAULT_URL): SearchService {
  return {
    async search(query, limit, signal) {
      const init = {
        method: "POST",
        headers: { accept: "application/json", "content-type": "application/json", authorization: `Bearer ${key}` },
        body: JSON.stringify({ query, max_results: limit, search_depth: "basic" }),
      }
      const response = await fetchSearchJson(`${url}/search`, init, signal)
      if (!response.ok) return response
      const parsed = v.safeParse(responseSchema, response.value)
      if (!parsed.success) return failSearch("The service's response can't be read.")
      return succeed(parsed.output.results.map(({ url, title, content }) => ({ url, title, quote: content })))
    },
  }
}
