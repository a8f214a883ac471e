/**
 * mcp-connections.test.ts: tests users who connect to an MCP server with their own accounts, at a real authorization
 * server.
 */

import { env, runInDurableObject } from "cloudflare:test"
import { expect, test } from "vitest"
import { CLIENT_ID, CLIENT_SECRET } from "./oidc.ts"
import { CookieJar, type RemoteProvider, signInAtProvider, startRemoteProvider } from "../support/oidc-client.ts"
import { upstreamUrl } from "../support/upstream-client.ts"
import { call, HOST, refusal, roleToken } from "./http.ts"
import { downloadArchive, exportTenant, registerUser, makeJobsDue } from "./tenant-transfer.ts"
import { openAgentSession, putServer, runTool, seenAt, sendMcp, serverUrl, setServer } from "./mcp-helpers.ts"

const PUBLIC_CLIENT_ID = "cuecard-public"
const callbackOf = (tenant: string): string => `${HOST}/auth/connections/${tenant}/files`
const OPEN = { tools: ["echo"], reads: ["echo"], approval: "write" }

/** Creates a tenant with the server `files`, to which nobody has connected yet. */
async function createTenant(tenant: string, change: object = {}, run = tenant): Promise<RemoteProvider> {
  const provider = await startRemoteProvider(upstreamUrl(env), [callbackOf(tenant)])
  const { issuer } = provider
  const auth = {
    type: "oauth",
    per: "user",
    issuer,
    client_id: CLIENT_ID,
    client_secret: CLIENT_SECRET,
    scope: "files",
    ...change,
  }
  for (const user of ["root", "ada", "bob"]) await registerUser(tenant, user, user === "root" ? "admin" : "member")
  expect(await putServer(tenant, "files", { url: serverUrl(run), auth })).toMatchObject({
    flaw: "not_connected",
    offered: [],
  })
  return provider
}

const tokenFor = (tenant: string, user: string) => roleToken(tenant, user, user === "root" ? "admin" : "member")

/** Starts a connection. The jar stores the cookies, as a browser would. */
async function start(tenant: string, user: string, jar: CookieJar): Promise<string> {
  const token = await tokenFor(tenant, user)
  const started = await call("/v1/connections/files", { method: "POST", token, headers: { cookie: jar.header } })
  expect(started.status, started.text).toBe(200)
  jar.read(started)
  return started.json.url
}

async function returnTo(address: string, jar: CookieJar) {
  const returned = await call(address, { headers: { cookie: jar.header } })
  jar.read(returned)
  return returned
}

async function connectUser(tenant: string, user: string): Promise<void> {
  const jar = new CookieJar()
  const returned = await returnTo(await signInAtProvider(await start(tenant, user, jar), user), jar)
  expect(returned.status, returned.text).toBe(200)
  expect(jar.header).toBe("")
}

/** Connects as an administrator, reads the list of tools and allows one of them. */
async function allowTools(tenant: string, run = tenant): Promise<void> {
  await connectUser(tenant, "root")
  const { auth } = (await sendMcp(tenant, "GET", "/files")).json
  expect(await putServer(tenant, "files", { url: serverUrl(run), auth, ...OPEN })).toMatchObject({ flaw: null })
}

async function listConnections(tenant: string, user: string) {
  return (await call("/v1/connections", { token: await tokenFor(tenant, user) })).json.connections
}

async function rowsOf(tenant: string): Promise<string> {
  return await runInDurableObject(env.TENANT.getByName(tenant), (_object, { storage }) =>
    JSON.stringify(["mcp_servers", "mcp_connections"].map((table) => [...storage.sql.exec(`SELECT * FROM ${table}`)])),
  )
}

const tokensAt = async (run: string) =>
  (await seenAt(run)).flatMap(({ method, authorization }) => (method === "tools/call" ? [authorization] : []))

