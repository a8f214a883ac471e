/**
 * transcript-writer.ts: writes the messages of an imported file to the transcript.
 *
 * A message keeps the position and the parent that its file states, if they fit. Otherwise, it follows the newest
 * message.
 */

import type { AssembledMessage, LateEvents } from "../../shared/ingest/assembler.ts"
import { addTotals, type KindTotals } from "../../shared/ingest/history/kind-counts.ts"
import { MAX_ID_CHARS, MAX_RECORD_POS } from "../../shared/limits.ts"
import type { Message } from "../../shared/protocol/message.ts"
import type { Resolver } from "../../shared/segment/grant.ts"
import { createMessageSegmenter } from "../../shared/segment/segmenter.ts"
import { type StoredMessage, versionGroupKey } from "../store/row-codec.ts"
import type { SessionStore } from "../store/session-store.ts"
import { createPartWriter, TurnRecorder } from "../turn/turn-recorder.ts"

/**
 * Maximum number of results in an imported file that come after the end of their answer. Each of them requires reading
 * the answer again. Further results are dropped. SPEC RE36.
 */
const MAX_IMPORTED_LATE_RESULTS = 5_000

export interface TranscriptWriterHost {
  readonly store: SessionStore
  /**
   * Returns the newest seq of the session. Imported rows carry this seq, because an import assigns no new ones (SPEC
   * HI6).
   */
  readonly readSeq: () => number
  /** Decides the grants of an unverified import. */
  readonly resolver: Resolver
}

/** The version number of a message, and the position of the first version. */
interface AssignedVersion {
  readonly first: number
  readonly n: number
}

type Place = Pick<StoredMessage, "pos" | "parent">

export class TranscriptWriter {
  readonly #host: TranscriptWriterHost
  readonly #isSealed: boolean
  readonly #onInsert: (id: string) => void
  /** Positions of first versions, keyed by `versionGroupKey`; read when the file's first additional version arrives. */
  #firstVersions: Map<number, number> | null = null
  /** Newest position, and end of the active path. Nothing else writes during an import. */
  #newestPos: number
  #tipPos: number | null
  #lateResults = 0

  /** `onInsert`: called with the id of each message that was inserted. */
  constructor(host: TranscriptWriterHost, isSealed: boolean, onInsert: (id: string) => void) {
    this.#host = host
    this.#isSealed = isSealed
    this.#onInsert = onInsert
    this.#newestPos = host.store.readNewestPos()
    // This is not the end of the session's active path, which stays empty until the whole file is folded (SPEC HI6).
    this.#tipPos = this.#newestPos === 0 ? null : this.#newestPos
  }

  /** Writes one item. Returns what was dropped with it, by kind. */
  writeItem(item: AssembledMessage | LateEvents): KindTotals {
    if (item.kind === "late") {
      const results = this.#applyLateEvents(item)
      return results === 0 ? item.lost : addTotals([item.lost, { result: results }])
    }
    this.#insertMessage(item)
    return item.lost
  }

  /** Applies results that follow the end of their answer. Returns the number of those that had no effect. */
  #applyLateEvents({ id, events, at }: LateEvents): number {
    const { store, readSeq } = this.#host
    if (events.length === 0 || this.#lateResults >= MAX_IMPORTED_LATE_RESULTS) return events.length
    const pos = store.findById(id)?.pos ?? null
    // Reading a message costs more than checking that nothing in it waits for a result.
    const stored = pos === null || !store.hasOpenCallAt(pos) ? null : store.findMessageAt(pos)
    if (stored === null) return events.length
    this.#lateResults += 1
    const time = at === undefined ? {} : { now: () => Date.parse(at) }
    const recorder = new TurnRecorder(store, stored, readSeq, { isHidden: true, ...time })
    let lostEvents = 0
    for (const event of events) {
      const before = recorder.currentMessage()
      recorder.feed(event)
      if (recorder.currentMessage() === before) lostEvents += 1
    }
    recorder.flush()
    return lostEvents
  }

  #insertMessage(item: AssembledMessage): void {
    const { store, readSeq, resolver } = this.#host
    const { pos, parent } = this.#choosePlace(item)
    const message = this.#isSealed ? item.message : regrantMessage(item.message, resolver)
    const seq = readSeq()
    const origin = message.role === "user" ? null : this.#isSealed ? message.origin : "import"
    const version = this.#assignVersion(pos, parent, message)
    const row = { pos, parent, seq, deadline: null, message: { ...message, origin, version: version?.n ?? 1 } }
    const id = this.#insertRow(row)
    if (message.action !== undefined) store.cardActions.put(message.action, id)
    if (message.feedback !== undefined) store.feedback.set(pos, message.feedback)
    this.#newestPos = pos
    this.#tipPos = pos
    const writePart = createPartWriter(store, pos, () => "", true)
    for (const [at, part] of message.parts.entries()) {
      writePart(seq, at, part, undefined, part.type === "tool_call" ? "" : part.text)
    }
    if (version !== null) store.addVersion(parent, version.first, version.n, pos)
    if (item.tip !== null) store.setVersionTip(pos, item.tip)
  }

  #choosePlace({ pos, parent }: AssembledMessage): Place {
    const isUsable = pos !== null && pos > this.#newestPos && pos <= MAX_RECORD_POS / 2 && parent !== undefined
    return isUsable
      ? { pos, parent: this.#chooseParent(parent, pos) }
      : { pos: this.#newestPos + 1, parent: this.#tipPos }
  }

  /**
   * Returns the stated parent, or the tip if that parent was skipped, so that the path still contains the messages
   * before it.
   */
  #chooseParent(parent: number | null, pos: number): number | null {
    if (parent === null || parent === this.#tipPos) return parent
    return parent < pos && this.#host.store.hasMessageAt(parent) ? parent : this.#tipPos
  }

  /**
   * Assigns the next free version number, even if the file states another one. Null if the message is the only version
   * so far.
   */
  #assignVersion(pos: number, parent: number | null, { version, role }: Message): AssignedVersion | null {
    const { store } = this.#host
    if (version > 1) this.#firstVersions ??= store.readFirstVersions()
    const key = versionGroupKey(parent, role)
    const first = this.#firstVersions?.get(key)
    if (first === undefined) this.#firstVersions?.set(key, pos)
    return first === undefined || version === 1 ? null : { first, n: store.countVersions(parent) + 1 }
  }

  /**
   * Inserts a row, and returns the id of its message. A message whose id is taken gets a new id that is derived from
   * the original one.
   */
  #insertRow(stored: StoredMessage): string {
    const { store } = this.#host
    const { pos, message } = stored
    try {
      store.insertMessage(stored, true)
      this.#onInsert(message.id)
      return message.id
    } catch (error) {
      if (!store.isIdTaken(message.id)) throw error
      const id = `${message.id.slice(0, MAX_ID_CHARS - 18)}-${pos}`
      store.insertMessage({ ...stored, message: { ...message, id } }, true)
      this.#onInsert(id)
      return id
    }
  }
}

/** Decides the grants of an unverified message again, based on the contents of this session (SPEC RE26). */
function regrantMessage(message: Message, resolver: Resolver): Message {
  if (message.role !== "assistant") return message
  const segmenter = createMessageSegmenter()
  segmenter.advance(message, undefined, resolver)
  return segmenter.applyGrants(message)
}
