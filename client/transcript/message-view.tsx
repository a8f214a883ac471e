/**
 * message-view.tsx: one message: the user's text, or the segments of an answer in order.
 *
 * Each message has its own signal, so a delta re-renders only one message. Other signals hold the state of its buttons.
 */

import type { Signal } from "@preact/signals"
import type { ComponentChildren, VNode } from "preact"
import { useEffect, useMemo, useRef, useState } from "preact/hooks"
import type { Segment } from "../../shared/protocol/segment.ts"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { isEnded } from "../../shared/protocol/message.ts"
import { deferModule } from "../ui/deferred-module.ts"
import { ErrorBoundary } from "../ui/error-boundary.tsx"
import { renderLongText } from "../markdown/long-text.tsx"
import { Markdown } from "../markdown/markdown.tsx"
import { ShowMoreButton } from "../markdown/show-more-button.tsx"
import { useSlicedCount } from "../markdown/slice-queue.ts"
import { AttachmentsView, isMediaSegment } from "../media/media-view.tsx"
import { appText } from "../words/page-text.ts"
import { transcriptText } from "../words/transcript-text.ts"
import { callViews } from "./calls/deferred-calls.ts"
import { FaultNote, RefusalNote } from "./message-state.tsx"
import { messageParts } from "./message/deferred-parts.ts"
import { NotePlace, QuotePlace } from "./message/part-places.tsx"
import { sourceViews } from "../markdown/sources/deferred-sources.ts"
import { numberSources, SourcesContext } from "../markdown/sources/source-numbers.ts"
import { SegmentView } from "./segment-view.tsx"
import { useChangeRequests, useTranscriptRequests } from "./transcript-requests.ts"
import { UserMessage } from "./unsent-messages.tsx"

/** Loaded after the transcript (transcript.tsx), or when the first message is edited. */
export const messageEditor = deferModule(() => import("./message-editor.tsx"))

export interface MessageViewProps {
  readonly message: Signal<WireMessage>
  /** Whether segment `at` arrived while the page was open. */
  readonly isFresh: (id: string, at: number) => boolean
}

export function MessageView({ message, isFresh }: MessageViewProps): VNode {
  const { value } = message
  return (
    <ErrorBoundary of={value} renderFallback={() => <BrokenMessage message={value} />}>
      {value.role === "user" ? (
        <QuestionMessage message={value} />
      ) : (
        <AnswerMessage message={value} isFresh={isFresh} />
      )}
    </ErrorBoundary>
  )
}

/** The placeholder for a message that can't be rendered. */
function BrokenMessage({ message: { id, role, status } }: { readonly message: WireMessage }): VNode {
  return (
    <article data-id={id} data-role={role} data-status={status} aria-label={transcriptText.brokenMessage} tabIndex={-1}>
      <section class="broken">
        <p class="note">{transcriptText.brokenMessage}</p>
      </section>
    </article>
  )
}

interface AnswerMessageProps {
  readonly message: WireMessage
  readonly isFresh: MessageViewProps["isFresh"]
}

function AnswerMessage({ message, isFresh }: AnswerMessageProps): VNode {
  const { id, role, status, summary, origin, agent, reply_to } = message
  const sources = useMemo(() => numberSources(message.segments), [message.segments])
  const sourceTools = sourceViews.module.value
  useEffect(() => {
    if (sources.size > 0) void sourceViews.load()
  }, [sources])
  const parts = messageParts.module.value
  const CallHeader = callViews.module.value?.AgentHeader
  const author = role === "agent" ? (agent?.name ?? transcriptText.agent) : transcriptText.assistant
  return (
    <article
      data-id={id}
      data-role={role}
      data-status={status}
      data-origin={origin}
      data-agent={agent?.direction}
      aria-label={author}
      // A tap focuses the message, which shows its buttons: not every browser treats a tap as hovering. Shortcuts also
      // focus messages.
      tabIndex={-1}
    >
      {reply_to !== undefined && <QuotePlace of={reply_to} />}
      {agent?.direction === "sent" && CallHeader !== undefined && <CallHeader direction="out" name={agent.name} />}
      {origin === "import" && <p class="note">{transcriptText.unverifiedImport}</p>}
      {summary !== undefined && (
        <details class="summary">
          <summary>{transcriptText.summary}</summary>
          <Markdown text={summary} />
        </details>
      )}
      <SourcesContext.Provider value={sources}>
        <SegmentList message={message} isFresh={isFresh} />
        {sources.size > 0 && sourceTools !== null && <sourceTools.SourceList sources={sources} />}
      </SourcesContext.Provider>
      {isNoted(status) && (parts === null ? <NotePlace of={status} /> : <parts.StatusNote message={message} />)}
      <RefusalNote of={id} />
      {parts !== null && isEnded(status) && role !== "agent" && <parts.AnswerActions message={message} />}
    </article>
  )
}

