/**
 * fault-catalogue.ts: the public text, the HTTP status and the close code of each fault.
 */

import type { BudgetFault, Fault, FaultReason } from "./fault.ts"
import { CLOSE_LIMITED } from "./user-limits.ts"

export interface CatalogueEntry<F extends Fault> {
  readonly status: number
  readonly text: string | ((fault: F) => string)
  /** WebSocket close code. If absent, the socket stays open. */
  readonly close?: number
}

export type FaultsByReason = { readonly [R in FaultReason]: Extract<Fault, { readonly reason: R }> }

export const CATALOGUE: { readonly [R in FaultReason]: CatalogueEntry<FaultsByReason[R]> } = {
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
  share_unknown: { status: 404, text: "This shared conversation doesn't exist, or isn't shared any more." },
  share_links_full: { status: 409, text: ({ max }) => `You can have up to ${max} links. Delete one first.` },
  share_too_large: {
    status: 413,
    text: "This conversation is too long for one link. Share it up to an earlier message.",
  },
  folder_unknown: { status: 404, text: "We couldn't find that folder." },
  prompts_full: { status: 409, text: ({ max }) => `You can save up to ${max} prompts. Delete one first.` },
  folders_full: { status: 409, text: ({ max }) => `You can have up to ${max} folders. Delete one first.` },
  user_suspended: { status: 403, text: "This account is suspended. Ask an administrator.", close: 4401 },
  user_erased: {
    status: 403,
    text: "This account and all of its data were deleted. If you didn't expect this, ask an administrator.",
  },
  user_unknown: { status: 404, text: "We couldn't find that user." },
  last_owner: { status: 409, text: "This is the last owner. Make someone else an owner first." },
  role_from_issuer: { status: 409, text: "The sign-in provider decides this person's role. Change it there." },
  theme_unreadable: {
    status: 422,
    text: ({ scheme, pair, ratio, least }) =>
      `In the ${scheme} theme, ${pair.replace("/", " on ")} has a contrast of ${ratio}:1. It must be at least ${least}:1.`,
  },
  card_refused: {
    status: 422,
    text: ({ pointer, problem }) => `The card's template isn't valid: "${pointer}" ${problem}.`,
  },
  cards_full: { status: 409, text: ({ max }) => `You can have up to ${max} cards. Delete one first.` },
  card_unknown: { status: 404, text: "We couldn't find that card." },
  logo_refused: { status: 422, text: ({ because }) => `This file can't be used as a logo (${because}).` },
  prices_changed: { status: 409, text: "Someone else has changed the prices. Reload them." },
  revocations_full: {
    status: 409,
    text: ({ max }) => `${max} tokens have already been revoked one by one. Revoke all of the user's tokens instead.`,
  },
  key_invalid: { status: 401, text: "The API key isn't valid, or it was revoked." },
  key_expired: { status: 401, text: "The API key has expired." },
  key_unknown: { status: 404, text: "We couldn't find that API key." },
  keys_full: { status: 409, text: ({ max }) => `You can have up to ${max} API keys. Revoke one first.` },
  token_keys_full: {
    status: 409,
    text: ({ max }) => `Up to ${max} token keys can be in use. Wait until one is retired, or retire the others now.`,
  },
  tenant_taken: { status: 409, text: "A tenant with this id exists or has existed." },
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
    text: ({ max }) => `Files can have up to ${formatCount(max)} records. Send larger files in numbered parts.`,
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
  model_unknown: { status: 404, text: "We couldn't find that model." },
  models_full: { status: 409, text: ({ max }) => `You can have up to ${max} models. Delete one first.` },
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
  mcp_server_unknown: { status: 404, text: "We couldn't find that MCP server." },
  mcp_servers_full: { status: 409, text: ({ max }) => `You can have up to ${max} MCP servers. Delete one first.` },
  mcp_refused: { status: 422, text: ({ because }) => `This MCP server can't be used (${because}).` },
  webhook_tool_unknown: { status: 404, text: "We couldn't find that tool." },
  webhook_tools_full: { status: 409, text: ({ max }) => `You can have up to ${max} tools. Delete one first.` },
  tool_refused: { status: 422, text: ({ pointer, problem }) => `This tool can't be used: "${pointer}" ${problem}.` },
  action_refused: { status: 422, text: ({ because }) => `This can't be done here (${because}).` },
  result_unverified: { status: 401, text: "The signature of this result is missing, wrong or too old." },
  result_unexpected: { status: 404, text: "No call is waiting for this result." },
  sign_in_required: { status: 401, text: "You're signed out. Sign in to continue." },
  deployment_unsafe: {
    status: 503,
    text: ({ because }) => `This deployment is misconfigured and won't serve requests: ${because}.`,
  },
  tenant_leaving: {
    status: 403,
    text: "This organization is being deleted. You can still read everything. An owner can cancel the deletion on the admin page.",
    close: 4408,
  },
  tenant_erased: { status: 410, text: "This organization was deleted, and its data has been erased.", close: 4401 },
  tenant_not_empty: { status: 409, text: "This tenant already has conversations. Import into a new one." },
  transfer_running: { status: 409, text: "Another export, import or erasure is in progress. Wait until it's done." },
  export_too_large: { status: 409, text: ({ max }) => `This export needs more than ${max} files.` },
  export_unknown: { status: 404, text: "We couldn't find that export." },
  tenant_import_unknown: { status: 404, text: "We couldn't find that import." },
  receipt_unknown: { status: 404, text: "We couldn't find that receipt." },
  archive_refused: { status: 422, text: ({ because }) => `This archive can't be imported (${because}).` },
  rate_limited: {
    status: 429,
    text: ({ retryAfterSeconds }) => `Too many requests at once. Wait ${retryAfterSeconds} seconds.`,
  },
  sign_ins_limited: {
    status: 429,
    text: ({ retryAfterSeconds }) =>
      `Too many failed sign-ins from your network. Try again in ${retryAfterSeconds} seconds.`,
  },
  budget_exhausted: { status: 429, text: describeBudget },
  budget_unchecked: { status: 503, text: "We couldn't check your budget. Try again in a moment." },
  sessions_full: {
    status: 409,
    text: ({ max }) => `You have ${formatCount(max)} conversations, which is the limit. Delete some first.`,
  },
  sockets_full: {
    status: 429,
    text: ({ max }) => `This conversation is open in ${formatCount(max)} places, which is the limit. Close one first.`,
    close: CLOSE_LIMITED,
  },
  user_sockets_full: {
    status: 429,
    text: ({ max }) => `You have conversations open in ${formatCount(max)} places. Close some first.`,
    close: CLOSE_LIMITED,
  },
  storage_full: {
    status: 409,
    text: ({ max }) => `Your files and conversations use all of your ${formatSize(max)}. Delete some first.`,
  },
  tenant_storage_full: {
    status: 409,
    text: "Your organization has used all of its storage. Ask an administrator.",
  },
  remote_limited: {
    status: 429,
    text: ({ max }) => `You've loaded ${formatCount(max)} files from other sites in the last hour. Try again later.`,
  },
  internal: { status: 500, text: "Something went wrong on our side. Try again in a moment.", close: 1011 },
}

