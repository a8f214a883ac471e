/**
 * access.test.ts: compares the access table with the routes, calls every route as every principal, and sends every
 * frame in every role. Each request must either be answered, or be refused with `scope_denied` and change nothing.
 */

import { env } from "cloudflare:test"
import { nanoid } from "nanoid"
import { describe, expect, test } from "vitest"
import worker from "../../worker/index.ts"
import { issueToken } from "../../worker/auth/verify-token.ts"
import { type Claims, type Role, ROLES } from "../../worker/platform/rpc/claims.ts"
import { type AccessRule, isAllowed, type Principal } from "../../worker/routes/access/access-table.ts"
import { findAccessRule } from "../../worker/routes/access/find-access-rule.ts"
import { ACCESS_TABLE } from "../../worker/routes/access/administration-rules.ts"
import { FRAME_ACCESS } from "../../worker/socket/frame-access.ts"
import { png } from "./files.ts"
import { createKey, createTenant } from "./tenant-access.ts"
import { call, nowSeconds, openSocket, refusal, roleToken, SECRET, socketHeaders, tokenOf } from "./http.ts"
import { digestBucket, digestOf } from "./storage-digest.ts"

const T = "access"
const DENIED = refusal(403, "scope_denied")
const nameOf = ({ method, path }: Pick<AccessRule, "method" | "path">): string => `${method} ${path}`

/** Functions that return a new token's claims, by the principal that uses the token. Each principal is its own user. */
const CLAIMS = new Map<Principal, (session: string) => Partial<Claims>>([
  ...ROLES.map((role) => [role, () => ({ role })] as const),
  ["external", (session) => ({ scope: "external", session })],
  ["admin-scope", () => ({ scope: "admin" })],
])

/** The role of each API key. A key can do what its role allows, and can create tokens only for that role. */
const KEY_ROLES = new Map<Principal, Role>(ROLES.map((role) => [`key-${role}`, role]))

/** Returns an API key for each role. The keys are created once, with the tenant's first key. */
const getKeys = memoize(async () => {
  const first = await createTenant(T)
  const keys = await Promise.all(
    [...KEY_ROLES].map(async ([name, role]) => [name, await createKey(first, { roles: [role] })] as const),
  )
  return new Map(keys.map(([name, { key }]) => [name, key]))
})

async function tokenFor(principal: Principal, session: string): Promise<string> {
  const key = KEY_ROLES.has(principal) ? (await getKeys()).get(principal) : undefined
  if (key !== undefined) return key
  const [expires, issued] = [nowSeconds() + 600, Date.now() / 1000]
  const base = { tenant: T, user: `p-${principal}`, expires, issued, token: nanoid() }
  return await issueToken({ ...base, ...CLAIMS.get(principal)?.(session) }, SECRET)
}

/** Bodies that the routes accept. Any route that isn't listed accepts `{}`. */
const BODIES: Readonly<Record<string, BodyInit>> = {
  "POST /v1/sessions/:id/messages": '{"id":"m1","content":"/say hi"}',
  "PATCH /v1/sessions/:id": '{"title":"New"}',
  "POST /v1/sessions/:id/media/sign": '{"urls":["https://example.com/a.png"]}',
  "POST /v1/sessions/:id/apps/:asset/calls": '{"tool":"t","args":{}}',
  "POST /v1/sessions/:id/assets": png(1),
  "POST /external/sessions/:id/messages": '{"text":"hi"}',
  "PUT /v1/agents/:name": '{"description":"d","prompt":"p"}',
  "POST /v1/keys": '{"name":"another","roles":["viewer"]}',
  "PUT /v1/settings": '{"media_hosts":["media.example.com"]}',
}

/**
 * Returns a body that the route accepts. The principal matters, because a key can create tokens only for its own roles.
 */
