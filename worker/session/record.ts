/**
 * record.ts: takes what a producer says of one running message, cleans it, folds it, writes it and tells the ops.
 *
 * raw events → CLEAN → FOLD → STORE → segments → ops
 * `feed` gathers in memory; `flush` writes what changed and only then gives ops, so that a client never sees
 * what a crash could take back (law 3). A fresh recorder goes on where the stored rows end, even inside a tag.
 */

import { type Cleaner, type CleanState, createCleaner } from "../../shared/clean.ts"
import type { TurnEvent } from "../../shared/event.ts"
import { type Op, parseJson } from "../../shared/frame.ts"
import { MAX_LEAF_CHARS } from "../../shared/limits.ts"
import { fold, isEnded, type Message, type Part } from "../../shared/message.ts"
import { createTranscriber, type Drift } from "../../shared/segment.ts"
import type { Store, StoredMessage } from "./store.ts"

export interface Recorder {
  readonly pos: number
  /** The message as folded so far; it may be ahead of the store. */
  message(): Message
  /** The message as stored, and so as shown. */
  shown(): StoredMessage
  /** Takes one raw event: its text is cleaned here, once, before anything is stored. */
  feed(event: TurnEvent): void
  /** UTF-16 code units fed since the last flush. */
  waiting(): number
  /** Writes what changed with the next seq; null where no client would see a difference. */
  flush(): { readonly seq: number; readonly ops: readonly Op[] } | null
  readonly drift: readonly Drift[]
}

/** The last leaf of a growing part: where its text begins, so that a delta rewrites it and no other. */
interface LeafPlace {
  readonly part: number
  readonly kind: "text" | "output"
  n: number
  start: number
}

type TextPart = Extract<Part, { type: "text" | "thinking" }>

/**
 * Goes on with a stored message.
 *
 * Shapes  (Store, StoredMessage, nextSeq) → Recorder.
 * Errors  none of its own; what SQLite throws goes up, and nothing of that window is kept.
 * Cost    reads one leaf; each flush writes one row a changed part.
 * Source  SPEC ST3–ST5.
 */
