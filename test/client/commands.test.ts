/** commands.test.ts: commands take effect once, through lost sockets, refusals, version switches and left sessions. */

import { signal } from "@preact/signals"
import { describe, expect, test } from "vitest"
import { handleEscape } from "../../client/app/escape-key.ts"
import type { FaultReason } from "../../shared/fault.ts"
import type { Segment } from "../../shared/protocol/segment.ts"
import type { ServerFrame, WireMessage } from "../../shared/protocol/server-frame.ts"
import { opened, pageOf, reconnect, user } from "./opened.ts"
import { type FakeServer, hello, messageFrame, ops, settle, wireMessage } from "./wire.ts"

const running = (more: Partial<WireMessage> = {}) => wireMessage("a", { exchange_id: "q", ...more })
const ended = (more: Partial<WireMessage> = {}) => running({ status: "completed", ...more })
const waitingCall: Segment = {
  type: "tool",
  call_id: "c1",
  name: "t",
  args: "{}",
  status: "waiting",
  approval: "asked",
}
const refusal = (code: FaultReason, id: string): ServerFrame => ({ type: "error", code, text: code, id })
const end = (status: WireMessage["status"]) => [{ op: "end", status, reason: null, metrics: null }] as const
const commands = (server: FakeServer) =>
  server.last().sent.filter(({ type }) => !["hello", "send", "seen", "ping"].includes(type))

