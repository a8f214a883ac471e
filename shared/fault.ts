/**
 * fault.ts: the closed catalogue of errors and their public texts.
 *
 * Faults are values: functions return a `Result`, and only programming errors are thrown. Public texts are defined here
 * and nowhere else; internal details go to the log. A test compares the texts with SPEC ER1 and ER2.
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
  | { readonly reason: "hello_timeout" }
  | { readonly reason: "protocol_unsupported"; readonly supported: number }
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
  | { readonly reason: "region_unavailable"; readonly region: string }
  | { readonly reason: "viewers_full"; readonly max: number }
  | { readonly reason: "shares_full"; readonly max: number }
  | { readonly reason: "user_suspended" }
  | { readonly reason: "user_unknown" }
  | { readonly reason: "last_owner" }
  | { readonly reason: "role_from_issuer" }
  | { readonly reason: "revocations_full"; readonly max: number }
  | { readonly reason: "key_invalid" }
  | { readonly reason: "key_expired" }
  | { readonly reason: "key_unknown" }
  | { readonly reason: "keys_full"; readonly max: number }
  | { readonly reason: "token_keys_full"; readonly max: number }
  | { readonly reason: "tenant_taken" }
  | { readonly reason: "tenant_unknown" }
  | { readonly reason: "issuer_taken" }
  | { readonly reason: "origin_denied" }
  | { readonly reason: "session_unknown" }
  | { readonly reason: "route_unknown" }
  | { readonly reason: "upgrade_expected" }
  | { readonly reason: "body_malformed" }
  | { readonly reason: "body_too_large"; readonly max: number }
  | { readonly reason: "body_type_refused" }
  | { readonly reason: "body_stalled" }
  | { readonly reason: "field_invalid"; readonly field: string }
  | { readonly reason: "record_refused"; readonly type: string }
  | { readonly reason: "record_gap"; readonly nextNumber: number }
  | { readonly reason: "call_settled" }
  | { readonly reason: "import_too_large"; readonly max: number }
  | { readonly reason: "import_too_many_records"; readonly max: number }
  | { readonly reason: "import_inflated" }
  | { readonly reason: "import_slow" }
  | { readonly reason: "import_empty" }
  | { readonly reason: "import_many"; readonly count: number }
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
  | { readonly reason: "issuer_unknown" }
  | { readonly reason: "issuers_full"; readonly max: number }
  | { readonly reason: "issuer_refused"; readonly because: IssuerFlaw }
  | { readonly reason: "issuer_unreachable" }
  | { readonly reason: "sign_in_required" }
  | { readonly reason: "deployment_unsafe"; readonly because: string }
  | { readonly reason: "tenant_leaving" }
  | { readonly reason: "tenant_erased" }
  | { readonly reason: "tenant_not_empty" }
  | { readonly reason: "transfer_running" }
  | { readonly reason: "export_too_large"; readonly max: number }
  | { readonly reason: "export_unknown" }
  | { readonly reason: "tenant_import_unknown" }
  | { readonly reason: "receipt_unknown" }
  | { readonly reason: "archive_refused"; readonly because: ArchiveFlaw }
  | { readonly reason: "internal" }

export type FaultReason = Fault["reason"]

/** Why a URL is not considered public. */
export type UrlFlaw = "malformed" | "too_long" | "scheme" | "credentials" | "host" | "port"

/** Why an archive of a tenant is not imported. */
export type ArchiveFlaw = "shape" | "version" | "seal" | "file" | "content"

/** Why a remote file is not shown. */
export type RemoteFlaw = "unreachable" | "redirects" | "type" | "size" | "timeout"

/** Why an OpenID provider cannot be used. */
export type IssuerFlaw = "address" | "unreachable" | "status" | "too_large" | "malformed" | "issuer_differs" | "no_keys"

/** The public form of a fault: `code` is its reason, `text` is for the user. */
export interface WireFault {
  readonly code: FaultReason
  readonly text: string
  /** Status of the HTTP response. */
  readonly status: number
  /** WebSocket close code; null if the socket stays open. */
  readonly close: number | null
}

