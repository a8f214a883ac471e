/**
 * turn-recorder.ts: takes what a producer says of one running message, cleans it, folds it, writes it and tells the ops.
 *
 * raw events → INTAKE (clean) → FOLD → STORE → segments → ops
 * `feed` gathers in memory; `flush` writes what changed and only then gives ops, so that a client never sees
 * what a crash could take back (law 3). A fresh recorder goes on where the stored rows end, even inside a tag.
 */

import type { CleanState } from "../../shared/sanitize/clean.ts"
import type { TurnEvent } from "../../shared/protocol/event.ts"
import { type Op, parseJson } from "../../shared/protocol/frame.ts"
import { createIntake, type Intake } from "../../shared/ingest/intake.ts"
import {
  callsOf,
  fold,
  isEnded,
  type Message,
  type MessageStatus,
  type Part,
  type ToolCall,
} from "../../shared/protocol/message.ts"
import type { Resolver } from "../../shared/segment/grant.ts"
import { createTranscriber, type Drift, opsBeside } from "../../shared/segment/segmenter.ts"
import { createLeafWriter, type LeafText } from "../store/text-chunks.ts"
import type { StoredMessage } from "../store/row-codec.ts"
import type { Store } from "../store/session-store.ts"

export interface Flushed {
  readonly seq: number
  readonly ops: readonly Op[]
}

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
  flush(): Flushed | null
  /** Whoever moves the turn has let go of it: whatever still comes changes nothing. */
  drop(): void
  readonly drift: readonly Drift[]
}

export interface RecorderOptions {
  /** What clean had not settled is given up. */
  readonly forgetHeld?: boolean
  /** When a message that now has this status is over at the latest; without it that stays as it is. */
  readonly deadlineFor?: (status: MessageStatus) => number | null
  readonly alongside?: Beside
  /** Whom the directives of fresh text are put to; without it nothing that needs a grant is granted. */
  readonly resolver?: Resolver
}

/** What is written in the same transaction as a window. */
export interface Beside {
  /** It has something to write, also where the message does not. */
  readonly isDue: () => boolean
  readonly write: () => void
}

const NOTHING_BESIDE: Beside = { isDue: () => false, write() {} }

/**
 * Goes on with a stored message.
 *
 * Shapes  (Store, StoredMessage, nextSeq, options) → Recorder.
 * Errors  none of its own; what SQLite throws goes up, nothing of that window is stored, and the recorder is spent:
 *         a new one goes on from the rows.
 * Cost    reads one leaf; each flush writes one row a changed part.
 * Source  SPEC ST3–ST5.
 */
