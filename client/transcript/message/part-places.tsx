/** part-places.tsx: a message's quote, and the placeholders for quotes and notes whose code isn't loaded yet. */

import type { VNode } from "preact"
import type { MessageStatus } from "../../../shared/protocol/message.ts"
import { messageParts } from "./deferred-parts.ts"

export function QuotePlace({ of }: { readonly of: string }): VNode {
  const parts = messageParts.module.value
  return parts === null ? <p class="quote-place">{"\u00a0"}</p> : <parts.QuotedMessage of={of} />
}

export function NotePlace({ of }: { readonly of?: MessageStatus }): VNode {
  return (
    <p class="note" data-note={of}>
      {"\u00a0"}
    </p>
  )
}
