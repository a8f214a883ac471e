/** session-controller.test.ts: sent messages and the transcript across reloads, refusals and resets. */

import { signal } from "@preact/signals"
import { describe, expect, test } from "vitest"
import { Outbox } from "../../client/net/outbox.ts"
import { formatHeading } from "../../client/app/top-bar.tsx"
import { SessionRouter, parseSessionHash } from "../../client/session/session-router.ts"
import { Draft } from "../../client/session/draft.ts"
import { SessionController } from "../../client/session/session-controller.ts"
import { deriveTitle } from "../../client/session/session-starts.ts"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { openSession, pageOf, reconnect, listSendFrames, setUp, user } from "./open-session.ts"
import { hello, messageFrame, ops, settle, wireMessage } from "./fake-server.ts"

/** Creates an agent's late answer, which begins a turn. */
function agentReply(id: string, extras: Partial<WireMessage>): WireMessage {
  const agent = { direction: "received", name: "researcher", exchange: id, call_id: "call_2_0" } as const
  return wireMessage(id, { role: "agent", exchange_id: id, status: "completed", agent, ...extras })
}

describe("sending", () => {
  test("[SO6] a message appears at once, and is replaced by the server's message of the same id", async () => {
    const { controller, server } = await openSession()
    controller.sendMessage("hi")
    expect(controller.outbox.entries.value).toMatchObject([{ id: "n1", content: "hi", error: null }])
    expect(listSendFrames(server.last().sent)).toEqual([{ type: "send", id: "n1", content: "hi" }])
    server.last().say(messageFrame(11, 10, user("n1", "hi")))
    expect(controller.outbox.entries.value).toEqual([])
    expect(controller.store.messageIds.value).toEqual(["n1"])
    server.last().say({ type: "ack", id: "n1", seq: 11 })
    expect(controller.outbox.entries.value).toEqual([])
  })

  test("[SO6] if the ack arrives before the message, the text stays until the message arrives", async () => {
    const { controller, server, storage } = await openSession()
    controller.sendMessage("hi")
    server.last().say({ type: "ack", id: "n1", seq: 11 })
    expect(storage.all.size).toBe(0)
    expect(controller.outbox.entries.value).toHaveLength(1)
    server.last().say(messageFrame(11, 10, user("n1", "hi")))
    expect(controller.outbox.entries.value).toEqual([])
  })

  test("[SO7] an unacknowledged message is sent again after a reconnect, under the same id", async () => {
    const { controller, server, clock } = await openSession()
    controller.sendMessage("one")
    controller.sendMessage("two")
    server.last().say({ type: "ack", id: "n1", seq: 11 })
    server.last().events.onClose(1006)
    clock.pass(300)
    await settle()
    server.last().events.onOpen()
    expect(listSendFrames(server.last().sent)).toEqual([])
    server.last().say(hello(11))
    expect(listSendFrames(server.last().sent)).toEqual([{ type: "send", id: "n2", content: "two" }])
  })

  test("[SO7] an unacknowledged message survives a reload, and isn't sent again if the loaded history already contains it", async () => {
    const first = await openSession()
    first.controller.sendMessage("kept")
    first.controller.sendMessage("known")
    first.controller.close()
    const { controller, server } = await openSession([pageOf([user("n2", "known")])], first.storage)
    expect(listSendFrames(server.last().sent)).toEqual([{ type: "send", id: "n1", content: "kept" }])
    expect(controller.outbox.entries.value.map(({ id }) => id)).toEqual(["n1"])
  })

  test("[SO7] an ack confirms a message that is older than the loaded page", async () => {
    const first = await openSession()
    first.controller.sendMessage("long ago")
    first.controller.close()
    const { controller, server } = await openSession([pageOf([], { seq: 900 })], first.storage)
    await settle()
    server.last().say(hello(900))
    server.last().say({ type: "ack", id: "n1", seq: 12 })
    expect(controller.outbox.entries.value).toEqual([])
  })

  test("[OB9] the trace of a refused message is stored with it until it is sent again", async () => {
    const trace = "0af7651916cd43dd8448eb211c80319c"
    const { controller, server, storage } = await openSession()
    controller.sendMessage("hi")
    server.last().say({ type: "error", code: "budget_exhausted", text: "Used up.", id: "n1", trace })
    expect(controller.outbox.entries.value).toMatchObject([{ id: "n1", error: "Used up.", trace }])
    expect(new Outbox(storage, "s1").entries.value).toMatchObject([{ trace }])
    controller.retrySend("n1")
    expect(controller.outbox.entries.value[0]).not.toHaveProperty("trace")
  })

  test("[SO6] a refused message is marked and kept, and can be sent again or discarded", async () => {
    const { controller, server, storage } = await openSession()
    controller.sendMessage("too long")
    server.last().say({ type: "error", code: "message_too_large", text: "Messages can be up to 1 KB.", id: "n1" })
    expect(controller.outbox.entries.value).toMatchObject([{ id: "n1", error: "Messages can be up to 1 KB." }])
    expect(controller.outbox.listPending()).toEqual([])
    controller.retrySend("n1")
    expect(controller.outbox.entries.value).toMatchObject([{ id: "n1", error: null }])
    expect(listSendFrames(server.last().sent)).toHaveLength(2)
    controller.discardUnsent("n1")
    expect(controller.outbox.entries.value).toEqual([])
    expect(storage.all.size).toBe(0)
  })
})

