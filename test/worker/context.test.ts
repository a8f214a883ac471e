/** context.test.ts: tests the model's context in a long session. */

import { describe, expect, test } from "vitest"
import type { TurnEvent } from "../../shared/protocol/event.ts"
import { MODEL_CONTEXT_TOKENS } from "../../shared/limits.ts"
import { type Message, createMessage } from "../../shared/protocol/message.ts"
import { buildContext } from "../../worker/turn/model-context.ts"
import { createPastTurns, type MessageLookup } from "../../worker/turn/past-turns.ts"
import { estimateTokens, estimateMessageTokens } from "../../worker/model/token-estimate.ts"
import type { StoredMessage } from "../../worker/store/row-codec.ts"
import { createUserMessage } from "../../worker/turn/begin-turn.ts"
import { createCardTrailer } from "../../worker/tool/tool.ts"
import { answerOf, callOf, placed, resultOf, startOf, TIME } from "../support/turn.ts"

function contextFor(current: Message, parent: number | null, at: MessageLookup) {
  const request = { current, parent, past: createPastTurns(at, MODEL_CONTEXT_TOKENS), system: "S", tools: [] }
  const context = buildContext({ ...request, tokens: MODEL_CONTEXT_TOKENS })
  if (context === null) throw new Error("the context does not fit")
  expect(estimateTokens(context.system) + estimateMessageTokens(context.messages)).toBeLessThanOrEqual(
    MODEL_CONTEXT_TOKENS,
  )
  return context.messages
}

const createQuestion = (id: string): Message => createUserMessage(id, "hi", Date.now())

