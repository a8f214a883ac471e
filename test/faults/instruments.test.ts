/** instruments.test.ts: tests the fault suite's own taps, observers and checks. */

import { expect, test } from "vitest"
import type { TurnEvent } from "../../shared/protocol/event.ts"
import type { TurnFault } from "../../shared/fault.ts"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { PROTOCOL_VERSION } from "../../shared/limits.ts"
import { fold, type Message, createMessage } from "../../shared/protocol/message.ts"
import { messageToWire } from "../../shared/segment/segmenter.ts"
import { checkSession } from "./checks.ts"
import { computeLatenessMs, describeWrongEnding } from "./endings.ts"
import { findLateViolations } from "./late-answers.ts"
import { type ObservedSocket, openObserver } from "./observer.ts"
import { findUnexpectedStates } from "./prefixes.ts"
import type { StoredSession } from "./rows.ts"
import { createRecordsOfCommands, type TestSession } from "./test-session.ts"
import type { Rule } from "./violation.ts"
import { createTap } from "./tap.ts"

function createTestTap() {
  const found: string[] = []
  const tap = createTap({ report: (_rule, detail) => found.push(detail) })
  tap.sent(JSON.stringify({ type: "hello", protocol: 4, epoch: "e", after: 3, live: true }))
  tap.received(JSON.stringify({ type: "hello", protocol: 4, epoch: "e", seq: 5 }))
  const ops = (seq: number, prev: number) =>
    tap.received(JSON.stringify({ type: "ops", seq, prev, message: "m", ops: [] }))
  return { found, ops }
}

test("[FS5] the tap accepts frames in order, and reports gaps and duplicates", () => {
  const good = createTestTap()
  for (const [seq, prev] of [
    [5, 3],
    [6, 5],
    [7, 6],
  ] as const)
    good.ops(seq, prev)
  expect(good.found).toEqual([])
  const gap = createTestTap()
  gap.ops(5, 3)
  gap.ops(7, 5)
  const double = createTestTap()
  double.ops(5, 3)
  double.ops(5, 5)
  const liar = createTestTap()
  liar.ops(5, 4)
  expect([gap.found.length, double.found.length, liar.found.length].every((count) => count > 0)).toBe(true)
})

test("[FS5] the tap reports a gap even if a new epoch is announced while a hello is in flight", () => {
  const found: string[] = []
  const tap = createTap({ report: (_rule, detail) => found.push(detail) })
  const hello = (epoch: string, after: number) =>
    tap.sent(JSON.stringify({ type: "hello", protocol: 4, epoch, after, live: true }))
  const welcome = (epoch: string, seq: number) =>
    tap.received(JSON.stringify({ type: "hello", protocol: 4, epoch, seq }))
  const ops = (seq: number, prev: number) =>
    tap.received(JSON.stringify({ type: "ops", seq, prev, message: "m", ops: [] }))
  hello("e1", 3)
  welcome("e2", 9)
  hello("e2", 9)
  welcome("e2", 9)
  ops(10, 9)
  // The server announces e3 while a hello for e2 is in flight. The server answers that hello first, and then the hello
  // for e3.
  hello("e2", 10)
  welcome("e3", 12)
  welcome("e3", 12)
  hello("e3", 12)
  welcome("e3", 13)
  ops(13, 12)
  expect(found).toEqual([])
  hello("e3", 13)
  welcome("e3", 20)
  ops(15, 14)
  expect(found).toEqual(["seq 15 has prev 14, but the last seq was 13"])
})

test("[FS5] the tap matches the answers to two frames with the same id, and reports answers in the wrong order", () => {
  const found: string[] = []
  const answered: string[] = []
  const report = (_rule: Rule, detail: string): void => void found.push(detail)
  const tap = createTap({
    report,
    onAnswer: (pendingEvents, { type }) => answered.push(`${pendingEvents.type}: ${type}`),
  })
  const ack = (id: string) => tap.received(JSON.stringify({ type: "ack", id, seq: 1 }))
  tap.sent(JSON.stringify({ type: "send", id: "a", content: "x" }))
  tap.sent(JSON.stringify({ type: "cancel", exchange_id: "a" }))
  ack("a")
  tap.received(JSON.stringify({ type: "error", code: "turn_ended", text: "", id: "a" }))
  expect({ found, answered }).toEqual({ found: [], answered: ["send: ack", "cancel: error"] })
  tap.sent(JSON.stringify({ type: "send", id: "b", content: "x" }))
  tap.sent(JSON.stringify({ type: "send", id: "c", content: "x" }))
  ack("c")
  ack("b")
  expect(found).toHaveLength(2)
})