interface CatalogueEntry<F extends Fault> {
  readonly status: number
  readonly text: string | ((fault: F) => string)
  /** WebSocket close code. Without one the socket stays open. */
  readonly close?: number
}

type FaultsByReason = { readonly [R in FaultReason]: Extract<Fault, { readonly reason: R }> }

const CATALOGUE: { readonly [R in FaultReason]: CatalogueEntry<FaultsByReason[R]> } = {
  frame_malformed: { status: 400, text: "The frame isn't a JSON object." },
  frame_unknown: { status: 400, text: ({ type }) => `Unknown frame type "${type}".` },
  frame_invalid: { status: 400, text: ({ field }) => `The field "${field}" is missing or invalid.` },
  frame_too_large: { status: 413, text: ({ max }) => `Frames can be up to ${formatSize(max)}.` },
  hello_first: { status: 400, text: 'Send a "hello" frame first.' },
  hello_timeout: { status: 408, text: 'No "hello" frame arrived in time. Reconnect and send one.', close: 4408 },
  protocol_unsupported: {
    status: 400,
    text: ({ supported }) => `This server uses protocol ${supported}. Reload the page to update.`,
    close: 4406,
  },
  message_empty: { status: 400, text: "The message is empty. Enter some text or attach a file." },
  message_too_large: {
    status: 413,
    text: ({ max }) => `Messages can be up to ${formatSize(max)}. Shorten yours and try again.`,
  },
  attachment_unknown: { status: 404, text: "We couldn't find that file in this conversation. Attach it again." },
  file_gone: { status: 410, text: "This file is no longer available." },
  attachments_too_many: { status: 413, text: ({ max }) => `You can attach up to ${max} files to a message.` },
  queue_full: { status: 429, text: ({ max }) => `You have ${max} messages queued. Wait for a response first.` },
  context_exceeded: {
    status: 413,
    text: ({ max }) => `This message is too long for the model. Keep it under about ${max} tokens.`,
  },
  turn_unknown: { status: 404, text: "We couldn't find that response." },
  turn_ended: { status: 409, text: "That response has already ended." },
  turn_running: { status: 409, text: "A response is in progress. Stop it first." },
  turn_whole: { status: 409, text: "This response is already complete. There's nothing to retry." },
  call_unknown: { status: 404, text: "We couldn't find that tool call." },
  call_decided: { status: 409, text: "This tool call isn't waiting for approval." },
  message_unknown: { status: 404, text: "We couldn't find that message." },
  message_begun: { status: 409, text: "This message has already been sent." },
  version_unknown: { status: 404, text: "We couldn't find that version." },
  socket_behind: { status: 408, text: "The connection fell too far behind. Reconnect to resume.", close: 4408 },
  token_missing: { status: 401, text: "A token is required. Sign in and try again.", close: 4401 },
  token_invalid: { status: 401, text: "The token isn't valid. Sign in again.", close: 4401 },
  token_expired: { status: 401, text: "The token has expired. Sign in again.", close: 4401 },
  token_revoked: { status: 401, text: "The token has been revoked. Sign in again.", close: 4401 },
  scope_denied: { status: 403, text: "The token doesn't grant access to this." },
  region_unavailable: {
    status: 503,
    text: ({ region }) => `This server doesn't store data in the region "${region}".`,
  },
  viewers_full: {
    status: 409,
    text: ({ max }) => `You can share a conversation with up to ${max} people. Remove someone first.`,
  },
  shares_full: {
    status: 409,
    text: ({ max }) => `You already share ${max} conversations with this person. Stop sharing one first.`,
  },
  user_suspended: { status: 403, text: "This account is suspended. Ask an administrator.", close: 4401 },
  user_unknown: { status: 404, text: "We couldn't find that user." },
  last_owner: { status: 409, text: "This is the last owner. Make someone else an owner first." },
  role_from_issuer: { status: 409, text: "The sign-in provider decides this person's role. Change it there." },
  revocations_full: {
    status: 409,
    text: ({ max }) => `${max} tokens were already revoked one by one. Revoke all of them instead.`,
  },
  key_invalid: { status: 401, text: "The API key isn't valid, or it was revoked." },
  key_expired: { status: 401, text: "The API key has expired." },
  key_unknown: { status: 404, text: "We couldn't find that API key." },
  keys_full: { status: 409, text: ({ max }) => `You can have up to ${max} API keys. Revoke one first.` },
  token_keys_full: {
    status: 409,
    text: ({ max }) => `Up to ${max} token keys can be in use. Wait until one is retired, or retire the others now.`,
  },
  tenant_taken: { status: 409, text: "There's already a tenant with this id, or there was one." },
  tenant_unknown: { status: 404, text: "We couldn't find that tenant." },
  issuer_taken: { status: 409, text: "This issuer and audience are already registered." },
  origin_denied: { status: 403, text: "Requests from this origin aren't allowed." },
  session_unknown: { status: 404, text: "We couldn't find that conversation.", close: 4404 },
  route_unknown: { status: 404, text: "There's nothing at this address." },
  upgrade_expected: { status: 426, text: "This address only accepts WebSocket connections." },
  body_malformed: { status: 400, text: "This isn't a valid JSON object." },
  body_too_large: { status: 413, text: ({ max }) => `This is too large. The limit is ${formatSize(max)}.` },
  body_type_refused: { status: 415, text: 'Send JSON, with the header "Content-Type: application/json".' },
  body_stalled: { status: 408, text: "The request took too long to arrive. Send it again." },
  field_invalid: { status: 400, text: ({ field }) => `The field "${field}" is missing or invalid.` },
  record_refused: { status: 400, text: ({ type }) => `An external producer can't send "${type}".` },
  record_gap: { status: 409, text: ({ nextNumber }) => `Some records are missing. Resume with number ${nextNumber}.` },
  call_settled: { status: 409, text: "This tool call already has a result." },
  import_too_large: {
    status: 413,
    text: ({ max }) => `Files can be up to ${formatSize(max)}. Send larger files in numbered parts.`,
  },
  import_too_many_records: {
    status: 413,
    text: ({ max }) =>
      `Files can have up to ${max.toLocaleString("en-US")} records. Send larger files in numbered parts.`,
  },
  import_inflated: { status: 413, text: "This file unpacks to far more than its size. Send it unpacked." },
  import_slow: { status: 408, text: "The upload took too long. Send the file in smaller parts." },
  import_empty: { status: 422, text: "We couldn't find any messages in this file." },
  import_many: {
    status: 422,
    text: ({ count }) =>
      `This file holds ${count} conversations. Import it on the page, or send one conversation per session.`,
  },
  import_damaged: { status: 400, text: "This file is damaged and can't be unpacked. Try another copy." },
  import_stalled: { status: 408, text: "The upload stalled. Send it again." },
  import_running: { status: 409, text: "Another import is in progress. Wait until it's done." },
  session_begun: { status: 409, text: "This conversation already has messages. Import into a new one." },
  agent_unknown: { status: 404, text: "We couldn't find that agent." },
  agents_full: { status: 409, text: ({ max }) => `You can have up to ${max} agents. Delete one first.` },
  url_refused: { status: 422, text: ({ because }) => `This isn't a public https address (${because}).` },
  asset_unknown: { status: 404, text: "We couldn't find that file." },
  asset_type_refused: {
    status: 415,
    text: "This file type isn't supported. Try an image, audio, video, PDF or text file.",
  },
  asset_too_large: { status: 413, text: ({ max }) => `Files of this type can be up to ${formatSize(max)}.` },
  asset_cut_off: { status: 400, text: "The upload was incomplete. Send the file again." },
  assets_full: {
    status: 409,
    text: ({ max }) => `A conversation can hold up to ${max} files and 1 GB. Start a new one to add more.`,
  },
  asset_store_failed: { status: 503, text: "We couldn't store or read the file. Try again in a moment." },
  length_required: { status: 411, text: "The Content-Length header is required." },
  link_invalid: { status: 403, text: "This link isn't valid." },
  link_expired: { status: 403, text: "This link has expired. Reload the page." },
  range_invalid: { status: 416, text: "The requested range is outside this file." },
  remote_refused: { status: 502, text: ({ because }) => `We can't show what's at this address (${because}).` },
  issuer_unknown: { status: 404, text: "We couldn't find that issuer." },
  issuers_full: { status: 409, text: ({ max }) => `You can have up to ${max} issuers. Delete one first.` },
  issuer_refused: { status: 422, text: ({ because }) => `This identity provider can't be used (${because}).` },
  issuer_unreachable: { status: 503, text: "We couldn't reach the identity provider. Try again in a moment." },
  sign_in_required: { status: 401, text: "You're signed out. Sign in to continue." },
  deployment_unsafe: {
    status: 503,
    text: ({ because }) => `This deployment is misconfigured and won't serve requests: ${because}.`,
  },
  tenant_leaving: {
    status: 403,
    text: "This organization is being deleted. You can read everything. Only an owner can keep it, in the admin page.",
    close: 4408,
  },
  tenant_erased: { status: 410, text: "This organization was deleted, and its data is erased.", close: 4401 },
  tenant_not_empty: { status: 409, text: "This tenant already has conversations. Import into a new one." },
  transfer_running: { status: 409, text: "Another export, import or erasure is in progress. Wait until it's done." },
  export_too_large: { status: 409, text: ({ max }) => `This export needs more than ${max} files.` },
  export_unknown: { status: 404, text: "We couldn't find that export." },
  tenant_import_unknown: { status: 404, text: "We couldn't find that import." },
  receipt_unknown: { status: 404, text: "We couldn't find that receipt." },
  archive_refused: { status: 422, text: ({ because }) => `This archive can't be imported (${because}).` },
  internal: { status: 500, text: "Something went wrong on our side. Try again in a moment.", close: 1011 },
}

