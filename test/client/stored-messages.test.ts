/**
 * stored-messages.test.ts: the next page that is opened delivers the stored messages of a closed page, whichever
 * session it shows.
 */

import { describe, expect, test } from "vitest"
import { RequestError } from "../../client/net/http-request.ts"
import { SessionRouter } from "../../client/session/session-router.ts"
import { Draft } from "../../client/session/draft.ts"
import { SessionController } from "../../client/session/session-controller.ts"
import { MAX_QUEUED_MESSAGES } from "../../shared/limits.ts"
import { openSession, listSendFrames, setUp, user } from "./open-session.ts"
import { hello, messageFrame, ops, settle } from "./fake-server.ts"

type Setup = ReturnType<typeof setUp>

function createRouter({ deps, api }: Setup, more: { hash?: string; createSession?: () => Promise<string> } = {}) {
  const createSession = more.createSession ?? api.createSession
  let hash = more.hash ?? "#/"
  const writeHash = (next: string) => {
    hash = next
  }
  return new SessionRouter({ ...deps, api: { ...api, createSession }, readHash: () => hash, writeHash })
}

async function goLive({ server }: Pick<Setup, "server">) {
  await settle()
  server.last().events.onOpen()
  server.last().say(hello())
}

describe("stored messages", () => {
  test("[SO13] of a closed page are delivered by a page that doesn't show their session, which then closes the session", async () => {
    const setup = setUp()
    const closed = new SessionController("s1", setup.deps, new Draft())
    closed.sendMessage("written offline")
    closed.close()
    const router = createRouter(setup)
    router.openFromHash()
    router.resumeStored()
    await goLive(setup)
    const { server, storage } = setup
    expect(router.controller.value).toBe(null)
    expect(listSendFrames(server.last().sent)).toMatchObject([{ id: "n1", content: "written offline" }])
    server.last().say({ type: "ack", id: "n1", seq: 11 })
    expect(storage.all.size).toBe(0)
    expect(server.last().closedWith).toBe(1000)
    expect(server.sockets).toHaveLength(1)
  })

  test("[SO13] are also delivered by another open page of their session, after it has given their own page time to do so", async () => {
    const setup = setUp()
    const router = createRouter(setup, { hash: "#/s/s1" })
    router.openFromHash()
    await goLive(setup)
    const other = new SessionController("s1", setup.deps, new Draft())
    other.sendMessage("from the other tab")
    other.close()
    router.handleStorageEvent({ key: null, oldValue: null, newValue: null })
    expect(listSendFrames(setup.server.last().sent)).toEqual([])
    setup.clock.pass(3_000)
    expect(listSendFrames(setup.server.last().sent)).toMatchObject([{ id: "n1" }])
    router.controller.value?.sendStored()
    expect(router.controller.value?.outbox.entries.value).toHaveLength(1)
  })

  test("[SO13] are kept for the user if they were refused, and are marked as failed if their session doesn't exist", async () => {
    const setup = setUp()
    const controller = new SessionController("gone", setup.deps, new Draft())
    controller.sendMessage("refused")
    controller.outbox.markFailed("n1", "No.")
    controller.close()
    const router = createRouter(setup)
    router.resumeStored()
    await settle()
    expect(setup.requests).toEqual([])
    const rejectPage = () => Promise.reject(new RequestError(404, "We couldn't find that conversation."))
    const deps = { ...setup.deps, api: { ...setup.api, getHistoryPage: rejectPage } }
    const lost = new SessionController("gone", deps, new Draft())
    lost.sendMessage("for nobody")
    await lost.loadNewest()
    lost.moveToBackground()
    expect(lost.outbox.entries.value.map(({ error }) => error)).toEqual(["No.", "We couldn't find that conversation."])
    expect(lost.isClosed).toBe(true)
  })

  test("[SO14] are only delayed by a full queue; none is lost, and none overtakes another", async () => {
    const { controller, server } = await openSession()
    const respondTo = (id: string) => {
      if (Number(id.slice(1)) > MAX_QUEUED_MESSAGES)
        server.last().say({ type: "error", code: "queue_full", text: "full", id })
      else server.last().say({ type: "ack", id, seq: 0 })
    }
    for (let at = 1; at <= MAX_QUEUED_MESSAGES + 2; at++) controller.sendMessage(`w${at}`)
    for (let at = 1; at <= MAX_QUEUED_MESSAGES + 1; at++) respondTo(`n${at}`)
    const sentIds = () => listSendFrames(server.last().sent).map((sendFrame) => Reflect.get(sendFrame, "id"))
    const first = Array.from({ length: MAX_QUEUED_MESSAGES + 1 }, (_, at) => `n${at + 1}`)
    expect(sentIds()).toEqual(first)
    expect(controller.outbox.listPending().map(({ id }) => id)).toEqual(["n9", "n10"])
    server.last().say(messageFrame(11, 10, user("n1", "w1", { status: "completed" })))
    expect(sentIds()).toEqual([...first, "n9"])
    server.last().say({ type: "ack", id: "n9", seq: 12 })
    expect(sentIds()).toEqual([...first, "n9", "n10"])
    server.last().say({ type: "error", code: "queue_full", text: "full", id: "n10" })
    server.last().say(ops(12, 11, "n1", [{ op: "meta", status: "completed" }]))
    expect(sentIds()).toEqual([...first, "n9", "n10", "n10"])
  })
})

