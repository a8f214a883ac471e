/**
 * mcp-apps.test.ts: tests apps of MCP servers: the app that is stored with a call, the policy of the app's document,
 * and the app's calls.
 */

import { SELF } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import type { Segment } from "../../shared/protocol/segment.ts"
import { decodeApp, encodeApp, intersectOrigins, readAppResource } from "../../worker/mcp/app-document.ts"
import { readToolUi } from "../../worker/mcp/tool-ui.ts"
import type { McpAppState } from "../support/upstream-mcp.ts"
import type { TestClient } from "../support/socket.ts"
import { call, HOST, makeSession, refusal, roleToken } from "./http.ts"
import { openAgentSession, putServer, runTool, seenAt, sendMcp, serverUrl, setServer } from "./mcp-helpers.ts"
import { answerTo, toolsIn } from "./session-helpers.ts"

const HTML = "<!doctype html><title>Plans</title><p>Hello</p>"
const NO_FIELDS = { type: "object", properties: {} }
const OPEN = { tools: ["show", "refresh", "echo"], approval: "never" }

interface Shown {
  readonly client: TestClient
  readonly session: string
  readonly tool: Extract<Segment, { type: "tool" }> | undefined
}

/**
 * Registers a server with an app, and lets an agent call the server's tool. `run` is also the tenant's id.
 */
async function showApp(run: string, app: McpAppState = { html: HTML }, server: object = {}): Promise<Shown> {
  await setServer(run, { app })
  await putServer(run, "plans", { url: serverUrl(run), ...OPEN, ...server })
  const client = await openAgentSession(run, ["plans"])
  const tool = await runTool(client, "q1", "plans_show", { text: "two" })
  return { client, session: client.session, tool }
}

/** Loads the document of an app, as the page's frame does. */
async function loadDocument(run: string, session: string, url: string): Promise<Response> {
  const token = await roleToken(run, "ada", "member")
  const body = JSON.stringify({ urls: [url] })
  const signed = await call(`/v1/sessions/${session}/media/sign`, { method: "POST", token, body })
  expect(signed.status, signed.text).toBe(200)
  return await SELF.fetch(`${HOST}${signed.json.signed[0].href}`, { headers: { "sec-fetch-dest": "iframe" } })
}

async function callFromApp(run: string, { session, tool }: Shown, body: object, user = "ada") {
  const id = (tool?.app ?? "").split("/")[3]
  const token = await roleToken(run, user, "member")
  return await call(`/v1/sessions/${session}/apps/${id}/calls`, { method: "POST", token, body: JSON.stringify(body) })
}

const policyOf = (response: Response): Record<string, string> =>
  Object.fromEntries(
    (response.headers.get("content-security-policy") ?? "").split("; ").map((directive) => {
      const [name = "", ...sources] = directive.split(" ")
      return [name, sources.join(" ")]
    }),
  )

