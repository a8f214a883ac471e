/**
 * turn-recorder.ts: sanitises, folds and stores the events of one message, and computes the ops for clients.
 *
 * raw events → intake (clean) → fold → store → segments → ops
 * `feed` gathers events in memory. `flush` writes the changes and returns ops only afterwards, so clients never see
 * anything that a crash could undo (SPEC ST3). A new recorder continues where the stored rows end, even inside a tag
 * (SPEC ST5).
 */

import { createIntake, type Intake } from "../../shared/ingest/intake.ts"
import type { TurnEvent } from "../../shared/protocol/event.ts"
import type { Op } from "../../shared/protocol/segment.ts"
import { parseJson } from "../../shared/json.ts"
import {
  isEnded,
  listCalls,
  type Message,
  type MessageStatus,
  type Part,
  type ToolCall,
} from "../../shared/protocol/message.ts"
import { foldAt } from "../../shared/protocol/part-times.ts"
import type { PricedCall } from "../../shared/usage/call-usage.ts"
import type { CleanState } from "../../shared/sanitize/clean.ts"
import type { Resolver } from "../../shared/segment/grant.ts"
import { createMessageSegmenter, type Drift, diffMessageState } from "../../shared/segment/segmenter.ts"
import { type StoredMessage, textPartExtras, usageToColumn } from "../store/row-codec.ts"
import type { SessionStore } from "../store/session-store.ts"
import { createChunkWriter } from "../store/text-chunks.ts"
import type { TurnUsage } from "../usage/turn-usage.ts"

export interface FlushedOps {
  readonly seq: number
  readonly ops: readonly Op[]
}

export interface TurnRecorderOptions {
  /** Whether to discard the text that the sanitiser held back instead of continuing with it. */
  readonly discardPending?: boolean
  /**
   * True if the message is not on the active path. In that case, its changes are stored, but take no seq and produce no
   * ops (SPEC VE8).
   */
  readonly isHidden?: boolean
  /** Returns the deadline of the message when its status changes. Without it, the deadline does not change. */
  readonly deadlineFor?: (status: MessageStatus) => number | null
  readonly alongside?: AlongsideWrite
  /**
   * The turn's model calls, which are stored with the rows that each window writes anyway. Default: the stored ones.
   */
  readonly usage?: Pick<TurnUsage, "calls">
  /** Called in the transaction that ends the turn, with its model calls. */
  readonly onEnd?: (calls: readonly PricedCall[]) => void
  /** Returns the time of an event, in milliseconds since 1970. */
  readonly now?: () => number
  /** Resolves the directives of new text. Without it, nothing that needs a grant is granted. */
  readonly resolver?: Resolver
}

/** A write that joins the transaction of each window. */
export interface AlongsideWrite {
  /** Whether there is something to write, even if the message has not changed. */
  readonly isPending: () => boolean
  readonly write: () => void
}

const NO_ALONGSIDE_WRITE: AlongsideWrite = { isPending: () => false, write() {} }

/**
 * Continues a stored message.
 *
 * If SQLite throws in `flush`, the error propagates, nothing of that window is stored, and the recorder ignores all
 * further calls, so a new recorder must continue from the rows. A flush writes about one row per changed part.
 */
export class TurnRecorder {
  readonly pos: number
  readonly drift: readonly Drift[]
  readonly #store: SessionStore
  readonly #nextSeq: () => number
  readonly #alongside: AlongsideWrite
  readonly #usage: Pick<TurnUsage, "calls"> | undefined
  readonly #onEnd: TurnRecorderOptions["onEnd"]
  readonly #isHidden: boolean
  readonly #deadlineFor: ((status: MessageStatus) => number | null) | undefined
  readonly #resolver: Resolver | undefined
  readonly #intake: Intake
  readonly #now: () => number
  readonly #segmenter = createMessageSegmenter()
  readonly #writePart: PartWriter
  #stored: StoredMessage
  #message: Message
  #pendingChars = 0
  #hasPendingText = false
  #isSpent = false
  /** The text that each part has gained since the last flush. */
  readonly #addedTexts = new Map<number, string>()

