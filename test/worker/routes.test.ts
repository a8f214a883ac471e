/**
 * routes.test.ts: tests the HTTP routes through the whole Worker: bodies, sessions, history, other users and errors.
 */

import { env } from "cloudflare:test"
import { describe, expect, test, vi } from "vitest"
import { MAX_BODY_BYTES, MAX_MESSAGE_BYTES, MAX_TITLE_CHARS } from "../../shared/limits.ts"
import { call, HOST, makeSession, refusal, socketHeaders, tablesOf, tokenOf } from "./http.ts"

const recentPath = (id: string, query = "") => `/v1/sessions/${id}/conversation/recent${query}`

async function openNewSession(): Promise<{ readonly token: string; readonly id: string }> {
  const token = await tokenOf("acme", "ada")
  return { token, id: await makeSession(token) }
}

async function messagesOf(id: string, token: string): Promise<readonly { readonly id: string }[]> {
  return (await call(recentPath(id), { token })).json.messages
}

describe("sessions and messages", () => {
  test("[RT1] creating, sending and reading have the same effect as on the socket", async () => {
    const { token, id } = await openNewSession()
    const post = { method: "POST", token }
    const response = await call(`/v1/sessions/${id}/messages`, { ...post, body: '{"id":"m1","content":"/say hi"}' })
    expect(response).toMatchObject({ status: 202, json: { id: "m1", seq: 1, duplicate: false } })
    const again = await call(`/v1/sessions/${id}/messages`, { ...post, body: '{"id":"m1","content":"other"}' })
    expect(again).toMatchObject({ status: 202, json: { id: "m1", seq: 1, duplicate: true } })
    expect(await messagesOf(id, token)).toHaveLength(2)
  })

  test("[RT1] a session created twice with one id exists once, and belongs to its owner", async () => {
    const [ada, eve] = [await tokenOf("acme", "ada"), await tokenOf("acme", "eve")]
    const body = JSON.stringify({ id: "mine-1", title: "Mine" })
    for (let i = 0; i < 2; i++) {
      const made = await call("/v1/sessions", { method: "POST", token: ada, body })
      expect(made).toMatchObject({ status: 201, json: { id: "mine-1" } })
    }
    const list = await call("/v1/sessions", { token: ada })
    expect(list.json.sessions.filter((one: { id: string }) => one.id === "mine-1")).toHaveLength(1)
    expect(await call(recentPath("mine-1"), { token: eve })).toEqual(refusal(404, "session_unknown"))
    const odd = JSON.stringify({ id: "no id" })
    expect(await call("/v1/sessions", { method: "POST", token: ada, body: odd })).toEqual(refusal(400, "field_invalid"))
  })

  test("[RT1] a session gets an id and a time, with or without a title", async () => {
    const token = await tokenOf("acme", "ada")
    const made = await call("/v1/sessions", { method: "POST", token, body: '{"title":"Trip \\ud800"}' })
    expect(made).toMatchObject({ status: 201, json: { title: "Trip \ufffd", created: expect.any(Number) } })
    expect(made.json.id).toMatch(/^[\w-]{21}$/)
    expect(await call("/v1/sessions", { method: "POST", token })).toMatchObject({ status: 201, json: { title: "" } })
  })

  test("[RT2] a message without an id gets one", async () => {
    const { token, id } = await openNewSession()
    const response = await call(`/v1/sessions/${id}/messages`, { method: "POST", token, body: '{"content":"/say hi"}' })
    expect(response.json.id).toMatch(/^[\w-]{21}$/)
  })
})

describe("the type and time of a body", () => {
  test.each([
    "text/plain;charset=UTF-8",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "x/json",
    "",
  ])("[RT12] a body of type %s is refused, and stores nothing", async (type) => {
    const token = await tokenOf("acme", "ada")
    const options = { method: "POST", token, body: '{"id":"typed"}', headers: { "content-type": type } }
    expect(await call("/v1/sessions", options)).toEqual(refusal(415, "body_type_refused"))
    expect(await tablesOf(env.SESSION.getByName("acme:typed"))).toEqual([])
  })

  test.each(["application/json", "Application/JSON; charset=utf-8", "application/vnd.api+json"])(
    "[RT12] a body of type %s is accepted",
    async (type) => {
      const token = await tokenOf("acme", "ada")
      const options = { method: "POST", token, body: "{}", headers: { "content-type": type } }
      expect((await call("/v1/sessions", options)).status).toBe(201)
    },
  )

  test("[RT12] a body that doesn't arrive in time is refused, whether it is slow or stops", async () => {
    const token = await tokenOf("acme", "ada")
    const headers = { "content-type": "application/json" }
    for (const everyMs of [5, null]) {
      let timer: ReturnType<typeof setInterval> | undefined
      let isCancelled = false
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          controller.enqueue(new TextEncoder().encode("{"))
          if (everyMs !== null) timer = setInterval(() => controller.enqueue(new Uint8Array([0x20])), everyMs)
        },
        cancel() {
          isCancelled = true
        },
      })
      // Shorten twenty seconds to a tenth of a second.
      const options = { method: "POST", token, body, headers, env: { TIME_SCALE: "0.005" } }
      expect(await call("/v1/sessions", options)).toEqual(refusal(408, "body_stalled"))
      clearInterval(timer)
      expect(isCancelled).toBe(true)
    }
  })
})

