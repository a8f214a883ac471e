/**
 * bounded-fetch.ts: a fetch whose responses are bounded, for a model's endpoint.
 *
 * The provider package reads an event stream event by event and any other body whole, both without a limit. Here, a
 * stream fails at an event that is too long or a line that is nested too deeply (SPEC MO13), and any other body is cut
 * off.
 */

import type { TurnFault } from "../../../shared/fault.ts"
import { createJsonMeter } from "../../../shared/json.ts"
import { MAX_ANSWER_CHARS } from "../../../shared/limits.ts"

/**
 * Maximum length of a stream event, in UTF-16 code units: the longest answer in one piece, escaped, with some headroom.
 */
const MAX_MODEL_EVENT_CHARS = 4 * MAX_ANSWER_CHARS

/** Maximum size of a body that is not a stream, in bytes. */
const MAX_MODEL_BODY_BYTES = 64 * 1024

/** The error of a stream that exceeds a limit. */
export class StreamBoundError extends Error {
  readonly fault: TurnFault

  constructor(fault: TurnFault, message: string) {
    super(message)
    this.fault = fault
  }
}

/** Fetches without following redirects: a redirect would send the key to a host that isn't configured. */
export const fetchBounded: typeof fetch = async (input, init) => {
  return boundResponse(await fetch(input, { ...init, redirect: "manual" }))
}

/** Returns the response with a body that fails or ends at its limit. */
export function boundResponse(response: Response): Response {
  if (response.body === null) return response
  const isStream = response.ok && (response.headers.get("content-type") ?? "").includes("text/event-stream")
  const body = response.body.pipeThrough(isStream ? createEventGuard() : createBodyCut())
  return new Response(body, response)
}

/** Passes bytes on, and fails at the first event or line beyond the limits. A blank line ends an event. */
function createEventGuard(): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder()
  let eventChars = 0
  let isLineEmpty = true
  /** The last line ended with a carriage return, so a line feed that follows belongs to it. */
  let isAfterReturn = false
  let isWithinBounds = createJsonMeter()
  const readPiece = (piece: string): void => {
    isLineEmpty = false
    isAfterReturn = false
    eventChars += piece.length
    if (eventChars > MAX_MODEL_EVENT_CHARS)
      throw new StreamBoundError("answer_too_long", "An event in the stream is too long.")
    if (!isWithinBounds(piece))
      throw new StreamBoundError("model_malformed", "A line of the stream contains JSON that is nested too deeply.")
  }
  const endLine = (end: string): void => {
    const isSecondHalf = end === "\n" && isAfterReturn
    isAfterReturn = end === "\r"
    if (isSecondHalf) return
    // An event's lines are joined, so each line end counts too.
    eventChars = isLineEmpty ? 0 : eventChars + 1
    isLineEmpty = true
    isWithinBounds = createJsonMeter()
  }
  return new TransformStream({
    transform(chunk, controller) {
      for (const piece of decoder.decode(chunk, { stream: true }).split(/([\r\n])/)) {
        if (piece === "\r" || piece === "\n") endLine(piece)
        else if (piece !== "") readPiece(piece)
      }
      controller.enqueue(chunk)
    },
  })
}

/** Cuts a body off at MAX_MODEL_BODY_BYTES. A body that isn't an event stream only describes a failure. */
function createBodyCut(): TransformStream<Uint8Array, Uint8Array> {
  let bytesLeft = MAX_MODEL_BODY_BYTES
  return new TransformStream({
    transform(chunk, controller) {
      controller.enqueue(chunk.subarray(0, bytesLeft))
      bytesLeft -= chunk.byteLength
      if (bytesLeft <= 0) controller.terminate()
    },
  })
}
