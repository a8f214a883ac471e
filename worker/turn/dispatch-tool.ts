/**
 * dispatch-tool.ts: runs one tool call and says how it went, whatever the tool does.
 *
 * call → DISPATCH → tool_result
 * The one place where a tag is given to a tool (only on channel `user`) and where it is decided, once,
 * whether its result cued a card (law 4) and which of the files that it stored it gives to the reply. A tool that throws, hangs or returns too much is a failed call, not a failed turn.
 */

import * as v from "valibot"
import { cardOf } from "../../shared/protocol/card-cue.ts"
import type { Asset, CallError, Channel, TextSize, TurnEvent } from "../../shared/protocol/event.ts"
import { isTurnFault, type TurnFault, turnFaultText } from "../../shared/fault.ts"
import { type Json, parseJson } from "../../shared/protocol/frame.ts"
import { MAX_ERROR_CHARS, MAX_OUTPUT_CHARS, MAX_RESULT_BYTES } from "../../shared/limits.ts"
import type { ToolCall } from "../../shared/protocol/message.ts"
import { toolMedia } from "../../shared/segment/tool-media.ts"
import { createSize, utf8Bytes } from "../../shared/truncate.ts"
import { orAborted } from "../platform/or-aborted.ts"
import {
  argsOf,
  Deferred,
  type Save,
  type Told,
  type Tool,
  type ToolArgs,
  type ToolContext,
  type ToolReturn,
} from "../tool/tool.ts"

type ToolResult = Extract<TurnEvent, { type: "tool_result" }>

export interface Dispatch {
  readonly call: ToolCall
  readonly exchange_id: string
  /** Which call of its tool it is in its turn, from 1. */
  readonly nth: number
  readonly ordinal: number | null
  readonly channel: Channel
  /** Undefined: the model asked for a tool that this turn does not have. */
  readonly tool: Tool | undefined
  readonly signal: AbortSignal
  readonly now: () => number
  /** Longest run of a tool that has no limit of its own, in milliseconds. */
  readonly toolMs: number
  /** What the tool says while it runs. */
  readonly onOutput: (delta: string) => void
  /** Keeps what the tool makes. */
  readonly save: Save
  readonly log: (event: string, detail: Record<string, unknown>) => void
}

/**
 * Runs one call to its end.
 *
 * Shapes  Dispatch → tool_result event.
 * Errors  none: every fault is a `failed` result with a code of SPEC ER2.
 * Cost    at most the tool's own limit, or `toolMs`.
 */
export async function dispatchCall(dispatch: Dispatch): Promise<ToolResult> {
  const { call, tool, ordinal, channel, exchange_id, nth } = dispatch
  if (tool === undefined) return failed(call, "tool_unknown", call.name)
  const args = argsOf(call.args)
  if (args === null) return failed(call, "tool_arguments", "The arguments are not a JSON object.")
  const limit = tool.ms ?? dispatch.toolMs
  const timeout = new AbortController()
  // No AbortSignal.timeout: it cannot be taken back, and would keep the object awake long after the tool is done.
  const timer = setTimeout(() => timeout.abort(), limit)
  const signal = AbortSignal.any([dispatch.signal, timeout.signal])
  const card = channel === "user" && ordinal !== null ? `${call.name}_${ordinal}` : null
  const output = createOutput(dispatch.onOutput)
  /** What this very call stored. */
  const saved = new Map<string, Asset>()
  const withSize = (result: ToolResult): ToolResult => {
    const size = output.size()
    return size === null ? result : { ...result, output_size: size }
  }
  try {
    const ids = { call_id: call.call_id, exchange_id, nth, card }
    const context: ToolContext = { ...ids, signal, now: dispatch.now, save: keepTrack(dispatch.save, saved, signal) }
    const returned = await orAborted(finish(tool, args, context, output.say), signal)
    const result = resultOf(call, channel === "user" ? ordinal : null, returned)
    return withSize(channel === "user" ? withMedia(result, [...saved.values()]) : result)
  } catch (error) {
    if (dispatch.signal.aborted) return withSize(interrupted(call))
    if (timeout.signal.aborted) return withSize(failed(call, "tool_timeout", `No answer within ${limit / 1000} s.`))
    // What a tool throws is our own mistake: its words may hold addresses and keys, so they go to the log alone.
    dispatch.log("tool_error", { tool: call.name, message: error instanceof Error ? error.message : "unknown" })
    return withSize(failed(call, "tool_failed", "It failed unexpectedly."))
  } finally {
    clearTimeout(timer)
  }
}

