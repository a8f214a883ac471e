/**
 * accept-message.ts: may this message come in, and has it been here before?
 *
 * socket, route → ACCEPT → turn or queue
 * The client's own id makes a send repeatable: the same id again has no second effect (law 6).
 */

import type { Asset } from "../../shared/protocol/event.ts"
import { type Fault, fail, type Result, succeed } from "../../shared/fault.ts"
import { MAX_ATTACHMENTS, MAX_MESSAGE_BYTES, MAX_QUEUED_MESSAGES, MAX_TITLE_CHARS } from "../../shared/limits.ts"
import { countUtf8Bytes } from "../../shared/truncate.ts"
import { truncateToTokens, estimateTokens } from "../model/token-estimate.ts"
import type { AssetRows } from "../asset/asset-rows.ts"
import type { SessionStore } from "../store/session-store.ts"
import { createUserMessage } from "./begin-turn.ts"
import type { TurnScheduler } from "./turn-scheduler.ts"
import type { AcceptedMessage, SendRequest } from "../platform/rpc/session-types.ts"

/** Where a message comes in. */
export interface MessageIngress {
  readonly store: SessionStore
  readonly turns: TurnScheduler
  readonly assets: Pick<AssetRows, "find">
  /** Tokens that a message may have. */
  readonly maxMessageTokens: () => number
}

/**
 * Shapes  SendRequest → Accepted.
 * Errors  `message_empty`, `message_too_large`, `context_exceeded`, `frame_invalid` (an answer to nothing, a file twice),
 *         `attachment_unknown`, `attachments_too_many`, `queue_full`; nothing is stored then.
 */
export function acceptMessage(ingress: MessageIngress, request: SendRequest, now: number): Result<AcceptedMessage> {
  const { store, turns, assets, maxMessageTokens } = ingress
  const { id, content, reply_to, attachments: ids = [] } = request
  const known = store.findById(id)
  if (known !== null && known.role !== "user") return fail({ reason: "frame_invalid", field: "id" })
  if (known !== null) return succeed({ id, seq: known.seq, duplicate: true })
  // An answer from outside has it for its exchange: two turns would share it.
  if (store.findExternalAnswerPos(id) !== null) return fail({ reason: "frame_invalid", field: "id" })
  const attachments = resolveAttachments(assets, ids)
  if (!attachments.ok) return attachments
  const fault = findContentFault(content, maxMessageTokens(), ids.length > 0)
  if (fault !== null) return fail(fault)
  const repliedTo = reply_to === undefined ? null : store.findById(reply_to)
  if (reply_to !== undefined && (repliedTo === null || repliedTo.isWithdrawn)) {
    return fail({ reason: "frame_invalid", field: "reply_to" })
  }
  if (store.countQueued("person") >= MAX_QUEUED_MESSAGES)
    return fail({ reason: "queue_full", max: MAX_QUEUED_MESSAGES })
  const extras = { reply_to: reply_to ?? null, attachments: attachments.value }
  const seq = turns.startOrQueue(createUserMessage(id, content, now, extras))
  return succeed({ id, seq, duplicate: false })
}

/** The files of these ids: kept ones of this session, each once. A canvas is framed where it is embedded, and no file. */
function resolveAttachments(assets: MessageIngress["assets"], ids: readonly string[]): Result<readonly Asset[]> {
  if (ids.length > MAX_ATTACHMENTS) return fail({ reason: "attachments_too_many", max: MAX_ATTACHMENTS })
  if (new Set(ids).size < ids.length) return fail({ reason: "frame_invalid", field: "attachments" })
  const found = ids.map((id) => assets.find(id)).filter((asset) => asset !== null)
  if (found.some(({ kind }) => kind === "canvas")) return fail({ reason: "attachment_unknown" })
  return found.length < ids.length ? fail({ reason: "attachment_unknown" }) : succeed(found)
}

/** What a message is called by: its words, or its first file where it has none. */
export function pickTitleText(
  assets: MessageIngress["assets"],
  { content, attachments }: Omit<SendRequest, "id">,
): string {
  if (content.trim() !== "") return content
  const [first] = attachments ?? []
  return (first === undefined ? null : assets.find(first))?.label ?? ""
}

/** Why these words cannot be a message; null where they can. With a file beside them there need be none. */
export function findContentFault(content: string, maxTokens: number, hasAttachments = false): Fault | null {
  if (content.trim() === "" && !hasAttachments) return { reason: "message_empty" }
  if (countUtf8Bytes(content) > MAX_MESSAGE_BYTES) return { reason: "message_too_large", max: MAX_MESSAGE_BYTES }
  return estimateTokens(content) > maxTokens ? { reason: "context_exceeded", max: maxTokens } : null
}

/** As much of a text as can be a message. */
export function truncateMessage(text: string, maxTokens: number): string {
  if (text.trim() === "") return "(It said nothing.)"
  if (findContentFault(text, maxTokens) === null) return text
  let head = truncateToTokens(text, Math.max(maxTokens - TRUNCATION_NOTE_TOKENS, 1))
  // No code unit has more than three bytes.
  if (countUtf8Bytes(head) > MAX_MESSAGE_BYTES - TRUNCATION_NOTE_BYTES)
    head = head.slice(0, Math.floor((MAX_MESSAGE_BYTES - TRUNCATION_NOTE_BYTES) / 3))
  const kept = head.replace(/[\ud800-\udbff]$/, "")
  return `${kept}\n\n[${text.length - kept.length} more characters are left out here]`
}

/** What the note about what is left out costs at most. */
const TRUNCATION_NOTE_TOKENS = 20
const TRUNCATION_NOTE_BYTES = 100

/** The session's title; an untitled one takes the first words of its first message. */
export function ensureTitle(store: SessionStore, text: string): string {
  const title = store.readSession()?.title ?? ""
  if (title !== "") return title
  const line = text.trim().replace(/\s+/g, " ")
  const first = line.length <= MAX_TITLE_CHARS ? line : `${line.slice(0, MAX_TITLE_CHARS - 1)}…`
  store.setTitle(first.toWellFormed())
  return first.toWellFormed()
}