/** Returns whether a note says why an answer isn't complete. */
function isNoted(status: WireMessage["status"]): boolean {
  return status !== "running" && status !== "completed"
}

function SegmentList({ message, isFresh }: AnswerMessageProps): ComponentChildren {
  const { id, status } = message
  const segments = withoutSources(message.segments)
  const { shown, hidden, showMore } = useSlicedCount(segments.length)
  const renderSegment = (at: number): VNode | null => {
    const segment = segments[at]
    if (segment === undefined) return null
    const isOpen = status === "running" && at === segments.length - 1
    return <SegmentView key={at} segment={segment} messageId={id} isOpen={isOpen} isFresh={isFresh(id, at)} />
  }
  const views = callViews.module.value
  const shownSegments = shown === segments.length ? segments : segments.slice(0, shown)
  const runs = views?.groupCalls(shownSegments) ?? shownSegments.map((_, at) => ({ at, calls: [] }))
  return (
    <>
      {runs.map(({ at, calls }) => {
        if (views === null || calls.length === 0) return renderSegment(at)
        return (
          <views.ToolCallGroup key={at} calls={calls}>
            {calls.map((_, nth) => renderSegment(at + nth))}
          </views.ToolCallGroup>
        )
      })}
      {hidden > 0 && <ShowMoreButton text={transcriptText.showMoreParts(hidden)} showMore={showMore} />}
    </>
  )
}

/** Returns the segments without the sources, which come after all other segments and are shown as one list. */
function withoutSources(segments: readonly Segment[]): readonly Segment[] {
  const first = segments.at(-1)?.type === "source" ? segments.findIndex(({ type }) => type === "source") : -1
  return first === -1 ? segments : segments.slice(0, first)
}

function QuestionMessage({ message }: { readonly message: WireMessage }): VNode {
  const { id, status, reply_to, segments, mode } = message
  const text = getMessageText(message)
  const { editor, isMissing, openEditor, actionsRef } = useMessageEditor(message, text)
  const parts = messageParts.module.value
  const canAct = useChangeRequests() !== null && status !== "queued" && editor === undefined
  return (
    <UserMessage
      id={id}
      status={status}
      text={text}
      body={renderLongText(text)}
      editor={editor}
      quote={reply_to === undefined ? undefined : <QuotePlace of={reply_to} />}
      files={<AttachmentsView segments={segments.filter(isMediaSegment)} />}
    >
      {mode === "spoken" && (
        <p class="note" data-note="spoken">
          {text === "" ? transcriptText.spokenWithoutText : transcriptText.spoken}
        </p>
      )}
      {status === "queued" && (parts === null ? <NotePlace /> : <parts.QueuedNote id={id} />)}
      <RefusalNote of={id} />
      {isMissing && <FaultNote text={appText.codeMissing} />}
      {parts !== null && canAct && (
        <parts.QuestionActions message={message} actionsRef={actionsRef} onEdit={openEditor} />
      )}
    </UserMessage>
  )
}

/** Manages the editor of a message. `editor` is undefined while it isn't open or loaded. */
function useMessageEditor({ id, segments }: WireMessage, text: string) {
  const requests = useTranscriptRequests()
  // An editor that was open when the message was last rendered opens again with its text.
  const [isEditing, setEditing] = useState(requests?.draft.editTexts.has(id) === true)
  const [isMissing, setMissing] = useState(false)
  const code = messageEditor.module.value
  useEffect(() => {
    if (isEditing) void loadEditor()
  }, [isEditing])
  const loadEditor = async (): Promise<void> => {
    const isLoaded = await messageEditor.load()
    setMissing(!isLoaded)
    if (!isLoaded) setEditing(false)
  }
  const actionsRef = useRef<HTMLElement>(null)
  const closeEditor = (): void => {
    setEditing(false)
    // The focus returns to the edit button, which exists only after the next render.
    setTimeout(() =>
      actionsRef.current?.querySelector<HTMLElement>("[data-focus-key=edit]")?.focus({ preventScroll: true }),
    )
  }
  const editor =
    isEditing && requests !== null && code !== null ? (
      <code.MessageEditor
        id={id}
        original={text}
        requests={requests}
        isTextRequired={!segments.some(isMediaSegment)}
        onClose={closeEditor}
      />
    ) : undefined
  return { editor, isMissing, openEditor: () => setEditing(true), actionsRef }
}

function getMessageText(message: WireMessage): string {
  const texts = message.segments.flatMap((segment) => (segment.type === "text" ? segment.content : []))
  return message.segments.length === 0 ? message.content : texts.join("\n\n")
}
