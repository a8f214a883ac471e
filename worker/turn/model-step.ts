/**
 * model-step.ts: one model call of a turn: what it is told, and what it says until it is done.
 *
 * context → model → STEP → events → run
 */

import type { TurnFault } from "../../shared/fault.ts"
import { MAX_ANSWER_CHARS, MAX_ARGS_CHARS, MAX_CALLS_PER_STEP, MAX_TOOL_NAME_CHARS } from "../../shared/limits.ts"
import type { Model, ModelEvent } from "../model/model-adapter.ts"
import { buildContext } from "./model-context.ts"
import { isBlankPart } from "./turn-recovery.ts"
import { endThinking, finishRun, type TurnRun, feedEvent, type TurnHost } from "./turn-run.ts"
import { summarizeIfDue } from "./context-summary.ts"
import { iterateUntilAborted } from "../platform/until-aborted.ts"

/** Asks the model once. It leaves the turn ended, or with calls to dispatch, or with its last words said. */
export async function runStep(host: TurnHost, run: TurnRun): Promise<void> {
  const { model } = run.agent
  if (!model.ok) {
    host.log("model_missing", { detail: model.fault })
    return finishRun(host, run, "failed", "model_unreachable")
  }
  const isFirst = run.recorder.currentMessage().step === 0
  if (isFirst) await summarizeIfDue(host, run, model.value)
  if (run.abort.signal.aborted) return
  const fault = await callModel(host, run, model.value)
  if (fault !== null) return finishRun(host, run, "failed", fault)
  // A model that says nothing, or nothing that a reader would see, has said all it has to say.
  const { parts, step: currentStep } = run.recorder.currentMessage()
  if (parts.every((part) => part.step !== currentStep || isBlankPart(part))) finishRun(host, run, "completed", null)
}

/** One model call. Null: it went well, or the turn ended meanwhile. */
async function callModel(host: TurnHost, run: TurnRun, model: Model): Promise<TurnFault | null> {
  const { signal } = run.abort
  const context = buildContext({
    current: run.recorder.currentMessage(),
    parent: run.parent,
    past: host.pastTurns,
    system: run.agent.system,
    tools: run.agent.tools,
    tokens: run.agent.contextTokens,
    fileKinds: model.fileKinds,
  })
  if (context === null) return "context_exceeded"
  const { system, messages } = context
  run.recorder.feed({ type: "step_start" })
  for await (const event of iterateUntilAborted(
    model.stream({ system, messages, tools: run.agent.tools, load: host.loadAsset, signal }),
    signal,
  )) {
    switch (event.type) {
      case "fault":
        host.log("model_fault", { fault: event.fault, detail: event.detail })
        return event.fault
      case "finish":
        run.inputTokens += event.input_tokens ?? 0
        run.outputTokens += event.output_tokens ?? 0
        endThinking(host, run)
        run.recorder.feed({ type: "text_done" })
        return null
      case "text_delta":
      case "thinking_delta":
      case "tool_call":
        applyModelEvent(host, run, event)
        if (run.generatedChars > MAX_ANSWER_CHARS) return "answer_too_long"
    }
  }
  return signal.aborted ? null : "model_cut_off"
}

function applyModelEvent(host: TurnHost, run: TurnRun, event: Exclude<ModelEvent, { type: "finish" | "fault" }>): void {
  run.generatedChars += "delta" in event ? event.delta.length : event.args.length
  // An empty delta says nothing, and must not end what is being said.
  if ("delta" in event && event.delta === "") return
  if (event.type === "thinking_delta") {
    run.thinkingSinceMs ??= host.now()
    return feedEvent(host, run, event)
  }
  endThinking(host, run)
  if (event.type === "text_delta") return feedEvent(host, run, event)
  const { parts, step } = run.recorder.currentMessage()
  const callsInStep = parts.filter((part) => part.step === step && part.type === "tool_call").length
  if (callsInStep >= MAX_CALLS_PER_STEP) return host.log("too_many_calls", { name: event.name })
  const call_id = `call_${run.recorder.pos}_${parts.length}`
  // Arguments over the bound are cut, so they are no JSON any more, and the call fails as it should.
  const args = event.args.slice(0, MAX_ARGS_CHARS).toWellFormed()
  feedEvent(host, run, {
    type: "tool_call",
    call_id,
    name: event.name.slice(0, MAX_TOOL_NAME_CHARS).toWellFormed(),
    args,
  })
}