describe("a call of a tool with an app", () => {
  test("[MA1] [MA2] [MA10] stores the app with the result; history, exports and imports contain the app, but the model gets only the result", async () => {
    const run = "ma-one"
    const { client, session, tool } = await showApp(run)
    expect(tool).toMatchObject({
      status: "ok",
      app: expect.stringMatching(/^\/canvas\/documents\/[\w-]+\/index\.html$/),
    })
    expect(JSON.parse(tool?.result ?? "")).toMatchObject({ text: "show: two", data: { name: "show", text: "two" } })
    expect((await seenAt(run)).map(({ method }) => method).slice(-2)).toEqual(["tools/call", "resources/read"])
    const token = await roleToken(run, "ada", "member")
    const read = await call(`/v1/sessions/${session}/conversation/recent?limit=5`, { token })
    expect(toolsIn(read.json.messages.at(-1))).toEqual(toolsIn(answerTo(client, "q1")))
    const file = await call(`/v1/sessions/${session}/events`, { token })
    expect(file.text).toContain("text/html;profile=mcp-app")
    const markdown = await call(`/v1/sessions/${session}/events?format=markdown`, { token })
    expect(markdown.text).toContain("show: two")
    const copy = await makeSession(token)
    const headers = { "content-type": "application/jsonl" }
    const imported = await call(`/v1/sessions/${copy}/import`, { method: "POST", token, headers, body: file.text })
    expect(imported.status, imported.text).toBe(200)
    const history = await call(`/v1/sessions/${copy}/conversation/recent?limit=5`, { token })
    expect(history.text).toContain("show: two")
  })

  test("[MA10] shows its result as text in a shared copy, without the app", async () => {
    const run = "ma-shared"
    const { session, tool } = await showApp(run)
    const token = await roleToken(run, "ada", "member")
    const made = await call(`/v1/sessions/${session}/shares`, { method: "POST", token, body: "{}" })
    expect(made.status, made.text).toBe(201)
    const copy = `/v1/shares/${made.json.url.split("/").at(-1)}`
    const { text } = await call(`${copy}?page=1`)
    expect(text).toContain("show: two")
    expect(text).not.toContain("/canvas/")
    const urls = [tool?.app]
    const signed = await call(`${copy}/media/sign`, { method: "POST", body: JSON.stringify({ urls }) })
    expect(signed.json.signed).toEqual([{ url: tool?.app, href: null }])
  })

  test.each(["redirect 302", "html", "huge-json", "deep-json", "result-null", "endless-json", "cut"])(
    "[MA2] the result is unchanged if the server answers the request for the document with %s",
    async (play) => {
      const run = `ma-h-${play.replace(/\W/g, "")}`
      await showApp(run)
      await setServer(run, { app: { html: HTML }, hostile: { method: "resources/read", play } })
      const client = await openAgentSession(run, ["plans"])
      const tool = await runTool(client, "q1", "plans_show", { text: "two" })
      expect(tool).toMatchObject({ status: "ok", result: expect.stringContaining("show: two") })
      expect(tool?.app).toBeUndefined()
    },
  )

  test("[MA1] the app and the visibility are part of what an administrator reviews", async () => {
    const run = "ma-review"
    const { client } = await showApp(run)
    const { offered } = (await sendMcp(run, "GET", "/plans")).json
    expect(offered).toMatchObject([
      { name: "echo" },
      { name: "refresh", visibility: "app", state: "ready" },
      { name: "show", app: "ui://test/app.html", state: "ready" },
      { name: "write", state: "not_allowed" },
    ])
    await setServer(run, {})
    await sendMcp(run, "POST", "/plans/refresh")
    expect((await sendMcp(run, "GET", "/plans")).json.offered).not.toContainEqual(
      expect.objectContaining({ app: expect.anything() }),
    )
    expect(await runTool(client, "q2", "plans_show")).toMatchObject({ status: "failed" })
  })

  test("[MA1] a tool that only apps can see is not available to the agent", async () => {
    const run = "ma-hidden"
    const { client } = await showApp(run)
    expect(await runTool(client, "q2", "plans_refresh")).toMatchObject({
      status: "failed",
      error: { code: "tool_unknown" },
    })
  })

  test.each([
    ["a type other than that of apps", { html: HTML, mimeType: "text/html" }],
    ["more than 1 MB", { html: `<p>${"x".repeat(1024 * 1024)}` }],
  ])("[MA2] shows its result as text if the app's document has %s", async (what, app) => {
    const { tool } = await showApp(`ma-no-${what.length}`, app)
    expect(tool).toMatchObject({ status: "ok" })
    expect(tool).not.toHaveProperty("app")
  })

  test("[MA2] a failed request for the document doesn't fail the call", async () => {
    const run = "ma-broken"
    await setServer(run, { app: { html: HTML }, hostile: { method: "resources/read", play: "status 500" } })
    await putServer(run, "plans", { url: serverUrl(run), ...OPEN })
    const tool = await runTool(await openAgentSession(run, ["plans"]), "q1", "plans_show")
    expect(tool).toMatchObject({ status: "ok" })
    expect(tool).not.toHaveProperty("app")
  })
})