describe("stopping", () => {
  test("[PG18] a running or waiting answer can be stopped, and isn't shown as stopped before the server confirms", async () => {
    const { room, server } = await opened([pageOf([user("q", "go"), running()])])
    expect(room.store.activeTurn.value).toEqual({ id: "a", exchangeId: "q" })
    expect(room.stopAnswer()).toBe(true)
    expect(room.stopAnswer()).toBe(false)
    expect(commands(server)).toEqual([{ type: "cancel", exchange_id: "q" }])
    server.last().say({ type: "ack", id: "q", seq: 11 })
    expect(room.commands.pending.value.has("a")).toBe(true)
    server.last().say(ops(11, 10, "a", end("cancelled")))
    expect(room.commands.pending.value.size).toBe(0)
    expect(room.store.activeTurn.value).toBe(null)
    expect(room.stopAnswer()).toBe(false)
  })

  test("[PG18] a second press doesn't stop the answer that begins in place of the stopped one", async () => {
    const queued = user("q2", "more", { status: "queued" })
    const { room, server, clock } = await opened([pageOf([user("q", "go"), running(), queued])])
    const stopped = () => commands(server).map((one) => one.type === "cancel" && one.exchange_id)
    room.stopAnswer()
    clock.pass(80)
    server.last().say(ops(11, 10, "a", end("cancelled")))
    server.last().say(messageFrame(12, 11, wireMessage("b", { exchange_id: "q2" })))
    room.stopAnswer()
    clock.pass(599)
    room.stopAnswer()
    expect(stopped()).toEqual(["q"])
    clock.pass(1)
    room.stopAnswer()
    expect(stopped()).toEqual(["q", "q2"])
  })

  test("[PG18] nor one that begins as an answer ends by itself, but the first of a session is stopped at once", async () => {
    const { room, server, clock } = await opened()
    server.last().say(messageFrame(11, 10, running()))
    server.last().say(ops(12, 11, "a", end("completed")))
    server.last().say(messageFrame(13, 12, wireMessage("b", { exchange_id: "q2" })))
    clock.pass(500)
    expect(room.stopAnswer()).toBe(false)
    clock.pass(5_000)
    server.last().say(ops(14, 13, "b", end("completed")))
    clock.pass(5_000)
    server.last().say(messageFrame(15, 14, wireMessage("c", { exchange_id: "q3" })))
    expect(room.stopAnswer()).toBe(true)
  })

  test("[PG18] after a new message the next answer can be stopped at once", async () => {
    const { room, server } = await opened([pageOf([user("q", "go"), running()])])
    room.stopAnswer()
    server.last().say(ops(11, 10, "a", end("cancelled")))
    room.sendMessage("again")
    server.last().say(messageFrame(12, 11, wireMessage("b", { exchange_id: "n1" })))
    expect(room.stopAnswer()).toBe(true)
  })

  test("[PG18] pressed between sending and the first text, it stops what begins then", async () => {
    const { room, server } = await opened()
    expect(room.stopAnswer()).toBe(false)
    room.sendMessage("go")
    expect(room.stopAnswer()).toBe(true)
    server.last().say({ type: "ack", id: "n1", seq: 12 })
    server.last().say(messageFrame(11, 10, user("n1", "go")))
    expect(commands(server)).toEqual([])
    server.last().say(messageFrame(12, 11, running({ exchange_id: "n1" })))
    expect(commands(server)).toEqual([{ type: "cancel", exchange_id: "n1" }])
  })

  test("[PG18] an answer that waits for the user can be stopped, and no answer is pending", async () => {
    const {
      room,
      server,
      ended: told,
    } = await opened([pageOf([user("q", "go"), running({ segments: [waitingCall] })])])
    expect(room.store.isBusy.value).toBe(true)
    server.last().say(ops(11, 10, "a", [{ op: "meta", status: "waiting" }]))
    expect(room.store.isBusy.value).toBe(false)
    expect(told).toEqual(["a"])
    server.last().say(messageFrame(12, 11, user("q2", "more", { status: "queued" })))
    expect(room.store.isBusy.value).toBe(false)
    expect(room.stopAnswer()).toBe(true)
  })

  test("[SO11] a cancel is repeated until the answer has ended, also where a send's ack looks like its own", async () => {
    const all = await opened([pageOf([])])
    const { room, server } = all
    room.sendMessage("go")
    server.last().say(messageFrame(11, 10, user("n1", "go")))
    server.last().say(messageFrame(12, 11, running({ exchange_id: "n1" })))
    room.stopAnswer()
    server.last().say({ type: "ack", id: "n1", seq: 11 })
    await reconnect(all, 12)
    expect(commands(server)).toEqual([{ type: "cancel", exchange_id: "n1" }])
    server.last().say(refusal("turn_ended", "n1"))
    expect(room.commands.pending.value.size).toBe(0)
    expect(room.commands.refusals.value.size).toBe(0)
  })

  test("[SO11] a cancel isn't sent to another version of the same exchange", async () => {
    const other = wireMessage("b", { exchange_id: "q", version: 2, versions: 2 })
    const { room, server, clock } = await opened([
      pageOf([user("q", "go"), running()]),
      pageOf([user("q", "go"), other], { epoch: "e2", seq: 20 }),
    ])
    server.last().events.onClose(1006)
    room.stopAnswer()
    clock.pass(300)
    await settle()
    server.last().events.onOpen()
    server.last().say(hello(20, "e2"))
    await settle()
    server.last().say(hello(20, "e2"))
    expect(room.store.activeTurn.value?.id).toBe("b")
    expect(commands(server)).toEqual([])
  })

  test("[PG18] [PG43] [PG73] Escape goes to the input method, an editor, the drawer, the reply, and then stops the answer", () => {
    const drawer = signal(true)
    const reply = signal<string | null>("m")
    let stopped = 0
    const press = (more: KeyboardEventInit = {}, taken = false, key = "Escape") => {
      const event = new KeyboardEvent("keydown", { key, cancelable: true, ...more })
      if (taken) event.preventDefault()
      handleEscape(event, { isDrawerOpen: drawer, replyTo: reply, stopAnswer: () => void stopped++ })
    }
    press({ isComposing: true })
    press({ repeat: true })
    press({}, true)
    expect([drawer.value, stopped]).toEqual([true, 0])
    press()
    expect([drawer.value, reply.value, stopped]).toEqual([false, "m", 0])
    press({}, false, "Enter")
    press()
    expect([reply.value, stopped]).toEqual([null, 0])
    press()
    expect(stopped).toBe(1)
  })
})

