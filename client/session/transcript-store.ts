/**
 * transcript-store.ts: the messages of one session, as signals.
 *
 * page, frames → STORE → view
 * Frames change a plain model at once; the view learns of them in one batch per animation frame.
 * One signal per message, and `apply` keeps the identity of segments that did not change, so a delta
 * draws one segment again. A message that was withdrawn is in no history, so it goes. Source: SPEC PG6–PG8, PG18, PG19.
 */

import { batch, type Signal, signal } from "@preact/signals"
import { applyToMessage } from "../../shared/protocol/apply-ops.ts"
import type { HistoryPage } from "../../shared/protocol/http-body.ts"
import type { MessageFrame, OpsFrame, WireMessage } from "../../shared/protocol/server-frame.ts"
import { toCanonicalJson } from "../../shared/json.ts"
import { isEnded } from "../../shared/protocol/message.ts"

export interface TranscriptStoreDeps {
  /** Runs the call with the next animation frame (or soon, in a hidden tab). */
  scheduleRender(callback: () => void): void
  /** A message that was seen running has ended, or waits for its reader now. */
  onMessageEnd(message: WireMessage): void
}

/** The answer that is under way, or waits for its reader. */
export interface ActiveTurn {
  readonly id: string
  readonly exchangeId: string
}

export class TranscriptStore {
  /** Ids, oldest first. */
  readonly messageIds = signal<readonly string[]>([])
  /** An answer is coming. One that waits for its reader is not. */
  readonly isBusy = signal(false)
  /** What can be stopped. */
  readonly activeTurn: Signal<ActiveTurn | null> = signal(null)
  /** The answer that nothing was said after, nor waits to be: the one that can be asked for again. */
  readonly lastAnswerId: Signal<string | null> = signal(null)
  readonly hasOlder = signal(false)
  /** Grows with every batch of frames that changed something: what scrolling listens to. */
  readonly changeCount = signal(0)
  readonly #deps: TranscriptStoreDeps
  readonly #messages = new Map<string, WireMessage>()
  readonly #signalsById = new Map<string, Signal<WireMessage>>()
  /** Segments that a message had when it first came whole; later ones arrived live. */
  readonly #initialSegmentCounts = new Map<string, number>()
  readonly #dirtyIds = new Set<string>()
  #ids: string[] = []
  #cursor: string | undefined
  #isScheduled = false
  #hasChanges = false

  constructor(deps: TranscriptStoreDeps) {
    this.#deps = deps
  }

  /** `before` of the next older page. */
  get cursor(): string | undefined {
    return this.#cursor
  }

  has(id: string): boolean {
    return this.#messages.has(id)
  }

  /** As of the last frame, drawn or not. */
  get(id: string): WireMessage | undefined {
    return this.#messages.get(id)
  }

  /** The agent that has this conversation with another one; null where a person has it. */
  findAskingAgent(): string | null {
    for (const id of this.messageIds.value) {
      const agent = this.getMessageSignal(id)?.peek().agent
      // With a call it is an answer from another conversation.
      if (agent !== undefined && agent.call_id === undefined) return agent.name
    }
    return null
  }

  getMessageSignal(id: string): Signal<WireMessage> | undefined {
    return this.#signalsById.get(id)
  }

  /** Did this segment arrive while the reader watched? Only such a card enters. */
  isFresh(id: string, at: number): boolean {
    return at >= (this.#initialSegmentCounts.get(id) ?? 0)
  }

  /** The newest page replaces all there is; what is the same in it keeps its identity. */
  loadPage(page: HistoryPage): void {
    const messages = page.messages.map((message) => reuseSegments(this.#messages.get(message.id), message))
    this.#messages.clear()
    this.#initialSegmentCounts.clear()
    this.#storePage({ ...page, messages })
    this.#ids = page.messages.map((message) => message.id)
    for (const id of this.#signalsById.keys()) if (!this.#messages.has(id)) this.#signalsById.delete(id)
    this.#publishChanges()
  }

  /** An older page goes before what there is. */
  prependPage(page: HistoryPage): void {
    const older = page.messages.filter((message) => !this.#messages.has(message.id))
    this.#storePage({ ...page, messages: older })
    this.#ids = [...older.map((message) => message.id), ...this.#ids]
    this.#publishChanges()
  }

  /** Takes one numbered frame. Throws RangeError when it does not fit what is here. */
  applyFrame(frame: MessageFrame | OpsFrame): void {
    if (frame.type === "message") this.#applyMessage(frame)
    else this.#applyOps(frame)
    this.#hasChanges = true
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#deps.scheduleRender(() => this.#publishChanges())
  }

  #applyMessage(frame: MessageFrame): void {
    const { type: _type, seq: _seq, prev: _prev, pieces: _pieces, ...message } = frame
    const before = this.#messages.get(message.id)
    if (isWithdrawn(message)) return this.#removeMessage(message.id)
    this.#setMessage(message)
    if (before === undefined) {
      this.#initialSegmentCounts.set(message.id, message.segments.length)
      this.#ids.splice(findInsertIndex(message, this.#ids, this.#messages), 0, message.id)
    }
    this.#reportEnd(before, message)
  }

  #applyOps(frame: OpsFrame): void {
    const before = this.#messages.get(frame.message)
    // A message older than the pages at hand: nothing of it is shown, so nothing changes.
    if (before === undefined) return
    const after = applyToMessage(before, frame.ops)
    if (isWithdrawn(after)) return this.#removeMessage(after.id)
    this.#setMessage(after)
    this.#reportEnd(before, after)
  }

  #reportEnd(before: WireMessage | undefined, after: WireMessage): void {
    if (after.role === "user" || before === undefined || isEnded(before.status)) return
    const isNowWaiting = after.status === "waiting" && before.status !== "waiting"
    if (isNowWaiting || isEnded(after.status)) this.#deps.onMessageEnd(after)
  }

  #removeMessage(id: string): void {
    this.#messages.delete(id)
    this.#dirtyIds.add(id)
    this.#ids = this.#ids.filter((known) => known !== id)
  }

  #storePage(page: HistoryPage): void {
    for (const message of page.messages) {
      this.#setMessage(message)
      this.#initialSegmentCounts.set(message.id, message.segments.length)
    }
    this.#cursor = page.cursor
    this.hasOlder.value = page.has_more && page.cursor !== undefined
  }

