/** turn.test.ts: tests how the next action of a turn is chosen, and failures of models and writes. */

import { runInDurableObject } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import type { TurnEvent } from "../../shared/protocol/event.ts"
import { applyToMessage } from "../../shared/protocol/apply-ops.ts"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { toCanonicalJson } from "../../shared/json.ts"
import { MAX_TEXT_CHUNK_CHARS, MAX_QUEUED_MESSAGES, MODEL_CONTEXT_TOKENS, TURN_MS } from "../../shared/limits.ts"
import { type Message, createMessage } from "../../shared/protocol/message.ts"
import { messageToWire } from "../../shared/segment/segmenter.ts"
import type { Model, ModelEvent } from "../../worker/model/model-adapter.ts"
import type { ResolvedAgent } from "../../worker/turn/resolve-agent.ts"
import { createPastTurns } from "../../worker/turn/past-turns.ts"
import { decideNextAction } from "../../worker/turn/next-action.ts"
import { planRecovery } from "../../worker/turn/turn-recovery.ts"
import { TurnRecorder } from "../../worker/turn/turn-recorder.ts"
import type { TurnHost } from "../../worker/turn/turn-run.ts"
import { createSessionStore, type SessionStore } from "../../worker/store/session-store.ts"
import { createUserMessage } from "../../worker/turn/begin-turn.ts"
import { createUsageRecorder } from "../../worker/usage/usage-recorder.ts"
import { TurnScheduler } from "../../worker/turn/turn-scheduler.ts"
import { connect, createSession, sessionOf } from "../support/socket.ts"
import { answerOf, AT_REST, callOf, NOTHING_KNOWN, placed, resultOf, startOf, TIME, TIMES } from "../support/turn.ts"
import { NO_TELEMETRY } from "./session-helpers.ts"
import { saveNothing } from "./tools.ts"

const decideNext = (message: Message) => decideNextAction(message, AT_REST)

describe("the next action", () => {
  test("[TU4] depends on the stored state alone", () => {
    const step: TurnEvent = { type: "step_start" }
    expect(decideNext(answerOf()).do).toBe("step")
    expect(decideNext(answerOf(step, callOf("a"))).do).toBe("dispatch")
    expect(decideNext(answerOf(step, callOf("a"), startOf(), resultOf("{}"))).do).toBe("step")
    expect(decideNext(answerOf(step, { type: "text_delta", delta: "x" }, { type: "text_done" }))).toMatchObject({
      do: "end",
    })
    expect(decideNext(answerOf({ type: "end", status: "completed", reason: null, metrics: null })).do).toBe("rest")
  })

  test("[TU4] a turn that doesn't end by itself is ended by the step limit", () => {
    const createRound = (i: number): TurnEvent[] => [
      { type: "step_start" } as const,
      callOf("a", `c${i}`),
      startOf(`c${i}`, i),
      resultOf("{}", null, `c${i}`),
    ]
    const message = answerOf(...Array.from({ length: 24 }, (_, i) => createRound(i + 1)).flat())
    expect(decideNext(message)).toEqual({ do: "end", status: "failed", reason: "step_limit" })
  })

  test("[TU4] recovery interrupts calls that may have had side effects, and no others", () => {
    const running = answerOf(callOf("pay", "c1"), startOf("c1"), callOf("read", "c2"), startOf("c2", 2))
    expect(
      planRecovery(running, (name) => name === "read").map((event) => "call_id" in event && event.call_id),
    ).toEqual(["c1"])
  })
})

describe("model faults", () => {
  test("[TU5] the text shown so far stays, the turn ends as failed with the reason, and the next turn works", async () => {
    await createSession("faulty")
    const client = await connect("faulty")
    client.say({ type: "send", id: "q1", content: "/fault model_rate_limited" })
    expect(await client.untilEnd("q1")).toMatchObject({ status: "failed", reason: "model_rate_limited" })
    client.say({ type: "send", id: "q2", content: "/say fine" })
    expect(await client.untilEnd("q2")).toMatchObject({ status: "completed", segments: [{ content: "fine" }] })
  })
})

