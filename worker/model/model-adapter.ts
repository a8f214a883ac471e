/**
 * model-adapter.ts: the interface of every model.
 *
 * messages + tools → MODEL → a stream of events
 * An adapter only translates between this interface and a provider's wire format. The turn code is
 * provider-independent.
 */

import type { TurnFault } from "../../shared/fault.ts"
import type { PriceEntry } from "../../shared/usage/price-entry.ts"
import type { Role } from "../../shared/protocol/message.ts"
import type { MeterEvent } from "../usage/call-meter.ts"
import type { Effort } from "../../shared/model-effort.ts"
import type { FileKinds } from "./model-files.ts"
import type { Json } from "../../shared/json.ts"
import type { Asset } from "../../shared/protocol/event.ts"

/** A tool as described to a model. `parameters` is a JSON Schema object. */
export interface ToolSpec {
  readonly name: string
  readonly description: string
  readonly parameters: { readonly [key: string]: Json }
}

export type AssistantPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "tool_call"; readonly call_id: string; readonly name: string; readonly args: string }

/** The start of the message that a user replies to, and its author. */
export interface ReplyQuote {
  readonly from: Role
  readonly text: string
}

/**
 * A file attached to a user's message. `whole`: sent with its content. Otherwise only its name is sent: `untaken` if
 * the model doesn't accept its kind, `left_out` if it doesn't fit.
 */
export interface ModelFile {
  readonly asset: Asset
  readonly inclusion: "whole" | "untaken" | "left_out"
}

/**
 * The state that a model must receive again with the next step of a turn. Opaque: only the provider's code reads it.
 */
export interface ProviderState {
  /** The model that returned the state. The state isn't sent to any other model. */
  readonly model: string
  readonly data: string
}

/** One message of a model's context. A tool result is verbatim, including its trailer. */
export type ModelMessage =
  | {
      readonly role: "user"
      /** The text alone. `formatUserMessage` adds the quote and the files. */
      readonly content: string
      readonly quote?: ReplyQuote
      readonly files?: readonly ModelFile[]
    }
  | { readonly role: "assistant"; readonly parts: readonly AssistantPart[]; readonly state?: ProviderState }
  | {
      readonly role: "tool"
      readonly call_id: string
      readonly name: string
      readonly result: string
      readonly ok: boolean
    }

export interface ModelRequest {
  /**
   * Set if the response isn't shown as an answer: a summary for later calls, the session's title, or suggested
   * questions.
   */
  readonly purpose?: "summary" | "title" | "follow_ups"
  readonly system: string
  /** Oldest first. */
  readonly messages: readonly ModelMessage[]
  readonly tools: readonly ToolSpec[]
  /** The response should be JSON that matches this schema. A model that ignores the schema writes plain text. */
  readonly schema?: { readonly [keyword: string]: Json }
  /** How much the model thinks. Absent: the provider's default. */
  readonly effort?: Effort
  /** Loads at most `bytes` bytes of a file that is included whole; null if it can't be read. */
  readonly load?: (id: string, bytes: number) => Promise<Uint8Array | null>
  /**
   * Aborted on cancel and at the end of the turn. When the signal is aborted, the adapter closes its upstream
   * connection.
   */
  readonly signal: AbortSignal
}

/**
 * An event of a model's response. Deltas are raw, not sanitised. A stream ends with exactly one `finish` or `fault`,
 * and the usage comes before it.
 */
export type ModelEvent =
  | { readonly type: "text_delta"; readonly delta: string }
  | { readonly type: "thinking_delta"; readonly delta: string }
  /** A complete call. `args` is JSON text as the model wrote it. The turn assigns the call id. */
  | { readonly type: "tool_call"; readonly name: string; readonly args: string }
  /** The provider's state: at most one per step, before the step's calls. It is never shown. */
  | ({ readonly type: "state" } & ProviderState)
  | MeterEvent
  | { readonly type: "finish" }
  /**
   * `detail` may quote the request, so it is neither shown nor logged, except for a status at its start. `retry`: a
   * later attempt may succeed; `afterMs` is the requested delay, or null.
   */
  | {
      readonly type: "fault"
      readonly fault: TurnFault
      readonly detail: string
      readonly retry?: { readonly afterMs: number | null }
    }

export interface Model {
  readonly name: string
  /**
   * The provider that runs the model: its `gen_ai.provider.name` in OpenTelemetry if there is one, otherwise the host.
   */
  readonly provider: string
  /** Kinds of files that the model accepts whole. */
  readonly fileKinds: FileKinds
  /** Whether the model may need to receive a state again with the next step. Absent: no. */
  readonly keepsState?: boolean
  /** Returns the built-in prices. Empty until the model's code is loaded, which happens on its first call. */
  readonly listBuiltInPrices?: () => readonly PriceEntry[]
  /** Errors are `fault` events. The iterator throws only if the signal was aborted. */
  stream(request: ModelRequest): AsyncIterable<ModelEvent>
}

/** Returns the HTTP status at the start of a fault's detail; null if it has none. */
export function readStatus(detail: string): number | null {
  const [status] = /^\d{3}\b/.exec(detail) ?? []
  return status === undefined ? null : Number(status)
}
