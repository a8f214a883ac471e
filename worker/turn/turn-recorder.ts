/**
 * turn-recorder.ts: takes what a producer says of one running message, cleans it, folds it, writes it and tells the ops.
 *
 * raw events → INTAKE (clean) → FOLD → STORE → segments → ops
 * `feed` gathers in memory; `flush` writes what changed and only then gives ops, so that a client never sees
 * what a crash could take back (law 3). A fresh recorder goes on where the stored rows end, even inside a tag.
 */

import type { CleanState } from "../../shared/sanitize/clean.ts"
import type { TurnEvent } from "../../shared/protocol/event.ts"
import type { Op } from "../../shared/protocol/segment.ts"
import { parseJson } from "../../shared/json.ts"
import { createIntake, type Intake } from "../../shared/ingest/intake.ts"
import {
  listCalls,
  fold,
  isEnded,
  type Message,
  type MessageStatus,
  type Part,
  type ToolCall,
} from "../../shared/protocol/message.ts"
import type { Resolver } from "../../shared/segment/grant.ts"
import { createMessageSegmenter, type Drift, diffMessageState } from "../../shared/segment/segmenter.ts"
import { createChunkWriter, type TextPartUpdate } from "../store/text-chunks.ts"
import type { StoredMessage } from "../store/row-codec.ts"
import type { SessionStore } from "../store/session-store.ts"

export interface FlushedOps {
  readonly seq: number
  readonly ops: readonly Op[]
}

export interface TurnRecorder {
  readonly pos: number
  /** The message as folded so far; it may be ahead of the store. */
  currentMessage(): Message
  /** The message as stored, and so as shown. */
  storedMessage(): StoredMessage
  /** Takes one raw event: its text is cleaned here, once, before anything is stored. */
  feed(event: TurnEvent): void
  /** UTF-16 code units fed since the last flush. */
  pendingChars(): number
  /** Writes what changed with the next seq; null where no client would see a difference. */
  flush(): FlushedOps | null
  /** Whoever moves the turn has let go of it: whatever still comes changes nothing. */
  dispose(): void
  readonly drift: readonly Drift[]
}

export interface TurnRecorderOptions {
  /** What clean had not settled is given up. */
  readonly discardPending?: boolean
  /** When a message that now has this status is over at the latest; without it that stays as it is. */
  readonly deadlineFor?: (status: MessageStatus) => number | null
  readonly alongside?: AlongsideWrite
  /** Whom the directives of fresh text are put to; without it nothing that needs a grant is granted. */
  readonly resolver?: Resolver
}

/** What is written in the same transaction as a window. */
export interface AlongsideWrite {
  /** It has something to write, also where the message does not. */
  readonly isPending: () => boolean
  readonly write: () => void
}

const NO_ALONGSIDE_WRITE: AlongsideWrite = { isPending: () => false, write() {} }

/**
 * Goes on with a stored message.
 *
 * Shapes  (Store, StoredMessage, nextSeq, options) → Recorder.
 * Errors  none of its own; what SQLite throws goes up, nothing of that window is stored, and the recorder is spent:
 *         a new one goes on from the rows.
 * Cost    reads one leaf; each flush writes one row a changed part.
 * Source  SPEC ST3–ST5.
 */