/** Formats a limit in the largest unit that divides it: 262144 → "256 KB". */
function formatSize(bytes: number): string {
  if (bytes % 2 ** 30 === 0) return `${bytes / 2 ** 30} GB`
  if (bytes % 2 ** 20 === 0) return `${bytes / 2 ** 20} MB`
  return bytes % 1024 === 0 ? `${bytes / 1024} KB` : `${bytes} bytes`
}

/**
 * Returns the text of a budget fault. Days and months end at 00:00 UTC. A metered budget without a reset time is not
 * used up, but running answers are expected to use the rest.
 */
function describeBudget({ budget, scope, resets }: BudgetFault): string {
  const whose = scope === "tenant" ? "Your organization's" : "Your"
  const kind = budget.startsWith("tokens") ? "token" : "cost"
  switch (budget) {
    case "concurrent_turns":
      return "As many answers are in progress as your budget allows. Wait until one is done."
    case "sessions":
      return "You have as many conversations as your budget allows. Delete one first."
    case "stored_bytes":
      return "Your files use all the storage that your budget allows. Delete a conversation with files first."
    case "tokens_per_day":
    case "cost_per_day":
      if (resets === null) break
      return `${whose} ${kind} budget for today is used up. It resets at 00:00 UTC.`
    case "tokens_per_month":
    case "cost_per_month":
      if (resets === null) break
      return `${whose} ${kind} budget for this month is used up. It resets on the 1st at 00:00 UTC.`
  }
  return `What is left of ${whose.toLowerCase()} budget is needed for the answers in progress. Try again when they are done.`
}

/** Formats a count: 10000 → "10,000". */
function formatCount(count: number): string {
  return count.toLocaleString("en-US")
}
