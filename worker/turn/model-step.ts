/**
 * model-step.ts: runs one step of a turn, which is a single model call with the events that it produces.
 */

import type { TurnFault } from "../../shared/fault.ts"
import { limitJsonDepth } from "../../shared/json-depth.ts"
import { MAX_ANSWER_CHARS, MAX_ARGS_CHARS, MAX_CALLS_PER_STEP, MAX_TOOL_NAME_CHARS } from "../../shared/limits.ts"
import { cutText } from "../../shared/text/cut-text.ts"
import { type Model, type ModelEvent, readStatus } from "../model/model-adapter.ts"
import { createTokenEstimate } from "../model/token-estimate.ts"
import { iterateUntilAborted } from "../platform/abort.ts"
import { createCallId } from "../platform/call-id.ts"
import { describeModelCall } from "../telemetry/genai-attributes.ts"
import type { TraceSpan } from "../telemetry/spans.ts"
import { summarizeIfDue } from "./context-summary.ts"
import { findOpenText, joinText } from "./continuation/join-text.ts"
import { buildContext } from "./model-context.ts"
import { isBlankPart } from "./next-action.ts"
import { endCall, endThinking, feedEvent, finishRun, type TurnHost, type TurnRun } from "./turn-run.ts"

/** Calls the model once. Afterwards, the turn has ended, has calls to dispatch, or has its final text. */
export async function runStep(host: TurnHost, run: TurnRun): Promise<void> {
  const { model } = run.agent
  if (!model.ok) {
    host.log("model_missing", { detail: model.fault })
    return finishRun(host, run, "failed", "model_unreachable")
  }
  const isFirst = run.recorder.currentMessage().step === 0
  if (isFirst) await summarizeIfDue(host, run, model.value)
  if (run.abort.signal.aborted) return
  const describeSpan = () => describeModelCall(model.value, "answer")
  const fault = await run.span.run("chat", describeSpan, async (span) => {
    const failed = await callModel(host, run, model.value, span)
    if (failed !== null) span.fail(failed)
    return failed
  })
  if (fault !== null) return finishRun(host, run, "failed", fault)
  // An empty or invisible response ends the turn.
  const { parts, step: currentStep } = run.recorder.currentMessage()
  if (parts.every((part) => part.step !== currentStep || isBlankPart(part))) finishRun(host, run, "completed", null)
}

/** Makes one model call. Returns null if it succeeded or the turn has ended in the meantime. */
async function callModel(host: TurnHost, run: TurnRun, model: Model, span: TraceSpan): Promise<TurnFault | null> {
  const { signal } = run.abort
  const { system, tools, contextTokens: tokens } = run.agent
  const current = run.recorder.currentMessage()
  const { fileKinds } = model
  const states = model.keepsState === true ? run.states.list(current.step) : []
  const past = host.pastTurns
  const context = buildContext({ current, parent: run.parent, past, system, tools, tokens, fileKinds, states })
  if (context === null) return "context_exceeded"
  const open = findOpenText(current)
  if (open === null) run.recorder.feed({ type: "step_start" })
  const { effort } = current
  const events = model.stream({ ...context, tools, load: host.loadAsset, signal, ...(effort && { effort }) })
  run.usage.beginCall(model, createTokenEstimate({ ...context, tools }))
  try {
    const stream = iterateUntilAborted(events, signal)
    return await applyModelEvents(host, run, open === null ? stream : joinText(stream, open.text))
  } finally {
    endCall(run, span)
  }
}

/** Records the events of one model call. Returns null if the call succeeded or the turn has ended in the meantime. */
async function applyModelEvents(
  host: TurnHost,
  run: TurnRun,
  events: AsyncIterable<ModelEvent>,
): Promise<TurnFault | null> {
  for await (const event of events) {
    run.usage.observe(event)
    switch (event.type) {
      case "started":
      case "model":
      case "retry":
      case "usage":
        break
      case "state":
        addState(host, run, event)
        break
      case "fault":
        host.log("model_fault", { fault: event.fault, status: readStatus(event.detail) })
        return event.fault
      case "finish":
        endThinking(host, run)
        run.recorder.feed({ type: "text_done" })
        return null
      case "text_delta":
      case "thinking_delta":
      case "tool_call":
        applyModelEvent(host, run, cutDelta(event, MAX_ANSWER_CHARS - run.generatedChars))
        run.generatedChars += "delta" in event ? event.delta.length : event.args.length
        if (run.generatedChars > MAX_ANSWER_CHARS) return "answer_too_long"
    }
  }
  return run.abort.signal.aborted ? null : "model_cut_off"
}

function addState(host: TurnHost, run: TurnRun, { model, data }: Extract<ModelEvent, { type: "state" }>): void {
  const { step } = run.recorder.currentMessage()
  if (!run.states.add({ step, model, data })) host.log("provider_state_dropped", { chars: data.length })
}

type ContentEvent = Extract<ModelEvent, { type: "text_delta" | "thinking_delta" | "tool_call" }>

/**
 * Returns the event with at most `charsLeft` of its text: a single delta may exceed the limit of an answer many times.
 */
function cutDelta(event: ContentEvent, charsLeft: number): ContentEvent {
  return "delta" in event ? { ...event, delta: cutText(event.delta, charsLeft) } : event
}

function applyModelEvent(host: TurnHost, run: TurnRun, event: ContentEvent): void {
  // An empty delta adds nothing, and must not end the current part.
  if ("delta" in event && event.delta === "") return
  if (event.type === "thinking_delta") {
    run.thinkingSinceMs ??= host.now()
    return feedEvent(host, run, event)
  }
  endThinking(host, run)
  if (event.type === "text_delta") feedEvent(host, run, event)
  else addToolCall(host, run, event)
}

function addToolCall(host: TurnHost, run: TurnRun, event: Extract<ModelEvent, { type: "tool_call" }>): void {
  const { parts, step } = run.recorder.currentMessage()
  const callsInStep = parts.filter((part) => part.step === step && part.type === "tool_call").length
  if (callsInStep >= MAX_CALLS_PER_STEP) return host.log("too_many_calls", { max: MAX_CALLS_PER_STEP })
  feedEvent(host, run, {
    type: "tool_call",
    call_id: createCallId(run.recorder.pos, parts.length),
    name: cutText(event.name.toWellFormed(), MAX_TOOL_NAME_CHARS),
    // Arguments that are cut at the limit are no longer valid JSON, so the call fails as it should. So does a call
    // whose deeper levels are omitted (`parseToolArgs`).
    args: limitJsonDepth(cutText(event.args.toWellFormed(), MAX_ARGS_CHARS)),
  })
}
