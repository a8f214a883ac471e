/**
 * prefixes.ts: was every state that a tab showed a prefix of what is stored in the end? (law 3)
 *
 * stored message → every prefix of its parts → segments ⊇ what was shown
 * Tools are compared as progress: their state at a prefix is not kept, so it may be any on the way to the final one.
 */

import { apply, canonicalJson, type Segment, textOf, type WireMessage } from "../../shared/frame.ts"
import { isSettled, type Message, type Part } from "../../shared/message.ts"
import { createTranscriber, segmentsOf } from "../../shared/segment.ts"

type ToolSegment = Extract<Segment, { type: "tool" }>

/**
 * The shown states that no prefix of the message comes to.
 *
 * Cost  one pass over the message, code unit by code unit, and one comparison for each state.
 */
export function strangeStates(final: Message, states: readonly WireMessage[]): WireMessage[] {
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
    const alike = open.get(key)
    if (alike === undefined) continue
    const left = alike.filter((state) => !isShownOf(state.segments, segments, tools))
    if (left.length === 0) open.delete(key)
    else open.set(key, left)
  }
  return [...open.values()].flat()
}

/** The segments of every prefix of a message, tools as they are in the end. */
function* prefixesOf(final: Message): Generator<Segment[]> {
  const transcriber = createTranscriber()
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

/** How many segments of which length: alike states have the same. */
function sizeOf(segments: readonly Segment[]): string {
  let key = ""
  for (const segment of segments) key += segment.type === "tool" ? "tool," : `${segment.type}${textOf(segment).length},`
  return key
}

function isShownOf(shown: readonly Segment[], stored: readonly Segment[], tools: ReadonlyMap<string, ToolSegment>) {
  return shown.every((segment, at) => {
    const other = stored[at]
    if (segment.type === "tool") return isOnTheWay(segment, tools.get(segment.call_id))
    if (segment.type === "thinking" && other?.type === "thinking") return segment.content === other.content
    return other !== undefined && isSame(segment, other)
  })
}

const RANKS = { queued: 0, waiting: 1, running: 2, ok: 3, failed: 3, interrupted: 3 } as const

function isOnTheWay(shown: ToolSegment, final: ToolSegment | undefined): boolean {
  if (final === undefined || shown.name !== final.name || shown.args !== final.args) return false
  if (isSettled(shown.status)) return isSame(shown, final)
  if (RANKS[shown.status] > RANKS[final.status] || shown.result !== undefined || shown.error !== undefined) return false
  return (final.output ?? "").startsWith(shown.output ?? "")
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b || canonicalJson(a) === canonicalJson(b)
}
