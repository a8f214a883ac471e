/**
 * unsent-messages.tsx: the end of a transcript: unsent messages, and the typing indicator.
 *
 * Part of the initial load.
 */

import type { ComponentChildren, VNode } from "preact"
import { focusRequests } from "../ui/focus.ts"
import type { OutboxEntry } from "../net/outbox.ts"
import { unsentText } from "../words/unsent-text.ts"

interface UserMessageProps {
  readonly id: string
  readonly status: string
  readonly text: string
  /** What is rendered instead of `text`. */
  readonly body?: ComponentChildren
  /** The quote of the message being replied to. */
  readonly quote?: VNode | undefined
  readonly files?: ComponentChildren
  /** Rendered instead of the text while the message is being edited. */
  readonly editor?: VNode | undefined
  readonly children?: ComponentChildren
}

/** A user's message, shown as plain text exactly as it was typed. SPEC PG13. */
export function UserMessage({
  id,
  status,
  text,
  body = text,
  quote,
  files,
  editor,
  children,
}: UserMessageProps): VNode {
  return (
    <article data-id={id} data-role="user" data-status={status} aria-label={unsentText.user} tabIndex={-1}>
      {quote}
      {editor ??
        (text === "" ? null : (
          <p data-segment="text" dir="auto">
            {body}
          </p>
        ))}
      {files}
      {children}
    </article>
  )
}

interface UnsentMessageProps {
  readonly entry: OutboxEntry
  readonly quote?: VNode | undefined
  readonly files?: ComponentChildren
  /** An additional button of a refused message. */
  readonly copyTrace?: VNode | undefined
  readonly onRetry: (id: string) => void
  readonly onDiscard: (id: string) => void
}

/** A message that the server hasn't received yet, or has refused. */
export function UnsentMessage({ entry, quote, files, copyTrace, onRetry, onDiscard }: UnsentMessageProps): VNode {
  const { id, content, error } = entry
  /** Returns a handler that also moves the focus to the composer, because the button disappears. */
  const runAndFocus = (call: (id: string) => void) => () => {
    call(id)
    focusRequests.value++
  }
  return (
    <UserMessage id={id} status={error === null ? "sending" : "refused"} text={content} quote={quote} files={files}>
      {error !== null && (
        <p class="note fault" role="alert">
          <bdi>{error}</bdi>{" "}
          <button type="button" onClick={runAndFocus(onRetry)}>
            {unsentText.retry}
          </button>{" "}
          <button type="button" onClick={runAndFocus(onDiscard)}>
            {unsentText.discard}
          </button>
          {copyTrace !== undefined && <> {copyTrace}</>}
        </p>
      )}
    </UserMessage>
  )
}

export function TypingIndicator(): VNode {
  return (
    <div class="typing" data-typing="" role="img" aria-label={unsentText.generating}>
      <i />
      <i />
      <i />
    </div>
  )
}
