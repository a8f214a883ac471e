/** fault.test.ts: tests the text and the code of each fault. */

import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { type Fault, faultToWire, type TurnFault, turnFaultToText } from "../../shared/fault.ts"

const SPEC = readFileSync(new URL("../../SPEC.md", import.meta.url), "utf8")
const SOURCE = readFileSync(new URL("../../shared/fault.ts", import.meta.url), "utf8")

/** One fault of each kind. The type ensures that no kind is missing. */
const FAULTS: { readonly [R in Fault["reason"]]: Extract<Fault, { reason: R }> } = {
  frame_malformed: { reason: "frame_malformed" },
  frame_unknown: { reason: "frame_unknown", type: "…" },
  frame_invalid: { reason: "frame_invalid", field: "…" },
  frame_too_large: { reason: "frame_too_large", max: 262144 },
  hello_first: { reason: "hello_first" },
  hello_timeout: { reason: "hello_timeout" },
  protocol_unsupported: { reason: "protocol_unsupported", supported: 4 },
  message_empty: { reason: "message_empty" },
  message_too_large: { reason: "message_too_large", max: 65536 },
  attachment_unknown: { reason: "attachment_unknown" },
  file_gone: { reason: "file_gone" },
  attachments_too_many: { reason: "attachments_too_many", max: 10 },
  queue_full: { reason: "queue_full", max: 8 },
  context_exceeded: { reason: "context_exceeded", max: 32000 },
  turn_unknown: { reason: "turn_unknown" },
  turn_ended: { reason: "turn_ended" },
  turn_running: { reason: "turn_running" },
  turn_whole: { reason: "turn_whole" },
  call_unknown: { reason: "call_unknown" },
  call_decided: { reason: "call_decided" },
  scope_denied: { reason: "scope_denied" },
  region_unavailable: { reason: "region_unavailable", region: "eu" },
  viewers_full: { reason: "viewers_full", max: 100 },
  folder_unknown: { reason: "folder_unknown" },
  share_unknown: { reason: "share_unknown" },
  share_links_full: { reason: "share_links_full", max: 50 },
  share_too_large: { reason: "share_too_large" },
  prompts_full: { reason: "prompts_full", max: 100 },
  folders_full: { reason: "folders_full", max: 100 },
  shares_full: { reason: "shares_full", max: 1_000 },
  user_suspended: { reason: "user_suspended" },
  user_erased: { reason: "user_erased" },
  user_unknown: { reason: "user_unknown" },
  last_owner: { reason: "last_owner" },
  role_from_issuer: { reason: "role_from_issuer" },
  theme_unreadable: { reason: "theme_unreadable", scheme: "dark", pair: "accent/ground", ratio: 2.1, least: 4.5 },
  card_refused: { reason: "card_refused", pointer: "/view/0/text", problem: "is missing" },
  cards_full: { reason: "cards_full", max: 100 },
  card_unknown: { reason: "card_unknown" },
  logo_refused: { reason: "logo_refused", because: "…" as "type" },
  prices_changed: { reason: "prices_changed" },
  record_refused: { reason: "record_refused", type: "…" },
  record_gap: { reason: "record_gap", nextNumber: 3 },
  call_settled: { reason: "call_settled" },
  message_unknown: { reason: "message_unknown" },
  message_begun: { reason: "message_begun" },
  version_unknown: { reason: "version_unknown" },
  socket_behind: { reason: "socket_behind" },
  token_missing: { reason: "token_missing" },
  token_invalid: { reason: "token_invalid" },
  token_expired: { reason: "token_expired" },
  token_revoked: { reason: "token_revoked" },
  key_invalid: { reason: "key_invalid" },
  key_expired: { reason: "key_expired" },
  key_unknown: { reason: "key_unknown" },
  keys_full: { reason: "keys_full", max: 50 },
  token_keys_full: { reason: "token_keys_full", max: 10 },
  tenant_taken: { reason: "tenant_taken" },
  tenant_unknown: { reason: "tenant_unknown" },
  issuer_taken: { reason: "issuer_taken" },
  origin_denied: { reason: "origin_denied" },
  session_unknown: { reason: "session_unknown" },
  route_unknown: { reason: "route_unknown" },
  upgrade_expected: { reason: "upgrade_expected" },
  body_malformed: { reason: "body_malformed" },
  body_too_large: { reason: "body_too_large", max: 524288 },
  body_type_refused: { reason: "body_type_refused" },
  body_stalled: { reason: "body_stalled" },
  revocations_full: { reason: "revocations_full", max: 1000 },
  field_invalid: { reason: "field_invalid", field: "…" },
  import_too_large: { reason: "import_too_large", max: 67108864 },
  import_too_many_records: { reason: "import_too_many_records", max: 500_000 },
  import_inflated: { reason: "import_inflated" },
  import_slow: { reason: "import_slow" },
  import_empty: { reason: "import_empty" },
  import_many: { reason: "import_many", count: 12 },
  import_damaged: { reason: "import_damaged" },
  import_stalled: { reason: "import_stalled" },
  import_running: { reason: "import_running" },
  session_begun: { reason: "session_begun" },
  agent_unknown: { reason: "agent_unknown" },
  model_unknown: { reason: "model_unknown" },
  models_full: { reason: "models_full", max: 32 },
  agents_full: { reason: "agents_full", max: 32 },
  asset_unknown: { reason: "asset_unknown" },
  asset_type_refused: { reason: "asset_type_refused" },
  asset_too_large: { reason: "asset_too_large", max: 20971520 },
  asset_cut_off: { reason: "asset_cut_off" },
  assets_full: { reason: "assets_full", max: 500 },
  asset_store_failed: { reason: "asset_store_failed" },
  length_required: { reason: "length_required" },
  link_invalid: { reason: "link_invalid" },
  link_expired: { reason: "link_expired" },
  range_invalid: { reason: "range_invalid" },
  url_refused: { reason: "url_refused", because: "…" as "host" },
  remote_refused: { reason: "remote_refused", because: "…" as "type" },
  issuer_unknown: { reason: "issuer_unknown" },
  issuers_full: { reason: "issuers_full", max: 10 },
  issuer_refused: { reason: "issuer_refused", because: "…" as "address" },
  issuer_unreachable: { reason: "issuer_unreachable" },
  mcp_server_unknown: { reason: "mcp_server_unknown" },
  mcp_servers_full: { reason: "mcp_servers_full", max: 16 },
  mcp_refused: { reason: "mcp_refused", because: "…" as "address" },
  webhook_tool_unknown: { reason: "webhook_tool_unknown" },
  webhook_tools_full: { reason: "webhook_tools_full", max: 64 },
  tool_refused: { reason: "tool_refused", pointer: "/url", problem: "…" },
  action_refused: { reason: "action_refused", because: "…" as "done" },
  result_unverified: { reason: "result_unverified" },
  result_unexpected: { reason: "result_unexpected" },
  sign_in_required: { reason: "sign_in_required" },
  deployment_unsafe: { reason: "deployment_unsafe", because: "…" },
  tenant_leaving: { reason: "tenant_leaving" },
  tenant_erased: { reason: "tenant_erased" },
  tenant_not_empty: { reason: "tenant_not_empty" },
  transfer_running: { reason: "transfer_running" },
  export_too_large: { reason: "export_too_large", max: 4000 },
  export_unknown: { reason: "export_unknown" },
  tenant_import_unknown: { reason: "tenant_import_unknown" },
  receipt_unknown: { reason: "receipt_unknown" },
  archive_refused: { reason: "archive_refused", because: "…" as "seal" },
  rate_limited: { reason: "rate_limited", rateClass: "write", per: "user", retryAfterSeconds: 10 },
  budget_exhausted: { reason: "budget_exhausted", budget: "tokens_per_day", scope: "user", resets: 0 },
  budget_unchecked: { reason: "budget_unchecked" },
  sign_ins_limited: { reason: "sign_ins_limited", retryAfterSeconds: 60 },
  sessions_full: { reason: "sessions_full", max: 10_000 },
  sockets_full: { reason: "sockets_full", max: 1_000 },
  user_sockets_full: { reason: "user_sockets_full", max: 2_000 },
  storage_full: { reason: "storage_full", max: 10 * 2 ** 30 },
  tenant_storage_full: { reason: "tenant_storage_full" },
  remote_limited: { reason: "remote_limited", max: 1_000, retryAfterSeconds: 3_600 },
  internal: { reason: "internal" },
}

