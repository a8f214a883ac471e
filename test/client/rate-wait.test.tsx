/** rate-wait.test.tsx: what the page does while the server refuses more requests, frames and sockets. */

import { signal } from "@preact/signals"
import { expect, test } from "vitest"
import { LinkStatus } from "../../client/app/link-status.tsx"
import { uploadWithToken } from "../../client/files/upload-with-token.ts"
import { HttpApi } from "../../client/net/api.ts"
import type { RequestHold } from "../../client/net/request-hold.ts"
import type { LinkState } from "../../client/net/socket-link.ts"
import { SessionController } from "../../client/session/session-controller.ts"
import { rateWaitText } from "../../client/words/rate-wait-text.ts"
import { faultToWire } from "../../shared/fault.ts"
import { RATE_PERIOD_SECONDS } from "../../shared/user-limits.ts"
import { draw, until } from "./dom.ts"
import { sends, setUp } from "./open-session.ts"
import { createClock, hello, settle } from "./wire.ts"

const PERIOD_MS = RATE_PERIOD_SECONDS * 1000
const { code, text } = faultToWire({
  reason: "rate_limited",
  rateClass: "write",
  per: "user",
  retryAfterSeconds: RATE_PERIOD_SECONDS,
})

function createRequestHold(deps: Pick<RequestHold, "random" | "setTimer">): RequestHold {
  return { text: signal<string | null>(null), end: null, resends: new Set(), ...deps }
}

/** A server that answers each request with the next of these, and then with an empty list. */
function createApi(responses: Response[], random = 0) {
  const clock = createClock()
  const hold = createRequestHold({ random: () => random, setTimer: clock.setTimer })
  const requests: string[] = []
  const api = new HttpApi({
    hold,
    now: clock.now,
    tokenRoutes: ["/token"],
    async fetch(url) {
      if (url === "/token") return Response.json({ token: "jwt" })
      requests.push(url)
      return responses.shift() ?? Response.json({ sessions: [] })
    },
  })
  return { clock, hold, requests, api }
}

const refuse = (retryAfter?: string) =>
  Response.json({ code, text }, { status: 429, headers: retryAfter === undefined ? {} : { "retry-after": retryAfter } })

test("[LI6] a refused request is repeated after Retry-After, and the others wait as well", async () => {
  const { clock, hold, requests, api } = createApi([refuse("10")], 1)
  const first = api.listSessions()
  await until(() => expect(hold.text.value).toContain(text))
  const second = api.listSessions("after")
  await settle()
  expect(requests).toEqual(["/v1/sessions"])
  // The whole random part is added.
  clock.pass(12_999)
  await settle()
  expect(requests).toHaveLength(1)
  clock.pass(1)
  expect(await first).toEqual({ sessions: [], next: null })
  expect(await second).toEqual({ sessions: [], next: null })
  expect(requests.slice(1).sort()).toEqual(["/v1/sessions", "/v1/sessions?after=after"])
  expect(hold.text.value).toBeNull()
})

test("[LI6] a refusal without Retry-After, or with a long one, fails at once", async () => {
  for (const retryAfter of [undefined, "3600", "0", "soon"]) {
    const { hold, requests, api } = createApi([refuse(retryAfter)])
    await expect(api.listSessions()).rejects.toThrow(text)
    expect([requests.length, hold.text.value]).toEqual([1, null])
  }
})

test("[LI6] a refused upload is repeated after the wait", async () => {
  const { clock, hold, api } = createApi([])
  const sent: string[] = []
  const answers = [
    { status: 429, text: JSON.stringify({ code, text }), retryAfter: "10" },
    { status: 201, text: "{}" },
  ]
  const sendFile = async (path: string) => {
    sent.push(path)
    return answers.shift() ?? { status: 500, text: "" }
  }
  const uploading = uploadWithToken(
    { api, sendFile, hold },
    "/upload",
    new Blob(["x"]),
    () => {},
    new AbortController().signal,
  )
  await until(() => expect([sent.length, hold.text.value]).toEqual([1, rateWaitText.waiting(text)]))
  clock.pass(PERIOD_MS)
  expect((await uploading).status).toBe(201)
  expect(sent).toEqual(["/upload", "/upload"])
})

