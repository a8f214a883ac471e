/** app-bridge.test.ts: the messages between the page and an MCP App, checked against the schema of the protocol. */

import { readFileSync } from "node:fs"
import { Ajv2020 } from "ajv/dist/2020.js"
import fc from "fast-check"
import { describe, expect, test, vi } from "vitest"
import { AppBridge, type AppCall, type AppHost, type JsonObject, MAX_APP_HEIGHT } from "../../client/apps/app-bridge.ts"

const SCHEMA = JSON.parse(
  readFileSync("node_modules/@modelcontextprotocol/ext-apps/dist/src/generated/schema.json", "utf8"),
)
const ajv = new Ajv2020({ strict: false, validateFormats: false })

/** Expects a value to match a definition of the protocol. */
function expectValid(definition: string, value: unknown): void {
  // Each definition is a schema that contains its own definitions.
  const validate = ajv.compile(SCHEMA.$defs[definition])
  expect(validate(value), JSON.stringify(validate.errors)).toBe(true)
}

const CALL: AppCall = {
  name: "plans_show",
  args: '{"city":"Bern"}',
  result: JSON.stringify({ text: "Two plans", data: { plans: [1, 2] } }),
}

function createApp({ ask, callTool, now = () => 0 }: Partial<AppHost> = {}, call: AppCall = CALL) {
  const posted: JsonObject[] = []
  const answered = new Map<unknown, (response: JsonObject) => void>()
  const host = {
    post(message: JsonObject): void {
      posted.push(message)
      answered.get(message["id"])?.(message)
    },
    ask: vi.fn<AppHost["ask"]>(ask ?? (async () => true)),
    callTool: vi.fn<AppHost["callTool"]>(callTool ?? (async () => ({ content: [] }))),
    sendMessage: vi.fn<AppHost["sendMessage"]>(),
    resize: vi.fn<AppHost["resize"]>(),
    readContext: (): JsonObject => ({ theme: "dark", locale: "de", displayMode: "inline", platform: "web" }),
    now,
  }
  const bridge = new AppBridge(host, call)
  const send = (message: object): void => bridge.receive(JSON.stringify({ jsonrpc: "2.0", ...message }))
  /** Sends a request and returns the response. */
  const request = (method: string, params: object, id: number | string = answered.size + 1) => {
    const response = new Promise<JsonObject>((resolve) => void answered.set(id, resolve))
    send({ id, method, params })
    return response
  }
  return { bridge, host, posted, send, request }
}

const INITIALIZE = { protocolVersion: "2026-01-26", appInfo: { name: "a", version: "1" }, appCapabilities: {} }

describe("an app", () => {
  test("[MA5] is initialized, and then gets the call's arguments and result", async () => {
    const { posted, request, send } = createApp()
    const initialized = await request("ui/initialize", INITIALIZE)
    expectValid("McpUiInitializeResult", initialized?.["result"])
    expect(initialized).toMatchObject({
      result: { hostContext: { theme: "dark", toolInfo: { tool: { name: "plans_show" } } } },
    })
    expect(posted).toHaveLength(1)
    send({ method: "ui/notifications/initialized", params: {} })
    // A second `initialized` has no effect.
    send({ method: "ui/notifications/initialized", params: {} })
    const [, input, result, ...more] = posted
    expect(more).toEqual([])
    expectValid("McpUiToolInputNotification", withoutVersion(input))
    expect(input).toMatchObject({ method: "ui/notifications/tool-input", params: { arguments: { city: "Bern" } } })
    expectValid("McpUiToolResultNotification", withoutVersion(result))
    expect(result?.["params"]).toEqual({
      content: [{ type: "text", text: "Two plans" }],
      structuredContent: { plans: [1, 2] },
    })
  })

  test("[MA5] is notified of changes to the context once it is initialized", async () => {
    const { bridge, posted, request, send } = createApp()
    bridge.updateContext()
    expect(posted).toEqual([])
    await request("ui/initialize", INITIALIZE)
    send({ method: "ui/notifications/initialized" })
    bridge.updateContext()
    expectValid("McpUiHostContextChangedNotification", withoutVersion(posted.at(-1)))
  })

  test("[MA5] receives a result as text if the page has only part of it", () => {
    const { posted, send } = createApp({}, { name: "a", args: "{", result: '{"text":"cut' })
    send({ method: "ui/notifications/initialized" })
    expect(posted.map(({ params }) => params)).toEqual([
      { arguments: {} },
      { content: [{ type: "text", text: '{"text":"cut' }] },
    ])
  })

  test("[MA5] can change its height within bounds", () => {
    const { host, send } = createApp()
    for (const height of [300.4, 1, 1e9, -5, "300", Number.NaN])
      send({ method: "ui/notifications/size-changed", params: { height } })
    expect(host.resize.mock.calls).toEqual([[300], [60], [MAX_APP_HEIGHT]])
  })

  test.each([
    ["ui/request-display-mode", { mode: "fullscreen" }, { mode: "inline" }, "McpUiRequestDisplayModeResult"],
    ["ping", {}, {}, null],
  ] as const)("[MA5] gets an answer to %s", async (method, params, result, definition) => {
    const answer = await createApp().request(method, params)
    expect(answer?.["result"]).toEqual(result)
    if (definition !== null) expectValid(definition, answer?.["result"])
  })

  test.each(["ui/update-model-context", "sampling/createMessage", "resources/read", "constructor", ""])(
    "[MA5] gets an error for the method %j",
    async (method) => {
      expect(await createApp().request(method, {})).toMatchObject({ error: { code: -32601 } })
    },
  )
})

