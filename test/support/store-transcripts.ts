/**
 * store-transcripts.ts: generates transcripts in the record formats of kcosr/assistant, together with what the page
 * must show for each.
 *
 * The formats follow the same sources as the fixtures in test/shared/import/.
 */

import fc from "fast-check"

/** A piece of an answer. */
type Piece =
  | { readonly type: "text"; readonly text: string; readonly cuts: readonly number[]; readonly lost: number }
  | { readonly type: "call"; readonly args: object; readonly result: unknown; readonly order: CallOrder }

type CallOrder = "call first" | "empty start first" | "call only" | "start only"

interface GeneratedTurn {
  readonly question: "text" | "spoken" | "agent"
  readonly thinking: string
  readonly pieces: readonly Piece[]
  readonly end: "whole" | "message" | "both" | "interrupted"
}

export interface StoreTranscript {
  readonly format: "records" | "turns" | "events"
  readonly turns: readonly GeneratedTurn[]
}

const wordsArb = fc
  .array(fc.stringMatching(/^(?:[a-z]{1,9}|[äöé漢字😀]|[0-9]{1,3}|[.,:;!?])$/u), { minLength: 1, maxLength: 12 })
  .map((words) => `${words.join(" ")} `)

const callArb = fc.record({
  type: fc.constant("call" as const),
  args: fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), fc.oneof(fc.integer(), fc.string()), {
    minKeys: 1,
    maxKeys: 3,
  }),
  result: fc.oneof(fc.string({ minLength: 1 }), fc.record({ ok: fc.boolean(), output: fc.string() })),
  order: fc.constantFrom<CallOrder>("call first", "empty start first", "call only", "start only"),
})

const textArb = fc.record({
  type: fc.constant("text" as const),
  text: wordsArb,
  cuts: fc.array(fc.nat(60), { maxLength: 4 }),
  lost: fc.constantFrom(-1, -1, -1, 0, 1, 2),
})

const turnArb = fc.record({
  question: fc.constantFrom("text" as const, "text" as const, "spoken" as const, "agent" as const),
  thinking: fc.oneof(fc.constant(""), wordsArb),
  pieces: fc.array(fc.oneof(textArb, callArb), { minLength: 1, maxLength: 7 }),
  end: fc.constantFrom("whole" as const, "message" as const, "both" as const, "interrupted" as const),
})

export const storeTranscriptArb: fc.Arbitrary<StoreTranscript> = fc.record({
  format: fc.constantFrom("records" as const, "turns" as const, "events" as const),
  turns: fc.array(turnArb, { minLength: 1, maxLength: 4 }),
})

/** Returns the lines of the transcript's file. */
export function printTranscript({ format, turns }: StoreTranscript): string[] {
  let time = Date.parse("2026-01-11T10:00:00.000Z")
  const sessionId = "s1"
  const toLine =
    (turn: number) =>
    (record: { readonly type: string; readonly [key: string]: unknown }): string => {
      time += 1
      if (format !== "events") return JSON.stringify({ timestamp: new Date(time).toISOString(), sessionId, ...record })
      const { type, responseId, ...payload } = record
      const ids = { turnId: `t${turn}`, ...(responseId === undefined ? {} : { responseId }) }
      return JSON.stringify({ id: `e${time}`, timestamp: time, sessionId, ...ids, type, payload })
    }
  const list = format === "events" ? listEvents : format === "turns" ? listTurnRecords : listMixedRecords
  return turns.flatMap((turn, n) => list(turn, n).map(toLine(n)))
}

type AnyRecord = { readonly type: string; readonly [key: string]: unknown }

function listQuestion({ question }: GeneratedTurn, n: number): AnyRecord {
  if (question === "spoken") return { type: "user_message", modality: "audio", audioItemId: `audio-${n}` }
  if (question === "agent")
    return { type: "agent_message", fromSessionId: "s9", fromAgentId: "planner", text: `Question ${n}` }
  return { type: "user_message", modality: "text", text: `Question ${n}` }
}

export function wholeText({ pieces }: GeneratedTurn): string {
  return pieces.map((piece) => (piece.type === "text" ? piece.text : "")).join("")
}

/**
 * Returns the deltas of a text. `mayLose` is true if the end of the answer repeats the text; one delta of at most half
 * of the text is then omitted.
 */
function listDeltas({ text, cuts, lost }: Extract<Piece, { type: "text" }>, mayLose: boolean): string[] {
  const places = [
    0,
    ...[...cuts].map((cut) => toCodePointStart(text, cut % (text.length + 1))).sort((a, b) => a - b),
    text.length,
  ]
  const deltas = places.slice(1).map((to, i) => text.slice(places[i], to))
  return mayLose ? deltas.filter((delta, i) => i !== lost || 2 * delta.length > text.length) : deltas
}