const idOf = (frame: object): unknown => Reflect.get(frame, "id")

async function openLimited() {
  const { clock, server, deps } = setUp()
  const hold = createRequestHold({ random: () => 0, setTimer: clock.setTimer })
  const controller = new SessionController("s1", { ...deps, hold })
  await controller.loadNewest()
  await settle()
  server.last().events.onOpen()
  server.last().say(hello())
  return { clock, server, hold, controller }
}

test("[LI6] a refused message stays in the outbox and is sent again under its id", async () => {
  const { clock, server, hold, controller } = await openLimited()
  controller.sendMessage("one")
  controller.sendMessage("two")
  server.last().say({ type: "error", id: "n1", code, text })
  expect(controller.outbox.entries.value.map(({ content, error }) => [content, error])).toEqual([
    ["one", null],
    ["two", null],
  ])
  await until(() => expect(hold.text.value).toContain(text))
  controller.sendMessage("three")
  expect(sends(server.last().sent)).toHaveLength(1)
  clock.pass(PERIOD_MS)
  await settle()
  expect(sends(server.last().sent).map(idOf)).toEqual(["n1", "n1"])
  server.last().say({ type: "ack", id: "n1", seq: 11 })
  expect(sends(server.last().sent).map(idOf)).toEqual(["n1", "n1", "n2"])
  expect(hold.text.value).toBeNull()
})

test("[LI6] refused commands are sent again, all of them once", async () => {
  const { clock, server, hold, controller } = await openLimited()
  controller.regenerateAnswer("a1")
  controller.editMessage("m1", "new text")
  for (const frame of server.last().sent.slice(1))
    server.last().say({ type: "error", id: String(idOf(frame)), code, text })
  expect(controller.commands.refusals.value.size).toBe(0)
  await until(() => expect(hold.text.value).toContain(text))
  const before = server.last().sent.length
  clock.pass(PERIOD_MS)
  await settle()
  expect(
    server
      .last()
      .sent.slice(before)
      .map(({ type }) => type),
  ).toEqual(["regenerate", "edit"])
})

test("[LI6] a socket that a limit closed is opened again after the wait", async () => {
  const { clock, server, hold, controller } = await openLimited()
  controller.sendMessage("kept")
  const opened = server.sockets.length
  server.last().say({ type: "error", code, text })
  await until(() => expect(hold.text.value).toContain(text))
  server.last().events.onClose(4429)
  clock.pass(PERIOD_MS - 1)
  await settle()
  expect(server.sockets.length).toBe(opened)
  clock.pass(1)
  await settle()
  expect(server.sockets.length).toBe(opened + 1)
  server.last().events.onOpen()
  server.last().say(hello())
  expect(sends(server.last().sent)).toMatchObject([{ content: "kept" }])
  expect(hold.text.value).toBeNull()
})

test("[LI6] the reason of a full session is shown until a socket is admitted", async () => {
  const { clock, server, hold } = await openLimited()
  const full = faultToWire({ reason: "sockets_full", max: 1_000 })
  server.last().say({ type: "error", code: full.code, text: full.text })
  server.last().events.onClose(4429)
  await until(() => expect(hold.text.value).toContain(full.text))
  clock.pass(10_000)
  await settle()
  server.last().events.onOpen()
  server.last().say(hello())
  expect(hold.text.value).toBeNull()
})

test("[LI6] a quiet line says that the page waits, in place of the state of the connection", () => {
  const shown = { isOnline: true, wasLoaded: true, wasLive: true }
  const lineOf = (link: LinkState, holdText: string | null): string | undefined => {
    const root = document.body.appendChild(document.createElement("div"))
    draw(<LinkStatus link={link} holdText={holdText} {...shown} />, root)
    return root.querySelector("[role=status]")?.textContent
  }
  expect(lineOf("live", null)).toBeUndefined()
  expect(lineOf("live", "Wait.")).toBe("Wait.")
  expect(lineOf("waiting", "Wait.")).toBe("Wait.")
  expect(lineOf("waiting", null)).toBe("Reconnecting…")
  expect(rateWaitText.waiting(text)).toBe(
    "Too many requests at once. Wait 10 seconds. Nothing is lost, and we'll go on by ourselves.",
  )
})