/** Of a call that was stopped nothing more is kept (law 7); what it had saved by then stays. */
function keepTrack(save: Save, saved: Map<string, Asset>, signal: AbortSignal): Save {
  return async (bytes, as) => {
    signal.throwIfAborted()
    const kept = await save(bytes, as)
    if (kept.ok) saved.set(kept.value.id, kept.value)
    return kept
  }
}

/** The result of a call that was stopped from outside (law 7). */
export function interrupted(call: ToolCall): ToolResult {
  const error = { code: "tool_interrupted", message: turnFaultText("tool_interrupted") }
  return { type: "tool_result", call_id: call.call_id, status: "interrupted", result: null, card: null, error }
}

type Returned = Told | Deferred | { readonly [key: string]: Json }

async function finish(
  tool: Tool,
  args: ToolArgs,
  context: ToolContext,
  say: (text: string) => void,
): Promise<Returned> {
  const returned: ToolReturn = await tool.execute(args, context)
  if (typeof returned === "string" || !isGenerator(returned)) return returned
  // However the waiting ends, the tool learns that nobody listens any more.
  context.signal.addEventListener("abort", () => void returned.return({}).catch(() => {}), { once: true })
  for (;;) {
    const next = await returned.next()
    if (next.done === true) return next.value
    say(next.value)
  }
}

export interface Output {
  readonly say: (text: string) => void
  /** The true size of all that was said, where more came than was kept; else null. */
  readonly size: () => TextSize | null
}

/** Bounds what is kept of a tool's output, and joins surrogate pairs that it cut. */
export function createOutput(onOutput: (delta: string) => void): Output {
  const size = createSize()
  let room = MAX_OUTPUT_CHARS
  let isOver = false
  let carry = ""
  return {
    size: () => (isOver ? size.size() : null),
    say(text) {
      const whole = carry + text
      carry = /[\ud800-\udbff]$/.test(whole) ? whole.slice(-1) : ""
      const come = whole.slice(0, whole.length - carry.length).toWellFormed()
      size.push(come)
      let end = Math.min(room, come.length)
      if (end < come.length && /[\ud800-\udbff]/.test(come.charAt(end - 1))) end -= 1
      isOver ||= end < come.length
      room = isOver ? 0 : room - end
      if (end > 0) onOutput(come.slice(0, end))
    },
  }
}

function isGenerator(returned: object): returned is Extract<ToolReturn, AsyncGenerator> {
  return Symbol.asyncIterator in returned
}

function resultOf(call: ToolCall, ordinal: number | null, returned: Returned): ToolResult {
  const { call_id } = call
  if (returned instanceof Deferred) {
    const now = JSON.stringify(returned.result).toWellFormed()
    return { type: "tool_result", call_id, status: "waiting", result: now, card: null, error: null }
  }
  const result = (typeof returned === "string" ? returned : JSON.stringify(returned)).toWellFormed()
  const bytes = utf8Bytes(result)
  if (bytes > MAX_RESULT_BYTES)
    return failed(call, "tool_result_too_large", `${bytes} bytes; ${MAX_RESULT_BYTES} at most.`)
  const card = cardOf(call.name, ordinal, result)
  const error = card === null ? errorIn(result) : null
  const status = error === null ? "ok" : "failed"
  return { type: "tool_result", call_id, status, result, card, error }
}

/** Only a person's reply is given files: elsewhere nobody is to place them, and no trailer asks for it (`told`). */
function withMedia(event: ToolResult, saved: readonly Asset[]): ToolResult {
  const media = event.status === "ok" && event.result !== null ? toolMedia(event.result, saved) : []
  return media.length === 0 ? event : { ...event, media }
}

const errorSchema = v.object({ error: v.pipe(v.string(), v.minLength(1)), code: v.optional(v.string(), "tool_failed") })

/** A tool says that it failed by returning `{error, details}` (seed 000 §7.2). */
function errorIn(result: string): CallError | null {
  if (!result.startsWith("{")) return null
  const said = v.safeParse(errorSchema, parseJson(result))
  if (!said.success) return null
  const { error, code } = said.output
  return { code: isTurnFault(code) ? code : "tool_failed", message: error.slice(0, MAX_ERROR_CHARS).toWellFormed() }
}

function failed(call: ToolCall, fault: TurnFault, details: string): ToolResult {
  const error = { code: fault, message: turnFaultText(fault) }
  const result = JSON.stringify({ error: error.message, details })
  return { type: "tool_result", call_id: call.call_id, status: "failed", result, card: null, error }
}
