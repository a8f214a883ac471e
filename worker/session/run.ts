/**
 * run.ts: one turn, as the process that runs it knows it: asking the model, running tools, ending.
 *
 * decide → RUN: model → events → recorder → sockets
 * All that matters of a run is in the store; this holds what may be lost: the abort, the window, the clock of thinking.
 * What a model says is gathered in windows that are written before they are sent (law 3).
 */

import type { TurnEvent } from "../../shared/event.ts"
import type { Result, TurnFault } from "../../shared/fault.ts"
import {
  MAX_ARGS_CHARS,
  MAX_CALLS_PER_STEP,
  MAX_TOOL_NAME_CHARS,
  WINDOW_CHARS,
  WINDOW_MS,
} from "../../shared/limits.ts"
import { isEnded, type ToolCall } from "../../shared/message.ts"
import type { Model, ModelEvent } from "../model/adapter.ts"
import type { Tool } from "../tool/tool.ts"
import { contextFor } from "./context.ts"
import { nextAct, ordinalsFor } from "./decide.ts"
import { dispatchCall } from "./dispatch.ts"
import type { Recorder } from "./record.ts"
import type { Sockets } from "./sockets.ts"
import type { Store } from "./store.ts"

/** What a turn needs of the object around it. */
export interface TurnHost {
  readonly store: Store
  readonly sockets: Sockets
  /** A fault (for the log) where the deployment names no usable model. */
  readonly model: Result<Model, string>
  readonly tools: readonly Tool[]
  readonly system: string
  readonly now: () => number
  /** Longest run of one turn, in milliseconds. */
  readonly turnMs: number
  readonly nextId: () => string
  readonly nextSeq: () => number
  /** A write failed after its seq was given: the next one goes on from what is stored. */
  readonly resetSeq: () => void
  /** Makes sure that the object wakes while a turn runs, even if this process is killed. */
  readonly armAlarm: () => void
  /** One structured line for the engineers who run it. */
  readonly log: (event: string, detail: Record<string, unknown>) => void
}

export interface Run {
  readonly recorder: Recorder
  readonly parent: number | null
  readonly abort: AbortController
  /** Milliseconds since 1970. */
  readonly startedMs: number
  /** Rows that were written before it. */
  readonly rowsBefore: number
  /** Ends the turn when its time is over (law 8). */
  limit: ReturnType<typeof setTimeout> | null
  /** Something of this turn was shown: from now on deltas wait for their window. */
  hasSpoken: boolean
  window: ReturnType<typeof setTimeout> | null
  /** A window that could not be written, found by its timer: the turn fails with it. */
  failure: unknown
  thinkingSince: number | null
  inputTokens: number
  outputTokens: number
}

export function isOver(run: Run): boolean {
  return isEnded(run.recorder.message().status)
}

/** Writes what was gathered, then sends it. */
export function publish(host: TurnHost, run: Run): void {
  if (run.window !== null) clearTimeout(run.window)
  run.window = null
  run.hasSpoken = true
  const flushed = run.recorder.flush()
  if (flushed === null) return
  host.sockets.sendOps(flushed.seq, flushed.ops, run.recorder.shown())
}

/** Feeds one event and sees to it that it is shown: the first of a turn at once, the others with their window. */
function say(host: TurnHost, run: Run, event: TurnEvent): void {
  run.recorder.feed(event)
  if (!run.hasSpoken || run.recorder.waiting() >= WINDOW_CHARS) return publish(host, run)
  run.window ??= setTimeout(() => publishLater(host, run), WINDOW_MS)
}

/** Nobody waits for a timer, so what it meets is kept for `move`, which is woken by the abort. */
function publishLater(host: TurnHost, run: Run): void {
  try {
    publish(host, run)
  } catch (error) {
    run.failure = error
    run.abort.abort()
  }
}

/** Ends a turn, once. What was gathered and not yet written goes along; the model and the tools are told to stop. */
export function finish(
  host: TurnHost,
  run: Run,
  status: "completed" | "failed" | "interrupted",
  reason: TurnFault | null,
): void {
  if (isOver(run)) return
  const { recorder, inputTokens, outputTokens } = run
  const tokens = outputTokens === 0 ? {} : { input_tokens: inputTokens, output_tokens: outputTokens }
  const metrics = { ms: host.now() - run.startedMs, steps: recorder.message().step, ...tokens }
  recorder.feed({ type: "end", status, reason, metrics })
  publish(host, run)
  run.abort.abort()
  if (run.limit !== null) clearTimeout(run.limit)
  const rows_written = host.store.rows().written - run.rowsBefore
  host.log("turn_end", { status, reason, ...metrics, rows_written, drift: recorder.drift })
}