  constructor(
    store: SessionStore,
    stored: StoredMessage,
    nextSeq: () => number,
    {
      discardPending = false,
      isHidden = false,
      deadlineFor,
      alongside = NO_ALONGSIDE_WRITE,
      now = Date.now,
      resolver,
      usage,
      onEnd,
    }: TurnRecorderOptions = {},
  ) {
    this.pos = stored.pos
    this.drift = this.#segmenter.drift
    this.#store = store
    this.#nextSeq = nextSeq
    this.#alongside = alongside
    this.#usage = usage
    this.#onEnd = onEnd
    this.#isHidden = isHidden
    this.#deadlineFor = deadlineFor
    this.#resolver = resolver
    this.#now = now
    this.#stored = stored
    this.#message = stored.message
    this.#intake = discardPending ? createIntake() : restoreIntake(store, stored)
    this.#segmenter.advance(stored.message)
    // Without parts, there are no chunks to continue.
    const serializeClean = (): string => JSON.stringify(this.#intake.saveCleaner())
    this.#writePart = createPartWriter(store, stored.pos, serializeClean, stored.message.parts.length === 0)
  }

  /** Returns the message with all events so far. It may be ahead of the store. */
  currentMessage(): Message {
    return this.#message
  }

  /** Returns the message as stored, and therefore as shown. */
  storedMessage(): StoredMessage {
    return this.#stored
  }

  /** UTF-16 code units fed since the last flush. */
  pendingChars(): number {
    return this.#pendingChars
  }

  /** Discards everything that is still pending or arrives later. */
  dispose(): void {
    this.#isSpent = true
  }

  /** Adds one raw event. Its text is sanitised here, once, before anything is stored. */
  feed(event: TurnEvent): void {
    if (this.#isSpent || (isEnded(this.#message.status) && event.type !== "tool_result")) return
    if ("delta" in event) this.#pendingChars += event.delta.length
    this.#hasPendingText ||= event.type === "text_delta" || event.type === "thinking_delta"
    for (const clean of this.#intake.cleanEvent(event)) {
      this.#message = foldAt(this.#message, clean, new Date(this.#now()).toISOString())
      if (clean.type !== "text_delta" && clean.type !== "thinking_delta") continue
      const at = this.#message.parts.length - 1
      this.#addedTexts.set(at, this.#addedTextOf(at) + clean.delta)
    }
  }

  #addedTextOf(at: number): string {
    return this.#addedTexts.get(at) ?? ""
  }

  /** Writes the changes under the next seq. Returns null if clients would see no difference. */
  flush(): FlushedOps | null {
    this.#pendingChars = 0
    const before = this.#stored.message
    const hasChanged = this.#message !== before || this.#hasPendingText || this.#alongside.isPending()
    if (this.#isSpent || !hasChanged) return null
    // `#isSpent` becomes false again only after the write has succeeded, because ops of a failed write must not be sent
    // later.
    this.#isSpent = true
    const addedTextOf = (at: number): string => this.#addedTextOf(at)
    const textOps = this.#segmenter.advance(this.#message, addedTextOf, this.#resolver)
    const ops = [...textOps, ...diffMessageState(before, this.#message)]
    this.#message = this.#segmenter.applyGrants(this.#message)
    const isShown = ops.length > 0 && !this.#isHidden
    const seq = isShown ? this.#nextSeq() : this.#stored.seq
    const usage = this.#usage?.calls() ?? this.#stored.usage ?? []
    const next = { ...this.#stored, seq, usage, deadline: this.#nextDeadline(), message: this.#message }
    this.#store.atomically(() => this.#write(next, before))
    this.#isSpent = false
    this.#hasPendingText = false
    this.#addedTexts.clear()
    this.#stored = next
    return isShown ? { seq, ops } : null
  }

  #nextDeadline(): number | null {
    const { status } = this.#message
    if (isEnded(status)) return null
    const isUnchanged = status === this.#stored.message.status || this.#deadlineFor === undefined
    return isUnchanged ? this.#stored.deadline : this.#deadlineFor(status)
  }

  #write(next: StoredMessage, before: Message): void {
    const { seq, message } = next
    const endsTurn = isEnded(message.status) && !isEnded(before.status)
    // At the end, the message's own row contains the usage.
    const usage = isEnded(message.status) ? null : usageToColumn(next.usage)
    message.parts.forEach((part, at) => {
      const hasPendingText = this.#hasPendingText && part.type !== "tool_call" && part.open
      if (part === before.parts[at] && !hasPendingText) return
      this.#writePart(seq, at, part, before.parts[at], this.#addedTextOf(at), usage)
    })
    if (message.status !== before.status || message.summary !== before.summary) this.#store.updateMessage(next)
    if (isEnded(before.status) && !this.#isHidden) this.#store.recordLateChange(seq, this.pos)
    this.#alongside.write()
    if (endsTurn) this.#onEnd?.(next.usage ?? [])
  }
}

function restoreIntake(store: SessionStore, { pos, message }: StoredMessage): Intake {
  const last = message.parts.at(-1)
  const calls = listCalls(message).map((call) => call.call_id)
  if (last === undefined || last.type === "tool_call" || !last.open) return createIntake(null, undefined, calls)
  const held = store.findOpenChunk(pos)?.held ?? null
  try {
    // `saveCleaner` wrote this state, but possibly in an earlier or later release whose format this one can't read.
    return createIntake(last.type, held === null ? undefined : (parseJson(held) as unknown as CleanState), calls)
  } catch {
    return createIntake(last.type, undefined, calls)
  }
}

/**
 * Writes the part at index `at`. `addedText` is the text that a text part has gained since it was last written. `usage`
 * is the column of the turn's model calls, for the row of a tool call.
 */
export type PartWriter = (
  seq: number,
  at: number,
  part: Part,
  before: Part | undefined,
  addedText: string,
  usage?: string | null,
) => void

/** Creates a writer for the parts of one message. `isNew`: no rows exist yet, so none are read. */
export function createPartWriter(
  store: SessionStore,
  pos: number,
  serializeClean: () => string,
  isNew = false,
): PartWriter {
  const writeChunk = createChunkWriter(store, pos, isNew)
  return (seq, at, part, before, addedText, usage = null) => {
    if (part.type !== "tool_call") {
      const { type: kind, step, open, times } = part
      const ms = part.type === "thinking" ? part.ms : null
      const held = open ? serializeClean() : null
      return writeChunk(seq, {
        part: at,
        kind,
        step,
        open,
        ...(part.type === "text" ? textPartExtras(part) : {}),
        ...(times === undefined ? {} : { times }),
        ms,
        held,
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
    // After a reset, the part may have no chunk that carries the seq, so the call's row carries it.
    if (previous === null || isRestarted || isRowChanged(previous, call))
      store.putCall(pos, at, step, seq, call, part.times, usage)
  }
}

/** Whether the call's row must be rewritten. Its output is stored in chunks, not in the row. */
function isRowChanged(before: ToolCall, after: ToolCall): boolean {
  return (
    before.status !== after.status ||
    before.name !== after.name ||
    before.args !== after.args ||
    before.result !== after.result ||
    before.channel !== after.channel ||
    before.approval !== after.approval ||
    before.input !== after.input
  )
}
