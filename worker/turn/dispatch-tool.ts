/**
 * dispatch-tool.ts: runs one tool call and says how it went, whatever the tool does.
 *
 * call → DISPATCH → tool_result
 * The one place where a tag is given to a tool (only on channel `user`) and where it is decided, once,
 * whether its result cued a card (law 4) and which of the files that it stored it gives to the reply. A tool that throws, hangs or returns too much is a failed call, not a failed turn.
 */

import * as v from "valibot"
import { resolveCardTag } from "../../shared/protocol/card-cue.ts"
import type { Asset, CallError, Channel, TurnEvent } from "../../shared/protocol/event.ts"
import { type TextSize, createSizeCounter, countUtf8Bytes } from "../../shared/truncate.ts"
import { isTurnFault, type TurnFault, turnFaultToText } from "../../shared/fault.ts"
import { type Json, parseJson } from "../../shared/json.ts"
import { MAX_ERROR_CHARS, MAX_OUTPUT_CHARS, MAX_RESULT_BYTES } from "../../shared/limits.ts"
import type { ToolCall } from "../../shared/protocol/message.ts"
import { readToolMedia } from "../../shared/segment/tool-media.ts"
import { rejectOnAbort } from "../platform/or-aborted.ts"
import {
  parseToolArgs,
  DeferredResult,
  type SaveAsset,
  type ToolResult,
  type Tool,
  type ToolArgs,
  type ToolContext,
  type ToolReturn,
} from "../tool/tool.ts"

type ToolResultEvent = Extract<TurnEvent, { type: "tool_result" }>

export interface ToolDispatch {
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
  readonly saveAsset: SaveAsset
  readonly log: (event: string, detail: Record<string, unknown>) => void
}

/**
 * Runs one call to its end.
 *
 * Shapes  Dispatch → tool_result event.
 * Errors  none: every fault is a `failed` result with a code of SPEC ER2.
 * Cost    at most the tool's own limit, or `toolMs`.
 */
export async function dispatchCall(dispatch: ToolDispatch): Promise<ToolResultEvent> {
  const { call, tool, ordinal, channel, exchange_id, nth } = dispatch
  if (tool === undefined) return createFailedResult(call, "tool_unknown", call.name)
  const args = parseToolArgs(call.args)
  if (args === null) return createFailedResult(call, "tool_arguments", "The arguments are not a JSON object.")
  const limitMs = tool.ms ?? dispatch.toolMs
  const timeout = new AbortController()
  // No AbortSignal.timeout: it cannot be taken back, and would keep the object awake long after the tool is done.
  const timer = setTimeout(() => timeout.abort(), limitMs)
  const signal = AbortSignal.any([dispatch.signal, timeout.signal])
  const card = channel === "user" && ordinal !== null ? `${call.name}_${ordinal}` : null
  const toolOutput = createToolOutput(dispatch.onOutput)
  /** What this very call stored. */
  const saved = new Map<string, Asset>()
  const addOutputSize = (result: ToolResultEvent): ToolResultEvent => {
    const size = toolOutput.size()
    return size === null ? result : { ...result, output_size: size }
  }
  try {
    const ids = { call_id: call.call_id, exchange_id, nth, card }
    const context: ToolContext = {
      ...ids,
      signal,
      now: dispatch.now,
      saveAsset: trackSavedAssets(dispatch.saveAsset, saved, signal),
    }
    const returned = await rejectOnAbort(executeTool(tool, args, context, toolOutput.append), signal)
    const result = outcomeToResult(call, channel === "user" ? ordinal : null, returned)
    return addOutputSize(channel === "user" ? attachMedia(result, [...saved.values()]) : result)
  } catch (error) {
    if (dispatch.signal.aborted) return addOutputSize(createInterruptedResult(call))
    if (timeout.signal.aborted)
      return addOutputSize(createFailedResult(call, "tool_timeout", `No answer within ${limitMs / 1000} s.`))
    // What a tool throws is our own mistake: its words may hold addresses and keys, so they go to the log alone.
    dispatch.log("tool_error", { tool: call.name, message: error instanceof Error ? error.message : "unknown" })
    return addOutputSize(createFailedResult(call, "tool_failed", "It failed unexpectedly."))
  } finally {
    clearTimeout(timer)
  }
}

/** Of a call that was stopped nothing more is kept (law 7); what it had saved by then stays. */
function trackSavedAssets(save: SaveAsset, saved: Map<string, Asset>, signal: AbortSignal): SaveAsset {
  return async (bytes, as) => {
    signal.throwIfAborted()
    const stored = await save(bytes, as)
    if (stored.ok) saved.set(stored.value.id, stored.value)
    return stored
  }
}

