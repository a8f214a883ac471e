/** stream-faults.ts: converts each failure of a provider package to a fault. */

import { APICallError, InvalidResponseDataError, JSONParseError, TypeValidationError } from "@ai-sdk/provider"
import type { TurnFault } from "../../shared/fault.ts"
import type { ModelEvent } from "./model-adapter.ts"
import { StreamBoundError } from "./providers/bounded-fetch.ts"
import type { SilenceLimits } from "./silence-watch.ts"

type ModelFault = Extract<ModelEvent, { type: "fault" }>

/** Maximum length of a fault's detail, which is only logged, in characters. */
const MAX_DETAIL_CHARS = 300

export function createFault(reason: TurnFault, detail: string): ModelFault {
  return { type: "fault", fault: reason, detail: detail.slice(0, MAX_DETAIL_CHARS) }
}

export function createSilenceFault({ firstByteMs, idleMs }: SilenceLimits): ModelFault {
  return createFault("model_timeout", `No first byte within ${firstByteMs} ms, or no data for ${idleMs} ms.`)
}

/** Returns the fault for a request that failed before a stream began. */
export function requestErrorToFault(error: unknown): ModelFault {
  if (!APICallError.isInstance(error) || error.statusCode === undefined)
    return createFault("model_unreachable", getErrorMessage(error))
  const { statusCode, responseHeaders } = error
  const after = responseHeaders?.["retry-after"]
  const detail = `${statusCode} ${error.message}${after === undefined ? "" : ` (retry after ${after})`}`
  const retry = { afterMs: parseRetryAfterMs(after, Date.now()) }
  if (statusCode === 429) return { ...createFault("model_rate_limited", detail), retry }
  if (statusCode >= 400 && statusCode < 500) return createFault("model_refused", detail)
  if (statusCode < 300) return createFault("model_malformed", detail)
  return statusCode >= 500
    ? { ...createFault("model_unreachable", detail), retry }
    : createFault("model_unreachable", detail)
}

/** Returns the delay of a `Retry-After` header, which is a number of seconds or a date; null if it is neither. */
export function parseRetryAfterMs(header: string | undefined, now: number): number | null {
  if (header === undefined) return null
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1000
  const date = Date.parse(header)
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}

/** Returns the fault for a stream that broke: the connection failed, or the package couldn't read the data. */
export function streamErrorToFault(error: unknown): ModelFault {
  // The package wraps the errors of a stream.
  const cause = readField(error, "cause")
  if (cause instanceof StreamBoundError) return createFault(cause.fault, cause.message)
  return createFault(
    InvalidResponseDataError.isInstance(error) ? "model_malformed" : "model_cut_off",
    getErrorMessage(error),
  )
}

/**
 * Returns the fault for an error part: the package's own error, or one from the upstream (`{"error": {message, type,
 * code}}`).
 */
export function errorPartToFault(error: unknown, contentType: string): ModelFault {
  if (InvalidResponseDataError.isInstance(error)) {
    // The package reports this way that the finish event is missing. A response that isn't an event stream has none.
    const isStream = contentType.includes("text/event-stream")
    return createFault(isStream ? "model_cut_off" : "model_malformed", `${error.message} (${contentType})`)
  }
  if (JSONParseError.isInstance(error) || TypeValidationError.isInstance(error)) {
    return createFault("model_malformed", error.message)
  }
  const message = getErrorMessage(error)
  const kind = ["code", "type"].map((name) => String(readField(error, name) ?? "")).join(" ")
  if (/\b429\b|rate.?limit|overloaded|quota/i.test(kind)) return createFault("model_rate_limited", message)
  return createFault(/\b4\d\d\b|invalid|auth|permission/i.test(kind) ? "model_refused" : "model_cut_off", message)
}

/** Returns an error's message and its cause's message, because the package wraps network errors. */
function getErrorMessage(error: unknown): string {
  const message = readField(error, "message")
  const cause = readField(readField(error, "cause"), "message")
  return `${typeof message === "string" ? message : "unknown"}${typeof cause === "string" ? `: ${cause}` : ""}`
}

function readField(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined
}