test("[MP11] each user connects with their own account, and calls use that account only", async () => {
  const provider = await createTenant("mc-own")
  await allowTools("mc-own")
  expect(await listConnections("mc-own", "ada")).toEqual([{ server: "files", connected: false }])
  await connectUser("mc-own", "ada")
  expect(await listConnections("mc-own", "ada")).toEqual([{ server: "files", connected: true }])
  expect(await listConnections("mc-own", "bob")).toEqual([{ server: "files", connected: false }])
  const client = await openAgentSession("mc-own", ["files"])
  expect(await runTool(client, "q1", "files_echo")).toMatchObject({ status: "ok" })
  expect(await runTool(client, "q2", "files_echo")).toMatchObject({ status: "ok" })
  const tokens = await tokensAt("mc-own")
  expect(new Set(tokens)).toEqual(new Set([expect.stringMatching(/^Bearer [\w.~+/-]+$/)]))
  expect(tokens).toHaveLength(2)
  // There is one token for root and one for ada.
  expect((await provider.listRequests()).filter((path) => path === "POST /token")).toHaveLength(2)
})

test("[MP11] the authorization URL names the server's resource, with PKCE and the deployment's callback", async () => {
  const provider = await createTenant("mc-url", { scope: "openid files" })
  const url = new URL(await start("mc-url", "ada", new CookieJar()))
  expect(url.origin).toBe(provider.issuer)
  const parameters = Object.fromEntries(url.searchParams)
  expect(parameters).toEqual({
    client_id: CLIENT_ID,
    response_type: "code",
    redirect_uri: callbackOf("mc-url"),
    scope: "openid files",
    resource: serverUrl("mc-url"),
    code_challenge_method: "S256",
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    state: expect.stringMatching(/^[\w-]{43}$/),
  })
})

test("[MP11] with the scope for refresh tokens, consent is requested, as OpenID Connect requires", async () => {
  await createTenant("mc-offline", { scope: "openid offline_access" })
  const url = new URL(await start("mc-offline", "ada", new CookieJar()))
  expect(url.searchParams.get("prompt")).toBe("consent")
  await connectUser("mc-offline", "ada")
})

test("[MP11] a public client needs no secret", async () => {
  await createTenant("mc-public", { client_id: PUBLIC_CLIENT_ID, client_secret: undefined, scope: "openid files" })
  await connectUser("mc-public", "ada")
  expect(await listConnections("mc-public", "ada")).toEqual([{ server: "files", connected: true }])
})

test("[MP11] ending a connection revokes its token, and calls then need a new connection", async () => {
  const provider = await createTenant("mc-end")
  await allowTools("mc-end")
  await connectUser("mc-end", "ada")
  const client = await openAgentSession("mc-end", ["files"])
  await runTool(client, "q1", "files_echo")
  const token = await tokenFor("mc-end", "ada")
  expect((await call("/v1/connections/files", { method: "DELETE", token })).status).toBe(204)
  expect(await provider.listRequests()).toContain("POST /token/revocation")
  expect(await runTool(client, "q2", "files_echo")).toMatchObject({ error: { code: "tool_not_connected" } })
  expect(await listConnections("mc-end", "root")).toEqual([{ server: "files", connected: true }])
})

test("[MP11] users can connect only to servers that are configured for it, and viewers can't connect", async () => {
  await createTenant("mc-kinds")
  await putServer("mc-kinds", "open", { url: serverUrl("mc-kinds") })
  const token = await tokenFor("mc-kinds", "ada")
  for (const name of ["open", "none", "%20"]) {
    const started = await call(`/v1/connections/${name}`, { method: "POST", token })
    expect(started).toEqual(refusal(404, "mcp_server_unknown"))
  }
  const viewer = await roleToken("mc-kinds", "eve", "viewer")
  expect((await call("/v1/connections/files", { method: "POST", token: viewer })).status).toBe(403)
  expect((await call("/v1/connections/files", { method: "POST" })).status).toBe(401)
})

test("[MP14] a page of another origin can't start a connection, because it would not get the cookie", async () => {
  await createTenant("mc-site")
  const admin = await roleToken("mc-site", "root", "admin")
  const settings = JSON.stringify({ embed_hosts: ["https://shop.example.com"] })
  expect((await call("/v1/settings", { method: "PUT", token: admin, body: settings })).status).toBe(200)
  const token = await tokenFor("mc-site", "ada")
  const headers = { origin: "https://shop.example.com" }
  expect((await call("/v1/connections", { token, headers })).status).toBe(200)
  const started = await call("/v1/connections/files", { method: "POST", token, headers })
  expect(started).toEqual(refusal(403, "origin_denied"))
  expect(started.headers.getSetCookie()).toEqual([])
  expect((await call("/v1/connections/files", { method: "POST", token, headers: { origin: HOST } })).status).toBe(200)
})

