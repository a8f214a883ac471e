/**
 * prefixes.ts: checks that every state shown by a tab is a prefix of the stored message.
 *
 * stored message → every prefix of its parts → segments ⊇ what was shown
 * The rows don't record which state a tool had at a given prefix, so any state that can lead to the final one is
 * accepted. The same applies to the status, summary and versions of a message.
 */

import { apply } from "../../shared/protocol/apply-ops.ts"
import { type Segment, readSegmentText } from "../../shared/protocol/segment.ts"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { toCanonicalJson } from "../../shared/json.ts"
import { isSettled, type Message, type Part } from "../../shared/protocol/message.ts"
import { createMessageSegmenter, messageToWire, segmentsOf } from "../../shared/segment/segmenter.ts"

type ToolSegment = Extract<Segment, { type: "tool" }>

/**
 * Returns the shown states that no prefix of the message produces.
 *
 * Cost: one pass over the message, code unit by code unit, and one comparison for each state.
 */
export function findUnexpectedStates(final: Message, states: readonly WireMessage[]): WireMessage[] {
  const wire = messageToWire(final)
  const unexpected = states.filter((state) => !isPossibleEarlierHead(state, wire))
  const others = states.filter((state) => !unexpected.includes(state))
  return [...unexpected, ...findUnexpectedSegments(final, others)]
}

function findUnexpectedSegments(final: Message, states: readonly WireMessage[]): WireMessage[] {
  const end = segmentsOf(final)
  if (final.role !== "assistant") return states.filter(({ segments }) => !isSame(segments, end))
  const tools = new Map(end.flatMap((segment) => (segment.type === "tool" ? [[segment.call_id, segment]] : [])))
  const open = new Map<string, WireMessage[]>()
  for (const state of states) {
    const key = sizeOf(state.segments)
    open.set(key, [...(open.get(key) ?? []), state])
  }
  for (const segments of prefixesOf(final)) {
    const key = sizeOf(segments)
    const sameSize = open.get(key)
    if (sameSize === undefined) continue
    const left = sameSize.filter((state) => !isShownOf(state.segments, segments, tools))
    if (left.length === 0) open.delete(key)
    else open.set(key, left)
  }
  return [...open.values()].flat()
}

/** Returns the segments of every prefix of a message, with tools in their final state. */
function* prefixesOf(final: Message): Generator<Segment[]> {
  const transcriber = createMessageSegmenter()
  let segments: Segment[] = []
  const before: Part[] = []
  const advance = (part: Part): Segment[] => {
    segments = apply(segments, transcriber.advance({ ...final, status: "running", parts: [...before, part] }))
    return segments
  }
  yield segments
  for (const part of final.parts) {
    if (part.type !== "tool_call") {
      for (let end = 0; end <= part.text.length; end++) {
        yield advance({ ...part, text: part.text.slice(0, end), open: true })
      }
    }
    yield advance(part)
    before.push(part)
  }
}

/** Returns a key made from the number and lengths of the segments. Equal states have the same key. */
function sizeOf(segments: readonly Segment[]): string {
  let key = ""
  for (const segment of segments)
    key += segment.type === "tool" ? "tool," : `${segment.type}${readSegmentText(segment).length},`
  return key
}

function isShownOf(shown: readonly Segment[], stored: readonly Segment[], tools: ReadonlyMap<string, ToolSegment>) {
  return shown.every((segment, at) => {
    const other = stored[at]
    if (segment.type === "tool") return isIntermediateState(segment, tools.get(segment.call_id))
    if (segment.type === "thinking" && other?.type === "thinking") return segment.content === other.content
    return other !== undefined && isSame(segment, other)
  })
}

const RANKS = { queued: 0, waiting: 1, running: 2, ok: 3, failed: 3, interrupted: 3 } as const

function isIntermediateState(shown: ToolSegment, final: ToolSegment | undefined): boolean {
  if (final === undefined || shown.name !== final.name || shown.args !== final.args) return false
  if (isSettled(shown.status)) return isSame(shown, final)
  // An agent's late answer replaces the provisional result.
  if (isDeferredTool(shown)) return isSettled(final.status) || isSame(shown, final)
  if (isDeferredTool(final)) return shown.result === undefined
  if (RANKS[shown.status] > RANKS[final.status] || shown.result !== undefined || shown.error !== undefined) return false
  if (!isIntermediateApproval(shown.approval, final.approval)) return false
  if (shown.truncated !== undefined && final.truncated === undefined) return false
  return (final.output ?? "").startsWith(shown.output ?? "")
}

function isDeferredTool({ status, result }: ToolSegment): boolean {
  return status === "waiting" && result !== undefined
}

/**
 * Returns whether `shown` can become `final`: a decision is never undone, and a pending call stays pending until it is
 * decided.
 */
function isIntermediateApproval(shown: ToolSegment["approval"], final: ToolSegment["approval"]): boolean {
  if (shown === undefined || shown === "asked") return shown === undefined || final !== undefined
  return shown === final
}

const STAGES: Readonly<Record<WireMessage["status"], number>> = {
  queued: 0,
  running: 1,
  waiting: 1,
  completed: 2,
  cancelled: 2,
  interrupted: 2,
  failed: 2,
}

/**
 * Returns whether all fields except the segments can become the final ones. The end of an answer is compared
 * separately, together with its segments.
 */
function isPossibleEarlierHead(shown: WireMessage, final: WireMessage): boolean {
  const isEnd = STAGES[shown.status] === 2
  if (isEnd ? shown.status !== final.status : STAGES[shown.status] > STAGES[final.status]) return false
  if (!isEnd && (shown.reason !== null || shown.metrics !== null)) return false
  if (shown.summary !== undefined && shown.summary !== final.summary) return false
  if ((shown.version ?? 1) !== (final.version ?? 1) || (shown.versions ?? 1) > (final.versions ?? 1)) return false
  return isSame(fixedOf(shown), fixedOf(final))
}

function fixedOf({ id, role, exchange_id, reply_to, mode, timestamp }: WireMessage): object {
  return { id, role, exchange_id, reply_to, mode, timestamp }
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b || toCanonicalJson(a) === toCanonicalJson(b)
}
