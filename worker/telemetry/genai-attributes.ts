/**
 * genai-attributes.ts: the attributes of a turn's spans.
 *
 * `gen_ai.*` names come from OpenTelemetry's semantic conventions for generative AI. All other names begin with
 * `cuecard.`. Messages, arguments and results are never attributes.
 */

import { isTurnFault } from "../../shared/fault.ts"
import type { Message } from "../../shared/protocol/message.ts"
import type { CallUsage, TokenCounts } from "../../shared/usage/call-usage.ts"
import type { SpanAttributes } from "./spans.ts"

export interface TurnNames {
  readonly tenant: string
  /** The public id of the session. */
  readonly session: string
  readonly agent: string
}

export function describeTurn({ tenant, session, agent }: TurnNames, { exchange_id, trace }: Message): SpanAttributes {
  return {
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.agent.name": agent,
    "gen_ai.conversation.id": session,
    "cuecard.tenant": tenant,
    "cuecard.exchange": exchange_id,
    "cuecard.trace": trace,
  }
}

/** Describes how a pass of the turn ended. The turn may be waiting for the user. */
export function describeTurnState({ status, reason }: Message, rowsWritten: number, drift: number): SpanAttributes {
  return {
    "cuecard.turn.status": status,
    "cuecard.turn.reason": nameReason(reason) ?? undefined,
    "cuecard.rows.written": rowsWritten,
    "cuecard.drift": drift,
  }
}

/**
 * Returns the reason why a turn ended if it is in the catalogue, otherwise `other`. The reason of an external answer
 * can be any text.
 */
export function nameReason(reason: string | null): string | null {
  return reason === null || isTurnFault(reason) ? reason : "other"
}

/** Describes a model call. `purpose`: `answer`, or `summary` for a call whose output is not shown as an answer. */
export function describeModelCall(
  { provider, name }: { readonly provider: string; readonly name: string },
  purpose: "answer" | "summary",
): SpanAttributes {
  return {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": provider,
    "gen_ai.request.model": name,
    "cuecard.purpose": purpose,
  }
}

/** Returns the usage of one call. Tokens that the provider did not report have no attributes. */
export function describeUsage(usage: CallUsage): SpanAttributes {
  return {
    "gen_ai.response.model": usage.model,
    // In seconds, which the conventions use for durations.
    "gen_ai.response.time_to_first_chunk": usage.firstChunkMs === null ? undefined : usage.firstChunkMs / 1000,
    "cuecard.retries": usage.retries,
    ...(usage.isReported ? describeTokens(usage) : {}),
  }
}

function describeTokens(usage: TokenCounts): SpanAttributes {
  return {
    "gen_ai.usage.input_tokens": usage.input,
    "gen_ai.usage.cache_read.input_tokens": usage.cached,
    "gen_ai.usage.cache_creation.input_tokens": usage.cacheWritten,
    "gen_ai.usage.output_tokens": usage.output,
    "gen_ai.usage.reasoning.output_tokens": usage.reasoning,
  }
}

/**
 * Describes a tool call. `tool` is the name of one of the agent's tools. A name that only the model used is reported as
 * `unknown`.
 */
export function describeToolCall(tool: string | undefined, call_id: string): SpanAttributes {
  return {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": tool ?? "unknown",
    "gen_ai.tool.call.id": call_id,
  }
}
