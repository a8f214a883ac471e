/**
 * search-types.ts: the text that a session sends to its user's directory for the search index, and the queries of a
 * search.
 */

import type { MessageHit, SearchHit } from "../../../shared/protocol/http-body.ts"

/** The text of one message. */
export interface MessageText {
  readonly id: string
  readonly role: "user" | "assistant" | "agent"
  /** Milliseconds since 1970. */
  readonly at: number
  /** Plain text, at most MAX_MESSAGE_TEXT_CHARS. */
  readonly text: string
}

/** An entry of the index: a question with its answer, or one of them alone. */
export interface TurnText {
  /** Position of its newest message. */
  readonly pos: number
  readonly question: MessageText | null
  readonly answer: MessageText | null
}

/** What the search index must contain for a session's active path. */
export interface SearchUpdate {
  /** Position of the newest finished message of the active path; 0 if there is none. */
  readonly tip: number
  /** Position after which `turns` begin. 0: at the beginning. */
  readonly after: number
  /** In path order, without gaps. The list may end before `tip`. */
  readonly turns: readonly TurnText[]
}

export interface SearchQuery {
  readonly text: string
  /** The kind of hits. `all`: messages, after a few titles on the first page. */
  readonly scope: "all" | "titles" | "messages"
  readonly limit: number
  /** `next` of the previous page; null: the first page. */
  readonly after: number | null
}

/** A page of hits. Each hit's `session` is the session's key. */
export interface FoundHits {
  readonly hits: readonly SearchHit[]
  readonly next: number | null
  readonly pending: boolean
}

/** A search within one session. */
export interface MessageQuery {
  readonly text: string
  readonly limit: number
  /** Searches the messages before this position; null: from the newest one. */
  readonly before: number | null
}

export interface FoundMessages {
  readonly hits: readonly MessageHit[]
  /** The position before which the next page searches; null: everything was searched. */
  readonly next: number | null
}
