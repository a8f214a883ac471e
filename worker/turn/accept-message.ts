/**
 * accept-message.ts: validates a user's message and starts a turn with it, or queues it.
 *
 * socket, route → ACCEPT → turn or queue
 * The client chooses the message id, so a send is idempotent: repeating an id has no effect.
 */

import type { CardAction } from "../../shared/protocol/cards/card-action.ts"
import type { Asset } from "../../shared/protocol/event.ts"
import { type Fault, fail, type Result, succeed } from "../../shared/fault.ts"
import { MAX_ATTACHMENTS, MAX_MESSAGE_BYTES, MAX_QUEUED_MESSAGES, MAX_TITLE_CHARS } from "../../shared/limits.ts"
import { cutText, cutTextWithNote } from "../../shared/text/cut-text.ts"
import { removeControls } from "../../shared/text/title.ts"
import { countUtf8Bytes } from "../../shared/truncate.ts"
import { truncateToTokens, estimateTokens } from "../model/token-estimate.ts"
import type { AssetRows } from "../asset/asset-rows.ts"
import type { SessionStore } from "../store/session-store.ts"
import { createUserMessage } from "./begin-turn.ts"
import type { TurnScheduler } from "./turn-scheduler.ts"
import type { AcceptedMessage, SendRequest } from "../platform/rpc/session-types.ts"

export interface MessageIngress {
  readonly store: SessionStore
  readonly turns: TurnScheduler
  readonly assets: Pick<AssetRows, "find">
  readonly maxMessageTokens: () => number
}

/**
 * `made`: the click that the message represents, with the call that it makes. The caller has already written the
 * message's text.
 */
export interface AcceptRequest extends SendRequest {
  readonly made?: CardAction
}

/**
 * Accepts a message, or returns a fault and stores nothing. `trace` is the id of its turn.
 *
 * Faults: `message_empty`, `message_too_large`, `context_exceeded`, `frame_invalid` (id in use, unknown `reply_to`,
 * duplicate attachment), `attachment_unknown`, `attachments_too_many`, `queue_full`.
 */
export function acceptMessage(
  ingress: MessageIngress,
  request: AcceptRequest,
  now: number,
  trace: string,
): Result<AcceptedMessage> {
  const { store, turns, assets, maxMessageTokens } = ingress
  const { id, content, reply_to, attachments: ids = [], effort, made } = request
  const known = store.findById(id)
  if (known !== null && known.role !== "user") return fail({ reason: "frame_invalid", field: "id" })
  if (known !== null) return succeed({ id, seq: known.seq, duplicate: true })
  // An external answer may use the id for its exchange, and two turns must not share an exchange id.
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
  const acting = made === undefined ? {} : { action: made, mode: "action" }
  const extras = {
    reply_to: reply_to ?? null,
    attachments: attachments.value,
    trace,
    ...acting,
    ...(effort && { effort }),
  }
  const seq = turns.startOrQueue(createUserMessage(id, content, now, extras))
  return succeed({ id, seq, duplicate: false })
}

/**
 * Returns the assets with these ids. Each must be stored in this session and appear once. A canvas can't be attached.
 */
function resolveAttachments(assets: MessageIngress["assets"], ids: readonly string[]): Result<readonly Asset[]> {
  if (ids.length > MAX_ATTACHMENTS) return fail({ reason: "attachments_too_many", max: MAX_ATTACHMENTS })
  if (new Set(ids).size < ids.length) return fail({ reason: "frame_invalid", field: "attachments" })
  const found = ids.map((id) => assets.find(id)).filter((asset) => asset !== null)
  if (found.some(({ kind }) => kind === "canvas")) return fail({ reason: "attachment_unknown" })
  return found.length < ids.length ? fail({ reason: "attachment_unknown" }) : succeed(found)
}

/** Returns the text from which a title is derived: the message's own text, or else the name of its first attachment. */
export function pickTitleText(
  assets: MessageIngress["assets"],
  { content, attachments }: Omit<SendRequest, "id">,
): string {
  if (content.trim() !== "") return content
  const [first] = attachments ?? []
  return (first === undefined ? null : assets.find(first))?.label ?? ""
}

/** Returns the reason why text can't be sent as a message; null if it can. With attachments, it may be empty. */
export function findContentFault(content: string, maxTokens: number, hasAttachments = false): Fault | null {
  if (content.trim() === "" && !hasAttachments) return { reason: "message_empty" }
  if (countUtf8Bytes(content) > MAX_MESSAGE_BYTES) return { reason: "message_too_large", max: MAX_MESSAGE_BYTES }
  return estimateTokens(content) > maxTokens ? { reason: "context_exceeded", max: maxTokens } : null
}

/** Shortens text from an agent or a tool if it exceeds the limits of a message, and adds a note. */
export function truncateMessage(text: string, maxTokens: number): string {
  if (text.trim() === "") return "(The answer was empty.)"
  if (findContentFault(text, maxTokens) === null) return text
  const head = truncateToTokens(text, Math.max(maxTokens - CUT_NOTE_TOKENS, 1))
  const isTooLarge = countUtf8Bytes(head) > MAX_MESSAGE_BYTES - CUT_NOTE_BYTES
  // A UTF-16 code unit takes at most three bytes in UTF-8.
  const maxChars = isTooLarge ? Math.floor((MAX_MESSAGE_BYTES - CUT_NOTE_BYTES) / 3) : head.length
  return cutTextWithNote(text, maxChars)
}

/** Upper bounds for the size of the note about omitted text. */
const CUT_NOTE_TOKENS = 20
export const CUT_NOTE_BYTES = 100

/** Returns the session's title. An untitled session gets the start of its first message (`isNew`). */
export function ensureTitle(store: SessionStore, text: string): { readonly title: string; readonly isNew: boolean } {
  const title = store.readSession()?.title ?? ""
  if (title !== "") return { title, isNew: false }
  const line = removeControls(text).replace(/\s+/g, " ").trim()
  const newTitle = line.length <= MAX_TITLE_CHARS ? line : `${cutText(line, MAX_TITLE_CHARS - 1)}…`
  store.setTitle(newTitle, "words")
  return { title: newTitle, isNew: newTitle !== "" }
}
