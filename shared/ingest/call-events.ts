/**
 * call-events.ts: creates tool-call events from producers' records, for imports and for external answers.
 *
 * All text is cut to the limits on length and depth (SPEC BD2), and lone surrogates become U+FFFD, because stored text
 * is UTF-8. Pure.
 */

import type { TurnEvent } from "../protocol/event.ts"
import { MAX_ARGS_CHARS, MAX_ERROR_CHARS, MAX_RESULT_BYTES, MAX_TOOL_NAME_CHARS } from "../limits.ts"
import { isJsonObject } from "../json.ts"
import { limitJsonDepth } from "../json-depth.ts"
import { findTrailerTag } from "../protocol/card-cue.ts"
import { chooseArgs } from "../protocol/calls/call-args.ts"
import { createTooLargeResult } from "../protocol/message.ts"
import { replaceLoneSurrogates } from "../text/characters.ts"
import { cutText } from "../text/cut-text.ts"
import { countUtf8Bytes } from "../truncate.ts"

type CallEvent = Extract<TurnEvent, { type: "tool_call" }>
type ResultEvent = Extract<TurnEvent, { type: "tool_result" }>
/** Maximum length of an error code, in UTF-16 code units: the same as for a tool name. */
const MAX_ERROR_CODE_CHARS = MAX_TOOL_NAME_CHARS

type CallError = { readonly code: string; readonly message: string }

/** Returns the first `max` code units of `text`, with lone surrogates replaced by U+FFFD. */
export function boundText(text: string, max: number): string {
  return replaceLoneSurrogates(cutText(text, max))
}

export function createCallEvent(call_id: string, toolName: string, args = "{}"): CallEvent {
  const name = boundText(toolName, MAX_TOOL_NAME_CHARS)
  return { type: "tool_call", call_id, name, args: limitJsonDepth(boundText(args, MAX_ARGS_CHARS)) }
}

/**
 * Returns the arguments of a call record, from whichever field contains them. A non-empty value takes precedence over
 * an empty one (SPEC IR2).
 */
export function readCallArguments(record: {
  readonly arguments?: string | undefined
  readonly argsJson?: string | undefined
}): string {
  return chooseArgs(record.argsJson ?? "{}", record.arguments ?? "{}") || "{}"
}

/**
 * Returns the card that another system's result requests in its trailer, and the text that contains the trailer (SPEC
 * IR9). The result may be that text itself, or an object whose `content` contains the text, as in MCP.
 */
export function findForeignCard(
  toolName: string,
  result: unknown,
): { readonly tag: string; readonly result: string } | null {
  const text = typeof result === "string" ? result : readContentText(result)
  const tag = text === null ? null : findTrailerTag(toolName, text)
  return tag === null || text === null ? null : { tag, result: text }
}

/** Returns the text of a result that consists of one text block. */
function readContentText(result: unknown): string | null {
  if (!isJsonObject(result) || !Array.isArray(result["content"])) return null
  const [block, ...others]: unknown[] = result["content"]
  if (!isJsonObject(block) || block["type"] !== "text" || others.length > 0) return null
  return typeof block["text"] === "string" ? block["text"] : null
}

/** Returns the status of a result. Producers report an interruption as a failure with the code `tool_interrupted`. */
export function getResultStatus(ok: boolean, error: CallError | undefined): "ok" | "interrupted" | "failed" {
  if (ok) return "ok"
  return error?.code === "tool_interrupted" ? "interrupted" : "failed"
}

/**
 * Creates the event of a result. A result that is not a string is stored as JSON; null is stored as no result.
 *
 * Errors: a result over MAX_RESULT_BYTES becomes a failed call with `tool_result_too_large`.
 */
export function createResultEvent(
  call_id: string,
  status: ResultEvent["status"],
  result: unknown,
  error: CallError | null,
  card: string | null,
): ResultEvent {
  const text = result == null ? null : typeof result === "string" ? limitJsonDepth(result) : JSON.stringify(result)
  if (text !== null && countUtf8Bytes(text) > MAX_RESULT_BYTES) return createTooLargeResult(call_id)
  return {
    type: "tool_result",
    call_id,
    status,
    result: text === null ? null : replaceLoneSurrogates(text),
    card,
    error: error === null ? null : boundError(error),
  }
}

function boundError({ code, message }: CallError): CallError {
  return { code: boundText(code, MAX_ERROR_CODE_CHARS), message: boundText(message, MAX_ERROR_CHARS) }
}
