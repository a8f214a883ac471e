/** rate-wait.test.tsx: the page while the server is rate-limiting requests, frames and sockets. */

import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { LinkStatus } from "../../client/app/link-status.tsx"
import { HttpApi } from "../../client/net/api.ts"
import { sendWithRateLimitRetry } from "../../client/net/rate-limit-retry.ts"
import { RequestHold } from "../../client/net/request-hold.ts"
import type { LinkState } from "../../client/net/socket-link.ts"
import { Draft } from "../../client/session/draft.ts"
import { SessionController } from "../../client/session/session-controller.ts"
import { rateWaitText } from "../../client/words/rate-wait-text.ts"
import { faultToWire } from "../../shared/fault.ts"
import { RATE_PERIOD_SECONDS } from "../../shared/user-limits.ts"
import { draw } from "./dom.ts"
import { listSendFrames, setUp } from "./open-session.ts"
import { hello } from "./fake-server.ts"

const PERIOD_MS = RATE_PERIOD_SECONDS * 1000
const { code, text } = faultToWire({
  reason: "rate_limited",
  rateClass: "write",
  per: "user",
  retryAfterSeconds: RATE_PERIOD_SECONDS,
})

let hold = new RequestHold()

beforeEach(() => {
  hold = new RequestHold()
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
  vi.spyOn(Math, "random").mockReturnValue(0)
})

afterEach(() => {
  vi.runAllTimers()
  vi.useRealTimers()
  vi.restoreAllMocks()
  expect(hold.end).toBeNull()
})

/** Waits for everything that doesn't depend on a timer, including the loading of code. */
async function settleAll(): Promise<void> {
  await vi.advanceTimersByTimeAsync(0)
  await vi.dynamicImportSettled()
  await vi.advanceTimersByTimeAsync(0)
}

async function passTime(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms)
  await settleAll()
}

/** Creates an API whose server answers each request with the next of these responses, and then with an empty list. */
function createApi(responses: Response[], own = hold) {
  const requests: string[] = []
  const respondTo = async (url: string): Promise<Response> => {
    if (url === "/token") return Response.json({ token: "jwt" })
    requests.push(url)
    return responses.shift() ?? Response.json({ sessions: [] })
  }
  const api = new HttpApi({
    hold: own,
    now: () => 0,
    tokenRoutes: ["/token"],
    fetch: (url) => sendWithRateLimitRetry(own, () => respondTo(url)),
  })
  return { requests, api }
}

const createRateLimited = (retryAfter?: string) =>
  Response.json({ code, text }, { status: 429, headers: retryAfter === undefined ? {} : { "retry-after": retryAfter } })

test("[LI6] a rate-limited request is retried after Retry-After, and other requests wait too", async () => {
  vi.spyOn(Math, "random").mockReturnValue(1)
  const { requests, api } = createApi([createRateLimited("10")])
  const first = api.listSessions()
  await settleAll()
  expect(hold.text.value).toBe(rateWaitText.limited(10))
  const second = api.listSessions("after")
  await settleAll()
  expect(requests).toEqual(["/v1/sessions"])
  // Math.random() returns 1, so the full jitter is added.
  await passTime(12_999)
  expect(requests).toHaveLength(1)
  await passTime(1)
  expect(await first).toEqual({ sessions: [], next: null })
  expect(await second).toEqual({ sessions: [], next: null })
  expect(requests.slice(1).sort()).toEqual(["/v1/sessions", "/v1/sessions?after=after"])
  expect(hold.text.value).toBe("")
})

test("[LI6] the limit of one client doesn't delay another client", async () => {
  const limited = createApi([createRateLimited("10")]).api.listSessions()
  const other = createApi([], new RequestHold())
  await settleAll()
  expect(hold.text.value).not.toBe("")
  expect(await other.api.listSessions()).toEqual({ sessions: [], next: null })
  await passTime(PERIOD_MS)
  await limited
})

test("[LI6] a request refused without Retry-After, or with a long one, fails at once", async () => {
  for (const retryAfter of [undefined, "3600", "0", "soon"]) {
    const { requests, api } = createApi([createRateLimited(retryAfter)])
    await expect(api.listSessions()).rejects.toThrow(text)
    expect([requests.length, hold.text.value]).toEqual([1, ""])
  }
})

test("[LI6] a rate-limited upload is retried after the wait", async () => {
  const responses = [{ status: 429, text: JSON.stringify({ code, text }), retryAfter: "10" }]
  let sent = 0
  const uploading = sendWithRateLimitRetry(hold, async () => {
    sent += 1
    return responses.shift() ?? { status: 201, text: "{}", retryAfter: null }
  })
  await settleAll()
  expect([sent, hold.text.value]).toEqual([1, rateWaitText.limited(10)])
  await passTime(PERIOD_MS)
  expect([(await uploading).status, sent]).toEqual([201, 2])
})

