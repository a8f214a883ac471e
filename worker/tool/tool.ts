/**
 * tool.ts: the interface of a tool, and its results.
 *
 * A tool requests a card by returning the value of `toolResult(…)`, which is `<JSON>\n\n<trailer>`. The trailer names
 * the tag in `ctx.card`. Without `ctx.card`, no card can be cued, and the tool returns the plain object.
 */

import { assetUrl } from "../../shared/protocol/asset-url.ts"
import type { Asset } from "../../shared/protocol/event.ts"
import type { CallInput } from "../../shared/protocol/input/call-input.ts"
import { type Fault, faultToWire, type TurnFault, turnFaultToText } from "../../shared/fault.ts"
import { OMITTED_LEVELS } from "../../shared/json-depth.ts"
import { isJsonObject, type Json, parseJson } from "../../shared/json.ts"
import type { SaveAsset } from "../asset/save-options.ts"
import type { KnownUrls } from "../store/annotations/known-urls.ts"
import type { ToolSpec } from "../model/model-adapter.ts"
import type { ShippedCard } from "./cards/shipped-cards.ts"

export interface ToolContext {
  /** The call's id. The id is the same if the call is run again, so an upstream can recognise the second run. */
  readonly call_id: string
  /** The id of the turn to which the call belongs. */
  readonly exchange_id: string
  /** The trace of that turn. */
  readonly trace?: string | undefined
  /** The position of this call among the turn's calls to the same tool, counting from 1. */
  readonly nth: number
  /** The tag that this call can cue (`weather_1`); null on all channels except `user`. */
  readonly card: string | null
  readonly signal: AbortSignal
  readonly saveAsset: SaveAsset
  /** Shows the result with this stored MCP App. */
  readonly attachApp: (app: Asset) => void
  /** Milliseconds since 1970. */
  readonly now: () => number
}

export type ToolArgs = { readonly [key: string]: Json }

/**
 * Parses the arguments that the model wrote; null if they are not a JSON object, or if levels were omitted (SPEC BD2).
 */
export function parseToolArgs(text: string): ToolArgs | null {
  if (text.includes(OMITTED_LEVELS)) return null
  const value = parseJson(text === "" ? "{}" : text)
  // Each tool checks its own fields.
  return isJsonObject(value) ? value : null
}

type JsonObject = { readonly [key: string]: Json }

/** A preliminary result with which the turn can continue. The final result is delivered later by other means. */
export class DeferredResult {
  readonly result: JsonObject

  constructor(result: JsonObject) {
    this.result = result
  }
}

/** The tool needs an answer from the user. The call runs again when the user has answered (SPEC MP30). */
export class InputNeeded {
  readonly input: CallInput

  constructor(input: CallInput) {
    this.input = input
  }
}

declare const TOOL_RESULT: unique symbol

/** `<JSON>\n\n<trailer>`. Only `toolResult` creates one, so text from elsewhere is never mistaken for a trailer. */
export type ToolResult = string & { readonly [TOOL_RESULT]: true }

/**
 * Returns the data of a result, followed by the trailer, which tells the model how to present it (SPEC TO5, AG7, DR21).
 *
 * Without a tag (`card` is null), there is no trailer, and the data is returned as it is. JSON text contains no blank
 * line, so the data cannot be mistaken for the trailer.
 */
export function toolResult(
  { card }: Pick<ToolContext, "card">,
  data: JsonObject,
  trailer: (tag: string) => string,
): ToolResult | JsonObject {
  return card === null ? data : (`${JSON.stringify(data)}\n\n${trailer(card)}` as ToolResult)
}

/** A string is stored verbatim, an object as its JSON. A generator yields live output and returns the result. */
export type ToolReturn =
  | ToolResult
  | DeferredResult
  | InputNeeded
  | JsonObject
  | AsyncGenerator<string, ToolResult | JsonObject>

/** Creates the result of a refused call. A failure without a `code` is reported as `tool_failed`. */
export function createRefusal(code: TurnFault, details: string): JsonObject {
  return { error: turnFaultToText(code), details, code }
}

export interface Tool extends ToolSpec {
  /** Whether a call can safely run again after a crash, that is, whether a second run has no further effect. */
  readonly repeatable: boolean
  /** Whether a call has no effect besides its result. Such a call need not be stored before it runs. Default: no. */
  readonly readsOnly?: boolean
  /** Whether calls are left out of the model's context in later turns. */
  readonly ephemeral: boolean
  /** Time limit in milliseconds, if it differs from the other tools' limit. */
  readonly ms?: number
  /**
   * What shows the tool's results: the page component named after the tool, or a shipped template
   * (shared/card/templates). Default: nothing, unless the tenant has a card for the tool.
   */
  readonly card?: "component" | ShippedCard
  /**
   * Whether the user must approve this call before it runs. Default: no. Without `knownUrls`, no URL is considered
   * known. Undefined for tools whose calls never need approval. Agents that answer other agents have only such tools.
   */
  readonly needsApproval?: (args: ToolArgs, knownUrls?: KnownUrls) => boolean
  /** Runs the tool. An exception is always a bug. Refusals and upstream faults are results (`{error, details}`). */
  execute(args: ToolArgs, ctx: ToolContext): Promise<ToolReturn> | ToolReturn
}

/** Creates the trailer of a tool with a card, which instructs the model to place the card. */
export function createCardTrailer(tag: string): string {
  return [
    "This tool supports rich-media rendering. To present this result as a card you MUST wrap your synthesis in",
    `<span id='${tag}'>your synthesis here</span>. Without the span the user sees no card.`,
    `Example: Here is what I found. <span id='${tag}'>One or two sentences about this result.</span>`,
    "You may mix prose and rich-media spans freely; spans render as cards between text bubbles.",
  ].join("\n")
}

/** Creates the trailer of a tool that saved a file: its first line attaches the file to the answer. */
export function createMediaTrailer({ id, kind, voice }: Asset): string {
  return [
    `MEDIA:${assetUrl(id)}`,
    ...(voice === true ? ["[[audio_as_voice]]"] : []),
    `This ${kind} is attached to the end of your response automatically. To place it elsewhere, repeat the`,
    "MEDIA: line exactly once, on its own line, where the file should appear. Never write its URL anywhere else.",
  ].join("\n")
}

/**
 * Creates the trailer of a tool that saved a document. The document is shown only where the answer contains the
 * `[embed]` line. The data also contains the document's `ref`.
 */
export function createEmbedTrailer(ref: string, title: string, height: number): string {
  // Remove characters that could end the directive or start a span tag.
  const safeTitle = title.replace(/["[\]<>\s]+/g, " ").trim()
  return [
    "To show this document you MUST write this line into your response, on a line of its own, where it should appear:",
    `[embed ref="${ref}" title="${safeTitle}" height="${height}" /]`,
    "Without it the user does not see the document.",
  ].join("\n")
}

/** Creates the result of a tool whose file could not be saved. */
export function createSaveFailure(fault: Fault): JsonObject {
  return { error: "The file was created, but could not be saved.", details: faultToWire(fault).text }
}
