/**
 * message.tsx: one message: a user's words, or an answer as its segments in order.
 *
 * message signal → VIEW
 * Each message has its own signal, so a delta wakes one message.
 */

import type { Signal } from "@preact/signals"
import type { VNode } from "preact"
import type { WireMessage } from "../../shared/frame.ts"
import type { MessageStatus } from "../../shared/message.ts"
import { reasonText } from "./reason.ts"
import { SegmentView } from "./segment.tsx"
import { UserMessage } from "./unsent.tsx"

export interface MessageProps {
  readonly message: Signal<WireMessage>
  /** Did segment `at` arrive while the reader watched? */
  readonly isFresh: (id: string, at: number) => boolean
}

export function MessageView({ message, isFresh }: MessageProps): VNode {
  const { id, role, status, reason, segments } = message.value
  const isRunning = status === "running"
  if (role === "user") {
    return (
      <UserMessage id={id} status={status} words={wordsOf(message.value)}>
        {status === "queued" && <p class="note">Queued</p>}
      </UserMessage>
    )
  }
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

function wordsOf(message: WireMessage): string {
  const texts = message.segments.map((segment) => (segment.type === "text" ? segment.content : ""))
  return message.segments.length === 0 ? message.content : texts.join("\n\n")
}

/** How an answer that did not just end stands, quietly, and why. */
function StatusNote({
  status,
  reason,
}: {
  readonly status: MessageStatus
  readonly reason: string | null
}): VNode | null {
  const words = statusWords(status)
  if (words === null) return null
  return (
    <p class="note" data-note={status}>
      {reason === null ? words : reasonText(reason)}
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
