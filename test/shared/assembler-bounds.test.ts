/**
 * assembler-bounds.test.ts: tests that imported answers and turns of any size need bounded memory and a bounded number
 * of folding steps.
 */

import { describe, expect, test, vi } from "vitest"
import {
  type AssembledMessage,
  createAssembler,
  MAX_OPEN_ANSWERS,
  MAX_OPEN_RECORDS,
} from "../../shared/ingest/assembler.ts"
import {
  MAX_IMPORTED_CALL_EVENTS,
  MAX_IMPORTED_OUTPUTS,
  MAX_IMPORTED_TEXT_CHARS,
} from "../../shared/ingest/assembly/answer-budget.ts"
import {
  MAX_ARGS_CHARS,
  MAX_ERROR_CHARS,
  MAX_IMPORTED_CALLS,
  MAX_IMPORTED_PARTS,
  MAX_TOOL_NAME_CHARS,
} from "../../shared/limits.ts"
import { deriveContent, listCalls } from "../../shared/protocol/message.ts"
import type { StreamRecord } from "../../shared/protocol/record.ts"

const BASE = { responseId: "a", timestamp: "2026-01-01T00:00:00.000Z" }
const question: StreamRecord = { type: "user_message", ...BASE, responseId: "q", text: "go" }

/**
 * Assembles a question and the records. Returns the answers, and how many of them were complete before the end of the
 * file.
 */
function assembleRecords(records: Iterable<StreamRecord>): {
  readonly answers: AssembledMessage[]
  readonly early: number
} {
  const assembler = createAssembler()
  const messages: AssembledMessage[] = []
  let n = 0
  for (const record of [question, ...records]) {
    n += 1
    for (const item of assembler.addRecord(record, n)) if (item.kind === "message") messages.push(item)
  }
  const isAnswer = ({ message }: AssembledMessage): boolean => message.role === "assistant"
  const early = messages.filter(isAnswer).length
  for (const item of assembler.end()) if (item.kind === "message") messages.push(item)
  return { answers: messages.filter(isAnswer), early }
}

function createMany<T>(count: number, create: (n: number) => T): T[] {
  return Array.from({ length: count }, (_, n) => create(n))
}

const callRecord = (n: number): StreamRecord => {
  return { type: "tool_call", ...BASE, callId: `c${n}`, toolName: "t", arguments: "{}" }
}

const timeOf = (n: number): string => new Date(Date.parse(BASE.timestamp) + n).toISOString()

describe("a large turn", () => {
  test("[RE41] with many answers is closed before its end, and keeps all answers under its question's exchange", () => {
    const count = 5 * MAX_OPEN_ANSWERS
    const { answers, early } = assembleRecords(
      createMany(count, (n) => ({ type: "text_delta", ...BASE, responseId: `a${n}`, delta: `${n}` })),
    )
    expect(early).toBeGreaterThanOrEqual(count - MAX_OPEN_ANSWERS)
    expect(answers.map(({ message }) => deriveContent(message))).toEqual(createMany(count, String))
    expect(new Set(answers.map(({ message }) => message.exchange_id))).toEqual(new Set(["q"]))
  })

  test("[RE41] with many records is closed before its end; its text continues in another message, and none is lost", () => {
    const count = 2 * MAX_OPEN_RECORDS + 10
    const { answers } = assembleRecords(createMany(count, () => ({ type: "text_delta", ...BASE, delta: "x" }) as const))
    expect(answers.map(({ message }) => deriveContent(message).length)).toEqual([
      MAX_OPEN_RECORDS,
      MAX_OPEN_RECORDS,
      10,
    ])
    expect(answers.map(({ lost }) => lost)).toEqual([{}, {}, {}])
  })
})

describe("callbacks in an open answer", () => {
  const callback: StreamRecord = { type: "agent_callback", timestamp: BASE.timestamp, responseId: "x", text: "late" }

  // If the work were proportional to the number of calls times the number of callbacks, this would take minutes.
  test("[RE41] take the same work, no matter how many calls of the answer are waiting", () => {
    const waiting = createMany(40_000, (n): StreamRecord => {
      const result = { mode: "async", status: "queued", responseId: `q${n}` }
      return { type: "tool_result", ...BASE, callId: `c${n}`, ok: true, result }
    })
    const { answers } = assembleRecords([...waiting, ...createMany(60_000, () => callback)])
    expect(answers.map(({ message }) => listCalls(message).length)).toEqual([MAX_IMPORTED_CALLS])
  })

  test("[RE41] count as records of the turn", () => {
    const text: StreamRecord = { type: "text_delta", ...BASE, delta: "x" }
    const { early } = assembleRecords([text, ...createMany(MAX_OPEN_RECORDS, () => callback)])
    expect(early).toBe(1)
  })
})

