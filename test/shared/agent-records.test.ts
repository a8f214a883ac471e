/** agent-records.test.ts: tests messages between agents, as segments and as records. */

import { describe, expect, test } from "vitest"
import { createAssembler } from "../../shared/ingest/assembler.ts"
import { listCalls, type Message, createMessage } from "../../shared/protocol/message.ts"
import { parseRecord } from "../../shared/protocol/record.ts"
import { messageToRecords } from "../../shared/segment/message-to-records.ts"
import { messageToWire, segmentsOf } from "../../shared/segment/segmenter.ts"
import { answerOf, callOf, resultOf, startOf, TIME } from "../support/turn.ts"

/** Returns the messages of a file, with late results applied. */
function readBack(records: readonly object[]): { messages: Message[]; late: string[] } {
  const assembler = createAssembler()
  const taken = records.flatMap((json, n) => {
    const record = parseRecord(json)
    if (!record.ok) throw new Error(JSON.stringify([json, record.fault]))
    return assembler.addRecord(record.value, n)
  })
  const all = [...taken, ...assembler.end()]
  return {
    messages: all.flatMap((item) => (item.kind === "message" ? [item.message] : [])),
    late: all.flatMap((item) => (item.kind === "late" ? [`${item.id} ${JSON.stringify(item.events)}`] : [])),
  }
}

const agent = { direction: "received", name: "researcher", exchange: "x1" } as const
const request = createMessage({
  id: "x1",
  role: "agent",
  exchange_id: "x1",
  status: "completed",
  timestamp: TIME,
  agent,
  words: "Look at <b>Oslo</b>.",
})
const callback: Message = {
  ...request,
  id: "x2",
  exchange_id: "x2",
  agent: { ...agent, exchange: "x2", call_id: "call_2_1" },
}
const answer: Message = {
  ...answerOf(
    { type: "text_delta", delta: "Done." },
    { type: "end", status: "completed", reason: null, metrics: null },
  ),
  agent: { direction: "sent", name: "general", exchange: "x1" },
}

test("[SG14] a message from another agent is one segment with its text unchanged", () => {
  expect(segmentsOf(request)).toEqual([{ type: "agent", content: "Look at <b>Oslo</b>.", ...agent }])
  expect(messageToWire(request).agent).toEqual(agent)
})

describe("round trip", () => {
  test.each([
    ["a request", request, "agent_message"],
    ["a callback", callback, "agent_callback"],
    ["an answer to another agent", answer, "assistant_message"],
  ])("[RE12] %s survives an export and import unchanged", (_name, message, type) => {
    const records = messageToRecords({ pos: 3, parent: 2, tip: null, message }, "s1")
    expect(records.at(-1)?.type).toBe(type)
    const [back] = readBack(records).messages
    if (back === undefined) throw new Error("nothing came back")
    expect(messageToWire(back)).toEqual(messageToWire(message))
    expect(messageToRecords({ pos: 3, parent: 2, tip: null, message: back }, "s1")).toEqual(records)
  })

  test("[RE12] a call that is waiting for its callback is still waiting after the round trip", () => {
    const queued = { ...resultOf('{"mode":"async","status":"queued","responseId":"x2"}'), status: "waiting" } as never
    const end = { type: "end", status: "completed", reason: null, metrics: null } as const
    const message = answerOf(callOf("agents_message"), startOf(), queued, end)
    const records = messageToRecords({ pos: 2, parent: 1, tip: null, message }, "s1")
    const [back] = readBack(records).messages
    expect(back && listCalls(back)[0]?.status).toBe("waiting")
    expect(back && messageToRecords({ pos: 2, parent: 1, tip: null, message: back }, "s1")).toEqual(records)
  })
})