test("[MP11] an issuer without PKCE, with wrong metadata or with a URL that isn't public is refused", async () => {
  const provider = await createTenant("mc-issuer")
  const good = { issuer: provider.issuer, token_endpoint: `${provider.issuer}/token` }
  const endpoint = { authorization_endpoint: `${provider.issuer}/auth` }
  const all = [
    { ...good, ...endpoint, code_challenge_methods_supported: ["plain"] },
    { ...good, ...endpoint, issuer: "https://evil.example" },
    { ...good, authorization_endpoint: "javascript:alert(1)" },
    { ...good, authorization_endpoint: "http://10.0.0.1/auth" },
    good,
  ]
  for (const metadata of all) {
    await provider.setFaults({ path: "/.well-known", body: JSON.stringify(metadata) })
    const token = await tokenFor("mc-issuer", "ada")
    const started = await call("/v1/connections/files", { method: "POST", token })
    expect(started).toEqual(refusal(422, "mcp_refused", "issuer"))
    expect(started.headers.getSetCookie()).toEqual([])
  }
})

test("[MP12] a response is accepted once, and only in the browser that started it", async () => {
  const provider = await createTenant("mc-once")
  const jar = new CookieJar()
  const callback = await signInAtProvider(await start("mc-once", "ada", jar), "ada")
  expect((await returnTo(callback, new CookieJar())).status).toBe(400)
  // Another user's browser has started a separate connection.
  const other = new CookieJar()
  await start("mc-once", "bob", other)
  expect((await returnTo(callback, other)).status).toBe(400)
  expect(await listConnections("mc-once", "bob")).toEqual([{ server: "files", connected: false }])
  const copied = new CookieJar()
  for (const pair of jar.header.split("; "))
    copied.set(pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1))
  const returned = await returnTo(callback, jar)
  expect(returned.status).toBe(200)
  expect(returned.text).toContain('data-server="files"')
  expect((await returnTo(callback, jar)).status).toBe(400)
  // A code is valid only once, even with a copied cookie.
  expect((await returnTo(callback, copied)).status).toBe(400)
  expect((await provider.listRequests()).filter((path) => path === "POST /token")).toHaveLength(2)
})

test("[MP12] a response that names another issuer, state, server or code stores nothing", async () => {
  await createTenant("mc-mix")
  const evil = await startRemoteProvider(upstreamUrl(env), [callbackOf("mc-mix")])
  const changes: ((url: URL) => void)[] = [
    (url) => url.searchParams.set("iss", evil.issuer),
    (url) => url.searchParams.delete("iss"),
    (url) => url.searchParams.set("state", "x".repeat(43)),
    (url) => url.searchParams.set("code", "a-code-of-somebody-else"),
    (url) => url.searchParams.append("code", "a-second-code"),
    (url) => url.searchParams.set("error", "access_denied"),
    (url) => {
      url.pathname = "/auth/connections/mc-mix/other"
    },
    // The code was issued for another tenant's client, whose authorization server names no issuer.
    (url) => {
      url.pathname = "/auth/connections/mc-victim/files"
    },
    (url) => url.searchParams.set("padding", "x".repeat(9_000)),
  ]
  for (const change of changes) {
    const jar = new CookieJar()
    const callback = new URL(await signInAtProvider(await start("mc-mix", "ada", jar), "ada"))
    change(callback)
    const returned = await returnTo(callback.href, jar)
    expect(returned.status, callback.search).toBe(400)
    expect(returned.text).not.toContain("data-server")
  }
  expect(await listConnections("mc-mix", "ada")).toEqual([{ server: "files", connected: false }])
  expect(await evil.listRequests()).toEqual([])
})

test("[MP12] a user who refuses consent is not connected", async () => {
  await createTenant("mc-deny")
  const jar = new CookieJar()
  const callback = await signInAtProvider(await start("mc-deny", "ada", jar), "ada", { consent: "deny" })
  expect((await returnTo(callback, jar)).status).toBe(400)
  expect(await listConnections("mc-deny", "ada")).toEqual([{ server: "files", connected: false }])
})