describe("repeating commands", () => {
  test("[SO11] a command given while the socket was away is sent when it is back, until it is acknowledged", async () => {
    const all = await opened([pageOf([user("q", "go"), ended({ segments: [waitingCall] })])])
    const { room, server } = all
    server.last().events.onClose(1006)
    room.decideApproval("a", "c1", "allow")
    room.regenerateAnswer("a")
    room.retryAnswer("a")
    expect(commands(server)).toEqual([])
    await reconnect(all)
    const asked = [
      { type: "approve", call_id: "c1", decision: "allow" },
      { type: "regenerate", id: "n1", message: "a" },
    ]
    expect(commands(server)).toEqual(asked)
    server.last().say({ type: "ack", id: "c1", seq: 10 })
    await reconnect(all)
    expect(commands(server)).toEqual(asked.slice(1))
    expect([...room.commands.pending.value.keys()]).toEqual(["c1", "a"])
    server.last().say(ops(11, 10, "a", [{ op: "set", at: 0, fields: { status: "queued", approval: "allowed" } }]))
    expect([...room.commands.pending.value.keys()]).toEqual(["a"])
  })

  test("[SO11] [SO16] each command is one frame with its own id, and its refusal is shown where it was given", async () => {
    const { room, server } = await opened([pageOf([user("q", "go"), ended()])])
    room.editMessage("q", "new")
    room.switchVersion("a", 2)
    expect(commands(server)).toEqual([
      { type: "edit", id: "n1", message: "q", content: "new" },
      { type: "switch", id: "n2", message: "a", version: 2 },
    ])
    server.last().say(refusal("turn_running", "n1"))
    server.last().say(refusal("version_unknown", "n2"))
    expect([...room.commands.refusals.value]).toEqual([
      ["q", "turn_running"],
      ["a", "version_unknown"],
    ])
    room.retryAnswer("a")
    expect(room.commands.refusals.value.size).toBe(0)
    expect(commands(server).at(-1)).toEqual({ type: "retry", id: "n3", message: "a" })
    server.last().say(refusal("turn_whole", "n9"))
    expect(room.commands.refusals.value.size).toBe(0)
  })

  test("[SO11] a command whose response was lost is complete once acknowledged, also if another tab undid it", async () => {
    const versions = { version: 1, versions: 2 }
    const page = (epoch: string) => pageOf([user("q", "go"), ended(versions)], { epoch, seq: 20 })
    const all = await opened([page("e1"), page("e3")])
    const { room, server } = all
    server.last().say(hello(20, "e1"))
    room.switchVersion("a", 2)
    room.editMessage("q", "other")
    await reconnect({ ...all }, 20)
    server.last().say(hello(22, "e3"))
    await settle()
    server.last().say(hello(22, "e3"))
    expect([...room.commands.pending.value.keys()]).toEqual(["a", "q"])
    server.last().say({ type: "ack", id: "n1", seq: 21 })
    server.last().say({ type: "ack", id: "n2", seq: 22 })
    expect(room.commands.pending.value.size).toBe(0)
  })

  test("[SO16] a refusal is shown until what it was for has changed", async () => {
    const { room, server } = await opened([pageOf([user("q", "go"), running()])])
    const refuse = (id: string) => {
      room.editMessage("q", "other")
      server.last().say(refusal("turn_running", id))
      expect(room.commands.refusals.value.size).toBe(1)
    }
    refuse("n1")
    room.cancelEdit("q")
    expect(room.commands.refusals.value.size).toBe(0)
    refuse("n2")
    server.last().say(ops(11, 10, "a", end("completed")))
    expect(room.commands.refusals.value.size).toBe(0)
  })

  test("[SO16] a decision made elsewhere isn't an error", async () => {
    const { room, server } = await opened([pageOf([user("q", "go"), ended({ segments: [waitingCall] })])])
    room.decideApproval("a", "c1", "deny")
    server.last().say(refusal("call_decided", "c1"))
    expect(room.commands.refusals.value.size).toBe(0)
    expect(room.commands.pending.value.size).toBe(0)
  })

  test.each(["ops first", "ack first"])(
    "[PG19] withdrawn text disappears and returns to the composer (%s)",
    async (order) => {
      const { room, server } = await opened([
        pageOf([user("q", "go"), running(), user("q2", "later", { status: "queued" })]),
      ])
      room.withdrawMessage("q2")
      expect(commands(server)).toEqual([{ type: "withdraw", id: "n1", message: "q2" }])
      const gone = ops(11, 10, "q2", end("cancelled"))
      const ack: ServerFrame = { type: "ack", id: "n1", seq: 11 }
      for (const frame of order === "ops first" ? [gone, ack] : [ack, gone]) server.last().say(frame)
      expect(room.store.messageIds.value).toEqual(["q", "a"])
      expect(room.draft.text.value).toBe("later")
      expect(room.commands.pending.value.size).toBe(0)
    },
  )

  test("[PG19] another tab's withdrawal, live or on a resume, removes the message and nothing more", async () => {
    const queued = [user("q2", "later", { status: "queued" }), user("q3", "last", { status: "queued" })]
    const { room, server } = await opened([pageOf([user("q", "go"), running(), ...queued])])
    server.last().say(messageFrame(11, 10, user("q2", "", { status: "cancelled", segments: [] })))
    server.last().say(messageFrame(12, 11, user("q9", "", { status: "cancelled", segments: [] })))
    server.last().say(ops(13, 12, "q3", end("cancelled")))
    expect(room.store.messageIds.value).toEqual(["q", "a"])
    expect(room.store.getMessageSignal("q2")).toBe(undefined)
    expect(room.draft.text.value).toBe("")
  })
})

