/**
 * fault.ts: the closed catalogue of errors and their public texts.
 *
 * Faults are values: functions return `Result`, and only programming errors are
 * thrown. `faultToWire` is the only place where a fault gets its public text;
 * internal details go to the log. A test compares the texts with SPEC ER1.
 * Pure.
 */

export type Result<T, F = Fault> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly fault: F }

export function succeed<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value }
}

export function fail<F>(fault: F): { readonly ok: false; readonly fault: F } {
  return { ok: false, fault }
}

export type Fault =
  | { readonly reason: "frame_malformed" }
  | { readonly reason: "frame_unknown"; readonly type: string }
  | { readonly reason: "frame_invalid"; readonly field: string }
  | { readonly reason: "frame_too_large"; readonly max: number }
  | { readonly reason: "hello_first" }
  | { readonly reason: "protocol_unsupported"; readonly speaks: number }
  | { readonly reason: "message_empty" }
  | { readonly reason: "message_too_large"; readonly max: number }
  | { readonly reason: "attachment_unknown" }
  | { readonly reason: "file_gone" }
  | { readonly reason: "attachments_too_many"; readonly max: number }
  | { readonly reason: "queue_full"; readonly max: number }
  | { readonly reason: "context_exceeded"; readonly max: number }
  | { readonly reason: "turn_unknown" }
  | { readonly reason: "turn_ended" }
  | { readonly reason: "turn_running" }
  | { readonly reason: "turn_whole" }
  | { readonly reason: "call_unknown" }
  | { readonly reason: "call_decided" }
  | { readonly reason: "message_unknown" }
  | { readonly reason: "message_begun" }
  | { readonly reason: "version_unknown" }
  | { readonly reason: "socket_behind" }
  | { readonly reason: "token_missing" }
  | { readonly reason: "token_invalid" }
  | { readonly reason: "token_expired" }
  | { readonly reason: "token_revoked" }
  | { readonly reason: "scope_denied" }
  | { readonly reason: "origin_denied" }
  | { readonly reason: "session_unknown" }
  | { readonly reason: "route_unknown" }
  | { readonly reason: "upgrade_expected" }
  | { readonly reason: "body_malformed" }
  | { readonly reason: "body_too_large"; readonly max: number }
  | { readonly reason: "field_invalid"; readonly field: string }
  | { readonly reason: "record_refused"; readonly type: string }
  | { readonly reason: "record_gap"; readonly want: number }
  | { readonly reason: "call_settled" }
  | { readonly reason: "import_too_large"; readonly max: number }
  | { readonly reason: "import_empty" }
  | { readonly reason: "import_damaged" }
  | { readonly reason: "import_stalled" }
  | { readonly reason: "import_running" }
  | { readonly reason: "session_begun" }
  | { readonly reason: "agent_unknown" }
  | { readonly reason: "agents_full"; readonly max: number }
  | { readonly reason: "url_refused"; readonly because: UrlFlaw }
  | { readonly reason: "asset_unknown" }
  | { readonly reason: "asset_type_refused" }
  | { readonly reason: "asset_too_large"; readonly max: number }
  | { readonly reason: "asset_cut_off" }
  | { readonly reason: "assets_full"; readonly max: number }
  | { readonly reason: "asset_store_failed" }
  | { readonly reason: "length_required" }
  | { readonly reason: "link_invalid" }
  | { readonly reason: "link_expired" }
  | { readonly reason: "range_invalid" }
  | { readonly reason: "remote_refused"; readonly because: RemoteFlaw }
  | { readonly reason: "deployment_unsafe"; readonly because: string }
  | { readonly reason: "internal" }

export type FaultReason = Fault["reason"]

/** Why an address does not count as public. */
export type UrlFlaw = "malformed" | "too_long" | "scheme" | "credentials" | "host"

/** Why remote media is not shown. */
export type RemoteFlaw = "unreachable" | "redirects" | "type" | "size" | "timeout"

/** The public form of a fault: `code` is its reason, `text` is for the user. */
export interface WireFault {
  readonly code: FaultReason
  readonly text: string
  /** Status of the HTTP response. */
  readonly status: number
  /** WebSocket close code; null where the socket stays open. */
  readonly close: number | null
}

/**
 * The public form of a fault.
 *
 * Shapes  Fault → { code, text, status, close }.
 * Errors  none.
 * Source  SPEC ER1.
 */