describe("a link and a message", () => {
  test("[MA6] a link is opened only by the user, who sees its URL", async () => {
    const { host, request } = createApp()
    const answer = await request("ui/open-link", { url: "https://example.com/a?b#c" })
    expectValid("McpUiOpenLinkResult", answer?.["result"])
    expect(host.ask).toHaveBeenCalledWith({ kind: "link", url: "https://example.com/a?b#c" })
  })

  test.each([
    ["a script", "javascript:alert(1)"],
    ["plain http", "http://example.com/"],
    ["data", "data:text/html,x"],
    ["a password", "https://user:pass@example.com/"],
    ["no scheme", "//example.com"],
    ["2,049 characters", `https://example.com/${"x".repeat(2_029)}`],
    ["a number", 7],
  ])("[MA6] the user is not asked about a URL with %s", async (_what, url) => {
    const { host, request } = createApp()
    expect(await request("ui/open-link", { url })).toHaveProperty("error")
    expect(host.ask).not.toHaveBeenCalled()
  })

  test("[MA6] a message is sent only if the user allows it, and exactly as it was shown", async () => {
    const params = { role: "user", content: [{ type: "text", text: " Book the second one. " }] }
    const { host, request } = createApp()
    expectValid("McpUiMessageResult", (await request("ui/message", params))?.["result"])
    expect(host.ask).toHaveBeenCalledWith({ kind: "message", text: "Book the second one." })
    expect(host.sendMessage.mock.calls).toEqual([["Book the second one."]])
    const denied = createApp({ ask: async () => false })
    expect(await denied.request("ui/message", params)).toMatchObject({ result: { isError: true } })
    expect(denied.host.sendMessage).not.toHaveBeenCalled()
  })

  test("[MA6] characters that a model reads but the user can't see are removed from a message", async () => {
    const hidden = "\u{e0041}\u{e0100}\u200b\u202e\ufe0f\u0007"
    const { host, request } = createApp()
    await request("ui/message", { role: "user", content: [{ type: "text", text: `Book${hidden} it.\nNow.` }] })
    expect(host.ask).toHaveBeenCalledWith({ kind: "message", text: "Book it.\nNow." })
    expect(host.sendMessage.mock.calls).toEqual([["Book it.\nNow."]])
    expect(await request("ui/message", { role: "user", content: [{ type: "text", text: hidden }] })).toHaveProperty(
      "error",
    )
  })

  test.each([
    ["of the assistant", { role: "assistant", content: [{ type: "text", text: "a" }] }],
    ["with an image", { role: "user", content: [{ type: "image", data: "" }] }],
    ["without content", { role: "user", content: [] }],
    ["whose content is a string", { role: "user", content: "text" }],
    ["of 4,001 characters", { role: "user", content: [{ type: "text", text: "x".repeat(4_001) }] }],
  ])("[MA6] a message %s is refused", async (_what, params) => {
    const { host, request } = createApp()
    expect(await request("ui/message", params)).toHaveProperty("error")
    expect(host.ask).not.toHaveBeenCalled()
  })

  test("[MA6] the user is asked one question at a time, and not again after three refusals", async () => {
    const answers: ((isAllowed: boolean) => void)[] = []
    const ask = vi.fn(() => new Promise<boolean>((resolve) => void answers.push(resolve)))
    const { request } = createApp({ ask })
    const url = "https://example.com/"
    for (let n = 0; n < 3; n++) {
      const first = request("ui/open-link", { url }, `first ${n}`)
      expect(await request("ui/open-link", { url }, `second ${n}`)).toMatchObject({ result: { isError: true } })
      answers.pop()?.(false)
      expect(await first).toMatchObject({ result: { isError: true } })
    }
    expect(await request("ui/open-link", { url })).toMatchObject({ result: { isError: true } })
    expect(ask).toHaveBeenCalledTimes(3)
  })
})

