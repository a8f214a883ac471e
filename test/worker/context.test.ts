/** context.test.ts: what a model is told of a long session. */

import { describe, expect, test } from "vitest"
import type { TurnEvent } from "../../shared/event.ts"
import { MODEL_CONTEXT_TOKENS } from "../../shared/limits.ts"
import { type Message, openMessage } from "../../shared/message.ts"
import { contextFor as contextWith, createPast, type LookUp } from "../../worker/session/context.ts"
import type { StoredMessage } from "../../worker/session/rows.ts"
import { userMessage } from "../../worker/session/turn.ts"
import { cardTrailer } from "../../worker/tool/tool.ts"
import { answerOf, callOf, placed, resultOf, startOf, TIME } from "../support/turn.ts"

function contextFor(current: Message, parent: number | null, at: LookUp) {
  return contextWith({
    current,
    parent,
    past: createPast(at, MODEL_CONTEXT_TOKENS),
    system: "",
    tools: [],
    tokens: MODEL_CONTEXT_TOKENS,
  }).messages
}

const question = (id: string): Message => userMessage(id, "hi", Date.now(), null)

describe("the model's context", () => {
  function chain(messages: readonly Message[]): (pos: number) => StoredMessage | null {
    return (pos) => {
      const message = messages[pos - 1]
      return message === undefined
        ? null
        : { pos, parent: pos === 1 ? null : pos - 1, deadline: null, seq: pos, message }
    }
  }
  const asked = (words: string): Message =>
    openMessage({ id: words, role: "user", exchange_id: words, timestamp: TIME, words })
  const trailed = `{"a":1}\n\n${cardTrailer("t_1")}`

  test("[TU6] earlier turns go without spans, escapes, trailers and ephemeral rows; this turn's results verbatim", () => {
    const earlier = answerOf(
      ...[callOf("t"), startOf(), resultOf(trailed, "t_1"), callOf("note", "c2")],
      { ...startOf("c2", 1), ephemeral: true } as TurnEvent,
      resultOf("gone", null, "c2"),
      { type: "text_delta", delta: "So <span id='t_1'>cool</span>, Array&lt;T>" },
    )
    const now = answerOf({ type: "step_start" }, callOf("t"), startOf(), resultOf(trailed, "t_1"))
    const context = contextFor(now, 3, chain([asked("one"), earlier, asked("two")]))
    expect(context).toEqual([
      { role: "user", content: "one" },
      {
        role: "assistant",
        pieces: [
          { type: "tool_call", call_id: "c1", name: "t", args: "{}" },
          { type: "text", text: "So cool, Array<T>" },
        ],
      },
      { role: "tool", call_id: "c1", name: "t", result: '{"a":1}', ok: true },
      { role: "user", content: "two" },
      { role: "assistant", pieces: [{ type: "tool_call", call_id: "c1", name: "t", args: "{}" }] },
      { role: "tool", call_id: "c1", name: "t", result: trailed, ok: true },
    ])
  })

  test("[TU6] it fits the budget in whole turns, newest first, and reads no more than it needs", () => {
    const words = "x".repeat(MODEL_CONTEXT_TOKENS) // a quarter of the budget
    const messages = Array.from({ length: 40 }, (_, i) =>
      i % 2 === 0 ? asked(`${i} ${words}`) : answerOf({ type: "text_delta", delta: `answer ${i}` }),
    )
    const at = chain([...messages, asked("now")])
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

  test("[TU6] this turn's own question always goes along", () => {
    const context = contextFor(answerOf(), 1, chain([asked("x".repeat(MODEL_CONTEXT_TOKENS * 5))]))
    expect(context).toHaveLength(1)
  })

  test("[TU6] results of this turn that are too long for the model lose their tail, never their trailer", () => {
    const long = `${JSON.stringify("x".repeat(1_000_000))}\n\n${cardTrailer("t_1")}`
    const now = answerOf({ type: "step_start" }, callOf("t"), startOf(), resultOf(long, "t_1"))
    const [, , result] = contextFor(now, 1, (pos) => placed(question("q1"), { pos }))
    if (result?.role !== "tool") throw new Error("no result")
    expect(result.result.length).toBeLessThan(MODEL_CONTEXT_TOKENS * 4)
    expect(result.result.endsWith(cardTrailer("t_1"))).toBe(true)
  })
})
