/**
 * upstream-search.ts: imitates the search services Brave, Tavily and SearXNG on loopback, including their failures.
 *
 * Each path has the request and response format that the service documents: api-dashboard.search.brave.com (Web
 * Search), docs.tavily.com (POST /search), docs.searxng.org/dev/search_api.
 */

import type { ServerResponse } from "node:http"
import type { Call } from "./upstreams.ts"

const TITLE = "Steeping <strong>black</strong> tea &amp; more"
const QUOTE = "Black tea needs water just off the boil &#x2014; <strong>three</strong>\u202e minutes\nare enough."

/** The URLs of the results, in the order in which a service returns them. Only some of them can be sources. */
const ADDRESSES = [
  "https://tea.example.org/steeping?a=1&b=2",
  "http://insecure.example.org/",
  "https://10.0.0.1/internal",
  "javascript:alert(1)",
  "https://tea.example.org/steeping?a=1&b=2",
  "https://tea.example.org/water",
  ...Array.from({ length: 20 }, (_, i) => `https://tea.example.org/${i}`),
]

export function playSearch(call: Call): void {
  switch (call.scenario) {
    case "brave":
      return expectPath(call, "/res/v1/web/search?", {
        type: "search",
        query: { original: "tea", more_results_available: true },
        web: {
          type: "search",
          results: ADDRESSES.map((url) => ({
            title: TITLE,
            url,
            description: QUOTE,
            page_age: "2026-01-15",
            profile: { name: "Tea", img: "https://tracker.example.com/x.png" },
          })),
        },
      })
    case "tavily":
      return expectPath(call, "/search", {
        query: "tea",
        follow_up_questions: null,
        answer: null,
        images: [],
        results: ADDRESSES.map((url) => ({ url, title: TITLE, content: QUOTE, score: 0.99, raw_content: null })),
        response_time: 1.09,
        request_id: "r1",
      })
    case "searxng":
      return expectPath(call, "/search?", {
        query: "tea",
        number_of_results: 0,
        results: ADDRESSES.map((url) => ({
          url,
          title: TITLE,
          content: url.endsWith("/water") ? null : QUOTE,
          engine: "brave",
          category: "general",
          score: 1,
        })),
        answers: [],
        unresponsive_engines: [["google", "timeout"]],
      })
    default:
      return playFailure(call.scenario, call.reply)
  }
}

function expectPath({ path, reply }: Call, prefix: string, value: object): void {
  if (!path.startsWith(prefix)) return void reply.writeHead(404).end()
  reply.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value))
}

function playFailure(scenario: string, reply: ServerResponse): void {
  if (/^\d{3}$/.test(scenario))
    return void reply
      .writeHead(Number(scenario), { location: "/search/tavily/other" })
      .end('{"detail":"Secret words."}')
  switch (scenario) {
    case "nothing":
      return void reply.end('{"type":"search","results":[]}')
    case "malformed":
      return void reply.end('{"results": [{"title": ')
    case "wrong":
      return void reply.end('{"results": [{"title": 7, "url": []}], "web": {"results": 7}}')
    case "text":
      return void reply.end("Secret words.")
    case "deep":
      return void reply.end(`{"results": ${"[".repeat(100_000)}${"]".repeat(100_000)}}`)
    case "slow":
      return
    case "huge":
      return void reply.end(JSON.stringify({ results: [], padding: "x".repeat(3_000_000) }))
    case "cut":
      reply.writeHead(200, { "content-length": "1000" })
      reply.write('{"results": [', () => reply.destroy())
      return
    default:
      reply.writeHead(404).end()
  }
}