/** Moves a cut to the start of a code point, because the deltas of these systems contain only whole characters. */
function toCodePointStart(text: string, at: number): number {
  return /[\udc00-\udfff]/.test(text.charAt(at)) ? at + 1 : at
}

function listMixedRecords(turn: GeneratedTurn, n: number): AnyRecord[] {
  const responseId = `r${n}`
  const { pieces, thinking, end } = turn
  const text = wholeText(turn)
  const thinkingRecords =
    thinking === ""
      ? []
      : [
          { type: "thinking_start", responseId },
          { type: "thinking_delta", responseId, delta: thinking },
          { type: "thinking_done", responseId, text: thinking },
        ]
  const body = pieces.flatMap((piece, at): AnyRecord[] => {
    if (piece.type === "text") {
      const mayLose = end === "whole" || end === "both"
      return listDeltas(piece, mayLose).map((delta) => ({ type: "text_delta", responseId, delta }))
    }
    const call = { callId: `c${n}-${at}`, toolName: "tool_a" }
    const args = JSON.stringify(piece.args)
    const starts = {
      "call first": [
        { type: "tool_call", ...call, argsJson: args },
        { type: "tool_call_start", ...call, arguments: args },
      ],
      "empty start first": [
        { type: "tool_call_start", ...call, arguments: "{}" },
        { type: "tool_call", ...call, argsJson: args },
      ],
      "call only": [
        { type: "tool_call", ...call, arguments: piece.args },
        { type: "tool_call_start", ...call, arguments: "" },
      ],
      "start only": [{ type: "tool_call_start", ...call, argsJson: piece.args }],
    }[piece.order]
    return [...starts, { type: "tool_result", ...call, ok: true, result: piece.result }]
  })
  const whole = text === "" ? [] : [{ type: "text_done", responseId, text }]
  const message = {
    type: "assistant_message",
    responseId,
    modality: "text",
    text,
    ...(thinking === "" ? {} : { thinkingText: thinking }),
  }
  const ends = {
    whole,
    message: [message],
    both: [...whole, message],
    interrupted: [{ ...message, text: text.trim(), interrupted: true }],
  }[end]
  return [listQuestion(turn, n), ...thinkingRecords, ...body, ...ends]
}

/** Returns only turn records: the calls, and then the whole text. */
function listTurnRecords(turn: GeneratedTurn, n: number): AnyRecord[] {
  const { pieces, thinking, end } = turn
  const calls = pieces.flatMap((piece, at) => {
    if (piece.type === "text") return []
    const call = { callId: `c${n}-${at}`, toolName: "tool_a" }
    return [
      { type: "tool_call", ...call, argsJson: JSON.stringify(piece.args) },
      { type: "tool_result", ...call, ok: true, result: piece.result },
    ]
  })
  const text = wholeText(turn)
  const message = { type: "assistant_message", responseId: `r${n}`, modality: "text", text }
  const extras = {
    ...(thinking === "" ? {} : { thinkingText: thinking }),
    ...(end === "interrupted" ? { interrupted: true } : {}),
  }
  return [listQuestion(turn, n), ...calls, { ...message, ...extras }]
}

function listEvents(turn: GeneratedTurn, n: number): AnyRecord[] {
  const responseId = `r${n}`
  const { question, pieces, thinking, end } = turn
  const text = wholeText(turn)
  const asked = {
    text: { type: "user_message", text: `Question ${n}` },
    spoken: { type: "user_audio", transcription: "", durationMs: 900 },
    agent: { type: "user_message", text: `Question ${n}`, fromAgentId: "planner", fromSessionId: "s9" },
  }[question]
  const body = pieces.flatMap((piece, at): AnyRecord[] => {
    if (piece.type === "text")
      return listDeltas(piece, true).map((delta) => ({ type: "assistant_chunk", responseId, text: delta }))
    const call = { responseId, toolCallId: `c${n}-${at}` }
    return [
      { type: "tool_call", ...call, toolName: "tool_a", args: piece.args },
      { type: "tool_result", ...call, result: piece.result },
    ]
  })
  return [
    { type: "turn_start", trigger: "user" },
    asked,
    ...(thinking === "" ? [] : [{ type: "thinking_done", responseId, text: thinking }]),
    ...body,
    ...(text === ""
      ? []
      : [{ type: "assistant_done", responseId, text, ...(end === "interrupted" ? { interrupted: true } : {}) }]),
    { type: "turn_end" },
  ]
}
