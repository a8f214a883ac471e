/**
 * session-types.ts: the parameter and result types of a session object's calls (`session-rpc.ts`).
 */

import type { InputContent } from "../../../shared/protocol/input/call-input.ts"
import type { ActionClick } from "../../../shared/protocol/cards/card-action.ts"
import type { SessionViewer } from "../../../shared/protocol/http-body.ts"
import type { Fault } from "../../../shared/fault.ts"
import type { Effort } from "../../../shared/model-effort.ts"
import type { Asset } from "../../../shared/protocol/event.ts"
import type { Feedback } from "../../../shared/protocol/writing/feedback.ts"
import type { MessageStatus } from "../../../shared/protocol/message.ts"
import type { SessionOwner } from "./claims.ts"

/** A message to be sent. Its id makes a retry safe. */
export interface SendRequest {
  readonly id: string
  readonly content: string
  readonly reply_to?: string | undefined
  /** Ids of the session's assets, in display order. */
  readonly attachments?: readonly string[] | undefined
  /** How much the model thinks about this message. Ignored unless the agent has an effort. */
  readonly effort?: Effort | undefined
  /** Set if the message is a click on a card; the click replaces the content. */
  readonly action?: ActionClick | undefined
}

export interface AcceptedMessage {
  readonly id: string
  /** The seq of the message's arrival or, once the message has left the queue, of the start of its turn. */
  readonly seq: number
  readonly duplicate: boolean
}

/** A stored asset. `duplicate`: the session already had an asset with the same bytes, and this is that asset. */
export interface StoredAsset {
  readonly asset: Asset
  readonly duplicate: boolean
}

export interface PageQuery {
  /** Number of messages, 1 to MAX_PAGE_MESSAGES. */
  readonly limit: number
  /** Return messages before this position. Absent: return the newest messages. */
  readonly before?: number
  /** Return messages after this position. */
  readonly after?: number
  /** Return the message with this id, and messages before and after it. */
  readonly around?: string
}

/** A page of history as JSON text, and the number of rows read for it. */
export interface PageText {
  readonly json: string
  readonly rowsRead: number
}

export type ExportFormat = "jsonl" | "markdown"

/** A part of an import file. A file sent in one request is part 1 of 1. */
export interface ImportPart {
  readonly part: number
  readonly of: number
  /** The tenant whose key sealed the file; absent: the session's own. Only the import of a whole tenant sets it. */
  readonly sealedBy?: string | undefined
}

/** The stored data of a session, except its transcript and assets. */
export interface StoredSession {
  /** Its key (platform/session-key.ts). */
  readonly id: string
  readonly title: string
  /** Milliseconds since 1970. */
  readonly created: number
  /** JSON of the agent's configuration; null: the general agent. */
  readonly agent: string | null
  readonly family: SessionGroup
  /** True if the session has no messages, and therefore no transcript to import. */
  readonly isEmpty: boolean
  readonly asks: readonly AskLink[]
  /** The users with whom it is shared. */
  readonly viewers: readonly SessionViewer[]
}

/** Records that this session asked another agent's session a question. An import treats the question as closed. */
export interface AskLink {
  readonly id: string
  readonly call_id: string
  readonly session: string
  readonly agent: string
  readonly mode: "sync" | "async"
  readonly budget: number
}

/** A stored file: its asset and the other fields of its row. */
export interface AssetEntry {
  readonly asset: Asset
  /** SHA-256 of its bytes, in hexadecimal; null if unknown. */
  readonly hash: string | null
  readonly origin: "user" | "tool" | "import"
}

/** The answer to which a producer's request belongs, unless the request's records name one. */
export interface AnswerRef {
  readonly responseId?: string | undefined
  readonly turnId?: string | undefined
}

/** The state of an external answer, from which its producer can continue. */
export interface ExternalState {
  readonly responseId: string
  readonly turnId: string
  /** Number of the last accepted record; 0 if none. */
  readonly n: number
  readonly status: MessageStatus
  readonly reason: string | null
}

export type CompleteAnswerState = ExternalState & { readonly duplicate: boolean }

/** The question that a program has claimed. */
export interface ClaimedQuestion {
  readonly text: string
}

/** A line that a producer sent and that was rejected. */
export interface RefusedLine {
  readonly line: number
  readonly code: string
  readonly text: string
}

/** The outcome of a producer's request. */
export interface IngestResult {
  /** The reason why reading stopped early; null if the request was read to its end. */
  readonly fault: Fault | null
  /** State of the last answer that the records named; null if they named none. */
  readonly state: ExternalState | null
  readonly applied: number
  /** Records that had already been applied. */
  readonly repeated: number
  /** The first rejected lines. `skipped` counts all of them. */
  readonly bad: readonly RefusedLine[]
  readonly skipped: number
}

/**
 * A user's session and its agent. Each agent that is asked in it, directly or by other agents, has a separate session.
 */
export interface SessionGroup {
  readonly session: string
  readonly agent: string
}

/** A question from one agent's session to another. */
export interface AskRequest {
  /** Id of the question, and of its exchange in both sessions. */
  readonly id: string
  readonly owner: SessionOwner
  /** The session that receives the question, its agent and its session group. */
  readonly to: string
  readonly agent: string
  readonly family: SessionGroup
  readonly from: { readonly session: string; readonly name: string; readonly call_id: string }
  readonly message: string
  readonly mode: "sync" | "async"
  /** The sessions that led to this question, oldest first. */
  readonly path: readonly string[]
  /** Number of questions and late answers since the user's message. */
  readonly depth: number
  /** Maximum number of further questions to which this question can lead. */
  readonly budget: number
  /** The trace of the asking turn. Absent if the question comes from an object of version 0.1.0. */
  readonly trace?: string | undefined
}

/** An agent's answer as clean Markdown without spans, or the reason why there is none. */
export type AskAnswer = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly details: string }

/** A late answer to an asynchronous question. */
export interface AskCallback {
  /** Id of the question. */
  readonly id: string
  /** The agent that answers, and its session. */
  readonly name: string
  readonly session: string
  readonly reply: AskAnswer
}

/** A shared copy to be made. */
export interface ShareRequest {
  readonly id: string
  /** The id of the last message; null: the newest finished one. */
  readonly upto: string | null
  /** When the copy is deleted, in milliseconds since 1970; null: never. */
  readonly expires: number | null
  /** The owner's name, if readers may see it. */
  readonly author: string | null
}

/** A change to the feedback on an answer, for the tenant's counts. */
export interface FeedbackChange {
  /** The agent that answered. */
  readonly agent: string
  readonly before: Feedback | null
  readonly after: Feedback | null
  /** False for an imported answer. */
  readonly isCounted: boolean
}

/** The user's answer to a question that a tool call asked. `input`: the id of the question. */
export type InputAnswerRequest = { readonly input: string } & (
  | { readonly action: "accept"; readonly content: InputContent }
  | { readonly action: "decline" }
)

/** A copy of a session up to a message, and the fields that the new session inherits. */
export interface BranchExport {
  readonly title: string
  readonly agent: string
  readonly isTemporary: boolean
  /** Sealed records, as JSONL. */
  readonly lines: ReadableStream
}

/** The result of a webhook tool's call that arrived after the call was accepted. */
export interface LateToolResult {
  readonly tool: string
  readonly call_id: string
  /** The id that was sent with the call. */
  readonly id: string
  /** JSON text. */
  readonly text: string
}
