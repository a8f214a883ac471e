/**
 * message-view.tsx: one message: a user's words, or an answer as its segments in order.
 *
 * message signal → VIEW
 * Each message has its own signal, so a delta wakes one message. What can be done with it hangs on signals of its own.
 */

import type { Signal } from "@preact/signals"
import type { VNode } from "preact"
import { useRef, useState } from "preact/hooks"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { isEnded, type MessageStatus } from "../../shared/protocol/message.ts"
import { focusRequests } from "../composer/composer.tsx"
import { AttachmentsView, isMediaSegment } from "../media/media-view.tsx"
import { Markdown } from "../markdown/markdown.tsx"
import { AgentHeader } from "./agent-exchange.tsx"
import { ToolCallGroup, groupCalls } from "./tool-call-group.tsx"
import {
  isFromProducer,
  ActionButton,
  AnswerActions,
  RefusalNote,
  ReplyButton,
  regenerateAndFocus,
  useIsDisabled,
  useIsLastAnswer,
  VersionSwitch,
} from "./message-actions.tsx"
import { type TranscriptRequests, useTranscriptRequests } from "./transcript-requests.ts"
import { MessageEditor } from "./message-editor.tsx"
import { QuotedMessage } from "./quoted-message.tsx"
import { describeEndReason } from "../words/end-reason.ts"
import { SegmentView } from "./segment-view.tsx"
import { UserMessage } from "./unsent-messages.tsx"

export interface MessageViewProps {
  readonly message: Signal<WireMessage>
  /** Did segment `at` arrive while the reader watched? */
  readonly isFresh: (id: string, at: number) => boolean
}

export function MessageView({ message, isFresh }: MessageViewProps): VNode {
  return message.value.role === "user" ? (
    <QuestionMessage message={message.value} />
  ) : (
    <AnswerMessage message={message.value} isFresh={isFresh} />
  )
}

interface AnswerMessageProps {
  readonly message: WireMessage
  readonly isFresh: MessageViewProps["isFresh"]
}

function AnswerMessage({ message, isFresh }: AnswerMessageProps): VNode {
  const { id, role, status, segments, summary, origin, agent, reply_to } = message
  const isRunning = status === "running"
  const renderSegment = (at: number): VNode | null => {
    const segment = segments[at]
    if (segment === undefined) return null
    const isOpen = isRunning && at === segments.length - 1
    return <SegmentView key={at} segment={segment} messageId={id} isOpen={isOpen} isFresh={isFresh(id, at)} />
  }
  return (
    <article
      data-id={id}
      data-role={role}
      data-status={status}
      data-origin={origin}
      data-agent={agent?.direction}
      aria-label={role === "agent" ? (agent?.name ?? "Agent") : "Cuecard"}
    >
      {reply_to !== undefined && <QuotedMessage of={reply_to} />}
      {agent?.direction === "sent" && <AgentHeader way="out" name={agent.name} />}
      {origin === "import" && <p class="note">Imported from a file: nobody vouches for what it shows.</p>}
      {summary !== undefined && (
        <details class="summary">
          <summary>Earlier messages, in short</summary>
          <Markdown text={summary} />
        </details>
      )}
      {groupCalls(segments).map(({ at, calls }) =>
        calls.length === 0 ? (
          renderSegment(at)
        ) : (
          <ToolCallGroup key={at} calls={calls}>
            {calls.map((_, nth) => renderSegment(at + nth))}
          </ToolCallGroup>
        ),
      )}
      <StatusNote message={message} />
      <RefusalNote of={id} />
      {isEnded(status) && role !== "agent" && <AnswerActions message={message} />}
    </article>
  )
}

