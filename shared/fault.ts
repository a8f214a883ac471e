/**
 * fault.ts: everything that can go wrong, and what a client may learn of it.
 *
 * Faults are values: functions return `Result`, and only our own mistakes are
 * thrown. `faultToWire` is the one place where a fault becomes public words;
 * inner detail stays in the log. SPEC ER1 lists the same table; a test compares.
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

/** What is wrong with an address that is to be public. */
export type UrlFlaw = "malformed" | "too_long" | "scheme" | "credentials" | "host"

/** Why something elsewhere is not shown. */
export type RemoteFlaw = "unreachable" | "redirects" | "type" | "size" | "timeout"

/** What a client learns: `code` is the fault's reason, `text` one English sentence. */
export interface WireFault {
  readonly code: FaultReason
  readonly text: string
  /** HTTP status of a route that answers with it. */
  readonly status: number
  /** WebSocket close code; null where the socket stays open. */
  readonly close: number | null
}

/**
 * Turns a fault into its public words.
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
      return createWireFault(400, "The frame is not a JSON object.")
    case "frame_unknown":
      return createWireFault(400, `There is no frame of type "${fault.type}".`)
    case "frame_invalid":
      return createWireFault(400, `The field "${fault.field}" is missing or of the wrong kind.`)
    case "frame_too_large":
      return createWireFault(413, `A frame may have ${fault.max} bytes at most.`)
    case "hello_first":
      return createWireFault(400, "Say hello first.")
    case "protocol_unsupported":
      return createWireFault(400, `This server speaks protocol ${fault.speaks}. Reload the page.`, 4406)
    case "message_empty":
      return createWireFault(400, "The message is empty.")
    case "message_too_large":
      return createWireFault(413, `A message may have ${fault.max} bytes at most.`)
    case "attachment_unknown":
      return createWireFault(404, "There is no such file in this conversation.")
    case "file_gone":
      return createWireFault(410, "This file is not kept any more.")
    case "attachments_too_many":
      return createWireFault(413, `A message may have ${fault.max} files at most.`)
    case "queue_full":
      return createWireFault(429, `${fault.max} messages are waiting already. Wait for an answer.`)
    case "context_exceeded":
      return createWireFault(413, `The message is too long for the model: about ${fault.max} tokens at most.`)
    case "turn_unknown":
      return createWireFault(404, "There is no such answer.")
    case "turn_ended":
      return createWireFault(409, "That answer has ended already.")
    case "turn_running":
      return createWireFault(409, "An answer is under way. Stop it first.")
    case "turn_whole":
      return createWireFault(409, "That answer is whole: there is nothing to run again.")
    case "call_unknown":
      return createWireFault(404, "There is no such tool call.")
    case "call_decided":
      return createWireFault(409, "That tool call waits for nobody.")
    case "message_unknown":
      return createWireFault(404, "There is no such message.")
    case "message_begun":
      return createWireFault(409, "That message is not waiting any more.")
    case "version_unknown":
      return createWireFault(404, "There is no such version.")
    case "socket_behind":
      return createWireFault(408, "The connection fell too far behind. Resume.", 4408)
    case "token_missing":
      return createWireFault(401, "A token is needed.", 4401)
    case "token_invalid":
      return createWireFault(401, "The token is not valid.", 4401)
    case "token_expired":
      return createWireFault(401, "The token has expired. Renew it.", 4401)
    case "token_revoked":
      return createWireFault(401, "The token was revoked.", 4401)
    case "scope_denied":
      return createWireFault(403, "The token is not good for that.")
    case "origin_denied":
      return createWireFault(403, "This origin is not allowed.")
    case "session_unknown":
      return createWireFault(404, "There is no such session.", 4404)
    case "route_unknown":
      return createWireFault(404, "There is nothing here.")
    case "upgrade_expected":
      return createWireFault(426, "This address speaks WebSocket.")
    case "body_malformed":
      return createWireFault(400, "The body is not a JSON object.")
    case "body_too_large":
      return createWireFault(413, `A body may have ${fault.max} bytes at most.`)
    case "field_invalid":
      return createWireFault(400, `The field "${fault.field}" is missing or of the wrong kind.`)
    case "record_refused":
      return createWireFault(400, `A producer outside may not send "${fault.type}".`)
    case "record_gap":
      return createWireFault(409, `Records are missing. Go on with number ${fault.want}.`)
    case "call_settled":
      return createWireFault(409, "That tool call has its result already.")
    case "import_too_large":
      return createWireFault(413, `A file may have ${fault.max} bytes at most. Send it in numbered parts.`)
    case "import_empty":
      return createWireFault(422, "There is nothing in this file that can be used.")
    case "import_damaged":
      return createWireFault(400, "This file cannot be unpacked: it is damaged.")
    case "import_stalled":
      return createWireFault(408, "The upload came to a halt. Send it again.")
    case "import_running":
      return createWireFault(409, "Another upload is coming in. Wait until it is done.")
    case "session_begun":
      return createWireFault(409, "This session has messages of its own. Import into a new one.")
    case "agent_unknown":
      return createWireFault(404, "There is no such agent.")
    case "agents_full":
      return createWireFault(409, `A tenant may have ${fault.max} agents at most.`)
    case "url_refused":
      return createWireFault(422, `This is no public https address (${fault.because}).`)
    case "asset_unknown":
      return createWireFault(404, "There is no such file.")
    case "asset_type_refused":
      return createWireFault(415, "Files of this type are not taken. Images, audio, video, PDF and text in UTF-8 are.")
    case "asset_too_large":
      return createWireFault(413, `A file of this type may have ${fault.max / 2 ** 20} MB at most.`)
    case "asset_cut_off":
      return createWireFault(400, "The file did not come whole. Send it again.")
    case "assets_full":
      return createWireFault(409, `The files of a session may be ${fault.max} at most, and 1 GB together.`)
    case "asset_store_failed":
      return createWireFault(503, "The file could not be stored or read. Try again in a moment.")
    case "length_required":
      return createWireFault(411, "The length of the body has to be told before.")
    case "link_invalid":
      return createWireFault(403, "This address is not valid.")
    case "link_expired":
      return createWireFault(403, "This address has expired. Reload the page.")
    case "range_invalid":
      return createWireFault(416, "There is no such range in this file.")
    case "remote_refused":
      return createWireFault(502, `That address gives nothing that can be shown (${fault.because}).`)
    case "deployment_unsafe":
      return createWireFault(503, `This deployment refuses to serve: ${fault.because}.`)
    case "internal":
      return createWireFault(500, "Something went wrong on our side.", 1011)
  }
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

/** What a person reads about a turn or call that went wrong. SPEC ER2. */
export function turnFaultToText(fault: TurnFault): string {
  switch (fault) {
    case "model_unreachable":
      return "The model could not be reached."
    case "model_refused":
      return "The model refused the request."
    case "model_rate_limited":
      return "The model is busy. Try again in a moment."
    case "model_malformed":
      return "The model's answer could not be read."
    case "model_timeout":
      return "The model took too long to answer."
    case "model_cut_off":
      return "The model's answer ended early."
    case "context_exceeded":
      return "The answer grew too long for the model."
    case "answer_too_long":
      return "The answer is longer than can be kept."
    case "step_limit":
      return "The answer took too many steps."
    case "turn_timeout":
      return "The answer took too long."
    case "process_restart":
      return "The answer was interrupted by a restart."
    case "producer_gone":
      return "The program that answered went away."
    case "producer_failed":
      return "The program that answered failed."
    case "internal":
      return "Something went wrong on our side."
    case "tool_unknown":
      return "There is no such tool."
    case "tool_arguments":
      return "The tool was called with arguments it does not take."
    case "tool_failed":
      return "The tool failed."
    case "tool_timeout":
      return "The tool took too long."
    case "tool_result_too_large":
      return "The tool's result is too large to keep."
    case "tool_interrupted":
      return "The tool was interrupted."
    case "agent_unknown":
      return "There is no such agent."
    case "agent_loop":
      return "The agents would wait for each other in a circle."
    case "agent_fan_out":
      return "Too many agents were asked in one turn."
    case "agent_busy":
      return "Too many messages wait for that agent already."
    case "agent_failed":
      return "The agent did not answer."
    case "denied":
      return "The call was not allowed."
  }
}
