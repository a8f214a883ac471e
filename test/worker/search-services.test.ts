/**
 * search-services.test.ts: tests the tool `search` with Brave, Tavily and SearXNG, which a loopback server imitates.
 */

import { env } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import { createSearchTool, type SearchEnv } from "../../worker/tool/search/search-tool.ts"
import { readUpstream, upstreamUrl } from "../support/upstream-client.ts"
import { toolContext } from "./tools.ts"

/** A time limit that is longer than a test can take, in milliseconds. */
const PATIENT_MS = 600_000
const KEY = "search-key-1f6a"
const SERVICES = ["brave", "tavily", "searxng"] as const

let runs = 0

function playSearch(service: (typeof SERVICES)[number], scenario: string, timeoutMs = PATIENT_MS) {
  runs += 1
  const run = `search${runs}`
  const vars: SearchEnv = {
    SEARCH_SERVICE: service,
    SEARCH_API_KEY: KEY,
    SEARCH_URL: `${upstreamUrl(env)}/search/${scenario}/${run}/`,
  }
  const tool = createSearchTool(vars, timeoutMs)
  const search = (query: string, change = {}) => tool.execute({ query }, toolContext(change))
  return { search, run, seen: () => readUpstream(env, run) }
}

describe("search services", () => {
  test.each(SERVICES)("[BT8] [BT9] %s: only public https pages become sources, with plain text", async (service) => {
    const { search } = playSearch(service, service)
    const quote = "Black tea needs water just off the boil — three minutes are enough."
    const title = "Steeping black tea & more"
    expect(await search("tea")).toEqual({
      query: "tea",
      service,
      sources: [
        { url: "https://tea.example.org/steeping?a=1&b=2", title, quote },
        { url: "https://tea.example.org/water", title, quote: service === "searxng" ? "" : quote },
        { url: "https://tea.example.org/0", title, quote },
        { url: "https://tea.example.org/1", title, quote },
        { url: "https://tea.example.org/2", title, quote },
      ],
    })
  })

  test("[BT9] the requests match the documentation, and contain only the query and the key", async () => {
    const brave = playSearch("brave", "brave")
    await brave.search(`two words & more ${"x ".repeat(60)}`)
    const [asked] = await brave.seen()
    const { pathname, searchParams } = new URL(asked?.path ?? "", "http://upstream")
    expect(pathname).toBe("/res/v1/web/search")
    const { q, ...others } = Object.fromEntries(searchParams)
    expect(q?.split(" ")).toHaveLength(50)
    expect(others).toEqual({ count: "5", result_filter: "web", text_decorations: "false" })
    expect(asked?.keys).toContain(KEY)
    expect(asked?.authorization).toBeNull()

    const tavily = playSearch("tavily", "tavily")
    await tavily.search("two words")
    expect(await tavily.seen()).toMatchObject([
      {
        path: "/search",
        authorization: `Bearer ${KEY}`,
        body: { query: "two words", max_results: 5, search_depth: "basic" },
      },
    ])

    const searxng = playSearch("searxng", "searxng")
    await searxng.search("two words & more")
    expect(await searxng.seen()).toMatchObject([{ path: "/search?q=two+words+%26+more&format=json" }])
  })

  test.each([
    ["401", "refused the request (401)"],
    ["403", "refused the request (403)"],
    ["429", "limit is used up (429)"],
    ["302", "status 302"],
    ["500", "status 500"],
    ["malformed", "can't be read"],
    ["wrong", "can't be read"],
    ["text", "can't be read"],
    ["deep", "can't be read"],
    ["huge", "too large"],
    ["cut", "can't be reached"],
  ])("[BT9] %s is an error that contains neither the key nor the service's text", async (scenario, details) => {
    for (const service of SERVICES) {
      const { search, seen } = playSearch(service, scenario)
      const result = await search("tea")
      expect(result).toEqual({ error: "The search failed.", details: expect.stringContaining(details) })
      expect(JSON.stringify(result)).not.toMatch(/127\.0\.0\.1|Secret|search-key/)
      expect(await seen()).toHaveLength(1)
    }
  })

  test("[BT9] a call to a slow service ends in time, a stopped call ends at once, and both close the connection", async () => {
    const slow = playSearch("tavily", "slow", 200)
    expect(await slow.search("tea")).toMatchObject({ details: "The service did not respond in time." })
    await expect.poll(async () => (await slow.seen())[0]?.closed).toBe(true)
    const stopped = playSearch("brave", "slow")
    const abort = new AbortController()
    const ended = stopped.search("tea", { signal: abort.signal })
    await expect.poll(async () => (await stopped.seen()).length).toBe(1)
    abort.abort()
    await ended
    await expect.poll(async () => (await stopped.seen())[0]?.closed).toBe(true)
  })

  test("[BT8] a response without pages becomes a result without sources", async () => {
    expect(await playSearch("brave", "nothing").search("tea")).toEqual({ query: "tea", service: "brave", sources: [] })
  })

  test.each<[SearchEnv, string]>([
    [{ SEARCH_SERVICE: "brve" }, '"brve"'],
    [{ SEARCH_SERVICE: "brave" }, "SEARCH_API_KEY is missing"],
    [{ SEARCH_SERVICE: "tavily" }, "SEARCH_API_KEY is missing"],
    [{ SEARCH_SERVICE: "searxng" }, "SEARCH_URL is missing"],
  ])(
    "[BT8] with the settings %j, every call fails, and samples are never returned in place of real pages",
    async (vars, details) => {
      const result = await createSearchTool(vars).execute({ query: "tea" }, toolContext())
      expect(result).toEqual({ error: "The search failed.", details: expect.stringContaining(details) })
    },
  )
})
