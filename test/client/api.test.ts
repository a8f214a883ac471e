/** api.test.ts: tokens and requests, with a fake fetch. */

import { describe, expect, test } from "vitest"
import { HttpApi } from "../../client/net/api.ts"
import { RequestError } from "../../client/net/http-request.ts"
import { wireMessage } from "./fake-server.ts"

/** Creates a token whose timestamps come from the server's clock. */
function tokenOf(name: string, seconds: number, issued = 5_000_000): string {
  return `${name}.${btoa(JSON.stringify({ iat: issued, exp: issued + seconds }))}.sign`
}

function setUp(answer: (path: string, init: RequestInit) => Response, seconds = 3600) {
  let now = 1_000_000
  const requests: string[] = []
  const tokens: (string | null)[] = []
  let count = 0
  const api = new HttpApi({
    now: () => now,
    tokenRoutes: ["/v1/dev/token"],
    async fetch(path, init) {
      requests.push(path)
      tokens.push(new Headers(init.headers).get("authorization"))
      await Promise.resolve()
      if (path !== "/v1/dev/token") return answer(path, init)
      return Response.json({ token: tokenOf(`t${++count}`, seconds) })
    },
  })
  const passTime = (ms: number): void => {
    now += ms
  }
  return { api, requests, tokens, pass: passTime }
}

const nameOf = ({ token }: { readonly token: string }) => token.split(".")[0]

describe("tokens", () => {
  test("[SO1] concurrent calls share one request; the token is used until shortly before it expires, then renewed", async () => {
    const { api, requests, pass } = setUp(() => Response.json({ sessions: [] }))
    const [a, b] = await Promise.all([api.getToken(), api.getToken()])
    expect([nameOf(a), nameOf(b)]).toEqual(["t1", "t1"])
    pass(3_539_999)
    expect(nameOf(await api.getToken())).toBe("t1")
    pass(1)
    expect(nameOf(await api.getToken())).toBe("t2")
    expect(requests).toHaveLength(2)
  })

  test("[SO1] a token's lifetime is read from its claims, because the device's clock may be hours off", async () => {
    for (const [seconds, renewsAfter] of [
      [3600, 3_540_000],
      [30, 15_000],
    ] as const) {
      const { api, requests, pass } = setUp(() => Response.json({ sessions: [] }), seconds)
      const { renewAt } = await api.getToken()
      expect(renewAt).toBe(1_000_000 + renewsAfter)
      pass(renewsAfter - 1)
      await api.listSessions()
      expect(requests.filter((path) => path === "/v1/dev/token")).toHaveLength(1)
    }
  })

  test("[SO1] a refused token is renewed once, and the request is sent again", async () => {
    let refused = 0
    const { api, tokens } = setUp(() =>
      ++refused === 1 ? new Response("{}", { status: 401 }) : Response.json({ sessions: [] }),
    )
    await expect(api.listSessions()).resolves.toEqual({ sessions: [], next: null })
    expect(tokens.map((token) => token?.split(".")[0] ?? null)).toEqual([null, "Bearer t1", null, "Bearer t2"])
    const never = setUp(() =>
      Response.json({ code: "token_invalid", text: "The token isn't valid. Sign in again." }, { status: 401 }),
    )
    await expect(never.api.listSessions()).rejects.toThrow("The token isn't valid. Sign in again.")
    expect(never.requests).toHaveLength(4)
  })
})

describe("requests", () => {
  test("[PG14] a refused request throws an error with the server's text", async () => {
    const { api } = setUp(() =>
      Response.json({ code: "session_unknown", text: "We couldn't find that conversation." }, { status: 404 }),
    )
    const error = await api.getHistoryPage("s", 5).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(RequestError)
    expect(error).toMatchObject({ status: 404, message: "We couldn't find that conversation." })
    const other = setUp(() => new Response("<html>", { status: 502 }))
    await expect(other.api.listSessions()).rejects.toThrow("Something went wrong (error 502).")
  })

  test.each([
    ["no list", { sessions: null }],
    ["a session without a time", { sessions: [{ id: "a", title: "A", created: 1, running: false }] }],
    ["an invalid agent", { sessions: [{ id: "a", title: "A", created: 1, active: 1, running: false, agent: 7 }] }],
    ["not JSON", "<html>"],
  ])("[PG31] a list of sessions with %s is rejected, not shown", async (_, body) => {
    const { api } = setUp(() => (typeof body === "string" ? new Response(body) : Response.json(body)))
    await expect(api.listSessions()).rejects.toMatchObject({ status: 502 })
  })

  test("[PG16] a page of history with an invalid message is rejected, not shown", async () => {
    const whole = wireMessage("m1", { segments: [{ type: "text", content: "Hi" }] })
    const answers = [whole, { ...whole, segments: [null] }, { ...whole, timestamp: 0 }]
    const { api } = setUp(() =>
      Response.json({ messages: [answers.shift()], has_more: true, cursor: "c", epoch: "e", seq: 1 }),
    )
    await expect(api.getHistoryPage("s", 1)).resolves.toMatchObject({ messages: [whole], cursor: "c" })
    for (const _ of [1, 2]) await expect(api.getHistoryPage("s", 1)).rejects.toMatchObject({ status: 502 })
  })

  test("[PG16] older pages are requested with a cursor, and sessions are created with a title", async () => {
    const bodies: unknown[] = []
    const { api, requests } = setUp((path, init) => {
      bodies.push(init.body)
      return path === "/v1/sessions"
        ? Response.json({ id: "s1" }, { status: 201 })
        : Response.json({ messages: [], has_more: false, epoch: "e", seq: 0 })
    })
    await api.getHistoryPage("a_b", 24)
    await api.getHistoryPage("a_b", 24, "9 0")
    expect(await api.createSession("Title", "s1")).toBe("s1")
    expect(requests.slice(1)).toEqual([
      "/v1/sessions/a_b/conversation/recent?limit=24",
      "/v1/sessions/a_b/conversation/recent?limit=24&before=9%200",
      "/v1/sessions",
    ])
    expect(bodies.at(-1)).toBe('{"id":"s1","title":"Title"}')
  })
})
