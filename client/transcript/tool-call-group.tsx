/**
 * tool-call-group.tsx: shows adjacent tool calls as one group with a combined status.
 *
 * The group is expanded while a call is running or waiting, and collapses when all calls have ended, unless the user is
 * using it or has chosen otherwise. A call that is waiting for the user is never hidden. A single call has the same
 * elements but no heading, so that a second call can be added without recreating the first. SPEC PG36.
 */

import type { ComponentChildren, VNode } from "preact"
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks"
import { type CallStatus, isSettled } from "../../shared/protocol/message.ts"
import type { Segment } from "../../shared/protocol/segment.ts"
import { deferModule } from "../ui/deferred-module.ts"
import { formatList } from "../words/format/list-format.ts"
import { formatCallStatus, toolText } from "../words/parts/call-text.ts"
import { getToolLabel } from "../words/settings/tool-name-text.ts"
import { isAgentCall } from "./agent-exchange.tsx"
import { findUserNeed } from "./calls/user-need.ts"
import { createHint, needsUser, ToolIcon, type ToolSegment } from "./tool-call.tsx"
import { useTranscriptRequests } from "./transcript-requests.ts"

/** Adjacent tool calls, or one other segment (in which case `calls` is empty). */
export interface SegmentRun {
  /** The index of the first segment. */
  readonly at: number
  readonly calls: readonly ToolSegment[]
}

/** Groups adjacent tool calls. Calls that send a question to another agent aren't grouped. Pure. */
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

/**
 * Returns the combined status: that of a running or waiting call if there is one; "failed" only if a call failed and
 * none succeeded, because the heading shows the number of failures.
 */
export function getGroupStatus(calls: readonly ToolSegment[]): CallStatus {
  const hasStatus = (...wanted: readonly CallStatus[]) => calls.some(({ status }) => wanted.includes(status))
  if (hasStatus("running", "queued")) return "running"
  if (hasStatus("waiting")) return "waiting"
  if (hasStatus("failed") && !hasStatus("ok")) return "failed"
  return hasStatus("interrupted") ? "interrupted" : "ok"
}

interface ToolCallGroupProps {
  readonly calls: readonly ToolSegment[]
  /** One view for each call. */
  readonly children: readonly ComponentChildren[]
}

export function ToolCallGroup({ calls, children }: ToolCallGroupProps): VNode {
  const id = useId()
  const { listRef, isOpen, toggle } = useGroupFold(calls)
  return (
    <>
      <div class="calls" data-count={calls.length} data-state={getGroupStatus(calls)}>
        {calls.length > 1 && <GroupHeading calls={calls} listId={id} isOpen={isOpen} onToggle={toggle} />}
        <div class="list" id={id} ref={listRef}>
          {calls.map((call, at) => (
            <div key={at} hidden={!isOpen && !needsUser(call)}>
              {children[at]}
            </div>
          ))}
        </div>
      </div>
      {calls.map((call) => call.app !== undefined && <AppPlace key={call.call_id} call={call} url={call.app} />)}
    </>
  )
}

/** Loaded on first use. */
const appViews = deferModule(() => import("../apps/app-view.tsx"))

/** The MCP App of a call. The app remains visible when the group is collapsed. SPEC MA5. */
function AppPlace({ call, url }: { readonly call: ToolSegment; readonly url: string }): VNode | null {
  const requests = useTranscriptRequests()
  useEffect(() => void appViews.load(), [])
  const AppView = appViews.module.value?.AppView
  if (AppView === undefined || requests?.api === undefined) return null
  return <AppView call={call} url={url} requests={requests} api={requests.api} />
}

function useGroupFold(calls: readonly ToolSegment[]) {
  const listRef = useRef<HTMLDivElement>(null)
  /** Null until the user expands or collapses the group. */
  const [userChoice, setUserChoice] = useState<boolean | null>(null)
  const isAllSettled = calls.every(({ status }) => isSettled(status))
  const isGroup = calls.length > 1
  const isOpen = !isGroup || (userChoice ?? !isAllSettled)
  useLayoutEffect(() => {
    if (isAllSettled && userChoice === null && isGroup && isInUse(listRef.current)) setUserChoice(true)
  }, [isAllSettled])
  return { listRef, isOpen, toggle: () => setUserChoice(!isOpen) }
}

interface GroupHeadingProps {
  readonly calls: readonly ToolSegment[]
  readonly listId: string
  readonly isOpen: boolean
  readonly onToggle: () => void
}

function GroupHeading({ calls, listId, isOpen, onToggle }: GroupHeadingProps): VNode {
  return (
    <button type="button" aria-expanded={isOpen} aria-controls={listId} onClick={onToggle}>
      <ToolIcon name={new Set(calls.map(({ name }) => name)).size === 1 ? (calls[0]?.name ?? "") : ""} />
      <span>{toolText.calls(calls.length, calls.filter(({ status }) => status === "failed").length)}</span>
      <span class="hint">{summarizeCalls(calls)}</span>
      <span class="badge">{formatCallStatus(getGroupStatus(calls), findUserNeed(calls))}</span>
    </button>
  )
}

/** Returns whether the user has expanded a call in the group, or the focus is inside the group. */
function isInUse(box: HTMLElement | null): boolean {
  return box?.querySelector("details[open]") != null || box?.contains(box.ownerDocument.activeElement) === true
}

/**
 * Maximum number of calls whose arguments a summary contains, and maximum length of arguments that it reads, in UTF-16
 * code units.
 */
const MAX_SUMMARIZED_CALLS = 4
const MAX_SUMMARIZED_ARGS_CHARS = 500

/**
 * Returns a summary that names each tool once: "Weather, rename_plan". For a single tool, it also lists the arguments:
 * "Weather: London, Tokyo".
 */
export function summarizeCalls(calls: readonly ToolSegment[]): string {
  const labels = [...new Set(calls.map(({ name }) => getToolLabel(name)))]
  const hints = calls
    .slice(0, MAX_SUMMARIZED_CALLS)
    .map(({ args }) => (args.length <= MAX_SUMMARIZED_ARGS_CHARS ? createHint(args) : ""))
  const subjects = formatList(new Set(hints.filter((hint) => hint !== "")))
  if (labels.length > 1 || subjects === "") return formatList(labels)
  return `${labels[0]}: ${subjects}${calls.length > MAX_SUMMARIZED_CALLS ? "…" : ""}`
}
