/**
 * undelivered-messages.test.ts: messages and edits aren't lost when their socket, version, session or page is closed.
 */

import { describe, expect, test } from "vitest"
import { SessionRouter } from "../../client/session/session-router.ts"
import { Draft } from "../../client/session/draft.ts"
import { SessionController } from "../../client/session/session-controller.ts"
import type { FaultReason } from "../../shared/fault.ts"
import type { ServerFrame, WireMessage } from "../../shared/protocol/server-frame.ts"
import { openSession, pageOf, reconnect, listSendFrames, setUp, user } from "./open-session.ts"
import { type FakeServer, hello, messageFrame, ops, settle, wireMessage } from "./fake-server.ts"

const createRunning = (more: Partial<WireMessage> = {}) => wireMessage("a", { exchange_id: "q", ...more })
const createEnded = (more: Partial<WireMessage> = {}) => createRunning({ status: "completed", ...more })
const createRefusal = (code: FaultReason, id: string): ServerFrame => ({ type: "error", code, text: code, id })
const createEndOps = (status: WireMessage["status"]) => [{ op: "end", status, reason: null, metrics: null }] as const
const listCommands = (server: FakeServer) =>
  server.last().sent.filter(({ type }) => !["hello", "send", "seen", "ping"].includes(type))

describe("edits", () => {
  const createPage = (epoch: string, question: string) =>
    pageOf([user(question, "go"), createEnded({ id: `a${question}`, exchange_id: question })], { epoch, seq: 20 })

  test("[PG27] text whose editor disappears with its message continues in the composer", async () => {
    const { controller, server } = await openSession([createPage("e1", "q"), createPage("e2", "x")])
    controller.draft.text.value = "written here"
    controller.draft.editTexts.set("q", "half an hour of typing")
    server.last().say(hello(20, "e2"))
    await settle()
    expect(controller.draft.text.value).toBe("written here\nhalf an hour of typing")
    expect(controller.draft.editTexts.size).toBe(0)
  })

  test("[PG27] saved text returns to the composer only when the edit is refused", async () => {
    const all = await openSession([createPage("e1", "q"), createPage("e2", "x")])
    const { controller, server } = all
    server.last().events.onClose(1006)
    controller.draft.editTexts.set("q", "other")
    controller.editMessage("q", "other")
    await reconnect(all, 20)
    server.last().say(hello(20, "e2"))
    await settle()
    server.last().say(hello(20, "e2"))
    expect(listCommands(server)).toMatchObject([{ type: "edit", content: "other" }])
    expect(controller.draft.text.value).toBe("")
    server.last().say(createRefusal("message_unknown", "n1"))
    expect(controller.draft.text.value).toBe("other")
    expect(all.storage.all.size).toBe(0)
  })

  test("[SO13] an edit saved offline is sent by the next page, whichever session it opens, and deleted once acknowledged", async () => {
    const setup = setUp([createPage("e1", "q")])
    const closed = new SessionController("s1", setup.deps, new Draft())
    closed.editMessage("q", "said differently")
    closed.close()
    const { server, storage, deps } = setup
    const router = new SessionRouter({ ...deps, readHash: () => "#/", writeHash() {} })
    router.resumeStored()
    await settle()
    server.last().events.onOpen()
    server.last().say(hello(20))
    expect(listCommands(server)).toEqual([{ type: "edit", id: "n1", message: "q", content: "said differently" }])
    expect(storage.all.size).toBe(1)
    server.last().say({ type: "ack", id: "n1", seq: 21 })
    expect(storage.all.size).toBe(0)
    expect(server.last().closedWith).toBe(1000)
  })

  test("[PG22] an edit that has not reached the server can be cancelled, and its text is dropped", async () => {
    const all = await openSession([createPage("e1", "q")])
    const { controller, server, storage } = all
    server.last().events.onClose(1006)
    controller.draft.editTexts.set("q", "other")
    controller.editMessage("q", "other")
    expect(storage.all.size).toBe(1)
    expect(controller.cancelEdit("q")).toBe(true)
    expect([storage.all.size, controller.draft.editTexts.size, controller.commands.pending.value.size]).toEqual([
      0, 0, 0,
    ])
    await reconnect(all, 20)
    expect(listCommands(server)).toEqual([])
    controller.editMessage("q", "again")
    server.last().say({ type: "ack", id: "n2", seq: 21 })
    expect(controller.cancelEdit("q")).toBe(false)
  })
})