function createBody(rule: AccessRule, principal: Principal): BodyInit {
  const role = KEY_ROLES.get(principal) ?? "member"
  if (nameOf(rule) === "POST /v1/tokens") return JSON.stringify({ user: `of-${principal}`, role, ttl: 60 })
  return BODIES[nameOf(rule)] ?? "{}"
}

async function sendRequest(rule: AccessRule, principal: Principal, session: string) {
  const token = await tokenFor(principal, session)
  const path = rule.path.replace(":id", session).replace(":user", "somebody").replace(/:\w+/g, "notes")
  const body = rule.method === "GET" ? {} : { body: createBody(rule, principal) }
  const length = body.body instanceof Uint8Array ? { "content-length": String(body.body.byteLength) } : {}
  const upgrade = path.endsWith("/socket") ? socketHeaders(token) : {}
  return await call(path, { method: rule.method, token, headers: { ...length, ...upgrade }, ...body })
}

/** Creates an empty session that belongs to the principal's user. */
async function createSession(principal: Principal, id: string): Promise<void> {
  const token = await tokenOf(T, `p-${principal}`)
  const created = await call("/v1/sessions", { method: "POST", token, body: JSON.stringify({ id }) })
  expect(created.status).toBe(201)
}

function memoize<T>(create: () => Promise<T>): () => Promise<T> {
  let created: Promise<T> | null = null
  return () => (created ??= create())
}

async function digestAll(principal: Principal, session: string): Promise<string[]> {
  return await Promise.all([
    // Ignore the tables that change when a key is used: the keys and the audit log.
    digestOf(env.TENANT.getByName(T), KEY_ROLES.has(principal) ? ["api_keys", "audit", "audit_head"] : []),
    digestOf(env.DIRECTORY.getByName(`${T}:p-${principal}`)),
    digestOf(env.DIRECTORY.getByName(`${T}:somebody`)),
    digestOf(env.SESSION.getByName(`${T}:${session}`)),
    digestBucket(`${T}/`),
  ])
}

