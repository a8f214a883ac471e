/**
 * turn.ts: moves a session's turns; the only thing that does.
 *
 * send → queue → ADVANCE: ask the model, run the tools, end; then the next in the queue
 * The row is the state: `advance` looks at what is stored, does what `decide.ts` says, and looks again. What a
 * model says is gathered in windows that are written before they are sent (law 3).
 */

import type { Result, TurnFault } from "../../shared/fault.ts"
import type { TurnEvent } from "../../shared/event.ts"
import { MAX_CALLS_PER_STEP, TURN_MS, WINDOW_CHARS, WINDOW_MS } from "../../shared/limits.ts"
import { isEnded, type Message, openMessage, type ToolCall } from "../../shared/message.ts"
import type { Model, ModelEvent } from "../model/adapter.ts"
import type { Tool } from "../tool/tool.ts"
import { contextFor } from "./context.ts"
import { nextAct, ordinalsFor, recoveryOf } from "./decide.ts"
import { dispatchCall } from "./dispatch.ts"
import { createRecorder, type Recorder } from "./record.ts"
import type { Sockets } from "./sockets.ts"
import { isQuiet, type Store } from "./store.ts"

export interface TurnHost {
  readonly store: Store
  readonly sockets: Sockets
  /** A fault where the deployment names no usable model. */
  readonly model: Result<Model, string>
  readonly tools: readonly Tool[]
  readonly system: string
  readonly now: () => number
  readonly nextId: () => string
  readonly nextSeq: () => number
  /** Makes sure that the object wakes while a turn runs, even if this process is killed. */
  readonly armAlarm: () => void
  /** One structured line for the engineers who run it. */
  readonly log: (event: string, detail: Record<string, unknown>) => void
}

export interface Turns {
  /** Starts a turn with a user's message, or queues it behind the one that runs. */
  accept(message: Message): { readonly seq: number }
  /** Goes on with whatever is stored. Re-entrant: a second call joins the first. */
  advance(): Promise<void>
  isRunning(): boolean
}

/** What a process knows of the turn it is running; all that matters of it is in the store. */
interface Run {
  readonly recorder: Recorder
  readonly parent: number | null
  readonly abort: AbortController
  readonly startedMs: number
  /** Ends the turn when its time is over (law 8). */
  readonly limit: ReturnType<typeof setTimeout>
  /** Something of this turn was shown: from now on deltas wait for their window. */
  hasSpoken: boolean
  window: ReturnType<typeof setTimeout> | null
  thinkingSince: number | null
  inputTokens: number
  outputTokens: number
}