test.each(Object.values(FAULTS))("[ER1] the row of $reason in SPEC.md matches", (fault) => {
  const { code, text, status, close } = faultToWire(fault)
  expect(SPEC).toContain(`| \`${code}\` | ${status} | ${close ?? "stays open"} | ${text} |`)
})

test("[ER1] the table in SPEC.md contains no other faults", () => {
  const rows = SPEC.match(/^\| `\w+` \| \d{3} \|/gm) ?? []
  expect(rows).toHaveLength(Object.keys(FAULTS).length)
})

test("[ER2] SPEC.md contains the text for every reason why a turn can end", () => {
  const table = /const TURN_FAULT_TEXTS = ([\s\S]*?)\n\n/.exec(SOURCE)?.[1] ?? ""
  const reasons = Array.from(table.matchAll(/^ {2}(\w+):/gm), (match) => match[1] as TurnFault)
  expect(reasons.length).toBeGreaterThan(10)
  for (const reason of reasons) expect(SPEC).toContain(`| \`${reason}\` | ${turnFaultToText(reason)} |`)
})

test("[ER1] the text of a fault that closes a socket fits into a close frame", () => {
  const closing = Object.values<Fault>(FAULTS)
    .map(faultToWire)
    .filter(({ close }) => close !== null)
  expect(closing.length).toBeGreaterThan(0)
  // RFC 6455 allows 125 bytes, two of which are the code.
  for (const { text } of closing) expect(new TextEncoder().encode(text).length).toBeLessThanOrEqual(123)
})
