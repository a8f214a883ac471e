/** ask-result.ts: creates the result of an `agents_message` call from an answer or a refusal. */

import { type TurnFault, turnFaultToText } from "../../shared/fault.ts"
import { MAX_AGENT_DEPTH } from "../../shared/limits.ts"
import type { TurnEvent } from "../../shared/protocol/event.ts"
import { cleanToModel } from "../../shared/sanitize/clean.ts"
import type { OutboundAsk } from "../store/agent-ask-rows.ts"
import { createRefusal, type ToolReturn } from "../tool/tool.ts"
import type { AskAnswer } from "../platform/rpc/session-types.ts"

/** Returns the result of a call that was waiting for the answer. */
export function answerToToolReturn(answer: AskAnswer, { agent, session }: Pick<OutboundAsk, "agent" | "session">) {
  return answer.ok
    ? { agent, session, answer: cleanToModel(answer.text) }
    : createRefusal("agent_failed", answer.details)
}

/** Returns the result of a call whose answer arrives late. */
export function answerToToolResult(ask: OutboundAsk, answer: AskAnswer): Extract<TurnEvent, { type: "tool_result" }> {
  const base = {
    type: "tool_result",
    call_id: ask.call_id,
    card: null,
    result: JSON.stringify(answerToToolReturn(answer, ask)),
  } as const
  if (answer.ok) return { ...base, status: "ok", error: null }
  return { ...base, status: "failed", error: { code: "agent_failed", message: turnFaultToText("agent_failed") } }
}

/** Returns the text of the turn that a late answer begins. */
export function answerToMessageText(answer: AskAnswer): string {
  return answer.ok ? answer.text : `${turnFaultToText("agent_failed")} ${answer.details}`
}

export function createAskRefusal(fault: TurnFault): ToolReturn {
  return createRefusal(fault, explainRefusal(fault))
}

function explainRefusal(fault: TurnFault): string {
  switch (fault) {
    case "agent_loop":
      return `That agent is already waiting, or the limit of ${MAX_AGENT_DEPTH} agents is reached. Answer without it.`
    case "agent_fan_out":
      return "Answer with what you have."
    default:
      return "Try again later, or answer without it."
  }
}
