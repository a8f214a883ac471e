/** turn.test.ts: what a turn does with tools that misbehave, models that fail, and long histories. */

import { runInDurableObject } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import type { TurnEvent } from "../../shared/event.ts"
import { MAX_LEAF_CHARS, MAX_RESULT_BYTES, MODEL_CONTEXT_TOKENS } from "../../shared/limits.ts"
import { fold, type Message, openMessage, type ToolCall } from "../../shared/message.ts"
import { contextFor } from "../../worker/session/context.ts"
import { nextAct, ordinalsFor, recoveryOf } from "../../worker/session/decide.ts"
import { dispatchCall } from "../../worker/session/dispatch.ts"
import { createRecorder } from "../../worker/session/record.ts"
import { createStore, type StoredMessage } from "../../worker/session/store.ts"
import { cardTrailer, type Tool, type ToolContext } from "../../worker/tool/tool.ts"
import { connect, createSession, sessionOf } from "../support/socket.ts"

const TIME = "2026-01-01T00:00:00.000Z"

function answerOf(...events: TurnEvent[]): Message {
  const empty = openMessage({ id: "a", role: "assistant", exchange_id: "q", timestamp: TIME })
  return events.reduce(fold, empty)
}

function callOf(name: string, call_id = "c1", args = "{}"): TurnEvent {
  return { type: "tool_call", call_id, name, args }
}

function startOf(call_id = "c1", ordinal: number | null = 1): TurnEvent {
  return { type: "tool_call_start", call_id, channel: ordinal === null ? "subagent" : "user", ordinal }
}

function resultOf(result: string, card: string | null = null, call_id = "c1"): TurnEvent {
  return { type: "tool_result", call_id, status: "ok", result, card, error: null }
}

describe("tools", () => {
  const queued: ToolCall = {
    ...{ call_id: "c1", name: "probe", args: "{}", status: "queued", ordinal: null, channel: null },
    ...{ card: null, output: "", result: null, error: null, ephemeral: false },
  }
  function run(execute: Tool["execute"], call: Partial<ToolCall> = {}, signal = new AbortController().signal) {
    const tool: Tool = { name: "probe", description: "", parameters: {}, repeatable: true, ephemeral: false, execute }
    const heard: string[] = []
    const result = dispatchCall({
      ...{ call: { ...queued, ...call }, tool, ordinal: 1, channel: "user", signal, now: () => 0 },
      onOutput: (delta) => heard.push(delta),
    })
    return result.then((event) => ({ ...event, heard }))
  }

  test("[TU7] a tool that throws is a failed call that the model is told about", async () => {
    const result = await run(() => {
      throw new Error("no luck")
    })
    expect(result).toMatchObject({ status: "failed", card: null, error: { code: "tool_failed" } })
    expect(result.result).toContain("no luck")
  })

  test.each(["{", "[1]", "null", '"x"'])("[TU7] arguments %s are refused before the tool sees them", async (args) => {
    let ran = false
    const result = await run(() => {
      ran = true
      return "x"
    }, { args })
    expect(result).toMatchObject({ status: "failed", error: { code: "tool_arguments" } })
    expect(ran).toBe(false)
  })

  test("[TU7] an unknown tool is said to be unknown", async () => {
    const signal = new AbortController().signal
    const options = { call: queued, tool: undefined, ordinal: 1, channel: "user", signal, now: () => 0 } as const
    const result = await dispatchCall({ ...options, onOutput: () => {} })
    expect(result).toMatchObject({ status: "failed", error: { code: "tool_unknown" } })
  })

  test("[TU7] a result over the limit is a failed call that says so; one at the limit is kept whole", async () => {
    expect(await run(() => "é".repeat(MAX_RESULT_BYTES / 2 + 1))).toMatchObject({
      ...{ status: "failed", error: { code: "tool_result_too_large" } },
    })
    const whole = "x".repeat(MAX_RESULT_BYTES)
    expect((await run(() => whole)).result).toBe(whole)
  })

  test("[TU7] a tool that never answers is interrupted with the turn", async () => {
    const abort = new AbortController()
    const result = run(() => new Promise(() => {}), {}, abort.signal)
    abort.abort()
    expect(await result).toMatchObject({ status: "interrupted", error: { code: "tool_interrupted" } })
  })

  test("[TU7] output streams, and what the iterable returns is the result", async () => {
    const result = await run(async function* () {
      yield "one "
      yield "two \ud800"
      return { done: true }
    })
    expect(result).toMatchObject({ status: "ok", heard: ["one ", "two \ufffd"], result: '{"done":true}' })
  })

  test("[TU7] `{error}` is a failed call; a card's payload with an error field is a card", async () => {
    expect(await run(() => ({ error: "City not found" }))).toMatchObject({
      ...{ status: "failed", error: { code: "tool_failed", message: "City not found" } },
    })
    const carded = await run((_args, ctx) => `{"error":"x"}\n\n${cardTrailer(ctx.card ?? "")}`)
    expect(carded).toMatchObject({ status: "ok", card: "probe_1" })
  })

  test("[TU2] a tag is offered on channel user only", async () => {
    const seen: ToolContext["card"][] = []
    const tool: Tool = {
      ...{ name: "probe", description: "", parameters: {}, repeatable: true, ephemeral: false },
      execute(_args, ctx) {
        seen.push(ctx.card)
        return `{}\n\n${cardTrailer("probe_1")}`
      },
    }
    const shared = { call: queued, tool, ordinal: 1, signal: new AbortController().signal, now: () => 0, onOutput: () => {} }
    const user = await dispatchCall({ ...shared, channel: "user" })
    const subagent = await dispatchCall({ ...shared, channel: "subagent" })
    expect(seen).toEqual(["probe_1", null])
    expect([user.card, subagent.card]).toEqual(["probe_1", null])
  })

  test("[TU2] ordinals go on from the turn's highest, per tool, and pass over other channels", () => {
    const message = answerOf(
      ...[callOf("a", "c1"), startOf("c1", 1), callOf("a", "c2"), startOf("c2", null), callOf("b", "c3"), startOf("c3", 1)],
    )
    const next = (name: string): ToolCall => ({ ...queued, name })
    expect(ordinalsFor(message, [next("a"), next("b"), next("a"), next("c")])).toEqual([2, 2, 3, 1])
  })
})

