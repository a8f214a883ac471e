/**
 * message-actions.tsx: the time of a message, and the buttons below it: copy, edit, reply, regenerate, and switch
 * between versions.
 *
 * The buttons appear on hover and focus; below the last answer, and on devices without a mouse, they are always
 * visible. Loaded after the transcript. SPEC PG21–PG23.
 */

import type { RefObject, VNode } from "preact"
import type { Segment } from "../../shared/protocol/segment.ts"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { segmentsToSpokenText } from "../markdown/markdown-to-text.ts"
import { sessionActions } from "../sidebar/deferred-actions.tsx"
import { ActionButton } from "../ui/action-button.tsx"
import { focusRequests } from "../ui/focus.ts"
import { CopyButton, useCopy, writeToClipboard } from "../ui/copy-button.tsx"
import { formatDate } from "../words/format/date-format.ts"
import { actionText } from "../words/parts/message-text.ts"
import { answerTools } from "../writing/deferred-writing.ts"
import { hasCopyText, segmentsToCopyText } from "./copy-text.ts"
import { isFromProducer, regenerateAndFocus, useIsDisabled, useIsLastAnswer } from "./message/change-state.ts"
import { useChangeRequests, useTranscriptRequests } from "./transcript-requests.ts"

/** The buttons below an answer that has ended. */
export function AnswerActions({ message }: { readonly message: WireMessage }): VNode | null {
  const requests = useTranscriptRequests()
  const changes = useChangeRequests()
  const tools = answerTools.module.value
  const { id, status, segments } = message
  const isDisabled = useIsDisabled(requests, id)
  const isLast = useIsLastAnswer(requests, id)
  if (requests === null) return null
  const canCopy = hasCopyText(segments)
  const canRegenerate =
    changes !== null &&
    isLast &&
    (status === "completed" || (status === "cancelled" && segments.length > 0)) &&
    !isFromProducer(message)
  const { api, sendMessage } = requests
  const canFollowUp = canRegenerate && status === "completed" && requests.settings.value.follow_ups === true
  return (
    <>
      <footer class="acts" data-last={isLast ? "" : undefined}>
        <VersionSwitch message={message} />
        {canCopy && <CopyAnswerButton segments={segments} />}
        {canCopy && <ReplyButton id={id} />}
        {canRegenerate && (
          <ActionButton
            label={actionText.regenerate}
            isDisabled={isDisabled}
            onActivate={() => regenerateAndFocus(requests, id)}
          >
            <path d="M15.8 8.2A6.2 6.2 0 1 0 16.2 10M16 4.5v3.8h-3.8" />
          </ActionButton>
        )}
        {tools !== null && (
          <span class="tools">
            <tools.AnswerTools
              message={message}
              session={requests.id}
              api={requests.api}
              canChange={changes !== null}
              sharing={sessionActions}
              writeText={writeToClipboard}
              getSpokenText={() => segmentsToSpokenText(segments)}
            />
          </span>
        )}
        <MessageTime timestamp={message.timestamp} />
      </footer>
      {canFollowUp && tools !== null && api !== undefined && sendMessage !== undefined && (
        <tools.FollowUps
          api={api}
          session={requests.id}
          messageId={id}
          onSelect={(question) => requests.sendMessage?.(question)}
        />
      )}
    </>
  )
}

/** The text and icon of the copy button. */
const COPY_LOOKS = {
  ready: ["copy", "M7.5 7.5h8v8h-8zM12.5 7.5v-3h-8v8h3"],
  copied: ["copied", "M4.5 10.5l3.5 3.5 7.5-8"],
  failed: ["copyFailed", "M5.5 5.5l9 9M14.5 5.5l-9 9"],
} as const

function CopyAnswerButton({ segments }: { readonly segments: readonly Segment[] }): VNode {
  const { result, copyText } = useCopy(() => segmentsToCopyText(segments))
  const [name, path] = COPY_LOOKS[result ?? "ready"]
  const label = actionText[name]
  return (
    <>
      <ActionButton label={label} onActivate={copyText}>
        <path d={path} />
      </ActionButton>
      {result === "failed" && (
        <span class="note fault" role="alert">
          {label}
        </span>
      )}
    </>
  )
}

/** A button that makes the draft in the composer a reply to this message. */
function ReplyButton({ id }: { readonly id: string }): VNode | null {
  const requests = useChangeRequests()
  if (requests === null) return null
  const startReply = (): void => {
    requests.draft.replyTo.value = id
    focusRequests.value++
  }
  return (
    <ActionButton label={actionText.reply} way="reply" onActivate={startReply}>
      <path d="M8 5.5L3.5 10 8 14.5M3.5 10H12a4.5 4.5 0 0 1 4.5 4.5" />
    </ActionButton>
  )
}

/** The version switch, `‹ 1/2 ›`, of a message that has several versions. */
function VersionSwitch({ message }: { readonly message: WireMessage }): VNode | null {
  const requests = useChangeRequests()
  const { id, version = 1, versions = 1 } = message
  const isDisabled = useIsDisabled(requests, id)
  const tools = answerTools.module.value
  if (requests === null || tools === null || versions < 2) return null
  return (
    <tools.VersionSwitch
      version={version}
      versions={versions}
      isDisabled={isDisabled}
      onSwitch={(to) => requests.switchVersion(id, to)}
    />
  )
}

interface QuestionActionsProps {
  readonly message: WireMessage
  readonly actionsRef: RefObject<HTMLElement | null>
  readonly onEdit: () => void
}

export function QuestionActions({ message, actionsRef, onEdit }: QuestionActionsProps): VNode {
  const isDisabled = useIsDisabled(useTranscriptRequests(), message.id)
  return (
    <footer class="acts" ref={actionsRef}>
      <MessageTime timestamp={message.timestamp} />
      {message.action === undefined && (
        <ActionButton label={actionText.edit} way="edit" isDisabled={isDisabled} onActivate={onEdit}>
          <path d="M4.5 15.5l.7-3.2 8-8 2.5 2.5-8 8z" />
        </ActionButton>
      )}
      <ReplyButton id={message.id} />
      <VersionSwitch message={message} />
    </footer>
  )
}

/**
 * The time when a message was sent or an answer began. The style sheet displays the text, so copied selections don't
 * contain it. SPEC RD1.
 */
function MessageTime({ timestamp }: { readonly timestamp: string }): VNode | null {
  const at = Date.parse(timestamp)
  if (Number.isNaN(at)) return null
  return (
    <time
      class="when"
      dateTime={timestamp}
      title={formatDate(at, { dateStyle: "full", timeStyle: "short" })}
      data-text={formatMessageTime(at, Date.now())}
    />
  )
}

/**
 * Formats a time in the chosen language: "2:05 PM" if it is today, "May 12, 2:05 PM" if it is this year, otherwise "May
 * 12, 2025, 2:05 PM".
 */
export function formatMessageTime(at: number, now: number): string {
  const [then, today] = [new Date(at), new Date(now)]
  const isToday = then.toDateString() === today.toDateString()
  const day = isToday ? undefined : "numeric"
  const month = isToday ? undefined : "short"
  const year = then.getFullYear() === today.getFullYear() ? undefined : "numeric"
  return formatDate(at, { year, month, day, hour: "numeric", minute: "2-digit" })
}

/** A button that copies the trace of an answer or a refusal. SPEC OB9. */
export function CopyTraceButton({ trace }: { readonly trace: string }): VNode {
  const { copyTrace, copied } = actionText
  return <CopyButton getText={() => trace} label={copyTrace} text={copyTrace} doneText={copied} />
}
