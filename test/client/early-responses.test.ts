/** early-responses.test.ts: what public/start-requests.js requests, and which of the responses the page uses. */

import { readFileSync } from "node:fs"
import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { fetchOnce } from "../../client/net/early-responses.ts"
import { PAGE_MESSAGES } from "../../client/session/history-deps.ts"

const SCRIPT = readFileSync("public/start-requests.js", "utf8")
const HISTORY = `/v1/sessions/s1/conversation/recent?limit=${PAGE_MESSAGES}`
const AUTHORIZED = { headers: { authorization: "Bearer t1" } }

interface Start {
  readonly hash?: string
  readonly protocol?: string
  readonly token?: Response | Error
}

/** Runs the script as a page with this URL would, and returns its requests. */
function runScript({ hash = "", protocol = "http:", token = Response.json({ token: "t1" }) }: Start): string[] {
  const requests: string[] = []
  const respond = async (path: string, { method = "GET", headers }: RequestInit): Promise<Response> => {
    requests.push(`${method} ${path} ${new Headers(headers).get("authorization") ?? ""}`.trim())
    if (path === HISTORY) return Response.json({ messages: [] })
    if (token instanceof Error) throw token
    return token
  }
  const script = document.createElement("script")
  script.dataset["preload"] = "/assets/transcript-x.js"
  const page = { currentScript: script, createElement: () => document.createElement("link"), head: document.head }
  new Function("location", "document", "fetch", SCRIPT)({ hash, protocol }, page, respond)
  return requests
}

const send = vi.fn(async () => new Response("sent"))

beforeEach(() => {
  globalThis.earlyResponses = undefined
  document.head.replaceChildren()
  send.mockClear()
})
afterEach(() => {
  globalThis.cuecard = undefined
})

test("[PF9] a token, and the newest page of the conversation in the URL, are requested and used once", async () => {
  const requests = runScript({ hash: "#/s/s1" })
  const token = await fetchOnce("/v1/dev/token", { method: "POST" }, send)
  expect(await token.json()).toEqual({ token: "t1" })
  const history = await fetchOnce(HISTORY, AUTHORIZED, send)
  expect(await history.json()).toEqual({ messages: [] })
  expect(requests).toEqual(["POST /v1/dev/token", `GET ${HISTORY} Bearer t1`])
  expect(document.head.querySelector("link")?.getAttribute("href")).toBe("/assets/transcript-x.js")
  expect(send).not.toHaveBeenCalled()
  await fetchOnce(HISTORY, AUTHORIZED, send)
  await fetchOnce("/v1/dev/token", { method: "POST" }, send)
  expect(send).toHaveBeenCalledTimes(2)
})

test("[PF9] history that was requested with another token isn't used", async () => {
  runScript({ hash: "#/s/s1" })
  const response = await fetchOnce(HISTORY, { headers: { authorization: "Bearer t2" } }, send)
  expect(await response.text()).toBe("sent")
})

test.each([
  ["the network fails", new Error("offline")],
  ["nobody is signed in", Response.json({ code: "token_missing" }, { status: 401 })],
])("[PF9] if %s, the page requests the history itself", async (_, token) => {
  const requests = runScript({ hash: "#/s/s1", token })
  expect(await (await fetchOnce(HISTORY, AUTHORIZED, send)).text()).toBe("sent")
  expect(requests).toEqual(["POST /v1/dev/token"])
})

test("[PF9] without a conversation in the URL, only a token is requested, from the sign-in route", () => {
  expect(runScript({ protocol: "https:" })).toEqual(["POST /auth/token"])
  expect(runScript({ hash: "#/settings" })).toEqual(["POST /v1/dev/token"])
  expect(document.head.querySelector("link")).toBeNull()
})

test("[PF9] nothing is requested if the product that embeds the page provides tokens", () => {
  globalThis.cuecard = { getToken: async () => "given" }
  expect(runScript({ hash: "#/s/s1" })).toEqual([])
})
