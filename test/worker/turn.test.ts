/** turn.test.ts: what a turn does with tools that misbehave, models that fail, and long histories. */

import { runInDurableObject } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import type { TurnEvent } from "../../shared/event.ts"
import { applyToMessage, canonicalJson, type WireMessage } from "../../shared/frame.ts"
import { MAX_LEAF_CHARS, MAX_QUEUED, MAX_RESULT_BYTES, MODEL_CONTEXT_TOKENS, TURN_MS } from "../../shared/limits.ts"
import { fold, type Message, openMessage, type ToolCall } from "../../shared/message.ts"
import { messageToWire } from "../../shared/segment.ts"
import type { Model, ModelEvent } from "../../worker/model/adapter.ts"
import { contextFor } from "../../worker/session/context.ts"
import { nextAct, ordinalsFor, recoveryOf } from "../../worker/session/decide.ts"
import { dispatchCall } from "../../worker/session/dispatch.ts"
import { createRecorder } from "../../worker/session/record.ts"
import type { Sockets } from "../../worker/session/sockets.ts"
import { createStore, type Store, type StoredMessage } from "../../worker/session/store.ts"
import { createTurns, type Turns, userMessage } from "../../worker/session/turn.ts"
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
    ...{ card: null, output: "", result: null, error: null, approval: null, outputSize: null, ephemeral: false },
  }
  function run(execute: Tool["execute"], call: Partial<ToolCall> = {}, signal = new AbortController().signal) {
    const tool: Tool = { name: "probe", description: "", parameters: {}, repeatable: true, ephemeral: false, execute }
    const heard: string[] = []
    const result = dispatchCall({
      ...{ call: { ...queued, ...call }, tool, ordinal: 1, channel: "user", signal, now: () => 0 },
      onOutput: (delta) => heard.push(delta),
      log: () => {},
    })
    return result.then((event) => ({ ...event, heard }))
  }

  test("[TU7] a tool that throws is a failed call that the model is told about", async () => {
    const result = await run(() => {
      throw new Error("no luck")
    })
    expect(result).toMatchObject({ status: "failed", card: null, error: { code: "tool_failed" } })
    // Its words may hold addresses and keys: they are for the log.
    expect(JSON.stringify(result)).not.toContain("no luck")
  })

  test.each(["{", "[1]", "null", '"x"'])("[TU7] arguments %s are refused before the tool sees them", async (args) => {
    let ran = false
    const result = await run(
      () => {
        ran = true
        return "x"
      },
      { args },
    )
    expect(result).toMatchObject({ status: "failed", error: { code: "tool_arguments" } })
    expect(ran).toBe(false)
  })

  test("[TU7] an unknown tool is said to be unknown", async () => {
    const signal = new AbortController().signal
    const options = { call: queued, tool: undefined, ordinal: 1, channel: "user", signal, now: () => 0 } as const
    const result = await dispatchCall({ ...options, onOutput: () => {}, log: () => {} })
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
      yield "two \ud83d"
      yield "\ude00 \ud800"
      return { done: true }
    })
    expect(result).toMatchObject({ status: "ok", heard: ["one ", "two ", "😀 "], result: '{"done":true}' })
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
    const shared = {
      call: queued,
      tool,
      ordinal: 1,
      signal: new AbortController().signal,
      now: () => 0,
      onOutput: () => {},
      log: () => {},
    }
    const user = await dispatchCall({ ...shared, channel: "user" })
    const subagent = await dispatchCall({ ...shared, channel: "subagent" })
    expect(seen).toEqual(["probe_1", null])
    expect([user.card, subagent.card]).toEqual(["probe_1", null])
  })

  test("[TU2] ordinals go on from the turn's highest, per tool, and pass over other channels", () => {
    const message = answerOf(
      ...[
        callOf("a", "c1"),
        startOf("c1", 1),
        callOf("a", "c2"),
        startOf("c2", null),
        callOf("b", "c3"),
        startOf("c3", 1),
      ],
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
    expect(nextAct(answerOf(step, { type: "text_delta", delta: "x" }, { type: "text_done" }))).toMatchObject({
      do: "end",
    })
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
    expect(recoveryOf(running, (name) => name === "read").map((event) => "call_id" in event && event.call_id)).toEqual([
      "c1",
    ])
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

describe("when things go wrong", () => {
  interface Played {
    readonly live: WireMessage | null
    readonly stored: WireMessage | null
    readonly seqs: readonly number[]
    readonly order: readonly string[]
    readonly modelCalls: number
  }

  /** Plays turns on real SQLite with a model and a store of our own; sockets that apply what they are sent. */
  function play(
    name: string,
    model: Model["stream"],
    act: (turns: Turns, tools: { sleep: (ms: number) => Promise<void> }) => Promise<void>,
    spoil: (store: Store) => Store = (store) => store,
    turnMs = TURN_MS,
  ): Promise<Played> {
    return createSession(name).then(() =>
      runInDurableObject(sessionOf(name), async (_object, state) => {
        const store = spoil(createStore(state.storage.sql, (write) => state.storage.transactionSync(write)))
        const messages = new Map<string, WireMessage>()
        const seqs: number[] = []
        let [seq, modelCalls] = [store.lastSeq(), 0]
        const sockets: Sockets = {
          accept: () => new Response(null),
          sendMessage: (stored) => {
            seqs.push(stored.seq)
            messages.set(stored.message.id, messageToWire(stored.message))
          },
          sendOps: (at, ops, stored) => {
            seqs.push(at)
            const before = messages.get(stored.message.id)
            if (before !== undefined) messages.set(stored.message.id, applyToMessage(before, ops))
          },
          ...{ resume: () => {}, see: () => {}, reply: () => {}, fault: () => {}, attend: () => null },
        }
        const turns = createTurns({
          ...{
            store,
            sockets,
            tools: [],
            system: "",
            nextId: () => `a${++modelCalls}`,
            log: () => {},
            armAlarm: () => {},
          },
          now: Date.now,
          turnMs,
          model: { ok: true, value: { name: "test", continues: false, stream: model } },
          nextSeq: () => ++seq,
          resetSeq: () => {
            seq = store.lastSeq()
          },
        })
        await act(turns, { sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)) })
        const newest = store.at(store.newestPos())
        const live = newest === null ? null : (messages.get(newest.message.id) ?? null)
        const order = Array.from({ length: store.newestPos() }, (_, i) => store.at(i + 1)?.message.exchange_id ?? "")
        return { live, stored: newest && messageToWire(newest.message), seqs, order, modelCalls }
      }),
    )
  }

  const question = (id: string): Message => userMessage(id, "hi", Date.now(), null)
  const shown = (message: WireMessage | null): string => canonicalJson({ ...message, content: "" })

  async function* talk(): AsyncGenerator<ModelEvent> {
    yield { type: "text_delta", delta: "Let me look. " }
    yield { type: "tool_call", name: "ghost", args: "{}" }
    yield { type: "finish" }
  }

  test.each([1, 99])(
    "[TU8] a write that fails %i times ends the turn, shows nothing that is not stored, leaves no gap",
    async (times) => {
      let left = times
      const played = await play(
        `spoilt${times}`,
        talk,
        async (turns) => {
          turns.accept(question("q1"))
          await turns.advance()
        },
        (store) => ({
          ...store,
          putCall: (...row) => {
            if (left-- > 0) throw new Error("disk full")
            store.putCall(...row)
          },
        }),
      )
      expect(played.stored).toMatchObject({ status: "failed", reason: "internal" })
      expect(shown(played.live)).toBe(shown(played.stored))
      expect(played.seqs).toEqual(played.seqs.map((_, i) => (played.seqs[0] ?? 0) + i))
    },
  )

  test("[TU8] a model that obeys nothing is left behind at the turn's limit, and the queue goes on in its order", async () => {
    let calls = 0
    const played = await play(
      "deaf",
      async function* (): AsyncGenerator<ModelEvent> {
        if (++calls === 1) await new Promise(() => {})
        yield { type: "text_delta", delta: "ok" }
        yield { type: "finish" }
      },
      async (turns, { sleep }) => {
        turns.accept(question("q1"))
        const done = turns.advance()
        turns.accept(question("q2"))
        await sleep(20)
        turns.accept(question("q3"))
        await done
        await turns.advance()
      },
      (store) => store,
      50,
    )
    expect(played.order).toEqual(["q1", "q1", "q2", "q2", "q3", "q3"])
    expect(played.stored?.status).toBe("completed")
  })

  test("[TU8] empty deltas say nothing, and blank ones write no row each", async () => {
    let rows = 0
    const played = await play(
      "blank",
      async function* (): AsyncGenerator<ModelEvent> {
        for (let i = 0; i < 400; i++) yield { type: "text_delta", delta: "\n" }
        yield { type: "thinking_delta", delta: "a" }
        yield { type: "text_delta", delta: "" }
        yield { type: "thinking_delta", delta: "b" }
        yield { type: "text_delta", delta: "Hi" }
        yield { type: "finish" }
      },
      async (turns) => {
        turns.accept(question("q1"))
        await turns.advance()
      },
      (store) => ({
        ...store,
        putLeaf: (...leaf) => {
          rows += 1
          store.putLeaf(...leaf)
        },
      }),
    )
    expect(played.stored?.segments.map((segment) => segment.type)).toEqual(["thinking", "text"])
    expect(played.stored?.segments[0]).toMatchObject({ content: "ab" })
    expect(rows).toBeLessThan(8)
  })

  test("[TU4] a step cut between its calls ends the turn; one of which nothing was seen is run again", () => {
    const none = (): boolean => false
    const cut = answerOf({ type: "step_start" }, callOf("weather"))
    expect(recoveryOf(cut, none)).toMatchObject([{ type: "end", status: "interrupted" }])
    const blank = answerOf({ type: "step_start" }, { type: "text_delta", delta: "\n\n" })
    expect(recoveryOf(blank, none)).toEqual([])
    expect(nextAct(blank).do).toBe("step")
  })

  test("[TU6] results of this turn that are too long for the model lose their tail, never their trailer", () => {
    const long = `${JSON.stringify("x".repeat(1_000_000))}\n\n${cardTrailer("t_1")}`
    const now = answerOf({ type: "step_start" }, callOf("t"), startOf(), resultOf(long, "t_1"))
    const [, , result] = contextFor(now, 1, (pos) => ({
      ...{ pos, parent: null, version: 1, seq: 1, message: question("q1") },
    }))
    if (result?.role !== "tool") throw new Error("no result")
    expect(result.result.length).toBeLessThan(MODEL_CONTEXT_TOKENS * 4)
    expect(result.result.endsWith(cardTrailer("t_1"))).toBe(true)
  })

  test("[TU3] so many messages may wait and no more", async () => {
    await createSession("crowd")
    const client = await connect("crowd")
    client.say({ type: "send", id: "q0", content: "/bench deltas=50 chars=4 tools=0 delay_ms=10 yield_every=1" })
    for (let i = 1; i <= MAX_QUEUED + 1; i++) client.say({ type: "send", id: `q${i}`, content: "/say x" })
    const error = await client.untilTrue((frame) => frame.type === "error")
    expect(error).toMatchObject({ code: "queue_full", id: `q${MAX_QUEUED + 1}` })
    await client.untilEnd(`q${MAX_QUEUED}`)
  })
})
