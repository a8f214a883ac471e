/**
 * dispatch-tool.ts: runs one tool call and turns any outcome into a `tool_result` event.
 *
 * call → DISPATCH → tool_result, or tool_input if the tool asks the user
 * Only this file gives a tool its card tag (on channel `user` only) and decides which stored assets the result attaches
 * to the answer. choose-result-card.ts decides whether the result becomes a card. If a tool throws, hangs or returns
 * too much, the call fails, but the turn does not (SPEC TU7).
 */

import * as v from "valibot"
import { isTurnFault, type TurnFault, turnFaultToText } from "../../shared/fault.ts"
import { MAX_ERROR_CHARS, MAX_OUTPUT_CHARS, MAX_RESULT_BYTES } from "../../shared/limits.ts"
import type { Asset, CallError, Channel, InputEvent, TurnEvent } from "../../shared/protocol/event.ts"
import { type TextSize, createSizeCounter, countUtf8Bytes } from "../../shared/truncate.ts"
import { limitJsonDepth } from "../../shared/json-depth.ts"
import { parseJson } from "../../shared/json.ts"
import type { ToolCall } from "../../shared/protocol/message.ts"
import { readToolMedia } from "../../shared/segment/tool-media.ts"
import { cutText, findCutIndex, isHighSurrogate } from "../../shared/text/cut-text.ts"
import type { SaveAsset } from "../asset/save-options.ts"
import { rejectOnAbort } from "../platform/abort.ts"
import { describeError, type Log } from "../platform/log.ts"
import { startTimeout } from "../platform/timeout.ts"
import {
  parseToolArgs,
  DeferredResult,
  InputNeeded,
  type Tool,
  type ToolArgs,
  type ToolContext,
  type ToolReturn,
} from "../tool/tool.ts"
import { addTemplateCard, chooseResultCard, type FindCard, type ToolOutcome } from "../tool/cards/choose-result-card.ts"

type ToolResultEvent = Extract<TurnEvent, { type: "tool_result" }>
/**
 * How the run of a call ends: with a result, or with a question that the user must answer before the call runs again.
 */
type RunEvent = ToolResultEvent | InputEvent

export interface ToolDispatch {
  readonly call: ToolCall
  readonly exchange_id: string
  readonly trace?: string | undefined
  /** The call's number among the calls of the same tool in this turn, counted from 1. */
  readonly nth: number
  readonly ordinal: number | null
  readonly channel: Channel
  /** Undefined if the turn has no tool with that name. */
  readonly tool: Tool | undefined
  readonly signal: AbortSignal
  readonly now: () => number
  /** Time limit of a tool that doesn't set its own, in milliseconds. */
  readonly toolMs: number
  /** Receives the tool's output while it runs. */
  readonly onOutput: (delta: string) => void
  /** Finds the card that shows a result. Absent: no tool has a card with a template. */
  readonly findCard?: FindCard
  /** Stores the files that the tool makes. */
  readonly saveAsset: SaveAsset
  readonly log: Log
}

/**
 * Runs one call until it ends or reaches its time limit: the tool's own, or else `toolMs`.
 * Never throws: every error becomes a `failed` result with one of the codes in SPEC ER2.
 */
export async function dispatchCall(dispatch: ToolDispatch): Promise<RunEvent> {
  const { call, tool } = dispatch
  if (tool === undefined) return createFailedResult(call, "tool_unknown", call.name)
  const args = parseToolArgs(call.args)
  if (args === null)
    return createFailedResult(call, "tool_arguments", "The arguments are not a JSON object, or are nested too deeply.")
  const limitMs = tool.ms ?? dispatch.toolMs
  const timeout = startTimeout(dispatch.signal, limitMs)
  const output = createToolOutput(dispatch.onOutput)
  let result: RunEvent
  try {
    result = await runTool(dispatch, tool, args, output, timeout.signal)
  } catch (error) {
    result = errorToResult(dispatch, timeout.hasExpired() ? limitMs : null, error)
  } finally {
    timeout.clear()
  }
  const size = output.size()
  return size === null || result.type === "tool_input" ? result : { ...result, output_size: size }
}

async function runTool(
  dispatch: ToolDispatch,
  tool: Tool,
  args: ToolArgs,
  output: ToolOutput,
  signal: AbortSignal,
): Promise<RunEvent> {
  const { call, ordinal, channel, exchange_id, trace, nth, now, saveAsset } = dispatch
  const savedAssets = new Map<string, Asset>()
  let app: Asset | null = null
  const context: ToolContext = {
    call_id: call.call_id,
    exchange_id,
    trace,
    nth,
    card: channel === "user" && ordinal !== null ? `${call.name}_${ordinal}` : null,
    signal,
    now,
    saveAsset: trackSavedAssets(saveAsset, savedAssets, signal),
    attachApp: (stored) => {
      app = stored
    },
  }
  const outcome = await rejectOnAbort(executeTool(tool, args, context, output.append), signal)
  if (outcome instanceof InputNeeded) return { type: "tool_input", call_id: call.call_id, input: outcome.input }
  const shown = await rejectOnAbort(addTemplateCard(outcome, context, dispatch), signal)
  const result = outcomeToResult(call, channel === "user" ? ordinal : null, shown.outcome, shown.view)
  return channel === "user" ? attachApp(attachMedia(result, [...savedAssets.values()]), app) : result
}

/**
 * Returns the result of a call that was stopped, timed out or threw. `expiredMs`: the time limit that it reached; null
 * if it reached none.
 */
