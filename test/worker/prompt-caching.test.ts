/**
 * prompt-caching.test.ts: tests that the prompts of all calls begin with the same bytes, so that a provider can read
 * this beginning from its cache.
 */

import { env } from "cloudflare:test"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { connect } from "../support/socket.ts"
import { readUpstream, upstreamUrl } from "../support/upstream-client.ts"
import { call, roleToken } from "./http.ts"
import { putServer, serverUrl } from "./mcp-helpers.ts"

interface Block {
  readonly [key: string]: unknown
  readonly cache_control?: unknown
}

interface Body {
  readonly system: readonly Block[]
  readonly tools: readonly Block[]
  readonly messages: readonly { readonly role: string; readonly content: readonly Block[] }[]
}

/** Returns all blocks of a request in the order in which Anthropic caches them: tools, system, messages. */
const blocksOf = ({ system, tools, messages }: Body): Block[] => [
  ...tools,
  ...system,
  ...messages.flatMap(({ role, content }) => content.map((block) => ({ ...block, role }))),
]

const textOf = ({ cache_control: _, ...block }: Block): string => JSON.stringify(block)

/**
 * Counts the characters that a provider would read from its cache. These are the characters up to a breakpoint of an
 * earlier request, if both requests are equal up to that breakpoint.
 */
function countCached(earlier: readonly Body[], body: Body): { readonly cached: number; readonly total: number } {
  const texts = blocksOf(body).map(textOf)
  let cachedBlocks = 0
  for (const before of earlier.map(blocksOf)) {
    let same = 0
    while (same < before.length && textOf(before[same] ?? {}) === texts[same]) same += 1
    const end = before.findLastIndex((block, at) => at < same && block.cache_control !== undefined)
    cachedBlocks = Math.max(cachedBlocks, end + 1)
  }
  const countChars = (some: readonly string[]): number => some.reduce((sum, { length }) => sum + length, 0)
  return { cached: countChars(texts.slice(0, cachedBlocks)), total: countChars(texts) }
}

async function askTenTimes(): Promise<Body[]> {
  const tenant = "caching"
  const owner = await roleToken(tenant, "boss", "owner")
  const put = (path: string, body: object) => call(path, { method: "PUT", token: owner, body: JSON.stringify(body) })
  const base_url = `${upstreamUrl(env)}/provider/anthropic.text/${tenant}`
  await put("/v1/models/own", { provider: "anthropic", model: "claude-opus-4-6", base_url, key: "sk-0123456789abcdef" })
  const tools = ["weather", "chart", "speak", "search"]
  await put("/v1/agents/own", { description: "", prompt: "Answer the user.", model: "own", tools })
  const token = await roleToken(tenant, "ada", "member")
  const made = await call("/v1/sessions", { method: "POST", token, body: JSON.stringify({ agent: "own" }) })
  const claims = { tenant, user: "ada", expires: 4_000_000_000, token: null, issued: 0 }
  const client = await connect(made.json.id, claims)
  for (let n = 1; n <= 10; n++) {
    client.say({ type: "send", id: `q${n}`, content: `Question ${n}: what should I know about it?` })
    await client.untilEnd(`q${n}`)
  }
  // The request for a title has no tools.
  const bodies = (await readUpstream(env, tenant)).map(({ body }) => body as Body)
  return bodies.filter((body) => body.tools !== undefined)
}

describe("Anthropic", () => {
  test("[MO17] gets up to four breakpoints and the same tools and system prompt in each call, and can cache 90% of turn 10", async () => {
    const bodies = await askTenTimes()
    expect(bodies).toHaveLength(10)
    for (const body of bodies) {
      const breakpoints = blocksOf(body).filter((block) => block.cache_control !== undefined)
      expect(breakpoints.length).toBeGreaterThanOrEqual(3)
      expect(breakpoints.length).toBeLessThanOrEqual(4)
      expect(JSON.stringify([body.tools, body.system])).toBe(JSON.stringify([bodies[0]?.tools, bodies[0]?.system]))
    }
    const last = bodies.at(-1)
    if (last === undefined) throw new Error("no request")
    const { cached, total } = countCached(bodies.slice(0, -1), last)
    expect(cached / total).toBeGreaterThan(0.9)
  })
})

const TOOLS = ["weather", "chart", "speak", "search", "timer", "list", "calculate"]
const SERVERS = ["files", "notes", "plans"]

describe.each([
  ["anthropic", "claude-opus-4-6"],
  ["google", "gemini-3-pro"],
  ["openai", "gpt-5"],
  ["openai-compatible", "a-model"],
])("%s", (provider, model) => {
  test("[MO17] gets the same system prompt and tools, whatever the order in which an agent names its tools and servers", async () => {
    const tenant = `order-${provider}`
    const owner = await roleToken(tenant, "boss", "owner")
    const token = await roleToken(tenant, "ada", "member")
    const send = async (method: string, path: string, body: object, as = owner) => {
      const response = await call(path, { method, token: as, body: JSON.stringify(body) })
      expect(response.status, response.text).toBeLessThan(300)
      return response.json
    }
    for (const name of SERVERS)
      await putServer(tenant, name, {
        url: serverUrl(`${tenant}-${name}`),
        tools: ["echo", "write"],
        approval: "never",
      })
    const base_url = `${upstreamUrl(env)}/provider/${provider}.text/${tenant}`
    await send("PUT", "/v1/models/own", { provider, model, base_url, key: "sk-0123456789abcdef" })
    const orders = fc.tuple(
      fc.shuffledSubarray(TOOLS, { minLength: TOOLS.length }),
      fc.shuffledSubarray(SERVERS, { minLength: SERVERS.length }),
    )
    for (const [tools, mcp_servers] of fc.sample(orders, { numRuns: 5, seed: 17 })) {
      await send("PUT", "/v1/agents/own", { description: "", prompt: "Answer.", model: "own", tools, mcp_servers })
      const { id } = await send("POST", "/v1/sessions", { agent: "own" }, token)
      const client = await connect(id, { tenant, user: "ada", expires: 4_000_000_000, token: null, issued: 0 })
      client.say({ type: "send", id: "q1", content: "The same question" })
      await client.untilEnd("q1")
    }
    const bodies = (await readUpstream(env, tenant)).map(({ body }) => JSON.stringify(body))
    const withTools = bodies.filter((body) => body.includes("files_echo"))
    expect(withTools).toHaveLength(5)
    expect(new Set(withTools).size).toBe(1)
  })
})