describe("a tool call", () => {
  test("[MA7] is made, and the user is asked only if the Cuecard server requires it", async () => {
    const { host, request } = createApp()
    const answer = await request("tools/call", { name: "refresh", arguments: { page: 2 } })
    expect(answer?.["result"]).toEqual({ content: [] })
    expect(host.callTool.mock.calls).toEqual([["refresh", { page: 2 }, false]])
    expect(host.ask).not.toHaveBeenCalled()
    const callTool = vi.fn(async (_tool: string, _args: JsonObject, allowed: boolean) =>
      allowed ? { content: [] } : null,
    )
    const guarded = createApp({ callTool })
    expect(await guarded.request("tools/call", { name: "write" })).toMatchObject({ result: { content: [] } })
    expect(guarded.host.ask).toHaveBeenCalledWith({ kind: "call", tool: "write", args: {} })
    const denied = createApp({ callTool, ask: async () => false })
    expect(await denied.request("tools/call", { name: "write" })).toMatchObject({ error: { message: "Not allowed" } })
    expect(callTool.mock.calls.filter(([, , allowed]) => allowed)).toHaveLength(1)
  })

  test.each([
    ["a name with a space", { name: "a b" }],
    ["a number as the name", { name: 7 }],
    ["a name of 129 characters", { name: "x".repeat(129) }],
    ["a list of arguments", { name: "a", arguments: [1] }],
    ["no name", {}],
  ])("[MA7] with %s is refused", async (_what, params) => {
    const { host, request } = createApp()
    expect(await request("tools/call", params)).toMatchObject({ error: { code: -32602 } })
    expect(host.callTool).not.toHaveBeenCalled()
  })

  test("[MA7] is refused after 30 calls in a minute; a failed call is reported", async () => {
    let now = 0
    const { host, request } = createApp({ now: () => now })
    for (let n = 0; n < 30; n++) await request("tools/call", { name: "a" })
    expect(await request("tools/call", { name: "a" })).toMatchObject({ error: { message: "Too many calls" } })
    now = 60_000
    host.callTool.mockRejectedValueOnce(new Error("secret"))
    const failed = await request("tools/call", { name: "a" })
    expect(failed).toMatchObject({ error: { message: "It failed." } })
    expect(JSON.stringify(failed)).not.toContain("secret")
  })
})

test("[MA5] whatever an app sends, nothing throws, and every response is valid", () => {
  const method = fc.constantFrom(
    "ui/initialize",
    "ui/open-link",
    "ui/message",
    "tools/call",
    "ping",
    "ui/notifications/size-changed",
    "x",
  )
  const message = fc.record(
    { jsonrpc: fc.constantFrom("2.0", "1.0"), id: fc.jsonValue(), method, params: fc.jsonValue() },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(
      fc.oneof(
        message.map((item) => JSON.stringify(item)),
        fc.string(),
      ),
      (text) => {
        const { bridge, posted } = createApp()
        bridge.receive(text)
        for (const item of posted) expect(item["jsonrpc"]).toBe("2.0")
      },
    ),
    { numRuns: 300, seed: 16 },
  )
  const { bridge, posted } = createApp()
  bridge.receive(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping", params: { a: "x".repeat(65_536) } }))
  bridge.receive(`{"jsonrpc":"2.0","id":1,"method":"ping","params":${'{"a":'.repeat(40)}1${"}".repeat(40)}}`)
  expect(posted).toEqual([])
})

function withoutVersion(message: JsonObject | undefined): JsonObject {
  const { jsonrpc: _, ...rest } = message ?? {}
  return rest
}