export function createTurns(host: TurnHost): Turns {
  const { store, sockets, now } = host
  let run: Run | null = null
  let advancing: Promise<void> | null = null

  const publish = (current: Run): void => {
    if (current.window !== null) clearTimeout(current.window)
    current.window = null
    const flushed = current.recorder.flush()
    if (flushed === null) return
    current.hasSpoken = true
    sockets.sendOps(flushed.seq, flushed.ops, current.recorder.shown())
  }
  /** Feeds one event and sees to it that it is shown: the first at once, the others with their window. */
  const say = (current: Run, event: TurnEvent): void => {
    current.recorder.feed(event)
    if (!current.hasSpoken || current.recorder.waiting() >= WINDOW_CHARS) return publish(current)
    current.window ??= setTimeout(() => publish(current), WINDOW_MS)
  }
  const finish = (current: Run, status: "completed" | "failed" | "interrupted", reason: TurnFault | null): void => {
    const { inputTokens, outputTokens, recorder } = current
    const tokens = outputTokens === 0 ? {} : { input_tokens: inputTokens, output_tokens: outputTokens }
    const metrics = { ms: now() - current.startedMs, steps: recorder.message().step, ...tokens }
    recorder.feed({ type: "end", status, reason, metrics })
    publish(current)
    current.abort.abort()
    clearTimeout(current.limit)
    host.log("turn_end", { status, reason, ...metrics, drift: recorder.drift })
    if (run === current) run = null
  }

  const endThinking = (current: Run): void => {
    if (current.thinkingSince === null) return
    say(current, { type: "thinking_done", ms: now() - current.thinkingSince })
    current.thinkingSince = null
  }
  const hear = (current: Run, event: Exclude<ModelEvent, { type: "finish" | "fault" }>): void => {
    const { recorder } = current
    if (event.type === "thinking_delta") {
      current.thinkingSince ??= now()
      return say(current, event)
    }
    endThinking(current)
    if (event.type === "text_delta") return say(current, event)
    const parts = recorder.message().parts
    const step = recorder.message().step
    if (parts.filter((part) => part.step === step && part.type === "tool_call").length >= MAX_CALLS_PER_STEP) return
    const call_id = `call_${recorder.pos}_${parts.length}`
    say(current, { type: "tool_call", call_id, name: event.name, args: event.args })
  }
  /** One model call. Null: it went well. */
  const askModel = async (current: Run, model: Model): Promise<TurnFault | null> => {
    const { recorder, abort } = current
    const messages = contextFor(recorder.message(), current.parent, store.at)
    recorder.feed({ type: "step_start" })
    const request = { system: host.system, messages, tools: host.tools, signal: abort.signal }
    for await (const event of model.stream(request)) {
      if (abort.signal.aborted) return null
      switch (event.type) {
        case "fault":
          host.log("model_fault", { fault: event.fault, detail: event.detail })
          return event.fault
        case "finish":
          current.inputTokens += event.input_tokens ?? 0
          current.outputTokens += event.output_tokens ?? 0
          endThinking(current)
          recorder.feed({ type: "text_done" })
          return null
        case "text_delta":
        case "thinking_delta":
        case "tool_call":
          hear(current, event)
      }
    }
    return "model_cut_off"
  }
  const step = async (current: Run): Promise<void> => {
    if (!host.model.ok) {
      host.log("model_missing", { detail: host.model.fault })
      return finish(current, "failed", "model_unreachable")
    }
    const before = current.recorder.message().parts.length
    const fault = await askModel(current, host.model.value)
    if (isEnded(current.recorder.message().status)) return
    if (fault !== null) return finish(current, "failed", fault)
    // A model that says nothing has said all it has to say.
    if (current.recorder.message().parts.length === before) finish(current, "completed", null)
  }
  const dispatch = async (current: Run, calls: readonly ToolCall[]): Promise<void> => {
    const { recorder, abort } = current
    const ordinals = ordinalsFor(recorder.message(), calls)
    const tools = calls.map((call) => host.tools.find((tool) => tool.name === call.name))
    calls.forEach((call, i) => {
      const ephemeral = tools[i]?.ephemeral ?? false
      const { call_id } = call
      recorder.feed({ type: "tool_call_start", call_id, channel: "user", ordinal: ordinals[i] ?? null, ephemeral })
    })
    // Written before anything is run: a tool with side effects is dispatched at most once (law 8).
    publish(current)
    await Promise.all(
      calls.map(async (call, i) => {
        const onOutput = (delta: string): void =>
          say(current, { type: "tool_output_delta", call_id: call.call_id, delta })
        const options = { call, tool: tools[i], ordinal: ordinals[i] ?? null, channel: "user" as const, now, onOutput }
        current.recorder.feed(await dispatchCall({ ...options, signal: abort.signal }))
        publish(current)
      }),
    )
  }
  const move = async (current: Run): Promise<void> => {
    for (;;) {
      const act = nextAct(current.recorder.message())
      switch (act.do) {
        case "rest":
          if (run === current) run = null
          return
        case "wait":
          return
        case "end":
          return finish(current, act.status, act.reason)
        case "dispatch":
          await dispatch(current, act.calls)
          break
        case "step":
          await step(current)
          break
      }
    }
  }

  /** The turn that is stored as not ended, taken up by this process. */
  const takeUp = (): Run | null => {
    const stored = store.at(store.newestPos())
    if (stored === null || isQuiet(stored)) return null
    const recorder = createRecorder(store, stored, host.nextSeq)
    const startedMs = Date.parse(stored.message.timestamp)
    const limit = setTimeout(() => finish(taken, "failed", "turn_timeout"), Math.max(startedMs + TURN_MS - now(), 0))
    const taken: Run = {
      ...{ recorder, parent: stored.parent, abort: new AbortController(), startedMs, limit },
      ...{ hasSpoken: false, window: null, thinkingSince: null, inputTokens: 0, outputTokens: 0 },
    }
    return taken
  }
  /** A turn that another process left behind: what is lost is said first. */
  const recover = (taken: Run): Run | null => {
    const isRepeatable = (name: string): boolean => host.tools.find((tool) => tool.name === name)?.repeatable ?? false
    for (const event of recoveryOf(taken.recorder.message(), isRepeatable)) taken.recorder.feed(event)
    publish(taken)
    if (!isEnded(taken.recorder.message().status)) return taken
    clearTimeout(taken.limit)
    return null
  }
  const beginTurn = (user: Message): number => {
    const pos = store.newestPos() + 1
    const place = { pos, parent: store.tip(), version: 1, seq: host.nextSeq() }
    const timestamp = new Date(now()).toISOString()
    const answer = openMessage({ id: host.nextId(), role: "assistant", exchange_id: user.id, timestamp })
    store.insertMessage(place, user)
    sockets.sendMessage({ ...place, message: user })
    const under = { pos: pos + 1, parent: pos, version: 1, seq: host.nextSeq() }
    store.insertMessage(under, answer)
    sockets.sendMessage({ ...under, message: answer })
    host.armAlarm()
    run = takeUp()
    return place.seq
  }
  const beginNext = (): void => {
    const next = store.queue()[0]
    if (next === undefined) return
    store.dropQueued(next.n)
    beginTurn({ ...next.message, status: "completed" })
  }

  const moveAll = async (): Promise<void> => {
    if (run === null) {
      const left = takeUp()
      run = left === null ? null : recover(left)
    }
    for (;;) {
      if (run === null) beginNext()
      if (run === null) return
      const current: Run = run
      try {
        await move(current)
      } catch (error) {
        host.log("turn_error", { message: error instanceof Error ? error.message : "unknown" })
        if (!isEnded(current.recorder.message().status)) finish(current, "failed", "model_unreachable")
      }
      // Still the same turn: it waits for somebody.
      if (run === current) return
    }
  }

  return {
    isRunning: () => run !== null,
    accept(user) {
      if (run !== null) {
        const seq = host.nextSeq()
        store.pushQueue({ ...user, status: "queued" }, seq)
        sockets.sendMessage({ pos: 0, parent: null, version: 1, seq, message: { ...user, status: "queued" } })
        return { seq }
      }
      return { seq: beginTurn(user) }
    },
    advance() {
      advancing ??= moveAll().finally(() => {
        advancing = null
      })
      return advancing
    },
  }
}

/** A user's message as it is accepted. Faults: `message_empty`, `message_too_large` are checked by the caller. */
export function userMessage(id: string, content: string, now: number, reply_to: string | null): Message {
  // The store is UTF-8: what cannot be said in it is said with U+FFFD, in the frame too (law 1).
  const words = content.toWellFormed()
  const timestamp = new Date(now).toISOString()
  return openMessage({ id, role: "user", exchange_id: id, status: "completed", words, timestamp, reply_to })
}
