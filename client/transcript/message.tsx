/**
 * message.tsx: one message: a user's words, or an answer as its segments in order.
 *
 * message signal → VIEW
 * Each message has its own signal, so a delta wakes one message.
 */

import type { Signal } from "@preact/signals"
import { Component, type ComponentChildren, type VNode } from "preact"
import type { WireMessage } from "../../shared/frame.ts"
import type { MessageStatus } from "../../shared/message.ts"
import type { Unsent } from "../outbox.ts"
import { reasonText } from "./reason.ts"
import { SegmentView } from "./segment.tsx"

export interface MessageProps {
  readonly message: Signal<WireMessage>
  /** Did segment `at` arrive while the reader watched? */
  readonly isFresh: (id: string, at: number) => boolean
}

export function MessageView({ message, isFresh }: MessageProps): VNode {
  const { id, role, status, reason, segments } = message.value
  const isRunning = status === "running"
  if (role === "user") return <UserMessage id={id} status={status} words={wordsOf(message.value)} />
  return (
    <article data-id={id} data-role={role} data-status={status} aria-label="Cuecard">
      {segments.map((segment, at) => (
        <SegmentView
          key={at}
          segment={segment}
          isOpen={isRunning && at === segments.length - 1}
          fresh={isFresh(id, at)}
        />
      ))}
      <StatusNote status={status} reason={reason} />
    </article>
  )
}

/** A user's words are plain text, as they were typed. */
function wordsOf(message: WireMessage): string {
  const texts = message.segments.map((segment) => (segment.type === "text" ? segment.content : ""))
  return message.segments.length === 0 ? message.content : texts.join("\n\n")
}

interface UserMessageProps {
  readonly id: string
  readonly status: string
  readonly words: string
  readonly children?: ComponentChildren
}

class UserMessage extends Component<UserMessageProps> {
  override render({ id, status, words, children }: UserMessageProps): ComponentChildren {
    return (
      <article data-id={id} data-role="user" data-status={status} aria-label="You">
        <p data-segment="text">{words}</p>
        {status === "queued" && <p class="note">Queued</p>}
        {children}
      </article>
    )
  }
}

interface UnsentProps {
  readonly entry: Unsent
  readonly onRetry: (id: string) => void
  readonly onDiscard: (id: string) => void
}

/** A message that the server does not have yet. */
export function UnsentMessage({ entry, onRetry, onDiscard }: UnsentProps): VNode {
  const { id, content, error } = entry
  return (
    <UserMessage id={id} status={error === null ? "sending" : "refused"} words={content}>
      {error !== null && (
        <p class="note fault" role="alert">
          {error}{" "}
          <button type="button" onClick={() => onRetry(id)}>
            Retry
          </button>{" "}
          <button type="button" onClick={() => onDiscard(id)}>
            Discard
          </button>
        </p>
      )}
    </UserMessage>
  )
}

/** How an answer that did not just end stands, quietly, and why. */
function StatusNote({ status, reason }: { readonly status: MessageStatus; readonly reason: string | null }): VNode | null {
  const words = statusWords(status)
  if (words === null) return null
  return (
    <p class="note" data-note={status}>
      {reason === null ? words : `${words} ${reasonText(reason)}`}
    </p>
  )
}

function statusWords(status: MessageStatus): string | null {
  switch (status) {
    case "running":
    case "completed":
      return null
    case "queued":
      return "Queued."
    case "waiting":
      return "Waiting for an answer."
    case "cancelled":
      return "Stopped."
    case "interrupted":
      return "Interrupted."
    case "failed":
      return "Failed."
  }
}