describe("the document of an app", () => {
  test("[MA3] [MA4] [MA11] is in a frame inside a document that Cuecard writes, and may load nothing by default", async () => {
    const run = "ma-policy"
    const { session, tool } = await showApp(run, {
      html: `<script>"</iframe>"</script>${HTML}`,
      csp: { connectDomains: ["https://api.example.com"], resourceDomains: ["https://cdn.example.com"] },
    })
    const response = await loadDocument(run, session, tool?.app ?? "")
    expect(response.status).toBe(200)
    const policy = policyOf(response)
    expect(policy).toMatchObject({
      sandbox: "allow-scripts",
      "default-src": "'none'",
      "script-src": "'unsafe-inline'",
      "img-src": "data: blob:",
      "form-action": "'none'",
      "base-uri": "'none'",
    })
    expect(policy).not.toHaveProperty("connect-src")
    expect(response.headers.get("connection-allowlist")).toBe("()")
    const text = await response.text()
    expect(text).toContain('<iframe sandbox="allow-scripts" title="App" srcdoc="')
    // The app is a single attribute, so it can't end the frame.
    expect(text.split("<iframe")).toHaveLength(2)
    expect(text.slice(text.indexOf("srcdoc=")).split('"')).toHaveLength(3)
  })

  test("[MA4] [MA11] may use the origins that the server declares and the tenant allows, and no others", async () => {
    const run = "ma-hosts"
    const app_hosts = ["https://api.example.com", "https://cdn.example.com", "https://unused.example.com"]
    const declared = {
      connectDomains: ["https://api.example.com", "wss://api.example.com", "https://other.example.org"],
      resourceDomains: ["https://*.example.com"],
    }
    const { session, tool } = await showApp(run, { html: HTML, csp: declared }, { app_hosts })
    const response = await loadDocument(run, session, tool?.app ?? "")
    const policy = policyOf(response)
    expect(policy["connect-src"]).toBe("https://api.example.com wss://api.example.com")
    const patterns = app_hosts.map((origin) => `"${origin}"`).join(" ")
    expect(response.headers.get("connection-allowlist")).toBe(`(${patterns});redirects=allow`)
    expect(policy["img-src"]).toBe(`data: blob: ${app_hosts.join(" ")}`)
    // Apps that are already stored must also lose origins that the tenant no longer allows.
    await putServer(run, "plans", { url: serverUrl(run), ...OPEN, app_hosts: [] })
    expect(policyOf(await loadDocument(run, session, tool?.app ?? ""))).not.toHaveProperty("connect-src")
  })

  test.each([
    "https://example.com/path",
    "http://example.com",
    "*",
    "https://10.0.0.1",
    "https://*.example.com",
    "'self'",
    "https://a.example; script-src *",
  ])("[MA4] the tenant can't allow %s", async (host) => {
    const body = { url: serverUrl("ma-bad-host"), ...OPEN, app_hosts: [host] }
    expect(await sendMcp("ma-bad-host", "PUT", "/plans", body)).toEqual(refusal(400, "field_invalid", "app_hosts.0"))
  })
})

describe("a call from an app", () => {
  test("[MA7] goes to a tool of its own server, and the app gets the unchanged result", async () => {
    const run = "ma-call"
    const shown = await showApp(run)
    const answer = await callFromApp(run, shown, { tool: "refresh", args: { text: "again" } })
    expect(answer.status, answer.text).toBe(200)
    expect(answer.json).toEqual({
      content: [{ type: "text", text: "refresh: again" }],
      structuredContent: { name: "refresh", text: "again" },
      isError: false,
    })
    expect(await callFromApp(run, shown, { tool: "write", args: { text: "a" } })).toEqual(
      refusal(422, "mcp_refused", "not_allowed"),
    )
    expect((await callFromApp(run, shown, { tool: "nothing", args: {} })).status).toBe(422)
    expect(await callFromApp(run, shown, { tool: "a b", args: {} })).toEqual(refusal(400, "field_invalid", "tool"))
    expect(await callFromApp(run, shown, { tool: "refresh", args: [] })).toEqual(refusal(400, "field_invalid", "args"))
  })

  test("[MA7] by another user, by another tenant, or in another user's session is refused", async () => {
    const run = "ma-others"
    const shown = await showApp(run)
    const other = await showApp("ma-others-2")
    const body = { tool: "refresh", args: { text: "a" } }
    expect((await callFromApp(run, shown, body, "eve")).status).toBe(404)
    expect((await callFromApp("ma-others-2", shown, body)).status).toBe(404)
    expect((await callFromApp(run, { ...shown, tool: other.tool }, body)).status).toBe(404)
    const before = (await seenAt(run)).length
    const token = await roleToken(run, "ada", "viewer")
    const id = (shown.tool?.app ?? "").split("/")[3]
    const path = `/v1/sessions/${shown.session}/apps/${id}/calls`
    expect((await call(path, { method: "POST", token, body: JSON.stringify(body) })).status).toBe(403)
    expect((await seenAt(run)).length).toBe(before)
  })

  test("[MA7] to a tool that requires approval needs the user's approval", async () => {
    const run = "ma-asks"
    await setServer(run, { app: { html: HTML } })
    await putServer(run, "plans", { url: serverUrl(run), tools: ["show", "echo"], reads: ["show"], approval: "write" })
    const client = await openAgentSession(run, ["plans"])
    const tool = await runTool(client, "q1", "plans_show")
    const shown = { client, session: client.session, tool }
    const body = { tool: "echo", args: { text: "a" } }
    expect(await callFromApp(run, shown, body)).toEqual(refusal(422, "mcp_refused", "approval"))
    expect((await callFromApp(run, shown, { ...body, allowed: true })).json).toMatchObject({
      content: [{ type: "text", text: "echo: a" }],
    })
  })
})