describe("first messages", () => {
  test("[SO15] are retried with growing delays, and at once when the device is back online; refused ones aren't", async () => {
    const setup = setUp()
    const answers = [new TypeError("no network"), new RequestError(503, "Something went wrong (error 503)."), null]
    let requests = 0
    const createSession = () => {
      requests++
      const answer = answers.shift() ?? null
      return answer === null ? Promise.resolve("s9") : Promise.reject(answer)
    }
    const router = createRouter(setup, { createSession })
    router.sendMessage("first words")
    await settle()
    expect(router.startingEntry.value?.error).toBe("We couldn't reach the server. Check your connection and try again.")
    setup.clock.pass(300)
    await settle()
    expect(router.startingEntry.value?.error).toBe("Something went wrong (error 503).")
    router.checkConnections()
    await settle()
    expect(router.controller.value?.id).toBe("s9")
    await goLive(setup)
    expect(listSendFrames(setup.server.last().sent)).toMatchObject([{ id: "n1", content: "first words" }])
    expect([...setup.storage.all.keys()]).toEqual(["cuecard.send.s9.n1"])

    const refusing = createRouter(setUp(), { createSession: () => Promise.reject(new RequestError(400, "No.")) })
    refusing.sendMessage("bad words")
    await settle()
    setup.clock.pass(60_000)
    refusing.checkConnections()
    await settle()
    expect(refusing.startingEntry.value?.error).toBe("No.")
    expect(requests).toBe(3)
  })

  test("[SO15] of a closed page are sent by the next page; two pages create one session", async () => {
    const setup = setUp()
    const first = createRouter(setup, { createSession: () => Promise.reject(new TypeError("no network")) })
    first.sendMessage("first words")
    await settle()
    let made = 0
    const createSession = () => Promise.resolve(`s${++made}`)
    const beside = createRouter(setup, { createSession })
    beside.openFromHash()
    beside.resumeStored()
    await settle()
    expect([beside.startingEntry.value, made]).toEqual([null, 0])
    setup.locks.free()
    const [second, third] = [createRouter(setup, { createSession }), createRouter(setup, { createSession })]
    for (const router of [second, third]) {
      router.openFromHash()
      router.resumeStored()
    }
    await settle()
    await settle()
    expect(made).toBe(1)
    expect(second.controller.value?.id).toBe("s1")
    expect(third.startingEntry.value).toBe(null)
    expect([...setup.storage.all.keys()]).toEqual(["cuecard.send.s1.n1"])
  })

  test("[SO15] can be discarded between two attempts", async () => {
    const setup = setUp()
    let made = 0
    const createSession = () => {
      made++
      return Promise.reject(new TypeError("no network"))
    }
    const router = createRouter(setup, { createSession })
    router.sendMessage("never mind")
    await settle()
    router.discardFirstMessage()
    setup.clock.pass(60_000)
    await settle()
    expect([made, router.startingEntry.value, setup.storage.all.size]).toEqual([1, null, 0])
  })

  test("[SO13] are delivered even if browser storage is unavailable", async () => {
    const setup = setUp()
    setup.storage.setItem = () => {
      throw new Error("forbidden")
    }
    const router = createRouter(setup)
    router.sendMessage("first words")
    await settle()
    await goLive(setup)
    expect(listSendFrames(setup.server.last().sent)).toMatchObject([{ content: "first words" }])
  })
})