describe("the access table", () => {
  test("[RL1] contains every route of the API exactly once", () => {
    const routes = worker.routes
      .filter(({ method, path }) => method !== "ALL" && /^\/(?:v1|external)\//.test(path))
      .map(({ method, path }) => `${method} ${path.replace(/\/$/, "")}`)
    const listed = ACCESS_TABLE.map(nameOf)
    expect([...new Set(routes)].filter((route) => !listed.includes(route))).toEqual([])
    expect(listed.filter((route, index) => listed.indexOf(route) !== index)).toEqual([])
  })

  test("[RL1] each rule is found by its own method and path; other paths are unknown, with or without a token", async () => {
    for (const rule of ACCESS_TABLE) expect(await findAccessRule(rule.method, rule.path)).toBe(rule)
    const token = await roleToken(T, "any", "owner")
    for (const [method, path] of [
      ["GET", "/v1/nothing"],
      ["DELETE", "/v1/sessions"],
      ["GET", "/v1/sessions/"],
      ["GET", "/v1/sessions//socket"],
      ["OPTIONS", "/v1/sessions"],
      ["TRACE", "/v1/sessions"],
      ["GET", "/v1/Sessions"],
      ["GET", "/external/sessions/s/messages"],
    ] as const)
      for (const credentials of [{}, { token }])
        expect(await call(path, { method, ...credentials }), `${method} ${path}`).toEqual(refusal(404, "route_unknown"))
  })

  test.each([...CLAIMS.keys(), ...KEY_ROLES.keys()])(
    "[RL2] as %s, each request is answered, or refused with scope_denied and changes nothing",
    async (principal) => {
      const session = `own-${principal}`
      await getKeys()
      await createSession(principal, session)
      const keyRole = KEY_ROLES.get(principal)
      const more = keyRole === undefined ? CLAIMS.get(principal)?.(session) : { role: keyRole, key: "k" }
      const claims = { tenant: T, user: "u", expires: 0, token: null, issued: 0, ...more }
      const denied = ACCESS_TABLE.filter((rule) => rule.allow !== "open" && !isAllowed(rule, claims))
      const before = await digestAll(principal, session)
      for (const rule of denied) {
        const answer = await sendRequest(rule, principal, session)
        // The operator's routes may also respond with 401, because they require the operator's secret, not a token.
        const expected = rule.allow === "operator" ? [401, 403] : [403]
        expect(expected, nameOf(rule)).toContain(answer.status)
        if (rule.allow !== "operator") expect(answer, nameOf(rule)).toEqual(DENIED)
      }
      expect(await digestAll(principal, session)).toEqual(before)
      let count = 0
      for (const rule of ACCESS_TABLE.filter((rule) => isAllowed(rule, claims))) {
        count += 1
        const own = `${session}-${count}`
        if (rule.path.includes(":id")) await createSession(principal, own)
        const { status, json } = await sendRequest(rule, principal, own)
        const codes = ["scope_denied", "route_unknown", "token_missing", "token_invalid", "internal"]
        expect([status === 404 && json?.code === "session_unknown", codes.includes(json?.code)], nameOf(rule)).toEqual([
          false,
          false,
        ])
      }
      expect(denied.length + count).toBeGreaterThan(20)
    },
  )

  test("[RL3] a role has all the rights of the lower roles, and a viewer can't change anything in a tenant", () => {
    for (const rule of ACCESS_TABLE) {
      const allows = ROLES.map((role) =>
        isAllowed(rule, { tenant: T, user: "u", expires: 0, token: null, issued: 0, role }),
      )
      // Check that if a role is allowed, all higher roles are too.
      expect(allows.join().replace(/^(?:true,?)*(?:false,?)*$/, ""), nameOf(rule)).toBe("")
      const isRead = rule.method === "GET" || /\/(?:sign|revoke)$/.test(rule.path)
      if (allows[3] === true) expect(isRead, nameOf(rule)).toBe(true)
      const bare = { tenant: T, user: "u", expires: 0, token: null, issued: 0 }
      expect(isAllowed(rule, bare)).toBe(allows[2])
    }
  })
})

describe("frames", () => {
  const FRAMES: Readonly<Record<keyof typeof FRAME_ACCESS, object>> = {
    hello: { protocol: 3, live: true },
    seen: { seq: 0 },
    ping: { pad: 1 },
    send: { id: "f-send", content: "/say hi" },
    cancel: { exchange_id: "f-cancel" },
    approve: { call_id: "f-approve", decision: "allow" },
    withdraw: { id: "f-withdraw", message: "m" },
    retry: { id: "f-retry", message: "m" },
    regenerate: { id: "f-regenerate", message: "m" },
    edit: { id: "f-edit", message: "m", content: "x" },
    switch: { id: "f-switch", message: "m", version: 1 },
  }

  test.each(ROLES)(
    "[RL4] as %s, each frame is answered, or refused with scope_denied and changes nothing; the socket stays open",
    async (role) => {
      const id = `frames-${role}`
      const member = await tokenOf(T, `f-${role}`)
      await call("/v1/sessions", { method: "POST", token: member, body: JSON.stringify({ id }) })
      const before = await digestOf(env.SESSION.getByName(`${T}:${id}`))
      const connection = await openSocket(id, await roleToken(T, `f-${role}`, role))
      for (const [type, access] of Object.entries(FRAME_ACCESS)) {
        const count = connection.received.length
        connection.socket.send(JSON.stringify({ type, ...FRAMES[type as keyof typeof FRAME_ACCESS] }))
        const isDenied = role === "viewer" && access === "write"
        // The server doesn't respond to `seen`.
        if (type !== "seen") await expect.poll(() => connection.received.length).toBeGreaterThan(count)
        expect(connection.received.slice(count).includes("scope_denied"), type).toBe(isDenied)
      }
      expect(connection.closed).toBe(null)
      if (role === "viewer") expect(await digestOf(env.SESSION.getByName(`${T}:${id}`))).toBe(before)
    },
  )
})