test.each([
  ["the server's URL", (auth: object) => ({ url: serverUrl("mc-other"), auth })],
  ["the client", (auth: object) => ({ url: serverUrl("mc-same"), auth: { ...auth, client_id: PUBLIC_CLIENT_ID } })],
])("[MP12] [MP13] a change to %s ends connections, including pending ones", async (what, change) => {
  const tenant = `mc-change${what.length}`
  await createTenant(tenant, {}, "mc-same")
  await connectUser(tenant, "bob")
  const jar = new CookieJar()
  const callback = await signInAtProvider(await start(tenant, "ada", jar), "ada")
  const { auth } = (await sendMcp(tenant, "GET", "/files")).json
  await putServer(tenant, "files", change(auth))
  expect((await returnTo(callback, jar)).status).toBe(400)
  for (const user of ["ada", "bob"])
    expect(await listConnections(tenant, user)).toEqual([{ server: "files", connected: false }])
})

test("[MP12] a user who is suspended while connecting isn't connected", async () => {
  await createTenant("mc-gone")
  const jar = new CookieJar()
  const callback = await signInAtProvider(await start("mc-gone", "ada", jar), "ada")
  const token = await roleToken("mc-gone", "boss", "owner")
  expect((await call("/v1/users/ada/suspend", { method: "POST", token })).status).toBe(200)
  expect((await returnTo(callback, jar)).status).toBe(400)
})

test("[MP13] tokens are stored sealed, and can be opened only for their user and server", async () => {
  await createTenant("mc-seal")
  await allowTools("mc-seal")
  await connectUser("mc-seal", "ada")
  const client = await openAgentSession("mc-seal", ["files"])
  await runTool(client, "q1", "files_echo")
  const [token = ""] = await tokensAt("mc-seal")
  const rows = await rowsOf("mc-seal")
  expect(rows).toContain("s1.")
  expect(rows).not.toContain(token?.slice("Bearer ".length))
  await runInDurableObject(env.TENANT.getByName("mc-seal"), (_object, { storage }) => {
    storage.sql.exec("UPDATE mcp_connections SET user = 'bob' WHERE user = 'ada'")
  })
  const call = { user: "bob", server: "files", tool: "echo", asks: false }
  const refused = { fault: { because: "not_connected" } }
  expect(await env.TENANT.getByName("mc-seal").openMcpCall(call)).toMatchObject(refused)
  // A bug could leave a row in place after the server's URL has changed. Such a row must send nothing to the new URL.
  await runInDurableObject(env.TENANT.getByName("mc-seal"), (_object, { storage }) => {
    storage.sql.exec("UPDATE mcp_servers SET config = replace(config, '127.0.0.1', 'localhost')")
  })
  expect(await env.TENANT.getByName("mc-seal").openMcpCall({ ...call, user: "root" })).toMatchObject(refused)
})

test("[MP13] archives contain no tokens, and tokens are deleted with the user", { timeout: 60_000 }, async () => {
  await createTenant("mc-erase")
  await registerUser("mc-erase", "boss", "owner")
  await allowTools("mc-erase")
  await connectUser("mc-erase", "ada")
  const archive = await downloadArchive("mc-erase", await exportTenant("mc-erase"))
  const text = [archive.manifest, ...archive.files.map((file) => new TextDecoder().decode(file))].join("")
  expect(text).toContain("mcpServers")
  expect(text).not.toContain("s1.")
  const jar = new CookieJar()
  const callback = await signInAtProvider(await start("mc-erase", "ada", jar), "ada")
  const token = await roleToken("mc-erase", "boss", "owner")
  expect((await call("/v1/users/ada", { method: "DELETE", token })).status).toBe(202)
  const readRows = async () => {
    await makeJobsDue("mc-erase")
    return await rowsOf("mc-erase")
  }
  await expect.poll(readRows, { timeout: 40_000 }).not.toContain('"user":"ada"')
  // A callback that arrives after the erasure must store nothing.
  expect((await returnTo(callback, jar)).status).toBe(400)
  expect(await rowsOf("mc-erase")).not.toContain('"user":"ada"')
})