test("[MP35] a call from an app can't ask the user questions", async () => {
  const run = "ma-questions"
  const asks = [{ a: { method: "elicitation/create", params: { message: "Sure?", requestedSchema: NO_FIELDS } } }]
  await setServer(run, { app: { html: HTML }, asks: asks as never })
  await putServer(run, "plans", { url: serverUrl(run), tools: ["show", "ask"], approval: "never" })
  const client = await openAgentSession(run, ["plans"])
  const shown = { client, session: client.session, tool: await runTool(client, "q1", "plans_show") }
  const answer = await callFromApp(run, shown, { tool: "ask", args: { text: "a" } })
  expect(answer).toEqual(refusal(422, "mcp_refused"))
  expect((await seenAt(run)).filter(({ method }) => method === "tools/call")).toHaveLength(2)
})

describe("reading what a server declares", () => {
  test.each([
    [{ ui: { resourceUri: "ui://a/b.html" } }, { app: "ui://a/b.html" }],
    [{ "ui/resourceUri": "ui://old" }, { app: "ui://old" }],
    [{ ui: { resourceUri: "https://a" } }, {}],
    [{ ui: { resourceUri: "ui://a b" } }, {}],
    [{ ui: { resourceUri: `ui://${"a".repeat(300)}` } }, {}],
    [{ ui: { visibility: ["app"] } }, { visibility: "app" }],
    [{ ui: { visibility: ["model"] } }, { visibility: "model" }],
    [{ ui: { visibility: [] } }, { visibility: "none" }],
    [{ ui: { visibility: ["model", "app"] } }, {}],
    [{ ui: 7 }, {}],
    [undefined, {}],
  ])("[MA1] _meta %j is read, without invalid values", (_meta, expected) => {
    expect(readToolUi({ _meta } as never)).toEqual(expected)
  })

  test("[MA2] a document is read only from the URL that the tool names, as text or as base64", () => {
    const read = (content: object, uri = "ui://a") =>
      readAppResource({ contents: [{ uri: "ui://a", ...content }] }, "s", uri)
    const mimeType = "text/html; profile=mcp-app"
    expect(read({ mimeType, text: HTML })).toEqual({ server: "s", html: HTML, connect: [], resource: [] })
    expect(read({ mimeType, blob: btoa("<p>a") })?.html).toBe("<p>a")
    expect(read({ mimeType, text: HTML }, "ui://b")).toBe(null)
    expect(read({ mimeType, blob: "%%%" })).toBe(null)
    expect(read({ mimeType })).toBe(null)
    expect(read({ text: HTML })).toBe(null)
    for (const answer of [null, {}, { contents: {} }, { contents: [null] }])
      expect(readAppResource(answer, "s", "ui://a")).toBe(null)
    const many = Array.from({ length: 100 }, (_, n) => `https://${n}.example`)
    const csp = { connectDomains: many, resourceDomains: ["x".repeat(300), 7, null] }
    expect(read({ mimeType, text: HTML, _meta: { ui: { csp } } })).toMatchObject({
      connect: many.slice(0, 32),
      resource: [],
    })
  })

  test("[MA2] a stored app is read back, and no other string is an app", () => {
    const app = { server: "s", html: "a\nb\n", connect: ["https://a"], resource: [] }
    expect(decodeApp(new TextDecoder().decode(encodeApp(app)))).toEqual(app)
    for (const text of ["", "{}", "{}\n<p>", "[]\n", "<p>\n<p>"]) expect(decodeApp(text)).toBe(null)
  })

  test("[MA4] a declared pattern matches the hosts below it", () => {
    const allowed = ["https://a.example.com", "https://example.com", "https://badexample.com"]
    expect(intersectOrigins(["https://*.example.com"], allowed)).toEqual(["https://a.example.com"])
    expect(intersectOrigins(["wss://a.example.com"], allowed)).toEqual(["wss://a.example.com"])
    expect(intersectOrigins(["*", "https://*", "https:"], allowed)).toEqual([])
  })
})

test("[MA4] the audit log contains the origins that an administrator allows", async () => {
  await setServer("ma-audit", { app: { html: HTML } })
  const app_hosts = ["https://a.example.com", "https://b.example.com"]
  await putServer("ma-audit", "plans", { url: serverUrl("ma-audit"), ...OPEN, app_hosts })
  const { json } = await call("/v1/audit", { token: await roleToken("ma-audit", "root", "admin") })
  expect(json.entries[0]).toMatchObject({
    action: "mcp.added",
    details: { app_hosts: "https://a.example.com https://b.example.com" },
  })
})
