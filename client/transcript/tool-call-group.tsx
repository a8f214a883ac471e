/**
 * tool-call-group.tsx: tool calls that stand next to each other are one group, with how they stand together.
 *
 * segments → runs → CALLS → one view per call
 * Open while one of them works or waits, folded when all have come to rest, unless the reader is inside or said otherwise.
 * A call that asks for leave is never hidden. One call alone has the same elements and no heading, so that another can
 * join without a new beginning. Source: SPEC PG36.
 */

import type { ComponentChildren, VNode } from "preact"
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks"
import type { Segment } from "../../shared/protocol/segment.ts"
import { type CallStatus, isSettled } from "../../shared/protocol/message.ts"
import { isAgentCall } from "./agent-exchange.tsx"
import { STATUS_BADGES, isApprovalPending, type ToolSegment } from "./tool-call.tsx"

/** A stretch of segments: one that stands alone, or neighbouring calls. */
export interface SegmentRun {
  readonly at: number
  readonly calls: readonly ToolSegment[]
}

/** Pure. An agent that is asked is a block of its own. */
export function groupCalls(segments: readonly Segment[]): readonly SegmentRun[] {
  const runs: { at: number; calls: ToolSegment[] }[] = []
  segments.forEach((segment, at) => {
    const last = runs.at(-1)
    const isCall = segment.type === "tool" && !isAgentCall(segment)
    if (isCall && last !== undefined && last.calls.length > 0 && last.at + last.calls.length === at) {
      last.calls.push(segment)
    } else runs.push({ at, calls: isCall ? [segment] : [] })
  })
  return runs
}

/** How many calls stand together: what works or waits first, then what went wrong. */
export function getGroupStatus(calls: readonly ToolSegment[]): CallStatus {
  const hasStatus = (...wanted: readonly CallStatus[]) => calls.some(({ status }) => wanted.includes(status))
  if (hasStatus("running", "queued")) return "running"
  if (hasStatus("waiting")) return "waiting"
  if (hasStatus("failed")) return "failed"
  return hasStatus("interrupted") ? "interrupted" : "ok"
}

interface ToolCallGroupProps {
  readonly calls: readonly ToolSegment[]
  /** One view for each of them. */
  readonly children: readonly ComponentChildren[]
}

export function ToolCallGroup({ calls, children }: ToolCallGroupProps): VNode {
  const id = useId()
  const listRef = useRef<HTMLDivElement>(null)
  /** What the reader said last; null: nothing. */
  const [userChoice, setUserChoice] = useState<boolean | null>(null)
  const isAllSettled = calls.every(({ status }) => isSettled(status))
  const isGroup = calls.length > 1
  const isOpen = !isGroup || (userChoice ?? !isAllSettled)
  useLayoutEffect(() => {
    // Nobody's place folds away under them.
    if (isAllSettled && userChoice === null && isGroup && isInUse(listRef.current)) setUserChoice(true)
  }, [isAllSettled])
  return (
    <div class="calls" data-count={calls.length} data-state={getGroupStatus(calls)}>
      {isGroup && (
        <button type="button" aria-expanded={isOpen} aria-controls={id} onClick={() => setUserChoice(!isOpen)}>
          <span>{calls.length} calls</span>
          <span class="hint">{listToolNames(calls)}</span>
          <span class="badge">[{STATUS_BADGES[getGroupStatus(calls)]}]</span>
        </button>
      )}
      <div class="list" id={id} ref={listRef}>
        {calls.map((call, at) => (
          <div key={at} hidden={!isOpen && !isApprovalPending(call)}>
            {children[at]}
          </div>
        ))}
      </div>
    </div>
  )
}

/** The reader has unfolded something in it, or stands in it with the keyboard. */
function isInUse(box: HTMLElement | null): boolean {
  return box?.querySelector("details[open]") != null || box?.contains(box.ownerDocument.activeElement) === true
}

/** "get_weather, rename_conversation": each name once. */
function listToolNames(calls: readonly ToolSegment[]): string {
  return [...new Set(calls.map(({ name }) => name))].join(", ")
}