export function faultToWire(fault: Fault): WireFault {
  const createWireFault = (status: number, text: string, close: number | null = null): WireFault => ({
    code: fault.reason,
    text,
    status,
    close,
  })
  switch (fault.reason) {
    case "frame_malformed":
      return createWireFault(400, "The frame isn't a JSON object.")
    case "frame_unknown":
      return createWireFault(400, `Unknown frame type "${fault.type}".`)
    case "frame_invalid":
      return createWireFault(400, `The field "${fault.field}" is missing or invalid.`)
    case "frame_too_large":
      return createWireFault(413, `Frames can be up to ${sizeText(fault.max)}.`)
    case "hello_first":
      return createWireFault(400, 'Send a "hello" frame first.')
    case "protocol_unsupported":
      return createWireFault(400, `This server uses protocol ${fault.speaks}. Reload the page to update.`, 4406)
    case "message_empty":
      return createWireFault(400, "The message is empty. Enter some text or attach a file.")
    case "message_too_large":
      return createWireFault(413, `Messages can be up to ${sizeText(fault.max)}. Shorten yours and try again.`)
    case "attachment_unknown":
      return createWireFault(404, "We couldn't find that file in this conversation. Attach it again.")
    case "file_gone":
      return createWireFault(410, "This file is no longer available.")
    case "attachments_too_many":
      return createWireFault(413, `You can attach up to ${fault.max} files to a message.`)
    case "queue_full":
      return createWireFault(429, `You have ${fault.max} messages queued. Wait for a response first.`)
    case "context_exceeded":
      return createWireFault(413, `This message is too long for the model. Keep it under about ${fault.max} tokens.`)
    case "turn_unknown":
      return createWireFault(404, "We couldn't find that response.")
    case "turn_ended":
      return createWireFault(409, "That response has already ended.")
    case "turn_running":
      return createWireFault(409, "A response is in progress. Stop it first.")
    case "turn_whole":
      return createWireFault(409, "This response is already complete. There's nothing to retry.")
    case "call_unknown":
      return createWireFault(404, "We couldn't find that tool call.")
    case "call_decided":
      return createWireFault(409, "This tool call isn't waiting for approval.")
    case "message_unknown":
      return createWireFault(404, "We couldn't find that message.")
    case "message_begun":
      return createWireFault(409, "This message has already been sent.")
    case "version_unknown":
      return createWireFault(404, "We couldn't find that version.")
    case "socket_behind":
      return createWireFault(408, "The connection fell too far behind. Reconnect to resume.", 4408)
    case "token_missing":
      return createWireFault(401, "A token is required. Sign in and try again.", 4401)
    case "token_invalid":
      return createWireFault(401, "The token isn't valid. Sign in again.", 4401)
    case "token_expired":
      return createWireFault(401, "The token has expired. Sign in again.", 4401)
    case "token_revoked":
      return createWireFault(401, "The token has been revoked. Sign in again.", 4401)
    case "scope_denied":
      return createWireFault(403, "The token doesn't grant access to this.")
    case "origin_denied":
      return createWireFault(403, "Requests from this origin aren't allowed.")
    case "session_unknown":
      return createWireFault(404, "We couldn't find that conversation.", 4404)
    case "route_unknown":
      return createWireFault(404, "There's nothing at this address.")
    case "upgrade_expected":
      return createWireFault(426, "This address only accepts WebSocket connections.")
    case "body_malformed":
      return createWireFault(400, "Not valid JSON. Send a JSON object.")
    case "body_too_large":
      return createWireFault(413, `This is too large. The limit is ${sizeText(fault.max)}.`)
    case "field_invalid":
      return createWireFault(400, `The field "${fault.field}" is missing or invalid.`)
    case "record_refused":
      return createWireFault(400, `An external producer can't send "${fault.type}".`)
    case "record_gap":
      return createWireFault(409, `Some records are missing. Resume with number ${fault.want}.`)
    case "call_settled":
      return createWireFault(409, "This tool call already has a result.")
    case "import_too_large":
      return createWireFault(413, `Files can be up to ${sizeText(fault.max)}. Send larger files in numbered parts.`)
    case "import_empty":
      return createWireFault(422, "We couldn't find any messages in this file.")
    case "import_damaged":
      return createWireFault(400, "This file is damaged and can't be unpacked. Try another copy.")
    case "import_stalled":
      return createWireFault(408, "The upload stalled. Send it again.")
    case "import_running":
      return createWireFault(409, "Another import is in progress. Wait until it's done.")
    case "session_begun":
      return createWireFault(409, "This conversation already has messages. Import into a new one.")
    case "agent_unknown":
      return createWireFault(404, "We couldn't find that agent.")
    case "agents_full":
      return createWireFault(409, `You can have up to ${fault.max} agents. Delete one first.`)
    case "url_refused":
      return createWireFault(422, `This isn't a public https address (${fault.because}).`)
    case "asset_unknown":
      return createWireFault(404, "We couldn't find that file.")
    case "asset_type_refused":
      return createWireFault(415, "This file type isn't supported. Try an image, audio, video, PDF or text file.")
    case "asset_too_large":
      return createWireFault(413, `Files of this type can be up to ${sizeText(fault.max)}.`)
    case "asset_cut_off":
      return createWireFault(400, "The upload was incomplete. Send the file again.")
    case "assets_full":
      return createWireFault(
        409,
        `A conversation can hold up to ${fault.max} files and 1 GB. Start a new one to add more.`,
      )
    case "asset_store_failed":
      return createWireFault(503, "We couldn't store or read the file. Try again in a moment.")
    case "length_required":
      return createWireFault(411, "The Content-Length header is required.")
    case "link_invalid":
      return createWireFault(403, "This link isn't valid.")
    case "link_expired":
      return createWireFault(403, "This link has expired. Reload the page.")
    case "range_invalid":
      return createWireFault(416, "The requested range is outside this file.")
    case "remote_refused":
      return createWireFault(502, `We can't show what's at this address (${fault.because}).`)
    case "deployment_unsafe":
      return createWireFault(503, `This deployment is misconfigured and won't serve requests: ${fault.because}.`)
    case "internal":
      return createWireFault(500, "Something went wrong on our side. Try again in a moment.", 1011)
  }
}