/** The public form of a fault. SPEC ER1. */
export function faultToWire(fault: Fault): WireFault {
  return entryToWire(fault.reason, fault)
}

function entryToWire<R extends FaultReason>(code: R, fault: FaultsByReason[R]): WireFault {
  const { status, text, close }: CatalogueEntry<FaultsByReason[R]> = CATALOGUE[code]
  return { code, text: typeof text === "string" ? text : text(fault), status, close: close ?? null }
}

/** Formats a limit in the largest unit that divides it: 262144 → "256 KB". */
function formatSize(bytes: number): string {
  if (bytes % 2 ** 20 === 0) return `${bytes / 2 ** 20} MB`
  return bytes % 1024 === 0 ? `${bytes / 1024} KB` : `${bytes} bytes`
}

/**
 * Why a turn did not end `completed`, or a tool call not `ok`: `reason` and `error.code` on the wire, with the text for
 * the user. SPEC ER2.
 */
const TURN_FAULT_TEXTS = {
  model_unreachable: "We couldn't reach the model.",
  model_refused: "The model rejected the request.",
  model_rate_limited: "The model is busy. Try again in a moment.",
  model_malformed: "The model sent an invalid response.",
  model_timeout: "The model took too long to respond.",
  model_cut_off: "The response was cut off.",
  context_exceeded: "The response exceeded the model's limit.",
  answer_too_long: "The response is too long to store.",
  step_limit: "The response took too many steps.",
  turn_timeout: "The response took too long.",
  process_restart: "The response was interrupted by a restart.",
  producer_gone: "The connected program disconnected.",
  producer_failed: "The connected program failed.",
  internal: "Something went wrong on our side.",
  tool_unknown: "This tool doesn't exist.",
  tool_arguments: "The tool was called with invalid arguments.",
  tool_failed: "The tool failed.",
  tool_timeout: "The tool took too long.",
  tool_result_too_large: "The tool's result is too large to store.",
  tool_interrupted: "The tool was interrupted.",
  agent_unknown: "We couldn't find that agent.",
  agent_loop: "These agents would wait on each other.",
  agent_fan_out: "Too many agents were called in one turn.",
  agent_busy: "This agent has too many messages queued.",
  agent_failed: "The agent didn't respond.",
  denied: "The call was not allowed.",
} as const

export type TurnFault = keyof typeof TURN_FAULT_TEXTS

export function isTurnFault(code: string): code is TurnFault {
  return Object.hasOwn(TURN_FAULT_TEXTS, code)
}

/** The text for the user. SPEC ER2. */
export function turnFaultToText(fault: TurnFault): string {
  return TURN_FAULT_TEXTS[fault]
}