function QuestionMessage({ message }: { readonly message: WireMessage }): VNode {
  const requests = useTranscriptRequests()
  const { id, status, reply_to, segments } = message
  // An editor that was open comes back with its words.
  const [isEditing, setEditing] = useState(requests?.draft.editTexts.has(id) === true)
  const actionsRef = useRef<HTMLElement>(null)
  const text = getMessageText(message)
  const isDisabled = useIsDisabled(requests, id)
  const closeEditor = (): void => {
    setEditing(false)
    // To the button that opened it, once that is there again.
    setTimeout(() => actionsRef.current?.querySelector<HTMLElement>("[data-way=edit]")?.focus({ preventScroll: true }))
  }
  const editor =
    isEditing && requests !== null ? (
      <MessageEditor
        id={id}
        original={text}
        requests={requests}
        isTextRequired={!segments.some(isMediaSegment)}
        onClose={closeEditor}
      />
    ) : undefined
  return (
    <UserMessage
      {...{ id, status, text, editor }}
      quote={reply_to === undefined ? undefined : <QuotedMessage of={reply_to} />}
      files={<AttachmentsView segments={segments.filter(isMediaSegment)} />}
    >
      {status === "queued" && <QueuedNote id={id} asking={requests} />}
      <RefusalNote of={id} />
      {status !== "queued" && requests !== null && editor === undefined && (
        <footer class="acts" ref={actionsRef}>
          <ActionButton label="Edit" way="edit" isDisabled={isDisabled} onActivate={() => setEditing(true)}>
            <path d="M4.5 15.5l.7-3.2 8-8 2.5 2.5-8 8z" />
          </ActionButton>
          <ReplyButton id={id} />
          <VersionSwitch message={message} />
        </footer>
      )}
    </UserMessage>
  )
}

/** It has not been begun, so it can be taken back. */
function QueuedNote({
  id,
  asking: requests,
}: {
  readonly id: string
  readonly asking: TranscriptRequests | null
}): VNode {
  const isWithdrawing = requests?.commands.pending.value.has(id) === true
  /** The words go back to the composer, and so does the focus. */
  const withdrawAndFocus = (): void => {
    requests?.withdrawMessage(id)
    focusRequests.value++
  }
  return (
    <p class="note">
      Queued{" "}
      {requests !== null && (
        <button type="button" aria-disabled={isWithdrawing} onClick={withdrawAndFocus}>
          {isWithdrawing ? "Withdrawing…" : "Withdraw"}
        </button>
      )}
    </p>
  )
}

function getMessageText(message: WireMessage): string {
  const texts = message.segments.flatMap((segment) => (segment.type === "text" ? segment.content : []))
  return message.segments.length === 0 ? message.content : texts.join("\n\n")
}

/** How an answer that did not just end stands, quietly, why, and the way on from there. */
function StatusNote({ message }: { readonly message: WireMessage }): VNode | null {
  const asking = useTranscriptRequests()
  const { id, status, reason } = message
  const isLast = useIsLastAnswer(asking, id)
  const isDisabled = useIsDisabled(asking, id)
  const text = describeStatus(message)
  if (text === null) return null
  const action = isFromProducer(message) ? null : getStatusAction(status)
  const runAction = (): void => {
    if (isDisabled || asking === null || action === null) return
    if (action === "Regenerate") return regenerateAndFocus(asking, id)
    asking.retryAnswer(id)
    focusRequests.value++
  }
  return (
    <p class="note" data-note={status}>
      {reason === null ? text : describeEndReason(reason)}
      {isLast && action !== null && " "}
      {isLast && action !== null && (
        <button type="button" aria-disabled={isDisabled} onClick={runAction}>
          {action}
        </button>
      )}
    </p>
  )
}

function describeStatus({ status, segments }: WireMessage): string | null {
  switch (status) {
    case "running":
    case "completed":
      return null
    case "queued":
      return "Queued."
    case "waiting":
      return segments.some((segment) => segment.type === "tool" && segment.approval === "asked")
        ? "Waiting for your answer."
        : "Waiting for an answer."
    case "cancelled":
      return "Stopped."
    case "interrupted":
      return "Interrupted."
    case "failed":
      return "Failed."
  }
}

function getStatusAction(status: MessageStatus): "Regenerate" | "Continue" | "Try again" | null {
  if (status === "cancelled") return "Regenerate"
  if (status === "interrupted") return "Continue"
  return status === "failed" ? "Try again" : null
}