describe("what is next", () => {
  test("[TU4] is read off the stored state alone", () => {
    const step: TurnEvent = { type: "step_start" }
    expect(nextAct(answerOf()).do).toBe("step")
    expect(nextAct(answerOf(step, callOf("a"))).do).toBe("dispatch")
    expect(nextAct(answerOf(step, callOf("a"), startOf(), resultOf("{}"))).do).toBe("step")
    expect(nextAct(answerOf(step, { type: "text_delta", delta: "x" }, { type: "text_done" }))).toMatchObject({ do: "end" })
    expect(nextAct(answerOf({ type: "end", status: "completed", reason: null, metrics: null })).do).toBe("rest")
  })

  test("[TU4] a turn without end is ended by its steps", () => {
    const round = (i: number): TurnEvent[] => [
      ...[{ type: "step_start" } as const, callOf("a", `c${i}`), startOf(`c${i}`, i), resultOf("{}", null, `c${i}`)],
    ]
    const message = answerOf(...Array.from({ length: 24 }, (_, i) => round(i + 1)).flat())
    expect(nextAct(message)).toEqual({ do: "end", status: "failed", reason: "step_limit" })
  })

  test("[TU4] recovery interrupts what may have had effects, and nothing else", () => {
    const running = answerOf(callOf("pay", "c1"), startOf("c1"), callOf("read", "c2"), startOf("c2", 2))
    expect(recoveryOf(running, (name) => name === "read").map((event) => "call_id" in event && event.call_id)).toEqual(["c1"])
  })
})

describe("model faults", () => {
  test("[TU5] what was shown stays, the turn ends failed with its reason, and the next one works", async () => {
    await createSession("faulty")
    const client = await connect("faulty")
    client.say({ type: "send", id: "q1", content: "/fault model_rate_limited" })
    expect(await client.untilEnd("q1")).toMatchObject({ status: "failed", reason: "model_rate_limited" })
    client.say({ type: "send", id: "q2", content: "/say fine" })
    expect(await client.untilEnd("q2")).toMatchObject({ status: "completed", segments: [{ content: "fine" }] })
  })
})

describe("the model's context", () => {
  function chain(messages: readonly Message[]): (pos: number) => StoredMessage | null {
    return (pos) => {
      const message = messages[pos - 1]
      return message === undefined ? null : { pos, parent: pos === 1 ? null : pos - 1, version: 1, seq: pos, message }
    }
  }
  const asked = (words: string): Message => openMessage({ id: words, role: "user", exchange_id: words, timestamp: TIME, words })
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
    expect(context.map((message) => message.role)).toEqual(["user", "assistant", "user", "assistant", "user", "assistant", "user"])
    expect(context.at(-1)).toEqual({ role: "user", content: "now" })
    expect(reads).toBeLessThan(12)
  })

  test("[TU6] this turn's own question always goes along", () => {
    const context = contextFor(answerOf(), 1, chain([asked("x".repeat(MODEL_CONTEXT_TOKENS * 5))]))
    expect(context).toHaveLength(1)
  })
})

describe("leaves", () => {
  test("[ST4] [ST5] a long text lies in bounded leaves, cut beside surrogates; a fresh object goes on in the last", async () => {
    await createSession("leaves")
    const lengths = await runInDurableObject(sessionOf("leaves"), (_object, state) => {
      const store = createStore(state.storage.sql)
      const answer = openMessage({ id: "a", role: "assistant", exchange_id: "q", timestamp: TIME })
      store.insertMessage({ pos: 1, parent: null, version: 1, seq: 1 }, answer)
      let seq = 1
      const text = `x${"😀".repeat(MAX_LEAF_CHARS)}`
      const pieces = [text.slice(0, 5_000), text.slice(5_000, 5_001), text.slice(5_001)]
      for (const piece of pieces) {
        const stored = store.at(1)
        if (stored === null) throw new Error("not stored")
        const recorder = createRecorder(store, stored, () => ++seq)
        const before = store.rows().written
        recorder.feed({ type: "text_delta", delta: piece })
        recorder.flush()
        if (piece.length === 1) expect(store.rows().written - before).toBeLessThanOrEqual(1)
      }
      const [part] = store.at(1)?.message.parts ?? []
      expect(part?.type === "text" && part.text).toBe(text)
      return store.leafSizes(1, 0).map((leaf) => leaf.chars)
    })
    expect(Math.max(...lengths)).toBeLessThanOrEqual(MAX_LEAF_CHARS)
    expect(lengths).toHaveLength(3)
  })
})