describe("a large answer", () => {
  test("[RE41] of many adjacent deltas is folded in few steps, and keeps all its text and times", () => {
    const withAt = vi.spyOn(Array.prototype, "with")
    try {
      const { answers } = assembleRecords(
        createMany(5_000, (n): StreamRecord => {
          return {
            type: n < 2_500 ? "thinking_delta" : "text_delta",
            ...BASE,
            timestamp: timeOf(n),
            delta: `${n % 10}`,
          }
        }),
      )
      const parts = answers[0]?.message.parts ?? []
      expect(parts.map((part) => (part.type === "tool_call" ? 0 : part.text.length))).toEqual([2_500, 2_500])
      expect(parts.map(({ times }) => times)).toEqual([
        { begin: timeOf(0), end: timeOf(2_500) },
        { begin: timeOf(2_500), end: timeOf(4_999) },
      ])
      expect(withAt.mock.calls.length).toBeLessThan(50)
    } finally {
      withAt.mockRestore()
    }
  })

  test("[RE36] [RE46] counts a call over the limit once, together with its result, and counts a second result only if it differs", () => {
    const calls = createMany(MAX_IMPORTED_CALLS + 100, callRecord)
    const createResult = (n: number, text: string): StreamRecord => {
      return { type: "tool_result", ...BASE, callId: `c${n}`, ok: true, result: text }
    }
    const results = [
      createResult(0, "a"),
      createResult(0, "a"),
      createResult(0, "b"),
      createResult(MAX_IMPORTED_CALLS + 1, "c"),
    ]
    const [answer] = assembleRecords([...calls, ...results]).answers
    expect(answer?.lost).toEqual({ call: 100, result: 1 })
  })

  test("[RE36] has its names, arguments and errors cut without splitting a surrogate pair", () => {
    const createCutText = (max: number): string => `${"x".repeat(max - 1)}😀`
    const error = { code: "failed", message: createCutText(MAX_ERROR_CHARS) }
    const [answer] = assembleRecords([
      {
        type: "tool_call",
        ...BASE,
        callId: "c",
        toolName: createCutText(MAX_TOOL_NAME_CHARS),
        arguments: createCutText(MAX_ARGS_CHARS),
      },
      { type: "tool_result", ...BASE, callId: "c", ok: false, error },
    ]).answers
    const [call] = answer === undefined ? [] : listCalls(answer.message)
    expect([call?.name, call?.args, call?.error?.message]).toEqual(
      [MAX_TOOL_NAME_CHARS, MAX_ARGS_CHARS, MAX_ERROR_CHARS].map((max) => "x".repeat(max - 1)),
    )
  })

  test("[RE36] has no more parts than its limit, however the parts are separated", () => {
    const ends = ["text_done", "thinking_start"] as const
    for (const type of ends) {
      const pairs = createMany(MAX_IMPORTED_PARTS + 50, (): StreamRecord[] => [
        { type: "text_delta", ...BASE, delta: "x" },
        { type, ...BASE },
      ])
      const [answer] = assembleRecords(pairs.flat()).answers
      expect(answer?.message.parts).toHaveLength(MAX_IMPORTED_PARTS)
      expect(answer?.lost).toEqual({ text: 50 })
    }
  })

  test("[RE36] [RE46] has no more text than its limit, and counts dropped text", () => {
    const delta = "x".repeat(MAX_IMPORTED_TEXT_CHARS / 4)
    const [answer] = assembleRecords(createMany(6, () => ({ type: "text_delta", ...BASE, delta }) as const)).answers
    expect(answer === undefined ? 0 : deriveContent(answer.message).length).toBe(MAX_IMPORTED_TEXT_CHARS)
    expect(answer?.lost).toEqual({ text: 2 })
  })

  test("[RE36] has a bounded number of starts, approvals and results", () => {
    const calls = createMany(MAX_IMPORTED_CALLS, callRecord)
    const starts = createMany(
      MAX_IMPORTED_CALL_EVENTS + 70,
      (n): StreamRecord => ({ type: "tool_call_start", ...BASE, callId: `c${n % 3}`, channel: "user", ordinal: 1 }),
    )
    const [answer] = assembleRecords([...calls, ...starts]).answers
    expect(answer?.lost).toEqual({ start: 70 })
    expect(answer === undefined ? 0 : listCalls(answer.message).length).toBe(MAX_IMPORTED_CALLS)
  })

  test("[RE36] keeps output that arrives in many adjacent pieces; of alternating pieces it keeps a bounded number", () => {
    const createOutput = (callId: string): StreamRecord => ({ type: "tool_output_delta", ...BASE, callId, delta: "x" })
    const pieces = 3 * MAX_IMPORTED_OUTPUTS
    const [whole] = assembleRecords([callRecord(0), ...createMany(pieces, () => createOutput("c0"))]).answers
    expect(whole?.message.parts[0]).toMatchObject({ call: { output: "x".repeat(pieces) } })
    expect(whole?.lost).toEqual({})
    const mixed = createMany(MAX_IMPORTED_OUTPUTS + 30, (n) => createOutput(`c${n % 2}`))
    const [some] = assembleRecords([callRecord(0), callRecord(1), ...mixed]).answers
    expect(some?.lost).toEqual({ output: 30 })
  })
})
