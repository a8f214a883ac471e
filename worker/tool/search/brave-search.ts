/** brave-search.ts: the Brave Search API (api-dashboard.search.brave.com, Web Search). */

import * as v from "valibot"
import { succeed } from "../../../shared/fault.ts"
import { failSearch, fetchSearchJson, type SearchService } from "./search-service.ts"

const DEFAULT_URL = "https://api.search.brave.com"

/** The service refuses longer queries. */
const MAX_WORDS = 50

const responseSchema = v.object({
  // Absent if there are only results of other kinds.
  web: v.optional(
    v.object({
      results: v.array(v.object({ title: v.string(), url: v.string(), description: v.optional(v.string(), "") })),
    }),
  ),
})

export function createBraveSearch(key: string, url: string = DEFAULT_URL): SearchService {
  return {
    async search(query, limit, signal) {
      const words = query.split(/\s+/).slice(0, MAX_WORDS).join(" ")
      const parameters = new URLSearchParams({
        q: words,
        count: String(limit),
        result_filter: "web",
        text_decorations: "false",
      })
      const headers = { accept: "application/json", "x-subscription-token": key }
      const response = await fetchSearchJson(`${url}/res/v1/web/search?${parameters}`, { headers }, signal)
      if (!response.ok) return response
      const parsed = v.safeParse(responseSchema, response.value)
      if (!parsed.success) return failSearch("The service's response can't be read.")
      const { results } = parsed.output.web ?? { results: [] }
      return succeed(results.map(({ url, title, description }) => ({ url, title, quote: description })))
    },
  }
}
