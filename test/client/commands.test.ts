/**
 * commands.test.ts: commands take effect once, despite lost sockets, refusals, version switches and closed sessions.
 */

import { signal } from "@preact/signals"
import { describe, expect, test } from "vitest"
import { handleEscape } from "../../client/app/escape-key.ts"
import type { FaultReason } from "../../shared/fault.ts"
import type { Segment } from "../../shared/protocol/segment.ts"
import type { ServerFrame, WireMessage } from "../../shared/protocol/server-frame.ts"
import { openSession, pageOf, reconnect, user } from "./open-session.ts"
import { type FakeServer, hello, messageFrame, ops, settle, wireMessage } from "./fake-server.ts"

const createRunning = (more: Partial<WireMessage> = {}) => wireMessage("a", { exchange_id: "q", ...more })
const createEnded = (more: Partial<WireMessage> = {}) => createRunning({ status: "completed", ...more })
const waitingCall: Segment = {
  type: "tool",
  call_id: "c1",
  name: "t",
  args: "{}",
  status: "waiting",
  approval: "asked",
}
const createRefusal = (code: FaultReason, id: string): ServerFrame => ({ type: "error", code, text: code, id })
const createEndOps = (status: WireMessage["status"]) => [{ op: "end", status, reason: null, metrics: null }] as const
const listCommands = (server: FakeServer) =>
  server.last().sent.filter(({ type }) => !["hello", "send", "seen", "ping"].includes(type))