describe("history", () => {
  test.each(["0", "121", "-1", "1.5", "x", "", "1e1", "%31%00"])("[RT3] limit=%s is refused", async (limit) => {
    const { token, id } = await openNewSession()
    expect(await call(recentPath(id, `?limit=${limit}`), { token })).toEqual(refusal(400, "field_invalid", "limit"))
  })

  test.each(["-1", "0", "abc", "1e3", "", "99999999999999999999"])("[RT3] before=%s is refused", async (before) => {
    const { token, id } = await openNewSession()
    expect(await call(recentPath(id, `?before=${before}`), { token })).toEqual(refusal(400, "field_invalid", "before"))
  })

  test.each(["?limit=1", "?limit=120", "?before=1", "?limit=12&before=999999999999999", ""])(
    "[RT3] %j is accepted",
    async (query) => {
      const { token, id } = await openNewSession()
      const page = await call(recentPath(id, query), { token })
      expect(page).toMatchObject({ status: 200, json: { messages: [], has_more: false, epoch: expect.any(String) } })
      expect(page.headers.get("content-type")).toContain("application/json")
    },
  )
})

describe("bodies", () => {
  const createLongBody = (bytes: number) => JSON.stringify({ content: "x".repeat(bytes) })
  test.each<[string, BodyInit, number, string]>([
    ["not JSON", "{", 400, "body_malformed"],
    ["a list", "[]", 400, "body_malformed"],
    ["a text", '"hi"', 400, "body_malformed"],
    ["null", "null", 400, "body_malformed"],
    ["bytes that are not UTF-8", new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]), 400, "body_malformed"],
    ["nothing", "", 400, "field_invalid"],
    ["no content", "{}", 400, "field_invalid"],
    ["content that is not a string", '{"content":7}', 400, "field_invalid"],
    ["an invalid id", '{"id":"a b","content":"x"}', 400, "field_invalid"],
    ["an id of 65 characters", `{"id":"${"a".repeat(65)}","content":"x"}`, 400, "field_invalid"],
    ["a reply_to that is not an id", '{"content":"x","reply_to":{}}', 400, "field_invalid"],
    ["a reply to an unknown message", '{"content":"x","reply_to":"ghost"}', 400, "frame_invalid"],
    ["an empty message", '{"content":"  \\n"}', 400, "message_empty"],
    ["a long message", createLongBody(MAX_MESSAGE_BYTES + 1), 413, "message_too_large"],
    ["a long body", createLongBody(MAX_BODY_BYTES), 413, "body_too_large"],
  ])("[RT4] a body with %s is reported, and nothing is stored", async (_what, body, status, code) => {
    const { token, id } = await openNewSession()
    expect(await call(`/v1/sessions/${id}/messages`, { method: "POST", token, body })).toEqual(refusal(status, code))
    expect(await messagesOf(id, token)).toEqual([])
  })

  test.each([`{"title":"${"x".repeat(MAX_TITLE_CHARS + 1)}"}`, '{"title":7}', '{"title":null}'])(
    "[RT4] %.20s creates no session",
    async (body) => {
      const token = await tokenOf("acme", "untitled")
      expect(await call("/v1/sessions", { method: "POST", token, body })).toEqual(
        refusal(400, "field_invalid", "title"),
      )
      expect(await tablesOf(env.DIRECTORY.getByName("acme:untitled"))).toEqual([])
    },
  )

  test("[RT4] a message of the full size is accepted, even with the longest escaping", async () => {
    const { token, id } = await openNewSession()
    const body = `{"content":"/say ${"\\u0001".repeat(MAX_MESSAGE_BYTES - 5)}"}`
    expect(await call(`/v1/sessions/${id}/messages`, { method: "POST", token, body })).toMatchObject({ status: 202 })
  })

  test.each([undefined, "2"])(
    "[RT4] a body that declares its length as %s is measured as it arrives",
    async (length) => {
      const { token, id } = await openNewSession()
      const chunk = new Uint8Array(64 * 1024).fill(120)
      let sent = 0
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          sent += chunk.byteLength
          if (sent > MAX_BODY_BYTES * 8) controller.close()
          else controller.enqueue(chunk)
        },
      })
      const headers: Record<string, string> = length === undefined ? {} : { "content-length": length }
      const response = await call(`/v1/sessions/${id}/messages`, { method: "POST", token, body, headers, env: {} })
      expect(response).toEqual(refusal(413, "body_too_large"))
      expect(sent).toBeLessThan(MAX_BODY_BYTES * 2)
      expect(await messagesOf(id, token)).toEqual([])
    },
  )
})