const EMPTY = createMessage({ id: "a", role: "assistant", exchange_id: "q", timestamp: "2026-01-01T00:00:00.000Z" })

/** Returns a turn with a tool, a card, thinking and text, and every intermediate state that a client showed. */
function createTurn(): { readonly final: Message; readonly states: readonly WireMessage[] } {
  const result = '{"location":"Oslo"}\n\nUse <span id=\'weather_1\'>words</span>'
  const events = [
    { type: "step_start" },
    { type: "thinking_delta", delta: "Let me see." },
    { type: "thinking_done", ms: 12 },
    { type: "text_delta", delta: "I will look. " },
    { type: "tool_call", call_id: "c1", name: "weather", args: "{}" },
    { type: "tool_call_start", call_id: "c1", channel: "user", ordinal: 1 },
    { type: "tool_output_delta", call_id: "c1", delta: "asking\n" },
    { type: "tool_result", call_id: "c1", status: "ok", result, card: "weather_1", error: null },
    { type: "step_start" },
    { type: "text_delta", delta: "So <span id='weather_1'>mi" },
    { type: "text_delta", delta: "ld</span> it" },
    { type: "text_delta", delta: " is 🌦️." },
    { type: "end", status: "completed", reason: null, metrics: null },
  ] as const
  const states: WireMessage[] = []
  let message = EMPTY
  for (const event of events) {
    message = fold(message, event)
    states.push(messageToWire(message))
  }
  return { final: message, states }
}

test("[FS5] every intermediate state is a prefix of the stored message", () => {
  const { final, states } = createTurn()
  expect(findUnexpectedStates(final, states)).toEqual([])
})

test("[FS5] a state that is not a prefix is reported", () => {
  const { final, states } = createTurn()
  const shorter = fold(fold(EMPTY, { type: "step_start" }), { type: "text_delta", delta: "I will look elsewhere." })
  const last = states.at(-1)
  const words = { type: "text", content: "is 🌦️. And more" } as const
  const longer = last === undefined ? [] : [{ ...last, segments: [...last.segments.slice(0, -1), words] }]
  expect(findUnexpectedStates(final, [messageToWire(shorter), ...longer])).toHaveLength(2)
})

test("[FS5] an approval or an ending that is stored differently from what was sent is reported", () => {
  const pendingEvents = [
    { type: "step_start" },
    { type: "tool_call", call_id: "c", name: "probe_ask", args: "{}" },
    { type: "tool_approval", call_id: "c", approval: "asked" },
  ] as const
  const after = (...events: readonly TurnEvent[]) => [...pendingEvents, ...events].reduce(fold, EMPTY)
  const allowed = after({ type: "tool_approval", call_id: "c", approval: "allowed" })
  const denied = after({ type: "tool_approval", call_id: "c", approval: "denied" })
  const end = { type: "end", status: "completed", reason: null, metrics: null } as const
  const final = fold(denied, end)
  const shown = messageToWire(denied)
  expect(findUnexpectedStates(final, [messageToWire(after()), shown, messageToWire(final)])).toEqual([])
  const strange: readonly WireMessage[] = [
    messageToWire(allowed),
    { ...shown, status: "failed" },
    { ...shown, summary: "never stored" },
    { ...shown, version: 2, versions: 2 },
    { ...shown, timestamp: "2026-01-01T00:00:01.000Z" },
  ]
  expect(findUnexpectedStates(final, strange)).toHaveLength(strange.length)
})

const CIRCUMSTANCES = { question: "play early_end t", kills: 0, isCancelRequested: false, hasSmallContext: false }

/** Returns an ended answer that consists of `words` words for the tag `t`. */
function answerOf(
  words: number,
  status: "completed" | "failed" | "cancelled" | "interrupted",
  reason: TurnFault | null,
) {
  const delta = Array.from({ length: words }, (_, at) => `t-${at} `).join("")
  const spoken = fold(fold(EMPTY, { type: "step_start" }), { type: "text_delta", delta })
  return fold(spoken, { type: "end", status, reason, metrics: null })
}

