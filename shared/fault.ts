/**
 * fault.ts: the closed union of errors, and the reasons why turns and tool calls end.
 *
 * Faults are values: functions return a `Result`, and only programming errors are thrown. Public messages are defined
 * only in fault-catalogue.ts and below; internal details go to the log. A test compares the public messages with SPEC
 * ER1 and ER2.
 */

import { CATALOGUE, type CatalogueEntry, type FaultsByReason } from "./fault-catalogue.ts"
import type { RateClass } from "./user-limits.ts"

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
  | { readonly reason: "share_unknown" }
  | { readonly reason: "share_links_full"; readonly max: number }
  | { readonly reason: "share_too_large" }
  | { readonly reason: "folder_unknown" }
  | { readonly reason: "folders_full"; readonly max: number }
  | { readonly reason: "prompts_full"; readonly max: number }
  | { readonly reason: "user_suspended" }
  | { readonly reason: "user_erased" }
  | { readonly reason: "user_unknown" }
  | { readonly reason: "last_owner" }
  | { readonly reason: "role_from_issuer" }
  | { readonly reason: "prices_changed" }
  | ThemeFault
  | CardFault
  | { readonly reason: "cards_full"; readonly max: number }
  | { readonly reason: "card_unknown" }
  | { readonly reason: "logo_refused"; readonly because: LogoFlaw }
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
  | { readonly reason: "model_unknown" }
  | { readonly reason: "models_full"; readonly max: number }
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
  | { readonly reason: "mcp_server_unknown" }
  | { readonly reason: "mcp_servers_full"; readonly max: number }
  | { readonly reason: "mcp_refused"; readonly because: McpFlaw }
  | { readonly reason: "webhook_tool_unknown" }
  | { readonly reason: "webhook_tools_full"; readonly max: number }
  | { readonly reason: "tool_refused"; readonly pointer: string; readonly problem: string }
  | { readonly reason: "action_refused"; readonly because: ActionFlaw }
  | { readonly reason: "result_unverified" }
  | { readonly reason: "result_unexpected" }
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
  | {
      readonly reason: "rate_limited"
      readonly rateClass: RateClass
      /** The scope of the limit. */
      readonly per: "user" | "tenant"
      readonly retryAfterSeconds: number
    }
  | { readonly reason: "sign_ins_limited"; readonly retryAfterSeconds: number }
  | BudgetFault
  | { readonly reason: "budget_unchecked" }
  | { readonly reason: "sessions_full"; readonly max: number }
  | { readonly reason: "sockets_full"; readonly max: number }
  | { readonly reason: "user_sockets_full"; readonly max: number }
  | { readonly reason: "storage_full"; readonly max: number }
  | { readonly reason: "tenant_storage_full" }
  | { readonly reason: "remote_limited"; readonly max: number; readonly retryAfterSeconds: number }
  | { readonly reason: "internal" }

export type FaultReason = Fault["reason"]

/** The names of budgets (shared/usage/budget-limits.ts). */
export type BudgetName =
  | "tokens_per_day"
  | "tokens_per_month"
  | "cost_per_day"
  | "cost_per_month"
  | "concurrent_turns"
  | "sessions"
  | "stored_bytes"

/** The scopes for which a budget can be set. */
export type BudgetScope = "tenant" | "role" | "user"

export interface BudgetFault {
  readonly reason: "budget_exhausted"
  readonly budget: BudgetName
  readonly scope: BudgetScope
  /**
   * When the budget resets, in milliseconds since 1970. Null if the budget doesn't reset by time. Then usage is
   * freed only when a turn ends or something is deleted.
   */
  readonly resets: number | null
}

/** Two colours of a theme that are too similar (shared/theme/theme-contrast.ts). */
export interface ThemeFault {
  readonly reason: "theme_unreadable"
  readonly scheme: "light" | "dark"
  /** The foreground and its background, such as `accent/ground`. */
  readonly pair: string
  readonly ratio: number
  readonly least: number
}

/** A problem in a card template (shared/card/view/check-template.ts). */
export interface CardFault {
  readonly reason: "card_refused"
  /** A JSON Pointer into the body. */
  readonly pointer: string
  readonly problem: string
}

