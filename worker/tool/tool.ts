/**
 * tool.ts: what every tool looks like to the dispatcher.
 *
 * A tool opts into a card at run time, in its own return string (`told`):
 * `<JSON>\n\n<trailer>`, where the trailer names the tag in `ctx.card`.
 * Without `ctx.card` it returns its plain object (DESIGN §8, law 4).
 */

import { assetUrl } from "../../shared/protocol/asset-url.ts"
import type { Asset } from "../../shared/protocol/event.ts"
import { type Fault, faultToWire, type TurnFault, turnFaultToText } from "../../shared/fault.ts"
import { type Json, parseJson } from "../../shared/json.ts"
import type { SaveAsset } from "../asset/save-options.ts"
import type { ToolSpec } from "../model/model-adapter.ts"

export interface ToolContext {
  /** The call's own id: the same for a call that is run again, so that an upstream can tell it is no second one. */
  readonly call_id: string
  /** The turn that it was made in. */
  readonly exchange_id: string
  /** Which call of this tool it is in its turn, from 1. */
  readonly nth: number
  /** The tag this call may cue (`weather_1`), only on channel `user`; null elsewhere. */
  readonly card: string | null
  readonly signal: AbortSignal
  readonly saveAsset: SaveAsset
  /** Milliseconds since 1970. */
  readonly now: () => number
}

export type ToolArgs = { readonly [key: string]: Json }

/** The arguments of a call, from the JSON text that the model wrote; null where they are no object. */
export function parseToolArgs(text: string): ToolArgs | null {
  const value = parseJson(text === "" ? "{}" : text)
  // An object without an own shape: each tool guards its own fields.
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as ToolArgs) : null
}

type JsonObject = { readonly [key: string]: Json }

/** An answer for now: the true one comes later, from elsewhere, and the turn need not wait for it. */
export class DeferredResult {
  readonly result: JsonObject

  constructor(result: JsonObject) {
    this.result = result
  }
}

declare const TOOL_RESULT: unique symbol

/** `<JSON>\n\n<trailer>`. Nothing but `told` makes one, so no string that others wrote is taken for a tool's own trailer. */
export type ToolResult = string & { readonly [TOOL_RESULT]: true }

/**
 * Data, and what the model is told to do with it. A trailer is for whom a person's turn shows it to: `ctx.card` is null
 * elsewhere, and there it is left out.
 *
 * Shapes  (ToolContext, data, trailer by the tag) → Told, or the plain object. No blank line stands in JSON, so that data never
 *         reaches the trailer; what a trailer says of data is the tool's own business.
 * Source  SPEC TO5, AG7, DR21.
 */
export function toolResult(
  { card }: Pick<ToolContext, "card">,
  data: JsonObject,
  trailer: (tag: string) => string,
): ToolResult | JsonObject {
  return card === null ? data : (`${JSON.stringify(data)}\n\n${trailer(card)}` as ToolResult)
}

/** What a tool gives: a string is stored verbatim, an object as its JSON, an iterable streams output and returns the result. */
export type ToolReturn = ToolResult | DeferredResult | JsonObject | AsyncGenerator<string, ToolResult | JsonObject>

/** What a tool returns that was refused or failed: `code` is a reason of its own; without one it is `tool_failed`. */
export function createRefusal(code: TurnFault, details: string): JsonObject {
  return { error: turnFaultToText(code), details, code }
}

export interface Tool extends ToolSpec {
  /** May run again after a crash: it only reads. */
  readonly repeatable: boolean
  /** Its rows are rendered for ever but leave the model's later context. */
  readonly ephemeral: boolean
  /** Longest run, in milliseconds, where it is not that of all tools. */
  readonly ms?: number
  /** Whether a person has to allow this call before it runs. Without it nobody is asked. */
  readonly needsApproval?: (args: ToolArgs) => boolean
  /** Throws only for our own mistakes; a refusal or upstream fault is a result of its own (`{error, details}`). */
  execute(args: ToolArgs, ctx: ToolContext): Promise<ToolReturn> | ToolReturn
}

/** The instruction that a card-capable tool appends, so that the model places the card. Seed 000 §5.1. */
export function createCardTrailer(tag: string): string {
  return [
    "This tool supports rich-media rendering. To present this result as a card you MUST wrap your synthesis in",
    `<span id='${tag}'>your synthesis here</span>. Without the span the reader sees no card.`,
    `Example: Here is what I found. <span id='${tag}'>One or two sentences about this result.</span>`,
    "You may mix prose and rich-media spans freely; spans render as cards between text bubbles.",
  ].join("\n")
}

/** The instruction of a tool that made a file: it is given to the reply by the line that names it. */
export function createMediaTrailer({ id, kind, voice }: Asset): string {
  return [
    `MEDIA:${assetUrl(id)}`,
    ...(voice === true ? ["[[audio_as_voice]]"] : []),
    `This ${kind} is attached to the end of your reply by itself. To place it elsewhere, write the line that begins with`,
    "MEDIA: into your reply, once, by itself, where it shall stand. Never write its address anywhere else.",
  ].join("\n")
}

/** The instruction of a tool that keeps a document: only the line that it names shows it. Its data names it by `ref`, too. */
export function createEmbedTrailer(ref: string, title: string, height: number): string {
  // Nothing in a title may end the line, or ask for a card.
  const safeTitle = title.replace(/["[\]<>\s]+/g, " ").trim()
  return [
    "To show this document you MUST write this line into your reply, by itself, where it shall stand:",
    `[embed ref="${ref}" title="${safeTitle}" height="${height}" /]`,
    "Without it the reader does not see the document.",
  ].join("\n")
}

/** What a tool returns whose file could not be kept. */
export function createSaveFailure(fault: Fault): JsonObject {
  return { error: "It was made, but could not be kept.", details: faultToWire(fault).text }
}
