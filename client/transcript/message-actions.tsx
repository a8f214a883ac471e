/**
 * message-actions.tsx: what a reader can do with a message: copy it, ask for it again, see another version of it.
 *
 * message → ACTS → asking
 * Quiet: icons beneath the message, seen on hover and focus, and always under the last answer and where there is no mouse.
 * A button that has to wait keeps the focus, so it is `aria-disabled`. Source: SPEC PG21–PG23.
 */

import { useComputed } from "@preact/signals"
import type { ComponentChildren, VNode } from "preact"
import { useState } from "preact/hooks"
import type { Segment } from "../../shared/protocol/segment.ts"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { describeMedia } from "../words/media-descriptions.ts"
import { focusRequests } from "../composer/composer.tsx"
import { type TranscriptRequests, useTranscriptRequests } from "./transcript-requests.ts"

interface ActionButtonProps {
  readonly label: string
  readonly isDisabled?: boolean
  readonly way?: string
  readonly onActivate: () => void
  readonly children: ComponentChildren
}

/** An icon with a name. */
export function ActionButton({
  label,
  isDisabled: isHeld = false,
  way,
  onActivate: onAct,
  children,
}: ActionButtonProps): VNode {
  return (
    <button
      type="button"
      class="act"
      aria-label={label}
      title={label}
      aria-disabled={isHeld}
      data-way={way}
      onClick={(event) => {
        // Not every browser does so itself, and what comes next holds on to the focus.
        event.currentTarget.focus()
        if (!isHeld) onAct()
      }}
    >
      <svg viewBox="0 0 20 20" aria-hidden="true">
        {children}
      </svg>
    </button>
  )
}

/** Nothing can be asked for again while an answer is under way, or twice. */
export function useIsDisabled(requests: TranscriptRequests | null, id: string): boolean {
  return useComputed(
    () => requests !== null && (requests.store.activeTurn.value !== null || requests.commands.pending.value.has(id)),
  ).value
}

export function useIsLastAnswer(requests: TranscriptRequests | null, id: string): boolean {
  return useComputed(() => requests?.store.lastAnswerId.value === id).value
}

/** The button goes with this version, so the focus goes to the composer. */
export function regenerateAndFocus(requests: TranscriptRequests, id: string): void {
  requests.regenerateAnswer(id)
  focusRequests.value++
}

/** Under an answer that has ended. */
export function AnswerActions({ message }: { readonly message: WireMessage }): VNode | null {
  const requests = useTranscriptRequests()
  const { id, status, segments } = message
  const isDisabled = useIsDisabled(requests, id)
  const isLast = useIsLastAnswer(requests, id)
  if (requests === null) return null
  return (
    <footer class="acts" data-last={isLast ? "" : undefined}>
      <VersionSwitch message={message} />
      {segments.some(hasText) && <CopyButton segments={segments} />}
      {segments.some(hasText) && <ReplyButton id={id} />}
      {isLast && status === "completed" && !isFromProducer(message) && (
        <ActionButton label="Regenerate" isDisabled={isDisabled} onActivate={() => regenerateAndFocus(requests, id)}>
          <path d="M15.8 8.2A6.2 6.2 0 1 0 16.2 10M16 4.5v3.8h-3.8" />
        </ActionButton>
      )}
    </footer>
  )
}

/** The next words reply to it; the composer says so. */
export function ReplyButton({ id }: { readonly id: string }): VNode {
  const requests = useTranscriptRequests()
  const startReply = (): void => {
    if (requests === null) return
    requests.draft.replyTo.value = id
    focusRequests.value++
  }
  return (
    <ActionButton label="Reply" way="reply" onActivate={startReply}>
      <path d="M8 5.5L3.5 10 8 14.5M3.5 10H12a4.5 4.5 0 0 1 4.5 4.5" />
    </ActionButton>
  )
}

/** Its producer is not ours to ask again. */
export function isFromProducer({ mode }: WireMessage): boolean {
  return mode === "external"
}

/** `‹ 1/2 ›` where a message has versions. */
export function VersionSwitch({ message }: { readonly message: WireMessage }): VNode | null {
  const requests = useTranscriptRequests()
  const { id, version = 1, versions = 1 } = message
  const isDisabled = useIsDisabled(requests, id)
  if (requests === null || versions < 2) return null
  const switchTo = (to: number) => () => requests.switchVersion(id, to)
  return (
    <fieldset class="versions" aria-label={`Version ${version} of ${versions}`}>
      <ActionButton
        label="Previous version"
        way="back"
        isDisabled={isDisabled || version <= 1}
        onActivate={switchTo(version - 1)}
      >
        <path d="M11.8 5.5 7.3 10l4.5 4.5" />
      </ActionButton>
      <span aria-hidden="true">
        {version}/{versions}
      </span>
      <ActionButton
        label="Next version"
        way="on"
        isDisabled={isDisabled || version >= versions}
        onActivate={switchTo(version + 1)}
      >
        <path d="M8.2 5.5l4.5 4.5-4.5 4.5" />
      </ActionButton>
    </fieldset>
  )
}

/** How long "Copied" stands there, in milliseconds. */
const COPIED_LABEL_MS = 1500

function CopyButton({ segments }: { readonly segments: readonly Segment[] }): VNode {
  const [isCopied, setCopied] = useState(false)
  const copyText = (): void => {
    navigator.clipboard?.writeText(segmentsToCopyText(segments)).then(
      () => {
        setCopied(true)
        setTimeout(() => setCopied(false), COPIED_LABEL_MS)
      },
      () => {},
    )
  }
  return (
    <ActionButton label={isCopied ? "Copied" : "Copy"} onActivate={copyText}>
      {isCopied ? <path d="M4.5 10.5l3.5 3.5 7.5-8" /> : <path d="M7.5 7.5h8v8h-8zM12.5 7.5v-3h-8v8h3" />}
    </ActionButton>
  )
}

function hasText(segment: Segment): boolean {
  return segmentToText(segment) !== ""
}

function segmentToText(segment: Segment): string {
  if (segment.type === "text") return segment.content
  if (segment.type === "media" || segment.type === "canvas") return `[${describeMedia(segment)}]`
  return segment.type === "rich" ? segment.synthesis : ""
}

/** An answer's words as Markdown, without thinking and tools, media by its name; what was escaped for Markdown's sake is plain again. */
export function segmentsToCopyText(segments: readonly Segment[]): string {
  const texts = segments.map(segmentToText).filter((text) => text !== "")
  return texts.join("\n\n").replace(/&lt;(?=[A-Za-z/!?])/g, "<")
}

/** The server's words where it refused something about this message. */
export function RefusalNote({ of: targetId }: { readonly of: string }): VNode | null {
  const requests = useTranscriptRequests()
  const text = useComputed(() => requests?.commands.refusals.value.get(targetId)).value
  if (text === undefined) return null
  return (
    <p class="note fault" role="alert">
      {text}
    </p>
  )
}