export function createRecorder(store: Store, stored: StoredMessage, nextSeq: () => number): Recorder {
  const { pos } = stored
  let shown = stored
  let message = stored.message
  let waiting = 0
  let cleaner = restoreCleaner(store, pos)
  let heldDirty = false
  const transcriber = createTranscriber()
  transcriber.advance(message)
  const places = new Map<number, LeafPlace>()

  const foldIn = (event: TurnEvent): void => {
    message = fold(message, event)
  }
  /** The open part ends: what clean still held belongs to it. */
  const settle = (): void => {
    const last = message.parts.at(-1)
    if (last === undefined || last.type === "tool_call" || !last.open) return
    const rest = cleaner.end()
    if (rest !== "") foldIn({ type: last.type === "text" ? "text_delta" : "thinking_delta", delta: rest })
    cleaner = createCleaner()
  }
  const feedDelta = (type: "text_delta" | "thinking_delta", delta: string): void => {
    const last = message.parts.at(-1)
    const isSame = last !== undefined && last.type === (type === "text_delta" ? "text" : "thinking") && last.open
    if (!isSame) {
      settle()
      cleaner = createCleaner()
    }
    foldIn({ type, delta: cleaner.push(delta) })
    heldDirty = true
    waiting += delta.length
  }
  const feed = (event: TurnEvent): void => {
    if (isEnded(message.status) && event.type !== "tool_result") return
    switch (event.type) {
      case "text_delta":
      case "thinking_delta":
        return feedDelta(event.type, event.delta)
      case "step_start":
      case "text_done":
      case "thinking_done":
      case "tool_call":
      case "end":
        settle()
        return foldIn(event)
      case "tool_output_delta":
        waiting += event.delta.length
        return foldIn(event)
      case "tool_call_start":
      case "tool_result":
        return foldIn(event)
    }
  }

  const writeLeaves = (kind: LeafPlace["kind"], at: number, text: string, leaf: Omit<TextPart, "text">, seq: number) => {
    const place = places.get(at) ?? findPlace(store, pos, at, kind)
    places.set(at, place)
    const isThinking = leaf.type === "thinking"
    for (;;) {
      const end = leafEnd(text, place.start)
      const isLast = end === text.length
      store.putLeaf(pos, seq, {
        part: at,
        n: place.n,
        kind: kind === "output" ? "output" : leaf.type,
        step: leaf.step,
        open: leaf.open || !isLast,
        ms: isThinking && isLast ? leaf.ms : null,
        held: kind === "text" && leaf.open && isLast ? JSON.stringify(cleaner.save()) : null,
        text: text.slice(place.start, end),
      })
      if (isLast) return
      place.n += 1
      place.start = end
    }
  }
  const writePart = (at: number, part: Part, before: Part | undefined, seq: number): void => {
    if (part.type !== "tool_call") return writeLeaves("text", at, part.text, part, seq)
    const output = before?.type === "tool_call" ? before.call.output : ""
    if (part.call.output !== output) {
      writeLeaves("output", at, part.call.output, { type: "text", step: part.step, open: true }, seq)
    }
    if (before?.type !== "tool_call" || isRowChanged(before.call, part.call)) {
      store.putCall(pos, at, part.step, seq, part.call)
    }
  }
  const flush = (): ReturnType<Recorder["flush"]> => {
    waiting = 0
    const before = shown.message
    if (message === before && !heldDirty) return null
    const ops = [...transcriber.advance(message), ...opsBeside(before, message)]
    const seq = ops.length > 0 ? nextSeq() : shown.seq
    message.parts.forEach((part, at) => {
      const isOpen = part.type !== "tool_call" && part.open
      if (part !== before.parts[at] || (isOpen && heldDirty)) writePart(at, part, before.parts[at], seq)
    })
    if (message.status !== before.status || message.reply_to !== before.reply_to) store.updateMessage(pos, message, seq)
    heldDirty = false
    shown = { ...shown, seq, message }
    return ops.length > 0 ? { seq, ops } : null
  }

  return { pos, message: () => message, shown: () => shown, feed, waiting: () => waiting, flush, drift: transcriber.drift }
}

function restoreCleaner(store: Store, pos: number): Cleaner {
  const held = store.openLeaf(pos)?.held ?? null
  // Our own row: `save` wrote it.
  return createCleaner(held === null ? undefined : (parseJson(held) as unknown as CleanState))
}

/** Where the last leaf of a part begins: found from the rows, since a fresh object has no memory of it. */
function findPlace(store: Store, pos: number, part: number, kind: LeafPlace["kind"]): LeafPlace {
  const leaves = store.leafSizes(pos, part)
  const last = leaves.at(-1)
  if (last === undefined) return { part, kind, n: 0, start: 0 }
  const before = leaves.slice(0, -1).reduce((sum, leaf) => sum + leaf.chars, 0)
  return { part, kind, n: last.n, start: before }
}

/** A leaf ends at its bound, never inside a surrogate pair: the store is UTF-8. */
function leafEnd(text: string, start: number): number {
  if (text.length - start <= MAX_LEAF_CHARS) return text.length
  const end = start + MAX_LEAF_CHARS
  const unit = text.charCodeAt(end - 1)
  return unit >= 0xd800 && unit < 0xdc00 ? end - 1 : end
}

type Call = Extract<Part, { type: "tool_call" }>["call"]

/** Output has leaves of its own; a call whose output alone grew keeps its row. */
function isRowChanged(before: Call, after: Call): boolean {
  return before.status !== after.status || before.result !== after.result || before.channel !== after.channel
}

function opsBeside(before: Message, after: Message): Op[] {
  if (after.status !== before.status && isEnded(after.status)) {
    return [{ op: "end", status: after.status, reason: after.reason, metrics: after.metrics }]
  }
  return after.status === before.status ? [] : [{ op: "meta", status: after.status }]
}