/** Opens a session whose socket waits for a token while the page is rate-limited, as the page's socket does. */
async function openWithHeldToken() {
  const { clock, server, deps } = setUp()
  const getToken = async () => {
    await hold.end
    return await deps.api.getToken()
  }
  const controller = new SessionController("s1", { ...deps, api: { ...deps.api, hold, getToken } }, new Draft())
  await controller.loadNewest()
  await settleAll()
  server.last().events.onOpen()
  server.last().say(hello())
  return { clock, server, controller }
}

const idOf = (frame: object): unknown => Reflect.get(frame, "id")

test("[LI6] a rate-limited message stays in the outbox and is resent under its id", async () => {
  const { server, controller } = await openWithHeldToken()
  controller.sendMessage("one")
  controller.sendMessage("two")
  server.last().say({ type: "error", id: "n1", code, text })
  expect(controller.outbox.entries.value.map(({ content, error }) => [content, error])).toEqual([
    ["one", null],
    ["two", null],
  ])
  await settleAll()
  expect(hold.text.value).toBe(rateWaitText.limited(10))
  controller.sendMessage("three")
  expect(listSendFrames(server.last().sent)).toHaveLength(1)
  await passTime(PERIOD_MS)
  expect(listSendFrames(server.last().sent).map(idOf)).toEqual(["n1", "n1"])
  server.last().say({ type: "ack", id: "n1", seq: 11 })
  expect(listSendFrames(server.last().sent).map(idOf)).toEqual(["n1", "n1", "n2"])
  expect(hold.text.value).toBe("")
})

test("[LI6] all rate-limited commands are resent, each of them only once", async () => {
  const { server, controller } = await openWithHeldToken()
  controller.regenerateAnswer("a1")
  controller.editMessage("m1", "new text")
  const { sent, say } = server.last()
  for (const frame of sent.slice(1)) say({ type: "error", id: String(idOf(frame)), code, text })
  expect(controller.commands.refusals.value.size).toBe(0)
  await settleAll()
  const before = sent.length
  await passTime(PERIOD_MS)
  expect(sent.slice(before).map(({ type }) => type)).toEqual(["regenerate", "edit"])
})

test("[LI6] a socket that was closed because of a limit is reopened after the wait", async () => {
  const { clock, server, controller } = await openWithHeldToken()
  controller.sendMessage("kept")
  server.last().say({ type: "error", code, text })
  await settleAll()
  server.last().events.onClose(4429)
  // The page connects again, and waits for its token.
  clock.pass(5_000)
  await passTime(PERIOD_MS - 1)
  expect(server.sockets).toHaveLength(1)
  await passTime(1)
  expect(server.sockets).toHaveLength(2)
  server.last().events.onOpen()
  server.last().say(hello())
  expect(listSendFrames(server.last().sent)).toMatchObject([{ content: "kept" }])
  expect(hold.text.value).toBe("")
})

test("[LI6] the message that a session has too many connections is shown until a socket is accepted", async () => {
  const { clock, server } = await openWithHeldToken()
  const full = faultToWire({ reason: "sockets_full", max: 1_000 })
  server.last().say({ type: "error", code: full.code, text: full.text })
  server.last().events.onClose(4429)
  await settleAll()
  expect(hold.text.value).toBe(rateWaitText.waiting(full.text))
  clock.pass(10_000)
  await settleAll()
  server.last().events.onOpen()
  server.last().say(hello())
  expect(hold.text.value).toBe("")
})

test("[LI6] while requests are held, the status line says so instead of showing the connection status", () => {
  const lineOf = (link: LinkState, held: string): string | undefined => {
    hold.text.value = held
    const root = document.createElement("div")
    draw(<LinkStatus link={link} hold={hold} isOnline={true} wasLoaded={true} wasLive={true} onRetry={vi.fn()} />, root)
    hold.text.value = ""
    return root.querySelector("[role=status]")?.textContent ?? undefined
  }
  expect(lineOf("live", "")).toBeUndefined()
  expect(lineOf("live", "Wait.")).toBe("Wait.")
  expect(lineOf("waiting", "Wait.")).toBe("Wait.")
  expect(lineOf("connecting", "")).toBe("Reconnecting…")
  expect(lineOf("waiting", "")).toBe("Reconnecting…Retry")
  expect(rateWaitText.limited(10)).toBe(
    "Too many requests at once. Nothing is lost. We'll continue automatically in about 10 seconds.",
  )
})