describe("messages of a closed page", () => {
  test("[SO13] messages written offline arrive once and in order after the page is closed and opened again", async () => {
    const { server, storage, deps, clock } = setUp()
    const first = new SessionController("s1", deps, new Draft())
    first.sendMessage("one")
    first.sendMessage("two")
    first.close()
    clock.pass(60_000)
    const second = new SessionController("s1", deps, new Draft())
    await second.loadNewest()
    await settle()
    server.last().events.onOpen()
    server.last().say(hello())
    for (const [at, id] of ["n1", "n2"].entries()) {
      expect(listSendFrames(server.last().sent)).toHaveLength(at + 1)
      server.last().say(messageFrame(11 + at, 10 + at, user(id, id)))
      server.last().say({ type: "ack", id, seq: 11 + at })
    }
    expect(listSendFrames(server.last().sent)).toMatchObject([{ content: "one" }, { content: "two" }])
    expect(second.outbox.entries.value).toEqual([])
    expect(storage.all.size).toBe(0)
  })

  test("[SO13] messages sent on a dead socket are resent on the next one unless they were acknowledged", async () => {
    const all = await openSession()
    all.controller.sendMessage("one")
    all.controller.sendMessage("two")
    all.server.last().say(messageFrame(11, 10, user("n1", "one")))
    all.server.last().say({ type: "ack", id: "n1", seq: 11 })
    all.server.last().say({ type: "ack", id: "n2", seq: 12 })
    all.controller.sendMessage("three")
    await reconnect(all, 12)
    expect(listSendFrames(all.server.last().sent)).toMatchObject([{ id: "n3" }])
    expect(all.controller.outbox.entries.value.map(({ id }) => id)).toEqual(["n2", "n3"])
  })

  test("[SO13] an acknowledged message that isn't in history loaded later doesn't reappear at the end", async () => {
    const { controller, server } = await openSession([pageOf([]), pageOf([user("x", "other")], { seq: 40 })])
    controller.sendMessage("hi")
    server.last().say({ type: "ack", id: "n1", seq: 11 })
    expect(controller.outbox.entries.value).toHaveLength(1)
    server.last().say(ops(11, 10, "x", []))
    server.last().say(hello(5))
    await settle()
    expect(controller.outbox.entries.value).toEqual([])
  })

  test("[SO13] a session stays connected after the user leaves it, until everything is delivered", async () => {
    const { deps, server } = setUp([pageOf([user("q", "go"), createRunning()])])
    let hash = "#/s/s1"
    const router = new SessionRouter({ ...deps, readHash: () => hash, writeHash() {} })
    router.openFromHash()
    await settle()
    const controller = router.controller.value as SessionController
    controller.sendMessage("last words")
    controller.stopAnswer()
    hash = "#/"
    router.openFromHash()
    expect(router.controller.value).toBe(null)
    expect(controller.isClosed).toBe(false)
    hash = "#/s/s1"
    router.openFromHash()
    expect(router.controller.value).toBe(controller)
    hash = "#/"
    router.openFromHash()
    server.last().events.onOpen()
    server.last().say(hello())
    server.last().say({ type: "ack", id: "n1", seq: 11 })
    expect(controller.isClosed).toBe(false)
    server.last().say(ops(11, 10, "a", createEndOps("cancelled")))
    expect(controller.isClosed).toBe(true)
    expect(server.last().closedWith).toBe(1000)
    hash = "#/s/s1"
    router.openFromHash()
    expect(router.controller.value).not.toBe(controller)
  })
})
