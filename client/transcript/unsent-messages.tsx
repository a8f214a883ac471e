/**
 * unsent-messages.tsx: what stands at the end of a transcript: words that are on their way, and the sign that an answer is coming.
 */

import type { ComponentChildren, VNode } from "preact"
import { focusRequests } from "../ui/focus.ts"
import type { OutboxEntry } from "../net/outbox.ts"

interface UserMessageProps {
  readonly id: string
  readonly status: string
  readonly text: string
  /** What it replies to. */
  readonly quote?: VNode | undefined
  readonly files?: ComponentChildren
  /** Stands in place of the words while they are changed. */
  readonly editor?: VNode | undefined
  readonly children?: ComponentChildren
}

/** A user's words are plain text, as they were typed. */
export function UserMessage({ id, status, text: words, quote, files, editor, children }: UserMessageProps): VNode {
  return (
    <article data-id={id} data-role="user" data-status={status} aria-label="You">
      {quote}
      {editor ?? (words === "" ? null : <p data-segment="text">{words}</p>)}
      {files}
      {children}
    </article>
  )
}

interface UnsentMessageProps {
  readonly entry: OutboxEntry
  readonly quote?: VNode | undefined
  readonly files?: ComponentChildren
  readonly onRetry: (id: string) => void
  readonly onDiscard: (id: string) => void
}

/** A message that the server does not have yet. */
export function UnsentMessage({ entry, quote, files, onRetry, onDiscard }: UnsentMessageProps): VNode {
  const { id, content, error } = entry
  /** The button will go, so the focus goes to the composer. */
  const runAndFocus = (call: (id: string) => void) => () => {
    call(id)
    focusRequests.value++
  }
  return (
    <UserMessage id={id} status={error === null ? "sending" : "refused"} text={content} {...{ quote, files }}>
      {error !== null && (
        <p class="note fault" role="alert">
          {error}{" "}
          <button type="button" onClick={runAndFocus(onRetry)}>
            Retry
          </button>{" "}
          <button type="button" onClick={runAndFocus(onDiscard)}>
            Discard
          </button>
        </p>
      )}
    </UserMessage>
  )
}

export function TypingIndicator(): VNode {
  return (
    <div class="typing" data-typing="" role="img" aria-label="An answer is coming">
      <i />
      <i />
      <i />
    </div>
  )
}
