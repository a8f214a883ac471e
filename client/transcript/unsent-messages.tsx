/**
 * unsent-messages.tsx: what stands at the end of a transcript: words that are on their way, and the sign that an answer is coming.
 */

import type { ComponentChildren, VNode } from "preact"
import { focusAsked } from "../composer/composer.tsx"
import type { Unsent } from "../net/outbox.ts"

interface UserMessageProps {
  readonly id: string
  readonly status: string
  readonly words: string
  /** What it replies to. */
  readonly quote?: VNode | undefined
  readonly files?: ComponentChildren
  /** Stands in place of the words while they are changed. */
  readonly editor?: VNode | undefined
  readonly children?: ComponentChildren
}

/** A user's words are plain text, as they were typed. */
export function UserMessage({ id, status, words, quote, files, editor, children }: UserMessageProps): VNode {
  return (
    <article data-id={id} data-role="user" data-status={status} aria-label="You">
      {quote}
      {editor ?? (words === "" ? null : <p data-segment="text">{words}</p>)}
      {files}
      {children}
    </article>
  )
}

interface UnsentProps {
  readonly entry: Unsent
  readonly quote?: VNode | undefined
  readonly files?: ComponentChildren
  readonly onRetry: (id: string) => void
  readonly onDiscard: (id: string) => void
}

/** A message that the server does not have yet. */
export function UnsentMessage({ entry, quote, files, onRetry, onDiscard }: UnsentProps): VNode {
  const { id, content, error } = entry
  /** The button will go, so the focus goes to the composer. */
  const act = (call: (id: string) => void) => () => {
    call(id)
    focusAsked.value++
  }
  return (
    <UserMessage id={id} status={error === null ? "sending" : "refused"} words={content} {...{ quote, files }}>
      {error !== null && (
        <p class="note fault" role="alert">
          {error}{" "}
          <button type="button" onClick={act(onRetry)}>
            Retry
          </button>{" "}
          <button type="button" onClick={act(onDiscard)}>
            Discard
          </button>
        </p>
      )}
    </UserMessage>
  )
}

export function Typing(): VNode {
  return (
    <div class="typing" data-typing="" role="img" aria-label="An answer is coming">
      <i />
      <i />
      <i />
    </div>
  )
}
