/**
 * hostile-mcp.test.ts: tests that the effects of hostile and broken MCP servers are bounded, and that each fault is
 * reported by a code.
 */

import { env } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import { callServerTool, listServerTools } from "../../worker/mcp/mcp-client.ts"
import { readOfferedTools } from "../../worker/mcp/tool-definitions.ts"
import { MAX_MCP_TOOLS } from "../../worker/settings/mcp-config.ts"
import { openAgentSession, putServer, runTool, seenAt, sendMcp, serverUrl, setServer } from "./mcp-helpers.ts"
import { refusal } from "./http.ts"

let runs = 0
const newRun = (): string => `hostile-${++runs}`

/**
 * Time limits, in milliseconds. A silent server is soon abandoned. All other servers must be refused for other reasons,
 * even on a slow machine.
 */
const [SOON_MS, LATE_MS] = [150, 50_000]

async function listAt(play: string, method = "tools/list", limitMs = LATE_MS) {
  const run = newRun()
  await setServer(run, { hostile: { method, play } })
  const listed = await listServerTools(env, { url: serverUrl(run), headers: { authorization: "Bearer x" } }, limitMs)
  return { listed, seen: await seenAt(run), target: await seenAt(`${run}-target`) }
}

/** The flaw that is reported for each behaviour, whichever request it answers. */
const FLAWS: readonly (readonly [play: string, flaw: string])[] = [
  ["redirect 301", "redirect"],
  ["redirect 302", "redirect"],
  ["redirect 303", "redirect"],
  ["redirect 307", "redirect"],
  ["redirect 308", "redirect"],
  ["status 401", "unauthorized"],
  ["status 403", "unauthorized"],
  ["huge-json", "too_large"],
  ["endless-json", "too_large"],
  ["endless-spaces", "too_large"],
  ["endless-comments", "too_large"],
  ["endless-events", "too_many"],
  ["endless-line", "too_large"],
  ["deep-json", "too_deep"],
  ["deep-objects", "too_deep"],
  ["many-values", "too_deep"],
]

describe("a hostile server", () => {
  test.each(FLAWS)("[MP2] [MP15] a server that answers with %s is refused: %s", async (play, flaw) => {
    for (const method of ["server/discover", "tools/list"]) {
      const { listed, seen, target } = await listAt(play, method)
      expect(listed).toEqual({ ok: false, fault: flaw })
      expect(seen.length).toBeLessThanOrEqual(12)
      // The credentials must not have been sent to any other server.
      expect(target).toEqual([])
    }
  })

  test.each([
    "status 404",
    "status 410",
    "status 429",
    "status 500",
    "status 503",
    "html",
    "nothing",
    "cut-json",
    "bad-utf8",
    "null",
    "number",
    "string",
    "no-version",
    "old-version",
    "error-long",
    "error-shape",
    "result-null",
    "result-text",
    "tools-text",
    "asks-input",
    "cut",
  ])("[MP15] a server whose list is %s is refused with a code, without the server's text", async (play) => {
    const { listed, seen } = await listAt(play)
    expect(listed).toEqual({ ok: false, fault: expect.stringMatching(/^(?:malformed|unreachable)$/) })
    expect(seen.length).toBeLessThanOrEqual(12)
  })

  test.each(["hang", "array", "drip", "stream-without-end", "stream-empty", "other-id", "asks-sampling"])(
    "[MP15] a server that answers with %s is abandoned in time",
    async (play) => {
      const { listed } = await listAt(play, "tools/list", SOON_MS)
      expect(listed).toMatchObject({ ok: false, fault: expect.stringMatching(/^(?:timeout|malformed|unreachable)$/) })
    },
  )

  test("[MP15] a server that never ends its list is cut off after a few pages", async () => {
    const { listed, seen } = await listAt("list-endless")
    expect(listed).toEqual({ ok: false, fault: "too_many" })
    expect(seen.length).toBeLessThanOrEqual(12)
  })

  test("[MP2] the administrator is told why a server is refused, by a code", async () => {
    await setServer("hostile-put", { hostile: { method: "server/discover", play: "redirect 302" } })
    const put = await sendMcp("mp-hostile", "PUT", "/one", { url: serverUrl("hostile-put") })
    expect(put).toEqual(refusal(422, "mcp_refused", "redirect"))
    expect((await sendMcp("mp-hostile", "GET", "")).json).toEqual({ servers: [] })
  })
})