describe("stopping", () => {
  test("[PG18] a running or waiting answer can be stopped, and isn't shown as stopped before the server confirms", async () => {
    const { controller, server } = await openSession([pageOf([user("q", "go"), createRunning()])])
    expect(controller.store.activeTurn.value).toEqual({ id: "a", exchangeId: "q" })
    expect(controller.stopAnswer()).toBe(true)
    expect(controller.stopAnswer()).toBe(false)
    expect(listCommands(server)).toEqual([{ type: "cancel", exchange_id: "q" }])
    server.last().say({ type: "ack", id: "q", seq: 11 })
    expect(controller.commands.pending.value.has("a")).toBe(true)
    server.last().say(ops(11, 10, "a", createEndOps("cancelled")))
    expect(controller.commands.pending.value.size).toBe(0)
    expect(controller.store.activeTurn.value).toBe(null)
    expect(controller.stopAnswer()).toBe(false)
  })

  test("[PG18] an answer that reappears when the history is reloaded hasn't ended, and can be stopped at once", async () => {
    const { controller, server } = await openSession([pageOf([user("q", "go"), createRunning()])])
    // A page of history from before the answer began.
    controller.store.loadPage(pageOf([]))
    expect(controller.store.activeTurn.value).toBe(null)
    server.last().say(messageFrame(11, 10, createRunning()))
    expect(controller.stopAnswer()).toBe(true)
    expect(listCommands(server)).toEqual([{ type: "cancel", exchange_id: "q" }])
  })

  test("[PG18] a second press doesn't stop the answer that replaces the stopped one", async () => {
    const queued = user("q2", "more", { status: "queued" })
    const { controller, server, clock } = await openSession([pageOf([user("q", "go"), createRunning(), queued])])
    const listStopped = () => listCommands(server).map((command) => command.type === "cancel" && command.exchange_id)
    controller.stopAnswer()
    clock.pass(80)
    server.last().say(ops(11, 10, "a", createEndOps("cancelled")))
    server.last().say(messageFrame(12, 11, wireMessage("b", { exchange_id: "q2" })))
    controller.stopAnswer()
    clock.pass(599)
    controller.stopAnswer()
    expect(listStopped()).toEqual(["q"])
    clock.pass(1)
    controller.stopAnswer()
    expect(listStopped()).toEqual(["q", "q2"])
  })

  test("[PG18] a press doesn't stop an answer that begins right after another has ended, but does stop one that begins later", async () => {
    const { controller, server, clock } = await openSession()
    server.last().say(messageFrame(11, 10, createRunning()))
    server.last().say(ops(12, 11, "a", createEndOps("completed")))
    server.last().say(messageFrame(13, 12, wireMessage("b", { exchange_id: "q2" })))
    clock.pass(500)
    expect(controller.stopAnswer()).toBe(false)
    clock.pass(5_000)
    server.last().say(ops(14, 13, "b", createEndOps("completed")))
    clock.pass(5_000)
    server.last().say(messageFrame(15, 14, wireMessage("c", { exchange_id: "q3" })))
    expect(controller.stopAnswer()).toBe(true)
  })

  test("[PG18] after a new message, the next answer can be stopped at once", async () => {
    const { controller, server } = await openSession([pageOf([user("q", "go"), createRunning()])])
    controller.stopAnswer()
    server.last().say(ops(11, 10, "a", createEndOps("cancelled")))
    controller.sendMessage("again")
    server.last().say(messageFrame(12, 11, wireMessage("b", { exchange_id: "n1" })))
    expect(controller.stopAnswer()).toBe(true)
  })

  test("[PG18] a press between sending a message and the first text of its answer stops that answer", async () => {
    const { controller, server } = await openSession()
    expect(controller.stopAnswer()).toBe(false)
    controller.sendMessage("go")
    expect(controller.stopAnswer()).toBe(true)
    server.last().say({ type: "ack", id: "n1", seq: 12 })
    server.last().say(messageFrame(11, 10, user("n1", "go")))
    expect(listCommands(server)).toEqual([])
    server.last().say(messageFrame(12, 11, createRunning({ exchange_id: "n1" })))
    expect(listCommands(server)).toEqual([{ type: "cancel", exchange_id: "n1" }])
  })

  test("[PG18] an answer that is waiting for the user can be stopped, and then no answer is pending", async () => {
    const {
      controller,
      server,
      ended: endedIds,
    } = await openSession([pageOf([user("q", "go"), createRunning({ segments: [waitingCall] })])])
    expect(controller.store.isBusy.value).toBe(true)
    server.last().say(ops(11, 10, "a", [{ op: "meta", status: "waiting" }]))
    expect(controller.store.isBusy.value).toBe(false)
    expect(endedIds).toEqual(["a"])
    server.last().say(messageFrame(12, 11, user("q2", "more", { status: "queued" })))
    expect(controller.store.isBusy.value).toBe(false)
    expect(controller.stopAnswer()).toBe(true)
  })

  test("[SO11] a cancel command is resent until the answer has ended, even if a message's ack looks like that of the command", async () => {
    const all = await openSession([pageOf([])])
    const { controller, server } = all
    controller.sendMessage("go")
    server.last().say(messageFrame(11, 10, user("n1", "go")))
    server.last().say(messageFrame(12, 11, createRunning({ exchange_id: "n1" })))
    controller.stopAnswer()
    server.last().say({ type: "ack", id: "n1", seq: 11 })
    await reconnect(all, 12)
    expect(listCommands(server)).toEqual([{ type: "cancel", exchange_id: "n1" }])
    server.last().say(createRefusal("turn_ended", "n1"))
    expect(controller.commands.pending.value.size).toBe(0)
    expect(controller.commands.refusals.value.size).toBe(0)
  })

  test("[SO11] a cancel command isn't sent to another version of the same exchange", async () => {
    const other = wireMessage("b", { exchange_id: "q", version: 2, versions: 2 })
    const { controller, server, clock } = await openSession([
      pageOf([user("q", "go"), createRunning()]),
      pageOf([user("q", "go"), other], { epoch: "e2", seq: 20 }),
    ])
    server.last().events.onClose(1006)
    controller.stopAnswer()
    clock.pass(300)
    await settle()
    server.last().events.onOpen()
    server.last().say(hello(20, "e2"))
    await settle()
    server.last().say(hello(20, "e2"))
    expect(controller.store.activeTurn.value?.id).toBe("b")
    expect(listCommands(server)).toEqual([])
  })

  test("[PG18] [PG43] [PG73] Escape acts on the input method, an editor, the drawer and the reply before it stops the answer", () => {
    const drawer = signal(true)
    const reply = signal<string | null>("m")
    let stopped = 0
    const pressKey = (more: KeyboardEventInit = {}, taken = false, key = "Escape") => {
      const event = new KeyboardEvent("keydown", { key, cancelable: true, ...more })
      if (taken) event.preventDefault()
      handleEscape(event, { isDrawerOpen: drawer, replyTo: reply, stopAnswer: () => void stopped++ })
    }
    pressKey({ isComposing: true })
    pressKey({ repeat: true })
    pressKey({}, true)
    expect([drawer.value, stopped]).toEqual([true, 0])
    pressKey()
    expect([drawer.value, reply.value, stopped]).toEqual([false, "m", 0])
    pressKey({}, false, "Enter")
    pressKey()
    expect([reply.value, stopped]).toEqual([null, 0])
    pressKey()
    expect(stopped).toBe(1)
  })
})

