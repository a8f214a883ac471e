/**
 * searxng-search.ts: the API of a SearXNG server (docs.searxng.org/dev/search_api). The server must list `json` in
 * `search.formats` of its settings; otherwise it returns 403.
 */

import * as v from "valibot"
import { succeed } from "../../../shared/fault.ts"
import { failSearch, fetchSearchJson, type SearchService } from "./search-service.ts"

const responseSchema = v.object({
  results: v.array(v.object({ title: v.string(), url: v.string(), content: v.optional(v.nullable(v.string()), "") })),
})

/** Creates the service. `key` is sent as a bearer token, for servers behind a proxy that requires one. */
export function createSearxngSearch(url: string, key?: string): SearchService {
  return {
    async search(query, _limit, signal) {
      const headers = { accept: "application/json", ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) }
      const parameters = new URLSearchParams({ q: query, format: "json" })
      const response = await fetchSearchJson(`${url}/search?${parameters}`, { headers }, signal)
      if (!response.ok) return response
      const parsed = v.safeParse(responseSchema, response.value)
      if (!parsed.success) return failSearch("The service's response can't be read.")
      return succeed(parsed.output.results.map(({ url, title, content }) => ({ url, title, quote: content ?? "" })))
    },
  }
}
