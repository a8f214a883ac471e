/** admin-api.test.ts: the admin page's requests while the server is rate-limiting them. */

import { afterEach, expect, test, vi } from "vitest"
import { AdminApi, createAdminFetch } from "../../client/admin/admin-api.ts"
import { RequestHold } from "../../client/net/request-hold.ts"

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** Creates an API whose server answers each request with the next of these responses. */
function createApi(responses: Response[]) {
  const requests: string[] = []
  const hold = new RequestHold()
  const api = new AdminApi({
    hold,
    now: () => 0,
    tokenRoutes: ["/token"],
    fetch: createAdminFetch(hold, async (url, init) => {
      if (url === "/token") return Response.json({ token: "jwt" })
      requests.push(`${init.method ?? "GET"} ${url}`)
      return responses.shift() ?? Response.json({})
    }),
  })
  return { api, hold, requests }
}

const createRefusal = (status: number, headers: Record<string, string> = {}) =>
  Response.json({ code: "rate_limited", text: "Slow down." }, { status, headers })

test("[AD15] a rate-limited request, even one that changes something, waits and is sent again; the page says that it is waiting", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
  vi.spyOn(Math, "random").mockReturnValue(0)
  const { api, hold, requests } = createApi([createRefusal(429, { "retry-after": "10" })])
  const done = api.sendAction("POST", "/v1/users/ada/suspend", {})
  await vi.waitFor(() => expect(hold.text.value).not.toBe(""))
  expect(requests).toEqual(["POST /v1/users/ada/suspend"])
  await vi.advanceTimersByTimeAsync(10_000)
  await done
  expect(requests).toEqual(["POST /v1/users/ada/suspend", "POST /v1/users/ada/suspend"])
  expect([hold.text.value, hold.end]).toEqual(["", null])
})

test.each([
  ["a limit without a time", createRefusal(429)],
  ["a long wait", createRefusal(429, { "retry-after": "3600" })],
  ["a busy server", createRefusal(503, { "retry-after": "1" })],
])("[AD15] after %s, no request is sent again", async (_name, refusal) => {
  const { api, requests } = createApi([refusal])
  await expect(api.sendAction("DELETE", "/v1/users/ada")).rejects.toThrow("Slow down.")
  expect(requests).toEqual(["DELETE /v1/users/ada"])
})