describe("the transcript", () => {
  test("[SO4] another epoch drops the transcript and loads the newest history", async () => {
    const old = user("old", "before")
    const { controller, server } = await openSession([
      pageOf([old]),
      pageOf([user("new", "after")], { epoch: "e2", seq: 20 }),
    ])
    server.last().say(hello(10, "e2"))
    await settle()
    expect(controller.store.messageIds.value).toEqual(["new"])
    expect(server.last().sent.at(-1)).toMatchObject({ type: "hello", epoch: "e2", after: 20 })
  })

  test("[SO4] if ops don't fit, the newest history is loaded, and the view keeps its message", async () => {
    const broken = wireMessage("a", { segments: [{ type: "text", content: "abc" }] })
    const whole = wireMessage("a", { segments: [{ type: "text", content: "abcdef" }] })
    const { controller, server } = await openSession([pageOf([broken]), pageOf([whole], { seq: 12 })])
    const shown = controller.store.getMessageSignal("a")
    server.last().say(ops(11, 10, "a", [{ op: "text", at: 0, offset: 5, text: "f" }]))
    await settle()
    expect(controller.store.getMessageSignal("a")).toBe(shown)
    expect(shown?.value.segments).toEqual([{ type: "text", content: "abcdef" }])
    server.last().say(hello(12))
    server.last().say(ops(13, 12, "a", [{ op: "end", status: "completed", reason: null, metrics: null }]))
    expect(shown?.value.status).toBe("completed")
  })

  test("[SO4] if the ops still don't fit, history is loaded again with growing delays", async () => {
    const broken = wireMessage("a")
    const { server, clock, requests } = await openSession([pageOf([broken])])
    for (let i = 0; i < 3; i++) {
      server.last().say(hello())
      server.last().say(ops(11, 10, "a", [{ op: "cut", to: 5 }]))
      await settle()
    }
    expect(requests).toHaveLength(2)
    clock.pass(300)
    await settle()
    expect(requests).toHaveLength(3)
  })

  test("[PG6] one delta changes one message, and unchanged segments keep their identity", async () => {
    const first = wireMessage("a", { status: "completed" })
    const running = wireMessage("b", {
      segments: [
        { type: "thinking", content: "x", ms: 1 },
        { type: "text", content: "y" },
      ],
    })
    const { controller, server } = await openSession([pageOf([first, running])])
    const [a, b] = [controller.store.getMessageSignal("a")?.value, controller.store.getMessageSignal("b")?.value]
    server.last().say(ops(11, 10, "b", [{ op: "text", at: 1, offset: 1, text: "z" }]))
    expect(controller.store.getMessageSignal("a")?.value).toBe(a)
    expect(controller.store.getMessageSignal("b")?.value.segments[0]).toBe(b?.segments[0])
    expect(controller.store.getMessageSignal("b")?.value.segments[1]).toEqual({ type: "text", content: "yz" })
  })

  test("[PG7] the pending indicator depends only on the statuses", async () => {
    const { controller, server, ended } = await openSession([pageOf([wireMessage("a")])])
    expect(controller.store.isBusy.value).toBe(true)
    server.last().say(ops(11, 10, "a", [{ op: "end", status: "completed", reason: null, metrics: null }]))
    expect(controller.store.isBusy.value).toBe(false)
    expect(ended).toEqual(["a"])
    server.last().say(messageFrame(12, 11, user("q", "later", { status: "queued" })))
    expect(controller.store.isBusy.value).toBe(true)
  })

  test("[PG8] messages that arrive in the order of their last change are shown in the order in which they began", async () => {
    const timeAt = (second: number) => `2026-05-02T14:00:0${second}.000Z`
    const { controller, server } = await openSession()
    const frames = [
      user("q1", "one", { timestamp: timeAt(1) }),
      user("q2", "two", { timestamp: timeAt(2) }),
      user("q3", "three", { timestamp: timeAt(3), status: "queued" }),
      wireMessage("a2", { exchange_id: "q2", timestamp: timeAt(5), status: "completed" }),
      wireMessage("a1", { exchange_id: "q1", timestamp: timeAt(1), status: "completed" }),
    ]
    for (const [i, message] of frames.entries()) server.last().say(messageFrame(11 + i, 10 + i, message))
    expect(controller.store.messageIds.value).toEqual(["q1", "a1", "q2", "a2", "q3"])
    // An agent's message waits behind users' messages, however early it arrived, and stays behind a user's message that
    // has begun.
    server.last().say(messageFrame(16, 15, agentReply("r1", { timestamp: timeAt(1), status: "queued" })))
    server.last().say(messageFrame(17, 16, user("q4", "four", { timestamp: timeAt(6), status: "queued" })))
    expect(controller.store.messageIds.value).toEqual(["q1", "a1", "q2", "a2", "q3", "q4", "r1"])
    server.last().say(messageFrame(18, 17, user("q3", "three", { timestamp: timeAt(3) })))
    server.last().say(messageFrame(19, 18, wireMessage("a3", { exchange_id: "q3", timestamp: timeAt(7) })))
    expect(controller.store.messageIds.value).toEqual(["q1", "a1", "q2", "a2", "q3", "a3", "q4", "r1"])
    // A client that was disconnected receives the messages in the order in which they began: r1 after q4, even though
    // r1's timestamp is earlier.
    server.last().say(messageFrame(20, 19, user("q4", "four", { timestamp: timeAt(6) })))
    server.last().say(messageFrame(21, 20, agentReply("r1", { timestamp: timeAt(1) })))
    server.last().say(messageFrame(22, 21, agentReply("r2", { timestamp: timeAt(2) })))
    expect(controller.store.messageIds.value).toEqual(["q1", "a1", "q2", "a2", "q3", "a3", "q4", "r1", "r2"])
  })

  test("[PG8] a message older than the loaded history isn't added before it when it changes", async () => {
    const timeAt = (second: number) => `2026-05-02T14:00:0${second}.000Z`
    const newest = pageOf([user("q5", "five", { timestamp: timeAt(5) })], { has_more: true, cursor: "5" })
    const { controller, server } = await openSession([newest])
    const old = wireMessage("a1", { exchange_id: "q1", timestamp: timeAt(1), status: "completed" })
    server.last().say(messageFrame(11, 10, old))
    expect(controller.store.messageIds.value).toEqual(["q5"])
  })

  test("[PG16] each older page is inserted once, before the loaded messages", async () => {
    const newest = pageOf([user("m3", "3")], { has_more: true, cursor: "3" })
    const older = pageOf([user("m1", "1"), user("m2", "2")])
    const { controller, requests } = await openSession([newest, older])
    const shown = controller.store.getMessageSignal("m3")
    await Promise.all([controller.history.loadOlder(), controller.history.loadOlder()])
    expect(requests).toEqual([undefined, "3"])
    expect(controller.store.messageIds.value).toEqual(["m1", "m2", "m3"])
    expect(controller.store.getMessageSignal("m3")).toBe(shown)
    expect(controller.store.hasOlder.value).toBe(false)
    await controller.history.loadOlder()
    expect(requests).toHaveLength(2)
  })

  test("[PG29] after a response from the server, the page counts as online, whatever the browser reports", async () => {
    const { deps, server } = setUp()
    let reached = 0
    const controller = new SessionController("s1", { ...deps, onReachable: () => void reached++ }, new Draft())
    await controller.loadNewest()
    await settle()
    server.last().events.onOpen()
    expect(reached).toBe(0)
    server.last().say(hello())
    server.last().say(messageFrame(11, 10, user("q", "go")))
    expect(reached).toBe(1)
    controller.checkConnection()
    expect(server.last().sent.at(-1)).toEqual({ type: "ping" })
    server.last().say({ type: "pong" })
    expect(reached).toBe(2)
  })

  test("[SO5] a page of history that can't be read is requested again", async () => {
    const { clock, deps, requests } = setUp([])
    const controller = new SessionController("s1", deps, new Draft())
    await controller.loadNewest()
    expect(controller.link.value).toBe("waiting")
    clock.pass(300)
    await settle()
    clock.pass(600)
    await settle()
    expect(requests).toHaveLength(3)
    controller.close()
    clock.pass(60_000)
    await settle()
    expect(requests).toHaveLength(3)
  })

  test("[CA4] only a card that arrived while the user was watching may animate", async () => {
    const { controller, server } = await openSession([
      pageOf([wireMessage("a", { segments: [{ type: "text", content: "x" }] })]),
    ])
    expect(controller.store.isFresh("a", 0)).toBe(false)
    server.last().say(ops(11, 10, "a", [{ op: "open", at: 1, segment: { type: "text", content: "y" } }]))
    expect(controller.store.isFresh("a", 1)).toBe(true)
    expect(controller.store.isFresh("a", 0)).toBe(false)
  })
})

