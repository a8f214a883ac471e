/**
 * segment-view.tsx: one segment of a message, by its kind.
 *
 * segment → VIEW
 * Segments keep their identity while they do not change, so a delta draws one of them again.
 * Live, reload and share draw the same, because nothing but the segment decides. Source: SPEC PG9–PG13, CA3.
 */

import { Component, type ComponentChildren, type VNode } from "preact"
import type { Segment } from "../../shared/protocol/segment.ts"
import { renderCard } from "../cards/card-registry.ts"
import { Markdown } from "../markdown/markdown.tsx"
import { CanvasView } from "../media/canvas-frame.tsx"
import { MediaView } from "../media/media-view.tsx"
import { AgentCallView, isAgentCall, ReceivedMessageView } from "./agent-exchange.tsx"
import { ToolView } from "./tool-call.tsx"

interface SegmentProps {
  readonly segment: Segment
  /** Id of the message that it stands in. */
  readonly messageId: string
  /** The last of a message that is still running: what is open there is under way. */
  readonly isOpen: boolean
  readonly isFresh: boolean
}

export class SegmentView extends Component<SegmentProps> {
  override shouldComponentUpdate(next: SegmentProps): boolean {
    return next.segment !== this.props.segment || next.isOpen !== this.props.isOpen
  }

  override render({ segment, messageId: message, isOpen, isFresh: fresh }: SegmentProps): ComponentChildren {
    switch (segment.type) {
      case "text":
        return <TextView text={segment.content} />
      case "thinking":
        return <ThinkingView text={segment.content} ms={segment.ms} isOpen={isOpen} />
      case "tool":
        return isAgentCall(segment) ? (
          <AgentCallView tool={segment} message={message} />
        ) : (
          <ToolView tool={segment} messageId={message} />
        )
      case "agent":
        return <ReceivedMessageView segment={segment} />
      case "rich": {
        const card = renderCard(segment.tag, { payload: segment.payload, synthesis: segment.synthesis, isFresh: fresh })
        return card === null ? <TextView text={segment.synthesis} /> : <div data-segment="rich">{card}</div>
      }
      case "media":
        return <MediaView segment={segment} />
      case "canvas":
        return (
          <div data-segment="canvas">
            <CanvasView key={segment.preview.url} segment={segment} />
          </div>
        )
      default:
        return <TextView text={unknownSegmentToText(segment)} />
    }
  }
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

/** Folded until the reader opens it; the browser keeps that, so it is no state of ours. */
function ThinkingView({ text, ms, isOpen }: ThinkingViewProps): VNode {
  return (
    <details data-segment="thinking">
      <summary>{ms !== undefined ? `Thought for ${formatDuration(ms)}` : isOpen ? "Thinking…" : "Thought"}</summary>
      <Markdown text={text} />
    </details>
  )
}

/** 900 → "0.9 s", 14_000 → "14 s", 75_000 → "1 min 15 s". */
export function formatDuration(ms: number): string {
  if (ms < 9_950) return `${(Math.max(ms, 100) / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  if (seconds < 60) return `${seconds} s`
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

/** A kind that a newer server knows and this page does not: whatever words it has. */
function unknownSegmentToText(segment: object): string {
  for (const field of ["content", "synthesis", "text", "title", "label"]) {
    const value: unknown = Reflect.get(segment, field)
    if (typeof value === "string" && value !== "") return value
  }
  return ""
}
