/**
 * message-actions.tsx: the time of a message, and the buttons below it: copy, reply, regenerate, and switch between versions.
 *
 * They appear on hover and focus; below the last answer, and on devices without a mouse, they are always visible.
 * SPEC PG21–PG23.
 */

import { useComputed } from "@preact/signals"
import type { VNode } from "preact"
import type { Segment } from "../../shared/protocol/segment.ts"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { segmentsToSpokenText } from "../markdown/markdown-to-text.ts"
import { sessionActions } from "../sidebar/deferred-actions.tsx"
import { ActionButton } from "../ui/action-button.tsx"
import { focusRequests } from "../ui/focus.ts"
import { useCopy, writeToClipboard } from "../ui/copy-button.tsx"
import { formatDate } from "../words/format/number-format.ts"
import { actionText } from "../words/transcript-text.ts"
import { answerTools } from "../writing/deferred-writing.ts"
import { hasCopyText, segmentsToCopyText } from "./copy-text.ts"
import { type TranscriptRequests, useChangeRequests, useTranscriptRequests } from "./transcript-requests.ts"

/** Whether a message's actions are disabled: while an answer is running, or while a command for the message is pending. */
export function useIsDisabled(requests: TranscriptRequests | null, id: string): boolean {
  return useComputed(
    () => requests !== null && (requests.store.activeTurn.value !== null || requests.commands.pending.value.has(id)),
  ).value
}

export function useIsLastAnswer(requests: TranscriptRequests | null, id: string): boolean {
  return useComputed(() => requests?.store.lastAnswerId.value === id).value
}

/** Requests a new version of an answer. The button disappears with this version, so the focus moves to the composer. */
export function regenerateAndFocus(requests: TranscriptRequests, id: string): void {
  requests.regenerateAnswer(id)
  focusRequests.value++
}

/** Expects an answer that has ended. */
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
      {canFollowUp && tools !== null && api !== undefined && sendMessage !== undefined && (
        <tools.FollowUps
          api={api}
          session={requests.id}
          messageId={id}
          onSelect={(question) => requests.sendMessage?.(question)}
        />
      )}
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

/** Makes the draft in the composer a reply to this message. */
export function ReplyButton({ id }: { readonly id: string }): VNode | null {
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

/** Whether an external producer wrote the answer. Such an answer can't be regenerated. */
export function isFromProducer({ mode }: WireMessage): boolean {
  return mode === "external"
}

/** `‹ 1/2 ›`, for a message that has several versions. */
export function VersionSwitch({ message }: { readonly message: WireMessage }): VNode | null {
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
      words={actionText}
    />
  )
}

/** Shows the server's text if it refused a command for this message or tool call. */
export function RefusalNote({ of: targetId }: { readonly of: string }): VNode | null {
  const requests = useTranscriptRequests()
  const text = useComputed(() => requests?.commands.refusals.value.get(targetId)).value
  return text === undefined ? null : <FaultNote text={text} />
}

export function FaultNote({ text }: { readonly text: string }): VNode {
  return (
    <p class="note fault" role="alert">
      {text}
    </p>
  )
}

/** When a message was sent, or an answer began. The style sheet shows the text, so no copied selection contains it. SPEC RD1. */
export function MessageTime({ timestamp }: { readonly timestamp: string }): VNode | null {
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

/** "2:05 PM" today, "May 12, 2:05 PM" in this year, "May 12, 2025, 2:05 PM", in the chosen language. */
export function formatMessageTime(at: number, now: number): string {
  const [then, today] = [new Date(at), new Date(now)]
  const isToday = then.toDateString() === today.toDateString()
  const day = isToday ? undefined : "numeric"
  const month = isToday ? undefined : "short"
  const year = then.getFullYear() === today.getFullYear() ? undefined : "numeric"
  return formatDate(at, { year, month, day, hour: "numeric", minute: "2-digit" })
}