describe("resending commands", () => {
  test("[SO11] a command given while disconnected is sent after each reconnect, until it is acknowledged", async () => {
    const all = await openSession([pageOf([user("q", "go"), createEnded({ segments: [waitingCall] })])])
    const { controller, server } = all
    server.last().events.onClose(1006)
    controller.decideApproval("a", "c1", "allow")
    controller.regenerateAnswer("a")
    controller.retryAnswer("a")
    expect(listCommands(server)).toEqual([])
    await reconnect(all)
    const requests = [
      { type: "approve", call_id: "c1", decision: "allow" },
      { type: "regenerate", id: "n1", message: "a" },
    ]
    expect(listCommands(server)).toEqual(requests)
    server.last().say({ type: "ack", id: "c1", seq: 10 })
    await reconnect(all)
    expect(listCommands(server)).toEqual(requests.slice(1))
    expect([...controller.commands.pending.value.keys()]).toEqual(["c1", "a"])
    server.last().say(ops(11, 10, "a", [{ op: "set", at: 0, fields: { status: "queued", approval: "allowed" } }]))
    expect([...controller.commands.pending.value.keys()]).toEqual(["a"])
  })

  test("[SO11] [SO16] each command is one frame with its own id, and a refusal is shown where the command was given", async () => {
    const { controller, server } = await openSession([pageOf([user("q", "go"), createEnded()])])
    controller.editMessage("q", "new")
    controller.switchVersion("a", 2)
    expect(listCommands(server)).toEqual([
      { type: "edit", id: "n1", message: "q", content: "new" },
      { type: "switch", id: "n2", message: "a", version: 2 },
    ])
    server.last().say(createRefusal("turn_running", "n1"))
    server.last().say(createRefusal("version_unknown", "n2"))
    expect([...controller.commands.refusals.value]).toEqual([
      ["q", "turn_running"],
      ["a", "version_unknown"],
    ])
    controller.retryAnswer("a")
    expect(controller.commands.refusals.value.size).toBe(0)
    expect(listCommands(server).at(-1)).toEqual({ type: "retry", id: "n3", message: "a" })
    server.last().say(createRefusal("turn_whole", "n9"))
    expect(controller.commands.refusals.value.size).toBe(0)
  })

  test("[SO11] a command whose response was lost counts as done once it is acknowledged, even if another tab has undone it", async () => {
    const versions = { version: 1, versions: 2 }
    const createEditedPage = (epoch: string) => pageOf([user("q", "go"), createEnded(versions)], { epoch, seq: 20 })
    const all = await openSession([createEditedPage("e1"), createEditedPage("e3")])
    const { controller, server } = all
    server.last().say(hello(20, "e1"))
    controller.switchVersion("a", 2)
    controller.editMessage("q", "other")
    await reconnect({ ...all }, 20)
    server.last().say(hello(22, "e3"))
    await settle()
    server.last().say(hello(22, "e3"))
    expect([...controller.commands.pending.value.keys()]).toEqual(["a", "q"])
    server.last().say({ type: "ack", id: "n1", seq: 21 })
    server.last().say({ type: "ack", id: "n2", seq: 22 })
    expect(controller.commands.pending.value.size).toBe(0)
  })

  test("[SO16] a refusal is shown until the command's target changes", async () => {
    const { controller, server } = await openSession([pageOf([user("q", "go"), createRunning()])])
    const refuseEdit = (id: string) => {
      controller.editMessage("q", "other")
      server.last().say(createRefusal("turn_running", id))
      expect(controller.commands.refusals.value.size).toBe(1)
    }
    refuseEdit("n1")
    controller.cancelEdit("q")
    expect(controller.commands.refusals.value.size).toBe(0)
    refuseEdit("n2")
    server.last().say(ops(11, 10, "a", createEndOps("completed")))
    expect(controller.commands.refusals.value.size).toBe(0)
  })

  test("[SO16] a decision that was made elsewhere isn't an error", async () => {
    const { controller, server } = await openSession([
      pageOf([user("q", "go"), createEnded({ segments: [waitingCall] })]),
    ])
    controller.decideApproval("a", "c1", "deny")
    server.last().say(createRefusal("call_decided", "c1"))
    expect(controller.commands.refusals.value.size).toBe(0)
    expect(controller.commands.pending.value.size).toBe(0)
  })

  test.each(["ops first", "ack first"])(
    "[PG19] withdrawn text disappears from the transcript and returns to the composer (%s)",
    async (order) => {
      const { controller, server } = await openSession([
        pageOf([user("q", "go"), createRunning(), user("q2", "later", { status: "queued" })]),
      ])
      controller.withdrawMessage("q2")
      expect(listCommands(server)).toEqual([{ type: "withdraw", id: "n1", message: "q2" }])
      const gone = ops(11, 10, "q2", createEndOps("cancelled"))
      const ack: ServerFrame = { type: "ack", id: "n1", seq: 11 }
      for (const frame of order === "ops first" ? [gone, ack] : [ack, gone]) server.last().say(frame)
      expect(controller.store.messageIds.value).toEqual(["q", "a"])
      expect(controller.draft.text.value).toBe("later")
      expect(controller.commands.pending.value.size).toBe(0)
    },
  )

  test("[PG19] another tab's withdrawal, received live or on a resume, removes the message and nothing else", async () => {
    const queued = [user("q2", "later", { status: "queued" }), user("q3", "last", { status: "queued" })]
    const { controller, server } = await openSession([pageOf([user("q", "go"), createRunning(), ...queued])])
    server.last().say(messageFrame(11, 10, user("q2", "", { status: "cancelled", segments: [] })))
    server.last().say(messageFrame(12, 11, user("q9", "", { status: "cancelled", segments: [] })))
    server.last().say(ops(13, 12, "q3", createEndOps("cancelled")))
    expect(controller.store.messageIds.value).toEqual(["q", "a"])
    expect(controller.store.getMessageSignal("q2")).toBe(undefined)
    expect(controller.draft.text.value).toBe("")
  })
})

