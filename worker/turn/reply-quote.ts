/**
 * reply-quote.ts: what a person's message replies to, as the model is told it.
 *
 * reply_to → QUOTE → context
 * The model may not have that message before it any more: it stood too far back, or in another version.
 */

import { MAX_QUOTE_CHARS } from "../../shared/limits.ts"
import type { Message } from "../../shared/protocol/message.ts"
import { plainText, segmentsOf } from "../../shared/segment/segmenter.ts"
import type { ReplyQuote } from "../model/model-adapter.ts"
import type { SessionStore } from "../store/session-store.ts"

/** The head of a message of the session, by its id; null where there is nothing to be quoted. */
export type QuoteLookup = (id: string) => ReplyQuote | null

/** Cost: the rows of that one message. */
export function createQuoteLookup(store: Pick<SessionStore, "findById" | "findMessageAt">): QuoteLookup {
  return (id) => {
    const pos = store.findById(id)?.pos ?? null
    const message = pos === null ? null : (store.findMessageAt(pos)?.message ?? null)
    return message === null ? null : messageToQuote(message)
  }
}

/** Of files that were sent alone, and of an answer that is media alone. */
function joinMediaLabels(message: Message): string {
  return segmentsOf(message)
    .flatMap((segment) => (segment.type === "media" ? [segment.label] : []))
    .join(", ")
}

function messageToQuote(message: Message): ReplyQuote | null {
  const text = plainText(message).trim()
  const content = text === "" ? joinMediaLabels(message) : text
  if (content === "") return null
  const head = content.slice(0, MAX_QUOTE_CHARS).toWellFormed()
  return { from: message.role, text: head.length < content.length ? `${head} […]` : head }
}
