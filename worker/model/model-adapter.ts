/**
 * model-adapter.ts: what every model looks like from inside.
 *
 * messages + tools → MODEL → a stream of events
 * A provider adapter translates its wire format to this and back, and nothing
 * else; the turn loop knows no provider.
 */

import type { Asset } from "../../shared/protocol/event.ts"
import type { TurnFault } from "../../shared/fault.ts"
import type { Json } from "../../shared/json.ts"
import type { Role } from "../../shared/protocol/message.ts"
import type { FileKinds } from "./model-files.ts"

/** A tool as a model is told about it. `parameters` is a JSON Schema object. */
export interface ToolSpec {
  readonly name: string
  readonly description: string
  readonly parameters: { readonly [key: string]: Json }
}

export type AssistantPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "tool_call"; readonly call_id: string; readonly name: string; readonly args: string }

/** The head of what a person replies to, and whose words they were. */
export interface ReplyQuote {
  readonly from: Role
  readonly text: string
}

/** A file beside a person's words: given whole, or why it is only told: the model reads no such file, or it had no room. */
export interface ModelFile {
  readonly asset: Asset
  readonly inclusion: "whole" | "untaken" | "left_out"
}

/** One message of a model's context, oldest first. A tool's result is given verbatim, trailer and all. */
export type ModelMessage =
  | {
      readonly role: "user"
      /** The words alone; `userText` tells what stands beside them too. */
      readonly content: string
      readonly quote?: ReplyQuote
      readonly files?: readonly ModelFile[]
    }
  | { readonly role: "assistant"; readonly parts: readonly AssistantPart[] }
  | {
      readonly role: "tool"
      readonly call_id: string
      readonly name: string
      readonly result: string
      readonly ok: boolean
    }

export interface ModelRequest {
  /** Set where the reply is not for the reader, but stands for older messages in later calls. */
  readonly purpose?: "summary"
  readonly system: string
  readonly messages: readonly ModelMessage[]
  readonly tools: readonly ToolSpec[]
  /** The bytes of a file that is given whole, so many of them at most; null where they are not to be had. */
  readonly load?: (id: string, bytes: number) => Promise<Uint8Array | null>
  /** Aborted on cancel and at the turn's end; the adapter stops its upstream. */
  readonly signal: AbortSignal
}

/** One thing a model says. Deltas are raw: `clean` comes after. A stream ends with exactly one `finish` or `fault`. */
export type ModelEvent =
  | { readonly type: "text_delta"; readonly delta: string }
  | { readonly type: "thinking_delta"; readonly delta: string }
  /** A complete call. `args` is JSON text as the model wrote it. Our own call ids are given by the turn. */
  | { readonly type: "tool_call"; readonly name: string; readonly args: string }
  | { readonly type: "finish"; readonly input_tokens?: number; readonly output_tokens?: number }
  /** `detail` is for the log only. `retry`: asked again a little later it may answer; `afterMs` is what it asks for, or null. */
  | {
      readonly type: "fault"
      readonly fault: TurnFault
      readonly detail: string
      readonly retry?: { readonly afterMs: number | null }
    }

export interface Model {
  readonly name: string
  /** Whether it can go on with a partial answer after a restart (DESIGN §8). */
  readonly canContinue: boolean
  /** Files that it can be given whole. */
  readonly fileKinds: FileKinds
  /** Errors come as a `fault` event; the iterator throws only when the signal was aborted. */
  stream(request: ModelRequest): AsyncIterable<ModelEvent>
}