describe("the model's context", () => {
  function chainMessages(messages: readonly Message[]): (pos: number) => StoredMessage | null {
    return (pos) => {
      const message = messages[pos - 1]
      return message === undefined
        ? null
        : { pos, parent: pos === 1 ? null : pos - 1, deadline: null, seq: pos, message }
    }
  }
  const userMessage = (words: string): Message =>
    createMessage({ id: words, role: "user", exchange_id: words, timestamp: TIME, words })
  const trailed = `{"a":1}\n\n${createCardTrailer("t_1")}`

  test("[TU6] earlier turns are sent without spans, escapes, trailers and ephemeral rows; this turn's results are sent verbatim", () => {
    const earlier = answerOf(
      callOf("t"),
      startOf(),
      resultOf(trailed, "t_1"),
      callOf("note", "c2"),
      { ...startOf("c2", 1), ephemeral: true } as TurnEvent,
      resultOf("gone", null, "c2"),
      { type: "text_delta", delta: "So <span id='t_1'>cool</span>, Array&lt;T>" },
    )
    const now = answerOf({ type: "step_start" }, callOf("t"), startOf(), resultOf(trailed, "t_1"))
    const context = contextFor(now, 3, chainMessages([userMessage("one"), earlier, userMessage("two")]))
    expect(context).toEqual([
      { role: "user", content: "one" },
      {
        role: "assistant",
        parts: [
          { type: "tool_call", call_id: "c1", name: "t", args: "{}" },
          { type: "text", text: "So cool, Array<T>" },
        ],
      },
      { role: "tool", call_id: "c1", name: "t", result: '{"a":1}', ok: true },
      { role: "user", content: "two" },
      { role: "assistant", parts: [{ type: "tool_call", call_id: "c1", name: "t", args: "{}" }] },
      { role: "tool", call_id: "c1", name: "t", result: trailed, ok: true },
    ])
  })

  test("[DR14] media is sent to the model as notes, both where an answer named it and with the call that attached it", () => {
    const [chart, voice] = [
      { id: "c1", kind: "image", mime_type: "image/png", label: "chart.png", size: 9 },
      { id: "v1", kind: "audio", mime_type: "audio/wav", label: "v.wav", size: 9 },
    ] as const
    const earlier = answerOf(
      callOf("draw"),
      startOf(),
      { ...resultOf('{"a":1}\n\nMEDIA:/media/c1'), media: [chart] } as TurnEvent,
      callOf("speak", "c2"),
      { ...startOf("c2"), ephemeral: true } as TurnEvent,
      { ...resultOf("{}\n\nMEDIA:/media/v1", null, "c2"), media: [voice] } as TurnEvent,
      { type: "text_delta", delta: "[[reply_to_current]]See:\nMEDIA: /media/c1" },
    )
    const parts = earlier.parts.map((part) =>
      part.type === "text" ? { ...part, grants: { origins: [], replies: [], assets: [chart] } } : part,
    )
    const context = contextFor(
      answerOf(),
      3,
      chainMessages([userMessage("one"), { ...earlier, parts }, userMessage("two")]),
    )
    expect(context.slice(1, 3)).toEqual([
      {
        role: "assistant",
        parts: [
          { type: "tool_call", call_id: "c1", name: "draw", args: "{}" },
          { type: "text", text: "(attached: v.wav, /media/v1)" },
          { type: "text", text: "See:\n(attached: chart.png, /media/c1)" },
        ],
      },
      { role: "tool", call_id: "c1", name: "draw", result: '{"a":1}\n\n(attached: chart.png, /media/c1)', ok: true },
    ])
  })

  test("[TU6] the context contains whole turns, newest first, within the budget; no more messages are read than needed", () => {
    const words = "x".repeat(MODEL_CONTEXT_TOKENS) // This is a quarter of the budget.
    const messages = Array.from({ length: 40 }, (_, i) =>
      i % 2 === 0 ? userMessage(`${i} ${words}`) : answerOf({ type: "text_delta", delta: `answer ${i}` }),
    )
    const at = chainMessages([...messages, userMessage("now")])
    let reads = 0
    const context = contextFor(answerOf(), 41, (pos) => {
      reads += 1
      return at(pos)
    })
    expect(context.map((message) => message.role)).toEqual([
      "user",
      "assistant",
      "user",
      "assistant",
      "user",
      "assistant",
      "user",
    ])
    expect(context.at(-1)).toEqual({ role: "user", content: "now" })
    expect(reads).toBeLessThan(12)
  })

  test("[TU6] a question that takes up three quarters of the budget still leaves space for results of any length", () => {
    const question = userMessage("x".repeat(MODEL_CONTEXT_TOKENS * 3))
    const long = `${JSON.stringify("x".repeat(400_000))}

${createCardTrailer("t_1")}`
    const now = answerOf({ type: "step_start" }, callOf("t"), startOf(), resultOf(long, "t_1"))
    const context = contextFor(now, 1, chainMessages([question]))
    expect(context.map((message) => message.role)).toEqual(["user", "assistant", "tool"])
    const [, , result] = context
    expect(result?.role === "tool" && result.result.endsWith(createCardTrailer("t_1"))).toBe(true)
  })

  test("[TU6] call arguments that would not fit are replaced by their length", () => {
    const steps = [1, 2, 3, 4].flatMap((i): TurnEvent[] => [
      { type: "step_start" },
      callOf("t", `c${i}`, JSON.stringify({ text: "y".repeat(100_000) })),
      startOf(`c${i}`, i),
      resultOf("{}", null, `c${i}`),
    ])
    const context = contextFor(answerOf(...steps), 1, chainMessages([userMessage("now")]))
    expect(JSON.stringify(context)).toContain("left_out")
    expect(context.filter((message) => message.role === "tool")).toHaveLength(4)
  })

  test("[TU6] a turn that can't fit gets no context", () => {
    const words = answerOf({ type: "step_start" }, { type: "text_delta", delta: "z".repeat(MODEL_CONTEXT_TOKENS * 5) })
    const past = createPastTurns(chainMessages([userMessage("now")]), 1)
    const request = { current: words, parent: 1, past, system: "", tools: [], tokens: MODEL_CONTEXT_TOKENS }
    expect(buildContext(request)).toBeNull()
  })

  test("[TU6] results of this turn that are too long for the model lose their tail, but never their trailer", () => {
    const long = `${JSON.stringify("x".repeat(1_000_000))}\n\n${createCardTrailer("t_1")}`
    const now = answerOf({ type: "step_start" }, callOf("t"), startOf(), resultOf(long, "t_1"))
    const [, , result] = contextFor(now, 1, (pos) => placed(createQuestion("q1"), { pos }))
    if (result?.role !== "tool") throw new Error("no result")
    expect(result.result.length).toBeLessThan(MODEL_CONTEXT_TOKENS * 4)
    expect(result.result.endsWith(createCardTrailer("t_1"))).toBe(true)
  })
})