test("[FS5] an answer with the wrong ending or the wrong text is reported", () => {
  const rights = [
    describeWrongEnding(answerOf(20, "failed", "model_cut_off"), CIRCUMSTANCES),
    describeWrongEnding(answerOf(5, "cancelled", null), { ...CIRCUMSTANCES, isCancelRequested: true }),
    describeWrongEnding(answerOf(0, "interrupted", "process_restart"), { ...CIRCUMSTANCES, kills: 1 }),
    describeWrongEnding(answerOf(3, "completed", null), { ...CIRCUMSTANCES, question: "/say it" }),
  ]
  expect(rights).toEqual([null, null, null, null])
  const wrongs = [
    describeWrongEnding(answerOf(20, "completed", null), CIRCUMSTANCES),
    describeWrongEnding(answerOf(20, "failed", "turn_timeout"), CIRCUMSTANCES),
    describeWrongEnding(answerOf(19, "failed", "model_timeout"), { ...CIRCUMSTANCES, question: "play stall t" }),
    describeWrongEnding(answerOf(20, "cancelled", null), CIRCUMSTANCES),
    describeWrongEnding(answerOf(20, "interrupted", "process_restart"), CIRCUMSTANCES),
    describeWrongEnding(answerOf(3, "failed", "model_timeout"), { ...CIRCUMSTANCES, question: "/say it" }),
  ]
  expect(wrongs).not.toContain(null)
})

/** Returns the rules that these stored messages violate. `happened` counts the effects by `<key>/<call id>`. */
function findRulesViolated(all: readonly Message[], happened: Readonly<Record<string, number>>): string[] {
  const session: TestSession = {
    id: "s",
    plan: { name: "s", tabs: 0, turns: [] },
    tabs: [],
    observers: [],
    ...createRecordsOfCommands(),
    isEvicting: false,
    isSettling: true,
    page: { messages: [], has_more: false, epoch: "e", seq: 1 },
  }
  const stored: StoredSession = {
    id: "s",
    epoch: "e",
    all,
    seqs: new Map(),
    places: new Map(),
    withdrawn: new Map(),
    path: [],
    lastSeq: 1,
  }
  const facts = {
    effects: new Map(Object.entries(happened)),
    kills: 0,
    readyAt: [],
    hasSmallContext: false,
    countBusyMs: () => 0,
  }
  return checkSession(session, stored, facts).map(({ rule }) => rule)
}

/** Like `findRulesViolated`, for one call in two answers, as after a retry. */
function effectsFound(happened: Readonly<Record<string, number>>): string[] {
  const args = '{"key":"s-0-effect","ms":1}'
  const events = [
    { type: "step_start" },
    { type: "tool_call", call_id: "call_2_0", name: "probe_effect", args },
    { type: "tool_call_start", call_id: "call_2_0", channel: "user", ordinal: 1 },
    { type: "tool_result", call_id: "call_2_0", status: "ok", result: "{}", card: null, error: null },
    { type: "end", status: "completed", reason: null, metrics: null },
  ] as const
  const one = events.reduce((message: Message, event) => fold(message, event), EMPTY)
  return findRulesViolated([one, { ...one, id: "b" }], happened)
}

test("[FS5] effects are counted per call, and a missing effect, a second effect and an effect without a call are reported", () => {
  const key = "s-0-effect/call_2_0"
  expect(effectsFound({ [key]: 1 })).toEqual([])
  expect(effectsFound({})).toEqual(["once_dispatched"])
  expect(effectsFound({ [key]: 2 })).toEqual(["once_dispatched"])
  expect(effectsFound({ [key]: 1, "s-0-effect/call_9_0": 1 })).toEqual(["once_dispatched"])
})

test("[FS5] a missing row is reported as a violation and does not crash the checks", () => {
  const [hole] = [] as Message["parts"]
  const parts = [hole as Message["parts"][number]]
  expect(findRulesViolated([{ ...EMPTY, status: "completed", parts }], {})).toEqual(["rows_whole"])
})

test("[FS5] an end that comes too late after the start, or after the last restart, is reported", () => {
  const began = Date.parse(EMPTY.timestamp)
  const ended = (ms: number): Message => ({ ...answerOf(3, "completed", null), metrics: { ms, steps: 1 } })
  // A delay that a busy machine causes does not count as lateness.
  expect([
    computeLatenessMs(ended(9_000), [], () => 5_000),
    computeLatenessMs(ended(9_000), [], () => 1_000) > 0,
  ]).toEqual([0, true])
  expect([computeLatenessMs(ended(5_000), []), computeLatenessMs(ended(15_000), [began + 11_000])]).toEqual([0, 0])
  expect([computeLatenessMs(ended(9_000), []) > 0, computeLatenessMs(ended(15_000), [began + 1_000]) > 0]).toEqual([
    true,
    true,
  ])
})