describe("text chunks", () => {
  test("[ST4] [ST5] a long text is stored in bounded chunks that split no surrogate pair, and a new object continues the last chunk", async () => {
    await createSession("leaves")
    const lengths = await runInDurableObject(sessionOf("leaves"), (_object, state) => {
      const store = createSessionStore(state.storage.sql)
      const answer = createMessage({ id: "a", role: "assistant", exchange_id: "q", timestamp: TIME })
      store.insertMessage(placed(answer))
      let seq = 1
      const text = `x${"😀".repeat(MAX_TEXT_CHUNK_CHARS)}`
      const chunks = [text.slice(0, 5_000), text.slice(5_000, 5_001), text.slice(5_001)]
      for (const chunk of chunks) {
        const stored = store.findMessageAt(1)
        if (stored === null) throw new Error("not stored")
        const recorder = new TurnRecorder(store, stored, () => ++seq)
        const before = store.countRows().written
        recorder.feed({ type: "text_delta", delta: chunk })
        recorder.flush()
        if (chunk.length === 1) expect(store.countRows().written - before).toBeLessThanOrEqual(1)
      }
      const [part] = store.findMessageAt(1)?.message.parts ?? []
      expect(part?.type === "text" && part.text).toBe(text)
      return store.readChunkRows(1).map((row) => String(row["text"]).length)
    })
    expect(Math.max(...lengths)).toBeLessThanOrEqual(MAX_TEXT_CHUNK_CHARS)
    expect(lengths).toHaveLength(3)
  })
})