describe("hostile definitions", () => {
  test.each([
    "tools-null",
    "tools-nameless",
    "tools-bad-names",
    "schema-deep",
    "schema-huge",
    "schema-remote",
    "schema-file",
    "schema-dynamic",
    "schema-list",
    "schema-string",
    "schema-none",
    "description-long",
    "description-object",
  ])("[MP3] %s: no tool is offered", async (play) => {
    const { listed } = await listAt(play)
    const tools = listed.ok ? await readOfferedTools("srv", listed.value.tools) : []
    expect(tools).toEqual([])
  })

  test("[MP3] only the first MAX_MCP_TOOLS tools are read", async () => {
    const { listed } = await listAt("tools-many")
    expect(listed.ok && (await readOfferedTools("srv", listed.value.tools))).toHaveLength(MAX_MCP_TOOLS)
  })

  test.each(["tools-twins", "tools-long-names"])("[MP16] %s: every tool has a unique name", async (play) => {
    const { listed } = await listAt(play)
    const tools = listed.ok ? await readOfferedTools("srv", listed.value.tools) : []
    expect(tools.length).toBeGreaterThan(1)
    expect(new Set(tools.map(({ slug }) => slug)).size).toBe(tools.length)
    for (const { slug } of tools) expect(slug).toMatch(/^srv_[\w-]{1,60}$/)
  })

  test("[MP3] characters that an administrator would not see are removed", async () => {
    const { listed } = await listAt("description-hidden")
    const [tool] = listed.ok ? await readOfferedTools("srv", listed.value.tools) : []
    expect(tool).toMatchObject({ description: "Adds. Ok.", schema: '{"title":"ab","type":"object"}' })
  })

  test("[MP16] a server's tool never replaces a built-in one", async () => {
    await setServer("hostile-own", { tools: ["ask"] })
    await putServer("mp-own", "probe", { url: serverUrl("hostile-own"), tools: ["ask"], approval: "never" })
    const client = await openAgentSession("mp-own", ["probe"])
    // In tests, every agent has the tool `probe_ask`, which needs approval.
    client.say({ type: "send", id: "q1", content: '/call probe_ask {"text":"x"}' })
    await client.untilTrue((frame) => JSON.stringify(frame).includes('"asked"'))
    expect((await seenAt("hostile-own")).map(({ method }) => method)).not.toContain("tools/call")
  })
})

describe("hostile results", () => {
  async function resultOf(play: string) {
    const run = newRun()
    await setServer(run, { hostile: { method: "tools/call", play } })
    const listed = await listServerTools(env, { url: serverUrl(run), headers: {} })
    const discover = listed.ok ? listed.value.discover : null
    const endpoint = { url: serverUrl(run), headers: {}, discover }
    return await callServerTool(env, endpoint, { tool: "echo", args: { text: "x" } }, AbortSignal.timeout(LATE_MS))
  }

  test("[MP5] fields that have a meaning in built-in results are plain data inside a separate field", async () => {
    const result = await resultOf("result-fields")
    expect(result).toMatchObject({ ok: true, value: { isError: false } })
    const { data } = result.ok ? result.value : { data: {} }
    expect(Object.keys(data).sort()).toEqual(["data", "text"])
  })

  test("[MP5] parts that aren't text are named, links aren't followed, and only some parts are read", async () => {
    expect(await resultOf("result-parts")).toEqual({
      ok: true,
      value: {
        isError: false,
        data: { text: "root", links: [{ uri: "https://evil.example/a", name: "n" }], omitted: ["image"] },
      },
    })
    const many = await resultOf("result-many")
    expect(many.ok && String(many.value.data["text"]).length).toBe(399)
  })

  test.each([
    "result-shape",
    "result-unknown",
    "asks-input",
    "huge-json",
    "deep-json",
    "redirect 307",
    "status 500",
    "html",
  ])("[MP5] %s makes the call fail", async (play) => {
    expect(await resultOf(play)).toMatchObject({ ok: false })
  })

  test.each([
    ["result-trailer", { status: "ok" }],
    ["result-fields", { status: "ok" }],
    ["result-error", { status: "failed", error: { code: "tool_failed" } }],
    ["result-large", { status: "failed", error: { code: "tool_result_too_large" } }],
    ["endless-json", { status: "failed", error: { code: "tool_failed" } }],
    ["deep-objects", { status: "failed", error: { code: "tool_failed" } }],
  ])("[MP5] in a conversation, %s cues no card, source or media", async (play, expected) => {
    const run = newRun()
    await putServer(`mp-${run}`, "srv", { url: serverUrl(run), tools: ["echo"], approval: "never" })
    await setServer(run, { hostile: { method: "tools/call", play } })
    const client = await openAgentSession(`mp-${run}`, ["srv"])
    expect(await runTool(client, "q1", "srv_echo")).toMatchObject(expected)
    const [answer] = [...client.messages.values()].filter(({ role }) => role === "assistant")
    expect(answer?.segments.map(({ type }) => type)).toEqual(["tool", "text"])
  })
})
