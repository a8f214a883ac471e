/**
 * segment-view.tsx: renders one segment of a message, depending on its type.
 *
 * Unchanged segments keep their identity, so a delta re-renders only one segment. The result depends only on the
 * segment, so it is the same live and after a reload. SPEC PG9–PG13, CA3, PF5.
 */

import { Component, type ComponentChildren, type VNode } from "preact"
import { useEffect } from "preact/hooks"
import type { Segment } from "../../shared/protocol/segment.ts"
import { renderCard } from "../cards/card-registry.tsx"
import { Markdown } from "../markdown/markdown.tsx"
import { measureText, SLICE_COST } from "../markdown/text-part.ts"
import { CanvasView, MediaView } from "../media/media-view.tsx"
import { ErrorBoundary } from "../ui/error-boundary.tsx"
import { formatDuration, transcriptText } from "../words/transcript-text.ts"
import type { CallSegment } from "./calls/call-views.tsx"
import { callViews } from "./calls/deferred-calls.ts"
import { useTranscriptRequests } from "./transcript-requests.ts"

interface SegmentProps {
  readonly segment: Segment
  readonly messageId: string
  /** Whether the segment is the last in a running message and may still grow. */
  readonly isOpen: boolean
  readonly isFresh: boolean
}

export class SegmentView extends Component<SegmentProps> {
  override shouldComponentUpdate(next: SegmentProps): boolean {
    return next.segment !== this.props.segment || next.isOpen !== this.props.isOpen
  }

  override render(props: SegmentProps): ComponentChildren {
    return (
      <ErrorBoundary of={props.segment} renderFallback={() => <BrokenSegment segment={props.segment} />}>
        <SegmentContent {...props} />
      </ErrorBoundary>
    )
  }
}

/** Shown for a segment that can't be rendered: a note, and the segment's text without Markdown. */
function BrokenSegment({ segment }: { readonly segment: Segment }): VNode {
  const text = readBrokenText(segment)
  return (
    <section class="broken" data-segment="" aria-label={transcriptText.brokenSegment}>
      <p class="note">{transcriptText.brokenSegment}</p>
      {text !== "" && <pre>{text}</pre>}
    </section>
  )
}

/** Returns the segment's text; "" if the segment can't even be read, which may be why it couldn't be rendered. */
function readBrokenText(segment: Segment): string {
  try {
    const text = segment.type === "tool" ? toolToText(segment) : segmentToText(segment)
    return text.slice(0, measureText(text, SLICE_COST).end)
  } catch {
    return ""
  }
}

function toolToText({ name, result, output = "" }: Extract<Segment, { type: "tool" }>): string {
  return `${name}\n${result ?? output}`.trimEnd()
}

function SegmentContent({ segment, messageId, isOpen, isFresh }: SegmentProps): ComponentChildren {
  switch (segment.type) {
    case "text":
      return <TextView text={segment.content} />
    case "thinking":
      return <ThinkingView text={segment.content} ms={segment.ms} isOpen={isOpen} />
    case "tool":
    case "agent":
      return <DeferredCall segment={segment} messageId={messageId} />
    case "rich":
      return <RichView segment={segment} isFresh={isFresh} />
    case "media":
      return <MediaView segment={segment} />
    case "canvas":
      return <CanvasView segment={segment} />
    default:
      return <TextView text={segmentToText(segment)} />
  }
}

/** A call whose code is loaded on demand. Until then, an empty line takes its place. */
function DeferredCall(props: { readonly segment: CallSegment; readonly messageId: string }): VNode {
  const views = callViews.module.value
  useEffect(() => void callViews.load(), [])
  return views === null ? <div class="call-place" /> : <views.CallView {...props} />
}

interface RichViewProps {
  readonly segment: Extract<Segment, { type: "rich" }>
  readonly isFresh: boolean
}

function RichView({ segment: { tag, payload, synthesis, view, call_id: callId }, isFresh }: RichViewProps): VNode {
  const host = useTranscriptRequests()
  const card = renderCard(tag, { payload, synthesis, view, callId, host, isFresh })
  return card === null ? <TextView text={synthesis} /> : <div data-segment="rich">{card}</div>
}

function TextView({ text }: { readonly text: string }): VNode | null {
  if (text === "") return null
  return (
    <div data-segment="text">
      <Markdown text={text} />
    </div>
  )
}

interface ThinkingViewProps {
  readonly text: string
  readonly ms: number | undefined
  readonly isOpen: boolean
}

/** The model's thinking, collapsed until the user expands it. The browser keeps it expanded while the text changes. */
function ThinkingView({ text, ms, isOpen }: ThinkingViewProps): VNode {
  return (
    <details data-segment="thinking">
      <summary>
        <svg viewBox="0 0 20 20" aria-hidden="true">
          <path d="M10 3.5l1.6 4.9 4.9 1.6-4.9 1.6-1.6 4.9-1.6-4.9-4.9-1.6 4.9-1.6z" />
        </svg>
        {ms === undefined && isOpen
          ? transcriptText.thinking
          : transcriptText.thought(ms === undefined ? undefined : formatDuration(ms))}
      </summary>
      <Markdown text={text} />
    </details>
  )
}

/**
 * Returns the text of a segment that has no view: one of a type that this version of the page doesn't support, or one
 * after a fault.
 */
function segmentToText(segment: object): string {
  for (const field of ["content", "synthesis", "text", "title", "label"]) {
    const value: unknown = Reflect.get(segment, field)
    if (typeof value === "string" && value !== "") return value
  }
  return ""
}
