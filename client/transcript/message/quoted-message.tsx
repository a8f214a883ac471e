/**
 * quoted-message.tsx: an excerpt of the message being replied to. Clicking the excerpt scrolls to that message, which
 * is loaded first if it isn't on the page. SPEC PG43.
 */

import { useComputed } from "@preact/signals"
import type { VNode } from "preact"
import { useContext, useState } from "preact/hooks"
import type { WireMessage } from "../../../shared/protocol/server-frame.ts"
import type { Quote } from "../../session/quote.ts"
import { segmentsToSpokenText } from "../../markdown/markdown-to-text.ts"
import { toExcerpt } from "../../words/format/excerpt.ts"
import { describeMedia } from "../../words/media-descriptions.ts"
import { messageText } from "../../words/parts/message-text.ts"
import { transcriptText } from "../../words/transcript-text.ts"
import { JumpContext, useTranscriptRequests } from "../transcript-requests.ts"

/** Maximum length of an excerpt, in UTF-16 code units: about two lines. */
const MAX_QUOTE_CHARS = 160

/** Creates the quote of a message. Pure. */
export function createQuote({ role, agent, segments, content }: WireMessage): Quote {
  if (role === "user") {
    const texts = segments.flatMap((segment) => {
      if (segment.type === "text") return segment.content
      return segment.type === "media" ? describeMedia(segment) : []
    })
    return { author: messageText.user, text: shortenText(segments.length === 0 ? content : texts.join(" ")) }
  }
  return { author: agent?.name ?? transcriptText.assistant, text: shortenText(segmentsToSpokenText(segments)) }
}

function shortenText(text: string): string {
  const line = text.replace(/\s+/g, " ").trim()
  return line === "" ? messageText.emptyMessage : toExcerpt(line, MAX_QUOTE_CHARS)
}

export function QuotedMessage({ of: messageId }: { readonly of: string }): VNode {
  const jumpToMessage = useContext(JumpContext)
  const [isMissing, setMissing] = useState(false)
  const { author, text } = useQuote(messageId)
  const jumpToQuoted = async (): Promise<void> => setMissing((await jumpToMessage?.(messageId)) === false)
  return (
    <button
      type="button"
      class="quote"
      aria-label={messageText.inReplyTo(author, text)}
      onClick={() => void jumpToQuoted()}
    >
      <svg viewBox="0 0 20 20" aria-hidden="true">
        <path d="M8 5.5L3.5 10 8 14.5M3.5 10H12a4.5 4.5 0 0 1 4.5 4.5" />
      </svg>
      {author !== "" && <b dir="auto">{author}</b>}
      <span dir="auto">{isMissing ? messageText.missingMessage : text}</span>
    </button>
  )
}

/** Returns the quote of a message. The author is "" while the message isn't loaded. */
function useQuote(messageId: string): Quote {
  const requests = useTranscriptRequests()
  // The quote is compared as JSON, so that a delta that doesn't change it re-renders nothing.
  const quoteJson = useComputed(() => {
    const message =
      requests?.store.messageIds.value.includes(messageId) === true
        ? requests.store.getMessageSignal(messageId)?.value
        : undefined
    return message === undefined ? "" : JSON.stringify(createQuote(message))
  }).value
  return quoteJson === "" ? { author: "", text: messageText.earlierMessage } : JSON.parse(quoteJson)
}