/** The reason why a file can't be a logo. */
export type LogoFlaw = "type" | "side" | "damaged"

/** The reason why a URL does not count as public. */
export type UrlFlaw = "malformed" | "too_long" | "scheme" | "credentials" | "host" | "port"

/** The reason why a tenant's archive is not imported. */
export type ArchiveFlaw = "shape" | "version" | "seal" | "file" | "content"

/** The reason why a remote file is not shown. */
export type RemoteFlaw = "unreachable" | "redirects" | "type" | "size" | "timeout"

/** The reason why an MCP server, or one of its tools, cannot be used. */
export type McpFlaw =
  // The URL is not a public https URL, it redirects, or the server can't be reached in time.
  | "address"
  | "redirect"
  | "unreachable"
  | "timeout"
  // The server or its authorization server rejects the credentials. `issuer`: the authorization server's metadata is
  // missing or wrong.
  | "unauthorized"
  | "issuer"
  // The user has not connected to the server, or must reconnect.
  | "not_connected"
  // A response exceeds the bounds or violates the protocol.
  | "too_large"
  | "too_deep"
  | "too_many"
  | "malformed"
  // The server requests user input in a way that isn't supported (SPEC MP31, MP36).
  | "input"
  // The tool must not be called (see `McpToolState`). `approval`: a user would have to allow the call.
  | "not_allowed"
  | "changed"
  | "gone"
  | "approval"

/**
 * The reason why a click on a card is refused. `unknown`: the card has no such button. `field`: a field is missing or
 * invalid. `done`: the action was already done. `tool`: the agent doesn't have the tool.
 */
export type ActionFlaw = "unknown" | "field" | "done" | "tool"

/** The reason why an OpenID provider cannot be used. */
export type IssuerFlaw = "address" | "unreachable" | "status" | "too_large" | "malformed" | "issuer_differs" | "no_keys"

/** A fault's fields other than its reason. */
export type FaultFields = Readonly<Record<string, string | number | null>>

/** The public form of a fault. `code` is the reason; `text` is for the user. */
export interface WireFault {
  readonly code: FaultReason
  readonly text: string
  /** The values in the text, for clients that show the text in another language; undefined if it has no values. */
  readonly fields: FaultFields | undefined
  /** Status of the HTTP response. */
  readonly status: number
  /** WebSocket close code; null if the socket stays open. */
  readonly close: number | null
}

/** Returns the public form of a fault. SPEC ER1. */
export function faultToWire(fault: Fault): WireFault {
  const { reason, ...fields } = fault
  return entryToWire(reason, fault, Object.keys(fields).length > 0 ? fields : undefined)
}

function entryToWire<R extends FaultReason>(
  code: R,
  fault: FaultsByReason[R],
  fields: FaultFields | undefined,
): WireFault {
  const { status, text, close }: CatalogueEntry<FaultsByReason[R]> = CATALOGUE[code]
  return { code, text: typeof text === "string" ? text : text(fault), fields, status, close: close ?? null }
}

/**
 * The reasons why a turn does not end as `completed`, or a tool call as `ok`, with the text for the user. On the wire,
 * they are `reason` and `error.code`. SPEC ER2.
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
  tool_not_connected: "The tool needs your account. Connect it and try again.",
  agent_unknown: "We couldn't find that agent.",
  agent_loop: "These agents would wait on each other.",
  agent_fan_out: "Too many agents were called in one turn.",
  agent_busy: "This agent has too many messages queued.",
  agent_failed: "The agent didn't respond.",
  denied: "The call was not allowed.",
  budget_exhausted: "The budget is used up.",
  budget_unchecked: "We couldn't check your budget. Try again in a moment.",
} as const

export type TurnFault = keyof typeof TURN_FAULT_TEXTS

export function isTurnFault(code: string): code is TurnFault {
  return Object.hasOwn(TURN_FAULT_TEXTS, code)
}

/** Returns the text for the user. SPEC ER2. */
export function turnFaultToText(fault: TurnFault): string {
  return TURN_FAULT_TEXTS[fault]
}