describe("switching versions", () => {
  const createPage = (epoch: string, answer: string) =>
    pageOf([user("q", "go"), createEnded({ id: answer })], { epoch, seq: 20 })

  test("[SO12] another version is loaded at once, however quickly the versions change", async () => {
    const { controller, server, requests } = await openSession([
      createPage("e1", "a"),
      createPage("e2", "b"),
      createPage("e3", "c"),
      createPage("e4", "d"),
    ])
    server.last().say(hello(20, "e1"))
    for (const [epoch, id] of [
      ["e2", "b"],
      ["e3", "c"],
      ["e4", "d"],
    ] as const) {
      server.last().say(hello(20, epoch))
      await settle()
      expect(controller.store.messageIds.value).toEqual(["q", id])
      server.last().say(hello(20, epoch))
    }
    expect(controller.link.value).toBe("live")
    expect(requests.length).toBeGreaterThanOrEqual(4)
  })

  test("[SO12] a server whose epoch changes with every request is polled with growing delays", async () => {
    const { server, requests, clock } = await openSession([createPage("e1", "a")])
    await settle()
    for (let i = 0; i < 6; i++) {
      server.last().say(hello(20, `x${i}`))
      await settle()
    }
    expect(requests.length).toBeLessThanOrEqual(5)
    const before = requests.length
    clock.pass(1_000)
    await settle()
    expect(requests.length).toBe(before + 1)
  })
})
