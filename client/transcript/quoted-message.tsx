/**
 * quoted-message.tsx: the message that another one replies to, in few words, above it; a click leads there.
 *
 * reply_to → QUOTE → the message, loaded if it is not on the page
 * Source: SPEC PG43.
 */

import { useComputed } from "@preact/signals"
import { createContext, type VNode } from "preact"
import { useContext, useState } from "preact/hooks"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import type { Quote } from "../composer/attachment-chips.tsx"
import { toExcerpt } from "../words/excerpt.ts"
import { segmentsToSpokenText } from "../markdown/markdown-to-text.ts"
import { describeMedia } from "../words/media-descriptions.ts"
import { useTranscriptRequests } from "./transcript-requests.ts"

/** Most that is quoted, in UTF-16 code units: two lines. */
const MAX_QUOTE_CHARS = 160

/** Pure. */
export function createQuote({ role, agent, segments, content }: WireMessage): Quote {
  if (role === "user") {
    const words = segments.flatMap((segment) => {
      if (segment.type === "text") return segment.content
      return segment.type === "media" ? describeMedia(segment) : []
    })
    return { author: "You", text: shortenText(segments.length === 0 ? content : words.join(" ")) }
  }
  return { author: agent?.name ?? "Cuecard", text: shortenText(segmentsToSpokenText(segments)) }
}

function shortenText(words: string): string {
  const line = words.replace(/\s+/g, " ").trim()
  return line === "" ? "No words" : toExcerpt(line, MAX_QUOTE_CHARS)
}

/** Leads to a message; false where it cannot be found. */
export const JumpContext = createContext<((id: string) => Promise<boolean>) | null>(null)

export function QuotedMessage({ of: messageId }: { readonly of: string }): VNode {
  const requests = useTranscriptRequests()
  const jumpToMessage = useContext(JumpContext)
  const [isMissing, setMissing] = useState(false)
  // Only other words, not each delta of it, draw the quote again.
  const quoteJson = useComputed(() => {
    const message =
      requests?.store.messageIds.value.includes(messageId) === true
        ? requests.store.getMessageSignal(messageId)?.value
        : undefined
    return message === undefined ? "" : JSON.stringify(createQuote(message))
  }).value
  const quote: Quote = quoteJson === "" ? { author: "", text: "An earlier message" } : JSON.parse(quoteJson)
  const jump = async (): Promise<void> => setMissing((await jumpToMessage?.(messageId)) === false)
  return (
    <button
      type="button"
      class="quote"
      aria-label={quote.author === "" ? "In reply to an earlier message" : `In reply to ${quote.author}: ${quote.text}`}
      onClick={() => void jump()}
    >
      <svg viewBox="0 0 20 20" aria-hidden="true">
        <path d="M8 5.5L3.5 10 8 14.5M3.5 10H12a4.5 4.5 0 0 1 4.5 4.5" />
      </svg>
      {quote.author !== "" && <b>{quote.author}</b>}
      <span>{isMissing ? "It is not there any more." : quote.text}</span>
    </button>
  )
}