export function createRecorder(
  store: Store,
  stored: StoredMessage,
  nextSeq: () => number,
  {
    forgetHeld = false,
    deadlineFor = () => stored.deadline,
    alongside = NOTHING_BESIDE,
    resolver,
  }: RecorderOptions = {},
): Recorder {
  let shown = stored
  let message = stored.message
  let waiting = 0
  let hasHeld = false
  let isSpent = false
  /** What each part has gained since the last flush. */
  const fresh = new Map<number, string>()
  const intake = forgetHeld ? createIntake() : restoreIntake(store, stored)
  const transcriber = createTranscriber()
  transcriber.advance(message)
  const writePart = createPartWriter(store, stored.pos, () => JSON.stringify(intake.save()))

  return {
    pos: stored.pos,
    message: () => message,
    shown: () => shown,
    waiting: () => waiting,
    drift: transcriber.drift,
    feed(event) {
      if (isSpent || (isEnded(message.status) && event.type !== "tool_result")) return
      if ("delta" in event) waiting += event.delta.length
      hasHeld ||= event.type === "text_delta" || event.type === "thinking_delta"
      for (const clean of intake.take(event)) {
        message = fold(message, clean)
        if (clean.type !== "text_delta" && clean.type !== "thinking_delta") continue
        const at = message.parts.length - 1
        fresh.set(at, (fresh.get(at) ?? "") + clean.delta)
      }
    },
    drop() {
      isSpent = true
    },
    flush() {
      waiting = 0
      const before = shown.message
      if (isSpent || (message === before && !hasHeld && !alongside.isDue())) return null
      // Until all is written: what fails half-way is never told again from here.
      isSpent = true
      const freshOf = (at: number): string => fresh.get(at) ?? ""
      const ops = [...transcriber.advance(message, freshOf, resolver), ...opsBeside(before, message)]
      message = transcriber.granted(message)
      const seq = ops.length > 0 ? nextSeq() : shown.seq
      const isNew = message.status !== before.status
      const deadline = isEnded(message.status) ? null : isNew ? deadlineFor(message.status) : shown.deadline
      const next = { ...shown, seq, deadline, message }
      store.atomically(() => {
        message.parts.forEach((part, at) => {
          const isHolding = hasHeld && part.type !== "tool_call" && part.open
          if (part !== before.parts[at] || isHolding) writePart(seq, at, part, before.parts[at], freshOf(at))
        })
        if (isNew || message.summary !== before.summary) store.updateMessage(next)
        if (isEnded(before.status)) store.setLateSeq(seq, stored.pos)
        alongside.write()
      })
      isSpent = false
      hasHeld = false
      fresh.clear()
      shown = next
      return ops.length > 0 ? { seq, ops } : null
    },
  }
}

function restoreIntake(store: Store, { pos, message }: StoredMessage): Intake {
  const last = message.parts.at(-1)
  const calls = callsOf(message).map((call) => call.call_id)
  if (last === undefined || last.type === "tool_call" || !last.open) return createIntake(null, undefined, calls)
  const held = store.openLeaf(pos)?.held ?? null
  try {
    // Our own row: `save` wrote it; but perhaps that of another version, whose state this one cannot read.
    return createIntake(last.type, held === null ? undefined : (parseJson(held) as unknown as CleanState), calls)
  } catch {
    return createIntake(last.type, undefined, calls)
  }
}

export type PartWriter = (seq: number, at: number, part: Part, before: Part | undefined, fresh: string) => void

/** Writes parts of one message; `fresh` is what a text has gained. Of one that is new there are no rows to go on from. */
export function createPartWriter(store: Store, pos: number, save: () => string, isNew = false): PartWriter {
  const writeLeaf = createLeafWriter(store, pos, isNew)
  return (seq, at, part, before, fresh) => {
    if (part.type !== "tool_call") {
      const { type: kind, step, open } = part
      const ms = part.type === "thinking" ? part.ms : null
      return writeLeaf(seq, { part: at, kind, step, open, ...besideText(part), ms, held: open ? save() : null, fresh })
    }
    const known = before?.type === "tool_call" ? before.call : null
    const { call, step } = part
    const said = known?.output.length ?? 0
    const isAnew = call.output.length < said
    if (isAnew) writeLeaf.forget(at)
    const output = isAnew ? call.output : call.output.slice(said)
    if (output !== "") {
      writeLeaf(seq, { part: at, kind: "output", step, open: false, ms: null, held: null, fresh: output })
    }
    // Where leaves only go, the call's own row carries the seq.
    if (known === null || isAnew || isRowChanged(known, call)) store.putCall(pos, at, step, seq, call)
  }
}

function besideText(part: Part): Pick<LeafText, "cut" | "grants"> {
  if (part.type !== "text") return {}
  const { cut, grants } = part
  return { ...(cut === true ? { cut } : {}), ...(grants === undefined ? {} : { grants }) }
}

/** Output has leaves of its own: a call whose output alone grew keeps its row. */
function isRowChanged(before: ToolCall, after: ToolCall): boolean {
  return (
    before.status !== after.status ||
    before.result !== after.result ||
    before.channel !== after.channel ||
    before.approval !== after.approval
  )
}