/** A limit in the largest unit that divides it: 262144 → "256 KB". */
function sizeText(bytes: number): string {
  if (bytes % 2 ** 20 === 0) return `${bytes / 2 ** 20} MB`
  return bytes % 1024 === 0 ? `${bytes / 1024} KB` : `${bytes} bytes`
}

/** Why a turn did not end `completed`, or a tool call not `ok`: `reason` and `error.code` on the wire. SPEC ER2. */
const TURN_FAULTS = [
  "model_unreachable",
  "model_refused",
  "model_rate_limited",
  "model_malformed",
  "model_timeout",
  "model_cut_off",
  "context_exceeded",
  "answer_too_long",
  "step_limit",
  "turn_timeout",
  "process_restart",
  "producer_gone",
  "producer_failed",
  "internal",
  "tool_unknown",
  "tool_arguments",
  "tool_failed",
  "tool_timeout",
  "tool_result_too_large",
  "tool_interrupted",
  "agent_unknown",
  "agent_loop",
  "agent_fan_out",
  "agent_busy",
  "agent_failed",
  "denied",
] as const

export type TurnFault = (typeof TURN_FAULTS)[number]

export function isTurnFault(code: string): code is TurnFault {
  return TURN_FAULTS.some((fault) => fault === code)
}

/** The user-visible text for a failed turn or call. SPEC ER2. */
export function turnFaultToText(fault: TurnFault): string {
  switch (fault) {
    case "model_unreachable":
      return "We couldn't reach the model."
    case "model_refused":
      return "The model rejected the request."
    case "model_rate_limited":
      return "The model is busy. Try again in a moment."
    case "model_malformed":
      return "The model sent an invalid response."
    case "model_timeout":
      return "The model took too long to respond."
    case "model_cut_off":
      return "The response was cut off."
    case "context_exceeded":
      return "The response exceeded the model's limit."
    case "answer_too_long":
      return "The response is too long to store."
    case "step_limit":
      return "The response took too many steps."
    case "turn_timeout":
      return "The response took too long."
    case "process_restart":
      return "The response was interrupted by a restart."
    case "producer_gone":
      return "The connected program disconnected."
    case "producer_failed":
      return "The connected program failed."
    case "internal":
      return "Something went wrong on our side."
    case "tool_unknown":
      return "This tool doesn't exist."
    case "tool_arguments":
      return "The tool was called with invalid arguments."
    case "tool_failed":
      return "The tool failed."
    case "tool_timeout":
      return "The tool took too long."
    case "tool_result_too_large":
      return "The tool's result is too large to store."
    case "tool_interrupted":
      return "The tool was interrupted."
    case "agent_unknown":
      return "We couldn't find that agent."
    case "agent_loop":
      return "These agents would wait on each other."
    case "agent_fan_out":
      return "Too many agents were called in one turn."
    case "agent_busy":
      return "This agent has too many messages queued."
    case "agent_failed":
      return "The agent didn't respond."
    case "denied":
      return "The call was not allowed."
  }
}