test("[MP17] an expired token is renewed once for all waiting calls, and a refused refresh token ends the connection", async () => {
  const provider = await createTenant("mc-renew", {}, "short-lived")
  await allowTools("mc-renew", "short-lived")
  await connectUser("mc-renew", "ada")
  const countTokens = async () => (await provider.listRequests()).filter((path) => path === "POST /token").length
  const before = await countTokens()
  const call = { user: "ada", server: "files", tool: "echo", asks: false }
  const stub = env.TENANT.getByName("mc-renew")
  const opened = await Promise.all(Array.from({ length: 5 }, () => stub.openMcpCall(call)))
  expect(new Set(opened.map((result) => JSON.stringify(result))).size).toBe(1)
  expect(opened[0]).toMatchObject({ ok: true })
  expect(await countTokens()).toBe(before + 1)
  // The refresh token has been replaced, and the next one must work too.
  expect(await stub.openMcpCall(call)).toMatchObject({ ok: true })
  await provider.setFaults({ path: "/token", status: 503, body: "busy" })
  expect(await stub.openMcpCall(call)).toMatchObject({ fault: { because: "unreachable" } })
  await provider.setFaults({})
  expect(await stub.openMcpCall(call)).toMatchObject({ ok: true })
  // This is a fault that the user can't fix. For example, our client's secret may have expired.
  await provider.setFaults({ path: "/token", status: 401, body: '{"error":"invalid_client"}' })
  expect(await stub.openMcpCall(call)).toMatchObject({ fault: { because: "unauthorized" } })
  await provider.setFaults({})
  expect(await stub.openMcpCall(call)).toMatchObject({ ok: true })
  await provider.setFaults({ path: "/token", status: 400, body: '{"error":"invalid_grant"}' })
  expect(await stub.openMcpCall(call)).toMatchObject({ fault: { because: "not_connected" } })
  await provider.setFaults({})
  expect(await listConnections("mc-renew", "ada")).toEqual([{ server: "files", connected: false }])
})

test("[MP13] removing the server ends its connections", async () => {
  await createTenant("mc-remove")
  await connectUser("mc-remove", "ada")
  expect((await sendMcp("mc-remove", "DELETE", "/files")).status).toBe(204)
  expect(await listConnections("mc-remove", "ada")).toEqual([])
  expect(await rowsOf("mc-remove")).toBe("[[],[]]")
})

test("[MP14] a call fails with tool_not_connected if there is no connection, or if the server refuses its token", async () => {
  await createTenant("mc-call")
  await allowTools("mc-call")
  const client = await openAgentSession("mc-call", ["files"])
  const refused = { status: "failed", error: { code: "tool_not_connected" } }
  expect(await runTool(client, "q1", "files_echo")).toMatchObject(refused)
  expect(await tokensAt("mc-call")).toEqual([])
  await connectUser("mc-call", "ada")
  expect(await runTool(client, "q2", "files_echo")).toMatchObject({ status: "ok" })
  await setServer("mc-call", { token: "Bearer another-one" })
  expect(await runTool(client, "q3", "files_echo")).toMatchObject(refused)
})

test("[MP18] the list of tools is renewed only for an administrator, with the administrator's own account", async () => {
  await createTenant("mc-list")
  const token = await tokenFor("mc-list", "root")
  const refresh = () => call("/v1/mcp-servers/files/refresh", { method: "POST", token })
  expect(await refresh()).toEqual(refusal(422, "mcp_refused", "not_connected"))
  await allowTools("mc-list")
  await connectUser("mc-list", "ada")
  await runInDurableObject(env.TENANT.getByName("mc-list"), (_object, { storage }) => {
    storage.sql.exec("UPDATE mcp_servers SET fetched = 0")
  })
  const lists = async () => (await seenAt("mc-list")).filter(({ method }) => method === "tools/list").length
  const before = await lists()
  const client = await openAgentSession("mc-list", ["files"])
  expect(await runTool(client, "q1", "files_echo")).toMatchObject({ status: "ok" })
  expect(await lists()).toBe(before)
  expect((await refresh()).status).toBe(200)
  expect(await lists()).toBe(before + 1)
})
