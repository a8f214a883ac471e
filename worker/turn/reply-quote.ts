/**
 * reply-quote.ts: what a person's message replies to, as the model is told it.
 *
 * reply_to → QUOTE → context
 * The model may not have that message before it any more: it stood too far back, or in another version.
 */

import { MAX_QUOTE_CHARS } from "../../shared/limits.ts"
import type { Message } from "../../shared/protocol/message.ts"
import { plainText, segmentsOf } from "../../shared/segment/segmenter.ts"
import type { Quote } from "../model/model-adapter.ts"
import type { Store } from "../store/session-store.ts"

/** The head of a message of the session, by its id; null where there is nothing to be quoted. */
export type QuoteOf = (id: string) => Quote | null

/** Cost: the rows of that one message. */
export function quotesFrom(store: Pick<Store, "find" | "at">): QuoteOf {
  return (id) => {
    const pos = store.find(id)?.pos ?? null
    const message = pos === null ? null : (store.at(pos)?.message ?? null)
    return message === null ? null : quoteFrom(message)
  }
}

/** Of files that were sent alone, and of an answer that is media alone. */
function labelsOf(message: Message): string {
  return segmentsOf(message)
    .flatMap((segment) => (segment.type === "media" ? [segment.label] : []))
    .join(", ")
}

function quoteFrom(message: Message): Quote | null {
  const words = plainText(message).trim()
  const named = words === "" ? labelsOf(message) : words
  if (named === "") return null
  const head = named.slice(0, MAX_QUOTE_CHARS).toWellFormed()
  return { from: message.role, text: head.length < named.length ? `${head} […]` : head }
}