describe("records of other producers", () => {
  const createTurn = (result: object) => [
    { type: "user_message", text: "Ask." },
    { type: "tool_call_start", callId: "t1", toolName: "agents_message", arguments: '{"agent":"b"}' },
    { type: "tool_result", callId: "t1", ok: true, result },
    { type: "assistant_message", responseId: "r1", text: "I asked." },
  ]
  const queued = { mode: "async", status: "queued", responseId: "r9" }

  test.each([
    ["its call", { callId: "t1" }],
    ["its response", { responseId: "r9" }],
    ["its exchange", { agentExchangeId: "r9" }],
  ])("[RE12] a queued call waits for its callback, identified by %s", (_name, by) => {
    const { messages, late } = readBack([
      ...createTurn(queued),
      { type: "agent_callback", text: "Found.", from: "b", ...by },
    ])
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "agent"])
    const [call] = messages.flatMap(listCalls)
    expect(call?.status).toBe("waiting")
    expect(messages[2]).toMatchObject({ words: "Found.", agent: { direction: "received", name: "b" } })
    expect(late).toHaveLength(1)
    expect(late[0]).toContain('"result":"Found."')
    expect(messages[1]?.status).toBe("completed")
  })

  test("[RE12] a callback without a waiting call becomes a separate message", () => {
    const { messages, late } = readBack([
      ...createTurn({ answer: "at once" }),
      { type: "agent_callback", text: "Again.", callId: "t1" },
    ])
    expect(messages.at(-1)).toMatchObject({ role: "agent", words: "Again." })
    expect(late).toEqual([])
  })

  test("[RE12] an answer that follows a callback answers that callback", () => {
    const { messages } = readBack([
      ...createTurn(queued),
      { type: "agent_callback", text: "Found.", responseId: "r9" },
      { type: "text_done", text: "So it is.", responseId: "r2" },
    ])
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "agent", "assistant"])
    expect(messages[3]?.exchange_id).toBe(messages[2]?.exchange_id)
  })
})

describe("the sender", () => {
  const question = { type: "user_message", text: "Look." }
  test.each([
    ["that agent", { fromAgentId: "planner", fromSessionId: "s9" }, "planner"],
    ["that session", { fromSessionId: "s9" }, "s9"],
  ])("[IR6] a question that names a sender is a message from %s", (_name, fields, name) => {
    for (const type of ["user_message", "agent_message"]) {
      const { messages } = readBack([{ ...question, ...fields, type }])
      expect(messages).toMatchObject([{ role: "agent", words: "Look.", agent: { direction: "received", name } }])
    }
  })
})

describe("a callback that arrives in the middle of an answer", () => {
  const asked = [
    { type: "user_message", text: "Ask." },
    { type: "tool_call", callId: "t1", toolName: "agents_message", argsJson: "{}" },
    { type: "tool_result", callId: "t1", ok: true, result: { mode: "async", status: "started", responseId: "x1" } },
    { type: "text_delta", responseId: "r1", delta: "I " },
  ]
  const rest = { type: "text_delta", responseId: "r1", delta: "asked." }

  test("[IR7] [IR13] is the result of its call, and the answer continues", () => {
    const { messages, late } = readBack([...asked, { type: "agent_callback", responseId: "x1", text: "Found." }, rest])
    expect(late).toEqual([])
    expect(messages).toMatchObject([{ role: "user" }, { role: "assistant" }])
    expect(messages[1] && segmentsOf(messages[1])).toMatchObject([
      { type: "tool", status: "ok", result: "Found." },
      { type: "text", content: "I asked." },
    ])
  })

  test("[IR13] is shown as a separate result if no call is waiting for it", () => {
    const { messages } = readBack([...asked, { type: "agent_callback", responseId: "x9", text: "Found." }, rest])
    expect(messages[1] && segmentsOf(messages[1])).toMatchObject([
      { type: "tool", status: "waiting" },
      { type: "text", content: "I" },
      { type: "tool", status: "ok", result: "Found." },
      { type: "text", content: "asked." },
    ])
  })

  test("[IR7] [IR13] can be repeated as the question of the next turn; the question is joined to the same call", () => {
    const { messages } = readBack([
      ...asked,
      { type: "agent_callback", responseId: "x1", text: "Found." },
      rest,
      { type: "text_done", responseId: "r1", text: "I asked." },
      { type: "agent_message", responseId: "x1", text: "[Async response, responseId=x1]: Found." },
      { type: "text_done", responseId: "r2", text: "So it is." },
    ])
    expect(messages.map(({ role, words }) => `${role} ${words}`.trim())).toEqual([
      "user Ask.",
      "assistant",
      "agent Found.",
      "assistant",
    ])
    expect(messages[2]?.agent).toEqual({ direction: "received", name: "agent", exchange: "x1", call_id: "t1" })
  })
})

test("[RE9] a record without responseId belongs to the first answer of its turn that has one", () => {
  const { messages } = readBack([
    { type: "user_message", text: "Look." },
    { type: "tool_call_start", callId: "t1", toolName: "read" },
    { type: "tool_result", callId: "t1", ok: true, result: "found" },
    { type: "text_delta", responseId: "r1", delta: "It is there." },
    { type: "text_done", responseId: "r1" },
  ])
  expect(messages.map(({ id, parts }) => [id, parts.length])).toEqual([
    ["imported-0", 0],
    ["r1", 2],
  ])
})

test("[RE10] a step number out of range is refused", () => {
  for (const step of [1e9, -1, 1.5]) {
    expect(parseRecord({ type: "text_delta", delta: "x", step })).toMatchObject({ ok: false, fault: { field: "step" } })
  }
})