/** Returns an answer with a call to another agent, whose result arrived after the answer had ended. */
function createLateAnswer(): Message {
  const args = '{"agent":"researcher","mode":"async","message":"x"}'
  const provisional = '{"mode":"async","status":"queued"}'
  const events = [
    { type: "step_start" },
    { type: "tool_call", call_id: "call_2_0", name: "agents_message", args },
    { type: "tool_call_start", call_id: "call_2_0", channel: "user", ordinal: null },
    { type: "tool_result", call_id: "call_2_0", status: "waiting", result: provisional, card: null, error: null },
    { type: "end", status: "completed", reason: null, metrics: null },
    { type: "tool_result", call_id: "call_2_0", status: "ok", result: '{"answer":"y"}', card: null, error: null },
  ] as const
  return events.reduce((message: Message, event) => fold(message, event), EMPTY)
}

function findLateFaults(
  replies: readonly { readonly id: string; readonly pos: number; readonly parent: number }[],
): string[] {
  const answer = createLateAnswer()
  const other: Message = { ...EMPTY, id: "other", status: "completed" }
  const agent = { direction: "received", name: "researcher", exchange: "r", call_id: "call_2_0" } as const
  const messages = replies.map(({ id }): Message => ({ ...EMPTY, id, role: "agent", status: "completed", agent }))
  const places = new Map([
    [answer.id, { pos: 2, parent: 1 }],
    ["other", { pos: 3, parent: 1 }],
    ...replies.map(({ id, pos, parent }) => [id, { pos, parent }] as const),
  ])
  const all = [answer, other, ...messages]
  const stored = { id: "s", epoch: "e", all, seqs: new Map(), places, withdrawn: new Map(), path: [answer], lastSeq: 1 }
  return findLateViolations("s", stored).map(({ detail }) => detail)
}

test("[FS5] a late answer that begins no turn, two turns, or one on another path is reported", () => {
  expect(findLateFaults([{ id: "r", pos: 4, parent: 2 }])).toEqual([])
  expect(findLateFaults([])).toHaveLength(1)
  expect(
    findLateFaults([
      { id: "r", pos: 4, parent: 2 },
      { id: "r2", pos: 6, parent: 4 },
    ]),
  ).toHaveLength(1)
  expect(findLateFaults([{ id: "r", pos: 4, parent: 3 }])).toHaveLength(1)
})

test("[FS5] an agent's late answer may replace the provisional result, but nothing else in an ended answer", () => {
  const answered = createLateAnswer()
  const [part] = answered.parts
  if (part?.type !== "tool_call") throw new Error("no call")
  const result = '{"mode":"async","status":"queued"}'
  const before: Message = { ...answered, parts: [{ ...part, call: { ...part.call, status: "waiting", result } }] }
  expect(findUnexpectedStates(answered, [messageToWire(before)])).toEqual([])
  // Once a late answer has been shown, it must not disappear.
  expect(findUnexpectedStates(before, [messageToWire(answered)])).toHaveLength(1)
})

test("[FS12] an independent client reports a gap, and a frame about a message that is not in history", async () => {
  const found: Rule[] = []
  const frames = [
    { type: "hello", protocol: PROTOCOL_VERSION, epoch: "e", seq: 4 },
    { type: "ops", seq: 5, prev: 4, message: "unknown", ops: [] },
    { type: "ops", seq: 7, prev: 5, message: "a", ops: [] },
  ]
  const socket: ObservedSocket = {
    ...{ onopen: null, onmessage: null, onclose: null, onerror: null, readyState: WebSocket.OPEN },
    send: () => queueMicrotask(sayAll),
    close() {},
  }
  const sayAll = (): void => {
    for (const frame of frames.splice(0))
      socket.onmessage?.call(socket as WebSocket, new MessageEvent("message", { data: JSON.stringify(frame) }))
  }
  const observer = openObserver({
    openSocket: () => socket,
    isLive: true,
    readHistory: async () => ({ messages: [messageToWire(EMPTY)], has_more: false, epoch: "e", seq: 4 }),
    report: (rule) => void found.push(rule),
  })
  socket.onopen?.call(socket as WebSocket, new Event("open"))
  await expect.poll(() => found).toEqual(["live_is_history", "seq_in_order"])
  observer.close()
})
