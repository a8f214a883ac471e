/**
 * quoted-message.tsx: the message that another one replies to, in few words, above it; a click leads there.
 *
 * reply_to → QUOTE → the message, loaded if it is not on the page
 * Source: SPEC PG43.
 */

import { useComputed } from "@preact/signals"
import { createContext, type VNode } from "preact"
import { useContext, useState } from "preact/hooks"
import type { WireMessage } from "../../shared/protocol/frame.ts"
import type { Quote } from "../composer/attachment-chips.tsx"
import { excerpt } from "../words/excerpt.ts"
import { spokenWords } from "../markdown/markdown-to-text.ts"
import { mediaWords } from "../words/media-descriptions.ts"
import { useAsking } from "./transcript-requests.ts"

/** Most that is quoted, in UTF-16 code units: two lines. */
const MAX_QUOTE_CHARS = 160

/** Pure. */
export function quoteOf({ role, agent, segments, content }: WireMessage): Quote {
  if (role === "user") {
    const words = segments.flatMap((segment) => {
      if (segment.type === "text") return segment.content
      return segment.type === "media" ? mediaWords(segment) : []
    })
    return { who: "You", words: shortened(segments.length === 0 ? content : words.join(" ")) }
  }
  return { who: agent?.name ?? "Cuecard", words: shortened(spokenWords(segments)) }
}

function shortened(words: string): string {
  const line = words.replace(/\s+/g, " ").trim()
  return line === "" ? "No words" : excerpt(line, MAX_QUOTE_CHARS)
}

/** Leads to a message; false where it cannot be found. */
export const JumpContext = createContext<((id: string) => Promise<boolean>) | null>(null)

export function QuoteView({ of }: { readonly of: string }): VNode {
  const asking = useAsking()
  const jump = useContext(JumpContext)
  const [isLost, setLost] = useState(false)
  // Only other words, not each delta of it, draw the quote again.
  const line = useComputed(() => {
    const message = asking?.store.order.value.includes(of) === true ? asking.store.message(of)?.value : undefined
    return message === undefined ? "" : JSON.stringify(quoteOf(message))
  }).value
  const quote: Quote = line === "" ? { who: "", words: "An earlier message" } : JSON.parse(line)
  const go = async (): Promise<void> => setLost((await jump?.(of)) === false)
  return (
    <button
      type="button"
      class="quote"
      aria-label={quote.who === "" ? "In reply to an earlier message" : `In reply to ${quote.who}: ${quote.words}`}
      onClick={() => void go()}
    >
      <svg viewBox="0 0 20 20" aria-hidden="true">
        <path d="M8 5.5L3.5 10 8 14.5M3.5 10H12a4.5 4.5 0 0 1 4.5 4.5" />
      </svg>
      {quote.who !== "" && <b>{quote.who}</b>}
      <span>{isLost ? "It is not there any more." : quote.words}</span>
    </button>
  )
}