describe("missing resources", () => {
  test.each([
    ["GET", "/v1"],
    ["GET", "/v1/nothing"],
    ["DELETE", "/v1/nothing"],
    ["GET", "/v1/dev/token"],
    ["GET", "/media/x/y"],
    ["POST", "/external/x"],
  ])("[RT5] %s %s is reported in JSON, with or without a token", async (method, path) => {
    expect(await call(path, { method })).toEqual(refusal(404, "route_unknown"))
    expect(await call(path, { method, token: await tokenOf("acme", "ada") })).toEqual(refusal(404, "route_unknown"))
  })

  test("[RT5] a method that a session's route doesn't have, and a URL below that route, don't exist", async () => {
    const { token, id } = await openNewSession()
    expect(await call("/v1/sessions", { method: "DELETE", token })).toEqual(refusal(404, "route_unknown"))
    expect(await call(`/v1/sessions/${id}`, { token })).toEqual(refusal(404, "route_unknown"))
    expect(await call(`/v1/sessions/${id}/messages`, { token })).toEqual(refusal(404, "route_unknown"))
  })

  test.each(["ghost", "x".repeat(65), "a%20b", "a:b", "%zz", "..%2f"])(
    "[RT5] the session %s is unknown on every route, and the requests store nothing",
    async (id) => {
      const token = await tokenOf("acme", "ada")
      expect(await call(recentPath(id), { token })).toEqual(refusal(404, "session_unknown"))
      const post = { method: "POST", token, body: '{"content":"x"}' }
      expect(await call(`/v1/sessions/${id}/messages`, post)).toEqual(refusal(404, "session_unknown"))
      expect(await call(`/v1/sessions/${id}/socket`, { headers: socketHeaders(token) })).toEqual(
        refusal(404, "session_unknown"),
      )
      expect(await tablesOf(env.SESSION.getByName(`acme:${id}`))).toEqual([])
    },
  )

  test("[RT5] a socket's URL without an upgrade gets 426", async () => {
    const { token, id } = await openNewSession()
    expect(await call(`/v1/sessions/${id}/socket`, { token })).toEqual(refusal(426, "upgrade_expected"))
  })

  test("[RT5] health needs no token", async () => {
    expect(await call("/healthz")).toMatchObject({ status: 200, json: { ok: true } })
  })
})

describe("other users", () => {
  test.each([
    ["another tenant", "evil", "ada"],
    ["another user of the tenant", "acme", "eve"],
  ])("[RT6] %s can't use the session on any route, and the refusals store nothing", async (_who, tenant, user) => {
    const { token: own, id } = await openNewSession()
    const token = await tokenOf(tenant, user)
    expect(await call(recentPath(id), { token })).toEqual(refusal(404, "session_unknown"))
    const post = { method: "POST", token, body: '{"id":"m1","content":"x"}' }
    expect(await call(`/v1/sessions/${id}/messages`, post)).toEqual(refusal(404, "session_unknown"))
    expect(await call(`/v1/sessions/${id}/socket`, { headers: socketHeaders(token) })).toEqual(
      refusal(404, "session_unknown"),
    )
    expect(await messagesOf(id, own)).toEqual([])
    expect(await tablesOf(env.SESSION.getByName(`evil:${id}`))).toEqual([])
  })
})

describe("headers of every response", () => {
  test.each([
    ["/healthz", 200],
    ["/v1/nothing", 404],
    ["/v1/sessions", 401],
  ])("[RT7] %s (%i) can't be sniffed, cached or run, and sends no referrer", async (path, status) => {
    const { headers, ...answer } = await call(path)
    expect(answer.status).toBe(status)
    expect(headers.get("x-content-type-options")).toBe("nosniff")
    expect(headers.get("referrer-policy")).toBe("no-referrer")
    expect(headers.get("cache-control")).toBe("no-store")
    expect(headers.get("content-security-policy")).toContain("default-src 'none'")
  })

  test("[RT7] other paths return the page's files, with their own headers", async () => {
    const ASSETS = {
      fetch: ({ url }: Request) => new Response(url, { headers: { "content-security-policy": "script-src 'self'" } }),
    }
    const page = await call("/deep/link", { env: { ASSETS } })
    expect(page).toMatchObject({ status: 200, text: `${HOST}/deep/link` })
    expect(page.headers.get("content-security-policy")).toBe("script-src 'self'")
  })
})

test("[RT8] a thrown error is reported as `internal`; its name and location are logged in one line, and its text appears nowhere", async () => {
  const logged = vi.spyOn(console, "error").mockImplementation(() => {})
  const DIRECTORY = {
    getByName: () => {
      throw new Error("the inner words")
    },
  }
  const token = await tokenOf("acme", "ada")
  const answer = await call("/v1/sessions", { token, headers: { origin: HOST }, env: { DIRECTORY } })
  expect(answer).toEqual(refusal(500, "internal"))
  expect(answer.text).not.toContain("inner")
  expect(answer.headers.get("access-control-allow-origin")).toBe(HOST)
  expect(logged.mock.calls).toHaveLength(1)
  const connection = String(logged.mock.calls[0]?.[0])
  expect(connection).not.toContain("\n")
  expect(JSON.parse(connection)).toMatchObject({
    event: "route_error",
    method: "GET",
    route: "/v1/sessions",
    error: expect.stringMatching(/^Error < .*getByName/),
  })
  expect(connection).not.toContain("inner words")
  logged.mockRestore()
})