describe("switching versions", () => {
  const page = (epoch: string, answer: string) => pageOf([user("q", "go"), ended({ id: answer })], { epoch, seq: 20 })

  test("[SO12] is followed at once, however fast they change", async () => {
    const { room, server, asked } = await opened([page("e1", "a"), page("e2", "b"), page("e3", "c"), page("e4", "d")])
    server.last().say(hello(20, "e1"))
    for (const [epoch, id] of [
      ["e2", "b"],
      ["e3", "c"],
      ["e4", "d"],
    ] as const) {
      server.last().say(hello(20, epoch))
      await settle()
      expect(room.store.messageIds.value).toEqual(["q", id])
      server.last().say(hello(20, epoch))
    }
    expect(room.link.value).toBe("live")
    expect(asked.length).toBeGreaterThanOrEqual(4)
  })

  test("[SO12] a server that changes its epoch each time is asked less and less often", async () => {
    const { server, asked, clock } = await opened([page("e1", "a")])
    await settle()
    for (let i = 0; i < 6; i++) {
      server.last().say(hello(20, `x${i}`))
      await settle()
    }
    expect(asked.length).toBeLessThanOrEqual(5)
    const before = asked.length
    clock.pass(1_000)
    await settle()
    expect(asked.length).toBe(before + 1)
  })

  test("[SO12] a user further up gets as many pages as keep their place", async () => {
    const old = Array.from({ length: 30 }, (_, at) => user(`m${at}`, "x"))
    const { room, server, asked } = await opened([
      pageOf(old.slice(6), { has_more: true, cursor: "6" }),
      pageOf(old.slice(0, 6)),
      pageOf([ended({ id: "new" })], { epoch: "e2", seq: 20, has_more: true, cursor: "25" }),
      pageOf(old.slice(2, 25), { epoch: "e2", seq: 21, has_more: true, cursor: "2" }),
    ])
    await room.loadOlder()
    room.findReadingMessage = () => "m3"
    server.last().say(hello(20, "e2"))
    await settle()
    expect(asked).toEqual([undefined, "6", undefined, "25"])
    expect(room.store.messageIds.value).toEqual([...old.slice(2, 25).map(({ id }) => id), "new"])
    expect(room.store.cursor).toBe("2")
    expect(server.last().sent.at(-1)).toMatchObject({ type: "hello", epoch: "e2", after: 20 })
  })
})