/** The result of a call that was stopped from outside (law 7). */
export function createInterruptedResult(call: ToolCall): ToolResultEvent {
  const error = { code: "tool_interrupted", message: turnFaultToText("tool_interrupted") }
  return { type: "tool_result", call_id: call.call_id, status: "interrupted", result: null, card: null, error }
}

type ToolOutcome = ToolResult | DeferredResult | { readonly [key: string]: Json }

async function executeTool(
  tool: Tool,
  args: ToolArgs,
  context: ToolContext,
  appendOutput: (text: string) => void,
): Promise<ToolOutcome> {
  const returned: ToolReturn = await tool.execute(args, context)
  if (typeof returned === "string" || !isGenerator(returned)) return returned
  // However the waiting ends, the tool learns that nobody listens any more.
  context.signal.addEventListener("abort", () => void returned.return({}).catch(() => {}), { once: true })
  for (;;) {
    const next = await returned.next()
    if (next.done === true) return next.value
    appendOutput(next.value)
  }
}

export interface ToolOutput {
  readonly append: (text: string) => void
  /** The true size of all that was said, where more came than was kept; else null. */
  readonly size: () => TextSize | null
}

/** Bounds what is kept of a tool's output, and joins surrogate pairs that it cut. */
export function createToolOutput(onOutput: (delta: string) => void): ToolOutput {
  const size = createSizeCounter()
  let charsLeft = MAX_OUTPUT_CHARS
  let isTruncated = false
  let pendingSurrogate = ""
  return {
    size: () => (isTruncated ? size.size() : null),
    append(text) {
      const joined = pendingSurrogate + text
      pendingSurrogate = /[\ud800-\udbff]$/.test(joined) ? joined.slice(-1) : ""
      const complete = joined.slice(0, joined.length - pendingSurrogate.length).toWellFormed()
      size.push(complete)
      let end = Math.min(charsLeft, complete.length)
      if (end < complete.length && /[\ud800-\udbff]/.test(complete.charAt(end - 1))) end -= 1
      isTruncated ||= end < complete.length
      charsLeft = isTruncated ? 0 : charsLeft - end
      if (end > 0) onOutput(complete.slice(0, end))
    },
  }
}

function isGenerator(returned: object): returned is Extract<ToolReturn, AsyncGenerator> {
  return Symbol.asyncIterator in returned
}

function outcomeToResult(call: ToolCall, ordinal: number | null, outcome: ToolOutcome): ToolResultEvent {
  const { call_id } = call
  if (outcome instanceof DeferredResult) {
    const interim = JSON.stringify(outcome.result).toWellFormed()
    return { type: "tool_result", call_id, status: "waiting", result: interim, card: null, error: null }
  }
  const result = (typeof outcome === "string" ? outcome : JSON.stringify(outcome)).toWellFormed()
  const bytes = countUtf8Bytes(result)
  if (bytes > MAX_RESULT_BYTES)
    return createFailedResult(call, "tool_result_too_large", `${bytes} bytes; ${MAX_RESULT_BYTES} at most.`)
  const card = resolveCardTag(call.name, ordinal, result)
  const error = card === null ? parseToolError(result) : null
  const status = error === null ? "ok" : "failed"
  return { type: "tool_result", call_id, status, result, card, error }
}

/** Only a person's reply is given files: elsewhere nobody is to place them, and no trailer asks for it (`told`). */
function attachMedia(event: ToolResultEvent, saved: readonly Asset[]): ToolResultEvent {
  const media = event.status === "ok" && event.result !== null ? readToolMedia(event.result, saved) : []
  return media.length === 0 ? event : { ...event, media }
}

const errorSchema = v.object({ error: v.pipe(v.string(), v.minLength(1)), code: v.optional(v.string(), "tool_failed") })

/** A tool says that it failed by returning `{error, details}` (seed 000 §7.2). */
function parseToolError(result: string): CallError | null {
  if (!result.startsWith("{")) return null
  const parsed = v.safeParse(errorSchema, parseJson(result))
  if (!parsed.success) return null
  const { error, code } = parsed.output
  return { code: isTurnFault(code) ? code : "tool_failed", message: error.slice(0, MAX_ERROR_CHARS).toWellFormed() }
}

function createFailedResult(call: ToolCall, fault: TurnFault, details: string): ToolResultEvent {
  const error = { code: fault, message: turnFaultToText(fault) }
  const result = JSON.stringify({ error: error.message, details })
  return { type: "tool_result", call_id: call.call_id, status: "failed", result, card: null, error }
}
