/**
 * accept-message.ts: may this message come in, and has it been here before?
 *
 * socket, route → ACCEPT → turn or queue
 * The client's own id makes a send repeatable: the same id again has no second effect (law 6).
 */

import type { Asset } from "../../shared/protocol/event.ts"
import { type Fault, fail, type Result, succeed } from "../../shared/fault.ts"
import { MAX_ATTACHMENTS, MAX_MESSAGE_BYTES, MAX_QUEUED, MAX_TITLE_CHARS } from "../../shared/limits.ts"
import { utf8Bytes } from "../../shared/truncate.ts"
import { headOfTokens, tokensOf } from "../model/token-estimate.ts"
import type { AssetBook } from "../asset/asset-rows.ts"
import type { Store } from "../store/session-store.ts"
import { userMessage } from "./begin-turn.ts"
import type { Turns } from "./turn-scheduler.ts"

export interface SendRequest {
  readonly id: string
  readonly content: string
  readonly reply_to?: string | undefined
  /** Ids of files of the session, in the order in which they are shown. */
  readonly attachments?: readonly string[] | undefined
}

export interface Accepted {
  readonly id: string
  /** The seq that its row has: that of its coming, or, once it left the queue, of its turn's beginning. */
  readonly seq: number
  readonly duplicate: boolean
}

/** Where a message comes in. */
export interface Doorway {
  readonly store: Store
  readonly turns: Turns
  readonly assets: Pick<AssetBook, "find">
  /** Tokens that a message may have. */
  readonly maxTokens: () => number
}

/**
 * Shapes  SendRequest → Accepted.
 * Errors  `message_empty`, `message_too_large`, `context_exceeded`, `frame_invalid` (an answer to nothing, a file twice),
 *         `attachment_unknown`, `attachments_too_many`, `queue_full`; nothing is stored then.
 */
export function acceptMessage(doorway: Doorway, request: SendRequest, now: number): Result<Accepted> {
  const { store, turns, assets, maxTokens } = doorway
  const { id, content, reply_to, attachments: ids = [] } = request
  const known = store.find(id)
  if (known !== null && known.role !== "user") return fail({ reason: "frame_invalid", field: "id" })
  if (known !== null) return succeed({ id, seq: known.seq, duplicate: true })
  // An answer from outside has it for its exchange: two turns would share it.
  if (store.outsideAnswer(id) !== null) return fail({ reason: "frame_invalid", field: "id" })
  const attachments = attachmentsOf(assets, ids)
  if (!attachments.ok) return attachments
  const fault = faultOfContent(content, maxTokens(), ids.length > 0)
  if (fault !== null) return fail(fault)
  const answered = reply_to === undefined ? null : store.find(reply_to)
  if (reply_to !== undefined && (answered === null || answered.isWithdrawn)) {
    return fail({ reason: "frame_invalid", field: "reply_to" })
  }
  if (store.countQueued("person") >= MAX_QUEUED) return fail({ reason: "queue_full", max: MAX_QUEUED })
  const beside = { reply_to: reply_to ?? null, attachments: attachments.value }
  const seq = turns.accept(userMessage(id, content, now, beside))
  return succeed({ id, seq, duplicate: false })
}

/** The files of these ids: kept ones of this session, each once. A canvas is framed where it is embedded, and no file. */
function attachmentsOf(assets: Doorway["assets"], ids: readonly string[]): Result<readonly Asset[]> {
  if (ids.length > MAX_ATTACHMENTS) return fail({ reason: "attachments_too_many", max: MAX_ATTACHMENTS })
  if (new Set(ids).size < ids.length) return fail({ reason: "frame_invalid", field: "attachments" })
  const found = ids.map((id) => assets.find(id)).filter((asset) => asset !== null)
  if (found.some(({ kind }) => kind === "canvas")) return fail({ reason: "attachment_unknown" })
  return found.length < ids.length ? fail({ reason: "attachment_unknown" }) : succeed(found)
}

/** What a message is called by: its words, or its first file where it has none. */
export function titleWords(assets: Doorway["assets"], { content, attachments }: Omit<SendRequest, "id">): string {
  if (content.trim() !== "") return content
  const [first] = attachments ?? []
  return (first === undefined ? null : assets.find(first))?.label ?? ""
}

/** Why these words cannot be a message; null where they can. With a file beside them there need be none. */
export function faultOfContent(content: string, maxTokens: number, hasFiles = false): Fault | null {
  if (content.trim() === "" && !hasFiles) return { reason: "message_empty" }
  if (utf8Bytes(content) > MAX_MESSAGE_BYTES) return { reason: "message_too_large", max: MAX_MESSAGE_BYTES }
  return tokensOf(content) > maxTokens ? { reason: "context_exceeded", max: maxTokens } : null
}

/** As much of a text as can be a message. */
export function headOfMessage(text: string, maxTokens: number): string {
  if (text.trim() === "") return "(It said nothing.)"
  if (faultOfContent(text, maxTokens) === null) return text
  let head = headOfTokens(text, Math.max(maxTokens - NOTE_TOKENS, 1))
  // No code unit has more than three bytes.
  if (utf8Bytes(head) > MAX_MESSAGE_BYTES - NOTE_BYTES)
    head = head.slice(0, Math.floor((MAX_MESSAGE_BYTES - NOTE_BYTES) / 3))
  const kept = head.replace(/[\ud800-\udbff]$/, "")
  return `${kept}\n\n[${text.length - kept.length} more characters are left out here]`
}

/** What the note about what is left out costs at most. */
const NOTE_TOKENS = 20
const NOTE_BYTES = 100

/** The session's title; an untitled one takes the first words of its first message. */
export function titleSession(store: Store, words: string): string {
  const title = store.session()?.title ?? ""
  if (title !== "") return title
  const line = words.trim().replace(/\s+/g, " ")
  const first = line.length <= MAX_TITLE_CHARS ? line : `${line.slice(0, MAX_TITLE_CHARS - 1)}…`
  store.setTitle(first.toWellFormed())
  return first.toWellFormed()
}