function errorToResult({ call, signal, log }: ToolDispatch, expiredMs: number | null, error: unknown): ToolResultEvent {
  if (signal.aborted) return createInterruptedResult(call)
  if (expiredMs !== null) return createFailedResult(call, "tool_timeout", `No result within ${expiredMs / 1000} s.`)
  // An exception is a bug in a tool. The exception is only logged, because its message may contain URLs and keys.
  log("tool_error", { tool: call.name, error: describeError(error) })
  return createFailedResult(call, "tool_failed", "It failed unexpectedly.")
}

/** Records the assets that a call stores. A stopped call can't store any more assets; those stored earlier are kept. */
function trackSavedAssets(save: SaveAsset, saved: Map<string, Asset>, signal: AbortSignal): SaveAsset {
  return async (bytes, as) => {
    signal.throwIfAborted()
    const stored = await save(bytes, as)
    if (stored.ok) saved.set(stored.value.id, stored.value)
    return stored
  }
}

/** Creates the result of a call that was stopped together with its turn. */
export function createInterruptedResult(call: ToolCall): ToolResultEvent {
  const error = { code: "tool_interrupted", message: turnFaultToText("tool_interrupted") }
  return { type: "tool_result", call_id: call.call_id, status: "interrupted", result: null, card: null, error }
}

async function executeTool(
  tool: Tool,
  args: ToolArgs,
  context: ToolContext,
  appendOutput: (text: string) => void,
): Promise<ToolOutcome | InputNeeded> {
  const returned: ToolReturn = await tool.execute(args, context)
  if (typeof returned === "string" || !isGenerator(returned)) return returned
  // Close the generator on an abort, so that the tool can clean up.
  context.signal.addEventListener("abort", () => void returned.return({}).catch(() => {}), { once: true })
  for (;;) {
    const next = await returned.next()
    if (next.done === true) return next.value
    appendOutput(next.value)
  }
}

export interface ToolOutput {
  readonly append: (text: string) => void
  /** Returns the full size of the output if it was truncated; else null. */
  readonly size: () => TextSize | null
}

/** Limits a tool's output to MAX_OUTPUT_CHARS, and joins surrogate pairs that the tool split between two chunks. */
export function createToolOutput(onOutput: (delta: string) => void): ToolOutput {
  const size = createSizeCounter()
  let charsLeft = MAX_OUTPUT_CHARS
  let isTruncated = false
  let pendingSurrogate = ""
  return {
    size: () => (isTruncated ? size.size() : null),
    append(text) {
      const joined = pendingSurrogate + text
      pendingSurrogate = isHighSurrogate(joined.charCodeAt(joined.length - 1)) ? joined.slice(-1) : ""
      const complete = joined.slice(0, joined.length - pendingSurrogate.length).toWellFormed()
      size.push(complete)
      const end = findCutIndex(complete, charsLeft)
      isTruncated ||= end < complete.length
      charsLeft = isTruncated ? 0 : charsLeft - end
      if (end > 0) onOutput(complete.slice(0, end))
    },
  }
}

function isGenerator(returned: object): returned is Extract<ToolReturn, AsyncGenerator> {
  return Symbol.asyncIterator in returned
}

/**
 * Converts a tool's outcome to an event. `view`: the version of the card that shows the result; null if there is none.
 */
function outcomeToResult(
  call: ToolCall,
  ordinal: number | null,
  outcome: ToolOutcome,
  view: string | null,
): ToolResultEvent {
  const { call_id } = call
  if (outcome instanceof DeferredResult) {
    const interim = JSON.stringify(outcome.result).toWellFormed()
    return { type: "tool_result", call_id, status: "waiting", result: interim, card: null, error: null }
  }
  const result = limitJsonDepth((typeof outcome === "string" ? outcome : JSON.stringify(outcome)).toWellFormed())
  const bytes = countUtf8Bytes(result)
  if (bytes > MAX_RESULT_BYTES)
    return createFailedResult(call, "tool_result_too_large", `${bytes} bytes; ${MAX_RESULT_BYTES} at most.`)
  const card = chooseResultCard(call.name, ordinal, result, view)
  const error = card === null ? parseToolError(result) : null
  const status = error === null ? "ok" : "failed"
  return { type: "tool_result", call_id, status, result, card, error }
}

/** Attaches the stored assets that the result's trailer names. Results on other channels have no such trailer. */
function attachMedia(event: ToolResultEvent, saved: readonly Asset[]): ToolResultEvent {
  const media = event.status === "ok" && event.result !== null ? readToolMedia(event.result, saved) : []
  return media.length === 0 ? event : { ...event, media }
}

/** Attaches the app that shows the result of a call. SPEC MA2. */
function attachApp(event: ToolResultEvent, app: Asset | null): ToolResultEvent {
  return app === null || event.status !== "ok" ? event : { ...event, media: [...(event.media ?? []), app] }
}

const errorSchema = v.object({ error: v.pipe(v.string(), v.minLength(1)), code: v.optional(v.string(), "tool_failed") })

/** Returns the error of a tool that reports its failure by returning `{error, details}`. */
function parseToolError(result: string): CallError | null {
  if (!result.startsWith("{")) return null
  const parsed = v.safeParse(errorSchema, parseJson(result))
  if (!parsed.success) return null
  const { error, code } = parsed.output
  return { code: isTurnFault(code) ? code : "tool_failed", message: cutText(error, MAX_ERROR_CHARS) }
}

function createFailedResult(call: ToolCall, fault: TurnFault, details: string): ToolResultEvent {
  const error = { code: fault, message: turnFaultToText(fault) }
  const result = JSON.stringify({ error: error.message, details })
  return { type: "tool_result", call_id: call.call_id, status: "failed", result, card: null, error }
}