  #setMessage(message: WireMessage): void {
    this.#messages.set(message.id, message)
    this.#dirtyIds.add(message.id)
  }

  #publishChanges(): void {
    this.#isScheduled = false
    batch(() => {
      for (const id of this.#dirtyIds) {
        const message = this.#messages.get(id)
        if (message === undefined) {
          this.#signalsById.delete(id)
          continue
        }
        const known = this.#signalsById.get(id)
        if (known === undefined) this.#signalsById.set(id, signal(message))
        else known.value = message
      }
      this.#dirtyIds.clear()
      if (!hasSameIds(this.messageIds.peek(), this.#ids)) this.messageIds.value = [...this.#ids]
      this.#updateTurnState()
      if (this.#hasChanges) this.changeCount.value++
      this.#hasChanges = false
    })
  }

  /** Running messages stand at the end, so the look back is short. */
  #updateTurnState(): void {
    const newest = this.#ids.slice(-TURN_WINDOW_MESSAGES).flatMap((id) => this.#messages.get(id) ?? [])
    const activeTurn = newest.findLast(
      ({ role, status }) => role !== "user" && (status === "running" || status === "waiting"),
    )
    const last = newest.at(-1)
    this.isBusy.value = newest.some(
      ({ status }) => status === "running" || (status === "queued" && activeTurn?.status !== "waiting"),
    )
    if (activeTurn?.id !== this.activeTurn.peek()?.id) {
      this.activeTurn.value =
        activeTurn === undefined ? null : { id: activeTurn.id, exchangeId: activeTurn.exchange_id }
    }
    this.lastAnswerId.value = last === undefined || last.role === "user" ? null : last.id
  }
}

/** Messages at the end among which one may still be running or queued. */
const TURN_WINDOW_MESSAGES = 64

function isWithdrawn({ role, status }: WireMessage): boolean {
  return role === "user" && status === "cancelled"
}

function reuseSegments(before: WireMessage | undefined, after: WireMessage): WireMessage {
  if (before === undefined) return after
  const segments = after.segments.map((segment, at) => {
    const known = before.segments[at]
    return known !== undefined && toCanonicalJson(known) === toCanonicalJson(segment) ? known : segment
  })
  return { ...after, segments }
}

/**
 * Where a new message goes. An answer stands after what it answers, and exchanges in the order of their beginning:
 * a resume sends messages in the order of their last change, and a queued question is answered after later ones came.
 */
function findInsertIndex(
  message: WireMessage,
  ids: readonly string[],
  messages: ReadonlyMap<string, WireMessage>,
): number {
  const messageAt = (index: number): WireMessage | undefined => messages.get(ids[index] ?? "")
  const lastOfExchange = ids.findLastIndex((_, index) => messageAt(index)?.exchange_id === message.exchange_id)
  if (lastOfExchange >= 0)
    return message.role === "user"
      ? ids.findIndex((_, i) => messageAt(i)?.exchange_id === message.exchange_id)
      : lastOfExchange + 1
  let insertAt = ids.length
  while (insertAt > 0) {
    const before = messageAt(insertAt - 1)
    const question = before === undefined ? undefined : (messages.get(before.exchange_id) ?? before)
    if (question === undefined || question.timestamp <= message.timestamp) break
    insertAt--
  }
  return insertAt
}

function hasSameIds(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((id, at) => id === b[at])
}