export function createTurnRecorder(
  store: SessionStore,
  stored: StoredMessage,
  nextSeq: () => number,
  {
    discardPending = false,
    deadlineFor = () => stored.deadline,
    alongside = NO_ALONGSIDE_WRITE,
    resolver,
  }: TurnRecorderOptions = {},
): TurnRecorder {
  let shown = stored
  let message = stored.message
  let pendingChars = 0
  let hasPending = false
  let isSpent = false
  /** What each part has gained since the last flush. */
  const addedTexts = new Map<number, string>()
  const intake = discardPending ? createIntake() : restoreIntake(store, stored)
  const transcriber = createMessageSegmenter()
  transcriber.advance(message)
  const writePart = createPartWriter(store, stored.pos, () => JSON.stringify(intake.saveCleaner()))

  return {
    pos: stored.pos,
    currentMessage: () => message,
    storedMessage: () => shown,
    pendingChars: () => pendingChars,
    drift: transcriber.drift,
    feed(event) {
      if (isSpent || (isEnded(message.status) && event.type !== "tool_result")) return
      if ("delta" in event) pendingChars += event.delta.length
      hasPending ||= event.type === "text_delta" || event.type === "thinking_delta"
      for (const clean of intake.cleanEvent(event)) {
        message = fold(message, clean)
        if (clean.type !== "text_delta" && clean.type !== "thinking_delta") continue
        const at = message.parts.length - 1
        addedTexts.set(at, (addedTexts.get(at) ?? "") + clean.delta)
      }
    },
    dispose() {
      isSpent = true
    },
    flush() {
      pendingChars = 0
      const before = shown.message
      if (isSpent || (message === before && !hasPending && !alongside.isPending())) return null
      // Until all is written: what fails half-way is never told again from here.
      isSpent = true
      const addedTextOf = (at: number): string => addedTexts.get(at) ?? ""
      const ops = [...transcriber.advance(message, addedTextOf, resolver), ...diffMessageState(before, message)]
      message = transcriber.applyGrants(message)
      const seq = ops.length > 0 ? nextSeq() : shown.seq
      const isStatusNew = message.status !== before.status
      const deadline = isEnded(message.status) ? null : isStatusNew ? deadlineFor(message.status) : shown.deadline
      const next = { ...shown, seq, deadline, message }
      store.atomically(() => {
        message.parts.forEach((part, at) => {
          const isPendingPart = hasPending && part.type !== "tool_call" && part.open
          if (part !== before.parts[at] || isPendingPart) writePart(seq, at, part, before.parts[at], addedTextOf(at))
        })
        if (isStatusNew || message.summary !== before.summary) store.updateMessage(next)
        if (isEnded(before.status)) store.recordLateChange(seq, stored.pos)
        alongside.write()
      })
      isSpent = false
      hasPending = false
      addedTexts.clear()
      shown = next
      return ops.length > 0 ? { seq, ops } : null
    },
  }
}

function restoreIntake(store: SessionStore, { pos, message }: StoredMessage): Intake {
  const last = message.parts.at(-1)
  const calls = listCalls(message).map((call) => call.call_id)
  if (last === undefined || last.type === "tool_call" || !last.open) return createIntake(null, undefined, calls)
  const held = store.findOpenChunk(pos)?.held ?? null
  try {
    // Our own row: `save` wrote it; but perhaps that of another version, whose state this one cannot read.
    return createIntake(last.type, held === null ? undefined : (parseJson(held) as unknown as CleanState), calls)
  } catch {
    return createIntake(last.type, undefined, calls)
  }
}

export type PartWriter = (seq: number, at: number, part: Part, before: Part | undefined, addedText: string) => void

/** Writes parts of one message; `fresh` is what a text has gained. Of one that is new there are no rows to go on from. */
export function createPartWriter(
  store: SessionStore,
  pos: number,
  serializeClean: () => string,
  isNew = false,
): PartWriter {
  const writeChunk = createChunkWriter(store, pos, isNew)
  return (seq, at, part, before, addedText) => {
    if (part.type !== "tool_call") {
      const { type: kind, step, open } = part
      const ms = part.type === "thinking" ? part.ms : null
      return writeChunk(seq, {
        part: at,
        kind,
        step,
        open,
        ...textPartExtras(part),
        ms,
        held: open ? serializeClean() : null,
        addedText,
      })
    }
    const previous = before?.type === "tool_call" ? before.call : null
    const { call, step } = part
    const writtenChars = previous?.output.length ?? 0
    const isRestarted = call.output.length < writtenChars
    if (isRestarted) writeChunk.resetPart(at)
    const output = isRestarted ? call.output : call.output.slice(writtenChars)
    if (output !== "") {
      writeChunk(seq, { part: at, kind: "output", step, open: false, ms: null, held: null, addedText: output })
    }
    // Where leaves only go, the call's own row carries the seq.
    if (previous === null || isRestarted || isRowChanged(previous, call)) store.putCall(pos, at, step, seq, call)
  }
}

function textPartExtras(part: Part): Pick<TextPartUpdate, "cut" | "grants"> {
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