describe("failures", () => {
  interface Played {
    readonly live: WireMessage | null
    readonly stored: WireMessage | null
    readonly seqs: readonly number[]
    readonly order: readonly string[]
    readonly modelCalls: number
  }

  /** Runs turns on real SQLite, with a test model and with sockets that apply the ops that they receive. */
  function playEvents(
    name: string,
    model: Model["stream"],
    act: (turns: TurnScheduler, tools: { sleep: (ms: number) => Promise<void> }) => Promise<void>,
    spoil: (store: SessionStore) => SessionStore = (store) => store,
    turnMs = TURN_MS,
  ): Promise<Played> {
    return createSession(name).then(() =>
      runInDurableObject(sessionOf(name), async (_object, state) => {
        const store = spoil(createSessionStore(state.storage.sql, (write) => state.storage.transactionSync(write)))
        const messages = new Map<string, WireMessage>()
        const seqs: number[] = []
        let [seq, modelCalls] = [store.readLastSeq(), 0]
        const sockets: TurnHost["sockets"] = {
          sendMessage: (stored) => {
            seqs.push(stored.seq)
            messages.set(stored.message.id, messageToWire(stored.message))
          },
          sendOps: (at, ops, stored) => {
            seqs.push(at)
            const before = messages.get(stored.message.id)
            if (before !== undefined) messages.set(stored.message.id, applyToMessage(before, ops))
          },
        }
        const answerer: ResolvedAgent = {
          name: "test",
          isExternal: false,
          isWebhook: false,
          system: "",
          tools: [],
          contextTokens: MODEL_CONTEXT_TOKENS,
          maxMessageTokens: 1000,
          model: { ok: true, value: { provider: "test", name: "test", fileKinds: new Set(), stream: model } },
        }
        const turns = new TurnScheduler({
          store,
          sockets,
          onIdle: () => {},
          findCard: async () => null,
          loadCardView: async () => null,
          currentAgent: () => answerer,
          nextId: () => `a${++modelCalls}`,
          log: () => {},
          telemetry: NO_TELEMETRY,
          armAlarm: () => {},
          gate: { check: () => ({ ok: true, value: null }), beginTurn: () => {}, giveBack: async () => {} },
          resolver: NOTHING_KNOWN,
          now: Date.now,
          times: { ...TIMES, turnMs },
          pastTurns: createPastTurns(store.findMessageAt, MODEL_CONTEXT_TOKENS),
          loadAsset: async () => null,
          nextSeq: () => ++seq,
          saveAsset: saveNothing,
          resume: () => {},
          usageRecorder: createUsageRecorder({ now: Date.now, listPrices: () => [] }),
          resetSeq: () => {
            seq = store.readLastSeq()
          },
        })
        await act(turns, { sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)) })
        const newest = store.findMessageAt(store.readNewestPos())
        const live = newest === null ? null : (messages.get(newest.message.id) ?? null)
        const order = Array.from(
          { length: store.readNewestPos() },
          (_, i) => store.findMessageAt(i + 1)?.message.exchange_id ?? "",
        )
        return { live, stored: newest && messageToWire(newest.message), seqs, order, modelCalls }
      }),
    )
  }

  const createQuestion = (id: string): Message => createUserMessage(id, "hi", Date.now())
  const toComparable = (message: WireMessage | null): string => toCanonicalJson({ ...message, content: "" })

  async function* streamText(): AsyncGenerator<ModelEvent> {
    yield { type: "text_delta", delta: "Let me look. " }
    yield { type: "tool_call", name: "ghost", args: "{}" }
    yield { type: "finish" }
  }

  test.each([1, 99])(
    "[TU8] a write that fails %i times ends the turn; nothing is shown that isn't stored, and there is no gap",
    async (times) => {
      let left = times
      const played = await playEvents(
        `spoilt${times}`,
        streamText,
        async (turns) => {
          turns.startOrQueue(createQuestion("q1"))
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
      expect(toComparable(played.live)).toBe(toComparable(played.stored))
      expect(played.seqs).toEqual(played.seqs.map((_, i) => (played.seqs[0] ?? 0) + i))
    },
  )

  test("[TU8] a model that ignores an abort is abandoned at the turn's limit, and the queue continues in order", async () => {
    let calls = 0
    const played = await playEvents(
      "deaf",
      async function* (): AsyncGenerator<ModelEvent> {
        if (++calls === 1) await new Promise(() => {})
        yield { type: "text_delta", delta: "ok" }
        yield { type: "finish" }
      },
      async (turns, { sleep }) => {
        turns.startOrQueue(createQuestion("q1"))
        const done = turns.advance()
        turns.startOrQueue(createQuestion("q2"))
        await sleep(20)
        turns.startOrQueue(createQuestion("q3"))
        await done
        await turns.advance()
      },
      (store) => store,
      50,
    )
    expect(played.order).toEqual(["q1", "q1", "q2", "q2", "q3", "q3"])
    expect(played.stored?.status).toBe("completed")
  })

  test("[TU8] empty deltas have no effect, and blank deltas don't each write a row", async () => {
    let rows = 0
    const played = await playEvents(
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
        turns.startOrQueue(createQuestion("q1"))
        await turns.advance()
      },
      (store) => ({
        ...store,
        putChunk: (...chunk) => {
          rows += 1
          store.putChunk(...chunk)
        },
      }),
    )
    expect(played.stored?.segments.map((segment) => segment.type)).toEqual(["thinking", "text"])
    expect(played.stored?.segments[0]).toMatchObject({ content: "ab" })
    expect(rows).toBeLessThan(8)
  })

  test("[TU4] a step cut off between its calls ends the turn; a step that had shown nothing runs again", () => {
    const isNever = (): boolean => false
    const cut = answerOf({ type: "step_start" }, callOf("weather"))
    expect(planRecovery(cut, isNever)).toMatchObject([{ type: "end", status: "interrupted" }])
    const blank = answerOf({ type: "step_start" }, { type: "text_delta", delta: "\n\n" })
    expect(planRecovery(blank, isNever)).toEqual([])
    expect(decideNext(blank).do).toBe("step")
  })

  test("[TU3] the number of waiting messages is limited", async () => {
    await createSession("crowd")
    const client = await connect("crowd")
    client.say({ type: "send", id: "q0", content: "/bench deltas=50 chars=4 tools=0 delay_ms=10 yield_every=1" })
    for (let i = 1; i <= MAX_QUEUED_MESSAGES + 1; i++) client.say({ type: "send", id: `q${i}`, content: "/say x" })
    const error = await client.untilTrue((frame) => frame.type === "error")
    expect(error).toMatchObject({ code: "queue_full", id: `q${MAX_QUEUED_MESSAGES + 1}` })
    await client.untilEnd(`q${MAX_QUEUED_MESSAGES}`)
  })
})

test("[TU4] a step whose calls were dispatched is completed, whatever the model wrote after the calls", () => {
  const textEvent: TurnEvent = { type: "text_delta", delta: "I wait." }
  const askEvent: TurnEvent = { type: "tool_approval", call_id: "c1", approval: "asked" }
  expect(planRecovery(answerOf({ type: "step_start" }, callOf("pay"), textEvent, askEvent), () => false)).toEqual([])
  const settled = answerOf({ type: "step_start" }, callOf("read"), textEvent, startOf(), resultOf("{}"))
  expect(planRecovery(settled, () => false)).toEqual([])
  expect(planRecovery(answerOf({ type: "step_start" }, callOf("pay"), textEvent), () => false)).toHaveLength(1)
})