describe("sessions", () => {
  test("[PG78] an agent's session has its heading and back button even while no loaded message names the agent", async () => {
    const { deps } = setUp([pageOf([wireMessage("a")], { has_more: true, cursor: "c" })])
    const hash = "#/s/agent-1"
    const router = new SessionRouter({ ...deps, readHash: () => hash, writeHash() {}, readOpenedFrom: () => "s1" })
    await router.sessionList.refresh()
    router.openFromHash()
    await settle()
    expect(router.controller.value?.isLoaded.value).toBe(true)
    expect(router.heading.value).toEqual({
      title: null,
      isAgentSession: true,
      askingAgent: null,
      openedFrom: "s1",
    })
    expect(formatHeading(router.heading.value)).toBe("Agent conversation")
  })

  test("[PG14] the first message creates a session and is sent to it, and the URL then names the session", async () => {
    const { deps, server } = setUp()
    const hashes: string[] = []
    const router = new SessionRouter({ ...deps, readHash: () => "", writeHash: (hash) => void hashes.push(hash) })
    router.sendMessage("first words")
    expect(router.startingEntry.value).toMatchObject({ content: "first words", error: null })
    await settle()
    expect(router.controller.value?.id).toBe("s1")
    expect(router.startingEntry.value).toBe(null)
    expect(hashes).toEqual(["#/s/s1"])
    expect(router.controller.value?.outbox.entries.value).toMatchObject([{ id: "n1", content: "first words" }])
    await settle()
    server.last().events.onOpen()
    server.last().say(hello())
    expect(listSendFrames(server.last().sent)).toEqual([{ type: "send", id: "n1", content: "first words" }])
  })

  test("[PG27] text written while the first session is being created stays with that session, and each session keeps its own text", async () => {
    const { deps, api } = setUp()
    let made = (_id: string): void => {}
    const createSession = () =>
      new Promise<string>((done) => {
        made = done
      })
    let hash = "#/"
    const writeHash = (next: string) => {
      hash = next
    }
    const router = new SessionRouter({ ...deps, api: { ...api, createSession }, readHash: () => hash, writeHash })
    router.sendMessage("first")
    router.draft.text.value = "my second thought"
    await settle()
    made("s1")
    await settle()
    expect(router.controller.value?.id).toBe("s1")
    expect(router.draft.text.value).toBe("my second thought")
    hash = "#/s/s2"
    router.openFromHash()
    expect(router.draft.text.value).toBe("")
    router.draft.text.value = "elsewhere"
    hash = "#/"
    router.openFromHash()
    expect(router.draft.text.value).toBe("")
    hash = "#/s/s1"
    router.openFromHash()
    expect(router.draft.text.value).toBe("my second thought")
  })

  test("[PG14] if a session can't be created, the message is kept for another attempt", async () => {
    const { deps, api } = setUp()
    let tries = 0
    const createSession = () => (++tries === 1 ? Promise.reject(new TypeError("no network")) : Promise.resolve("s9"))
    const router = new SessionRouter({ ...deps, api: { ...api, createSession }, readHash: () => "", writeHash() {} })
    router.sendMessage("words")
    await settle()
    expect(router.startingEntry.value).toMatchObject({
      content: "words",
      error: "We couldn't reach the server. Check your connection and try again.",
    })
    router.retryStart()
    await settle()
    expect(router.controller.value?.id).toBe("s9")
  })

  test("[SH12] [PG85] no message is sent to a read-only conversation; the message waits until the conversation can be written to again", async () => {
    const { server, deps, clock } = setUp([pageOf([])])
    const isReadOnly = signal(true)
    let unsure = 0
    const controller = new SessionController("s1", { ...deps, isReadOnly, onAccessUnsure: () => unsure++ }, new Draft())
    await controller.loadNewest()
    await settle()
    server.last().events.onOpen()
    server.last().say(hello())
    controller.sendMessage("one")
    expect(listSendFrames(server.last().sent)).toEqual([])
    expect(controller.stopAnswer()).toBe(false)
    // The conversation can be written to again, and the page sends the waiting messages.
    isReadOnly.value = false
    controller.sendStored()
    expect(listSendFrames(server.last().sent)).toMatchObject([{ content: "one" }])
    // The page doesn't know yet that the conversation is read-only again.
    server.last().say({ type: "error", id: "n1", code: "scope_denied", text: "No." })
    expect(unsure).toBe(1)
    expect(controller.outbox.entries.value).toMatchObject([{ content: "one", error: null }])
    controller.sendStored()
    expect(listSendFrames(server.last().sent).length).toBe(1)
    await reconnect({ server, clock })
    expect(unsure).toBe(2)
    expect(listSendFrames(server.last().sent)).toMatchObject([{ content: "one" }])
    expect(new SessionController("ada/s1", deps, new Draft()).isReadOnly.value).toBe(true)
  })

  test("[PG14] a URL names a session, whose title is the first line of its first message", () => {
    expect(parseSessionHash("#/s/abc_-9")).toBe("abc_-9")
    expect(parseSessionHash("#/s/ada/abc_-9")).toBe("ada/abc_-9")
    for (const other of ["", "#/", "#/s/", "#/s/a b", "#/s/a/", "#/s//b", "#/s/a/b/c", `#/s/${"a".repeat(65)}`])
      expect(parseSessionHash(other)).toBe(null)
    expect(deriveTitle({ content: "  What is\tit?\nAnd more" })).toBe("What is it?")
    const long = deriveTitle({ content: "word ".repeat(60) })
    expect(long.length).toBeLessThanOrEqual(120)
    expect(long.endsWith("word…")).toBe(true)
  })
})