/** Does what is next until the turn is over or waits for somebody. */
export async function move(host: TurnHost, run: Run): Promise<void> {
  for (;;) {
    if (run.failure !== null) throw run.failure
    const act = nextAct(run.recorder.message())
    switch (act.do) {
      case "rest":
      case "wait":
        return
      case "end":
        return finish(host, run, act.status, act.reason)
      case "dispatch":
        await dispatch(host, run, act.calls)
        break
      case "step":
        await step(host, run)
        break
    }
  }
}

async function step(host: TurnHost, run: Run): Promise<void> {
  if (!host.model.ok) {
    host.log("model_missing", { detail: host.model.fault })
    return finish(host, run, "failed", "model_unreachable")
  }
  const before = run.recorder.message().parts.length
  const fault = await askModel(host, run, host.model.value)
  if (fault !== null) return finish(host, run, "failed", fault)
  // A model that says nothing has said all it has to say.
  if (run.recorder.message().parts.length === before) finish(host, run, "completed", null)
}

/** One model call. Null: it went well, or the turn ended meanwhile. */
async function askModel(host: TurnHost, run: Run, model: Model): Promise<TurnFault | null> {
  const { recorder } = run
  const { signal } = run.abort
  const messages = contextFor(recorder.message(), run.parent, host.store.at)
  recorder.feed({ type: "step_start" })
  const stream = model.stream({ system: host.system, messages, tools: host.tools, signal })[Symbol.asyncIterator]()
  const stopped = untilAborted(signal)
  for (;;) {
    const next = await Promise.race([stopped, stream.next()])
    if (next === null || signal.aborted) return null
    if (next.done === true) return "model_cut_off"
    const event = next.value
    switch (event.type) {
      case "fault":
        host.log("model_fault", { fault: event.fault, detail: event.detail })
        return event.fault
      case "finish":
        run.inputTokens += event.input_tokens ?? 0
        run.outputTokens += event.output_tokens ?? 0
        endThinking(host, run)
        recorder.feed({ type: "text_done" })
        return null
      case "text_delta":
      case "thinking_delta":
      case "tool_call":
        hear(host, run, event)
    }
  }
}

/** Resolves with the abort: a model that does not obey it is not waited for. */
function untilAborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(null)
    signal.addEventListener("abort", () => resolve(null), { once: true })
  })
}

function hear(host: TurnHost, run: Run, event: Exclude<ModelEvent, { type: "finish" | "fault" }>): void {
  // An empty delta says nothing, and must not end what is being said.
  if ("delta" in event && event.delta === "") return
  if (event.type === "thinking_delta") {
    run.thinkingSince ??= host.now()
    return say(host, run, event)
  }
  endThinking(host, run)
  if (event.type === "text_delta") return say(host, run, event)
  const { parts, step } = run.recorder.message()
  const asked = parts.filter((part) => part.step === step && part.type === "tool_call").length
  if (asked >= MAX_CALLS_PER_STEP) return host.log("too_many_calls", { name: event.name })
  const call_id = `call_${run.recorder.pos}_${parts.length}`
  // Arguments over the bound are cut, so they are no JSON any more, and the call fails as it should.
  const args = event.args.slice(0, MAX_ARGS_CHARS).toWellFormed()
  say(host, run, { type: "tool_call", call_id, name: event.name.slice(0, MAX_TOOL_NAME_CHARS).toWellFormed(), args })
}

function endThinking(host: TurnHost, run: Run): void {
  if (run.thinkingSince === null) return
  say(host, run, { type: "thinking_done", ms: host.now() - run.thinkingSince })
  run.thinkingSince = null
}

/** Runs the pending tools of a step, side by side. */
async function dispatch(host: TurnHost, run: Run, calls: readonly ToolCall[]): Promise<void> {
  const { recorder, abort } = run
  const ordinals = ordinalsFor(recorder.message(), calls)
  const tools = calls.map((call) => host.tools.find((tool) => tool.name === call.name))
  calls.forEach(({ call_id }, i) => {
    const ephemeral = tools[i]?.ephemeral ?? false
    recorder.feed({ type: "tool_call_start", call_id, channel: "user", ordinal: ordinals[i] ?? null, ephemeral })
  })
  // Written before anything is run: a tool with side effects is dispatched at most once (law 8).
  publish(host, run)
  const runCall = async (call: ToolCall, i: number): Promise<void> => {
    const result = await dispatchCall({
      ...{ call, tool: tools[i], ordinal: ordinals[i] ?? null, channel: "user", signal: abort.signal, now: host.now },
      log: host.log,
      onOutput: (delta) => say(host, run, { type: "tool_output_delta", call_id: call.call_id, delta }),
    })
    recorder.feed(result)
    publish(host, run)
  }
  await Promise.all(calls.map(runCall))
}
