/**
 * transcript-store.ts: the messages of one session, as signals.
 *
 * page, frames → STORE → view
 * Frames change a plain model at once; the view learns of them in one batch per animation frame.
 * One signal per message, and `apply` keeps the identity of segments that did not change, so a delta
 * draws one segment again. A message that was withdrawn is in no history, so it goes. Source: SPEC PG6–PG8, PG18, PG19.
 */

import { batch, type Signal, signal } from "@preact/signals"
import {
  applyToMessage,
  canonicalJson,
  type HistoryPage,
  type MessageFrame,
  type OpsFrame,
  type WireMessage,
} from "../../shared/protocol/frame.ts"
import { isEnded } from "../../shared/protocol/message.ts"

export interface StoreDeps {
  /** Runs the call with the next animation frame (or soon, in a hidden tab). */
  schedule(call: () => void): void
  /** A message that was seen running has ended, or waits for its reader now. */
  ended(message: WireMessage): void
}

/** The answer that is under way, or waits for its reader. */
export interface Turn {
  readonly id: string
  readonly exchange: string
}

export class TranscriptStore {
  /** Ids, oldest first. */
  readonly order = signal<readonly string[]>([])
  /** An answer is coming. One that waits for its reader is not. */
  readonly busy = signal(false)
  /** What can be stopped. */
  readonly turn: Signal<Turn | null> = signal(null)
  /** The answer that nothing was said after, nor waits to be: the one that can be asked for again. */
  readonly lastAnswer: Signal<string | null> = signal(null)
  readonly hasOlder = signal(false)
  /** Grows with every batch of frames that changed something: what scrolling listens to. */
  readonly news = signal(0)
  readonly #deps: StoreDeps
  readonly #model = new Map<string, WireMessage>()
  readonly #signals = new Map<string, Signal<WireMessage>>()
  /** Segments that a message had when it first came whole; later ones arrived live. */
  readonly #bornWith = new Map<string, number>()
  readonly #dirty = new Set<string>()
  #ids: string[] = []
  #cursor: string | undefined
  #scheduled = false
  #hasNews = false

  constructor(deps: StoreDeps) {
    this.#deps = deps
  }

  /** `before` of the next older page. */
  get cursor(): string | undefined {
    return this.#cursor
  }

  has(id: string): boolean {
    return this.#model.has(id)
  }

  /** As of the last frame, drawn or not. */
  get(id: string): WireMessage | undefined {
    return this.#model.get(id)
  }

  /** The agent that has this conversation with another one; null where a person has it. */
  asker(): string | null {
    for (const id of this.order.value) {
      const agent = this.message(id)?.peek().agent
      // With a call it is an answer from another conversation.
      if (agent !== undefined && agent.call_id === undefined) return agent.name
    }
    return null
  }

  message(id: string): Signal<WireMessage> | undefined {
    return this.#signals.get(id)
  }

  /** Did this segment arrive while the reader watched? Only such a card enters. */
  isFresh(id: string, at: number): boolean {
    return at >= (this.#bornWith.get(id) ?? 0)
  }

  /** The newest page replaces all there is; what is the same in it keeps its identity. */
  load(page: HistoryPage): void {
    const messages = page.messages.map((message) => keepSame(this.#model.get(message.id), message))
    this.#model.clear()
    this.#bornWith.clear()
    this.#take({ ...page, messages })
    this.#ids = page.messages.map((message) => message.id)
    for (const id of this.#signals.keys()) if (!this.#model.has(id)) this.#signals.delete(id)
    this.#publish()
  }

  /** An older page goes before what there is. */
  prepend(page: HistoryPage): void {
    const older = page.messages.filter((message) => !this.#model.has(message.id))
    this.#take({ ...page, messages: older })
    this.#ids = [...older.map((message) => message.id), ...this.#ids]
    this.#publish()
  }

  /** Takes one numbered frame. Throws RangeError when it does not fit what is here. */
  applyFrame(frame: MessageFrame | OpsFrame): void {
    if (frame.type === "message") this.#applyMessage(frame)
    else this.#applyOps(frame)
    this.#hasNews = true
    if (this.#scheduled) return
    this.#scheduled = true
    this.#deps.schedule(() => this.#publish())
  }

  #applyMessage(frame: MessageFrame): void {
    const { type: _type, seq: _seq, prev: _prev, pieces: _pieces, ...message } = frame
    const before = this.#model.get(message.id)
    if (isWithdrawn(message)) return this.#drop(message.id)
    this.#set(message)
    if (before === undefined) {
      this.#bornWith.set(message.id, message.segments.length)
      this.#ids.splice(placeOf(message, this.#ids, this.#model), 0, message.id)
    }
    this.#noteEnd(before, message)
  }

  #applyOps(frame: OpsFrame): void {
    const before = this.#model.get(frame.message)
    // A message older than the pages at hand: nothing of it is shown, so nothing changes.
    if (before === undefined) return
    const after = applyToMessage(before, frame.ops)
    if (isWithdrawn(after)) return this.#drop(after.id)
    this.#set(after)
    this.#noteEnd(before, after)
  }

  #noteEnd(before: WireMessage | undefined, after: WireMessage): void {
    if (after.role === "user" || before === undefined || isEnded(before.status)) return
    const waits = after.status === "waiting" && before.status !== "waiting"
    if (waits || isEnded(after.status)) this.#deps.ended(after)
  }

  #drop(id: string): void {
    this.#model.delete(id)
    this.#dirty.add(id)
    this.#ids = this.#ids.filter((known) => known !== id)
  }

  #take(page: HistoryPage): void {
    for (const message of page.messages) {
      this.#set(message)
      this.#bornWith.set(message.id, message.segments.length)
    }
    this.#cursor = page.cursor
    this.hasOlder.value = page.has_more && page.cursor !== undefined
  }

  #set(message: WireMessage): void {
    this.#model.set(message.id, message)
    this.#dirty.add(message.id)
  }

  #publish(): void {
    this.#scheduled = false
    batch(() => {
      for (const id of this.#dirty) {
        const message = this.#model.get(id)
        if (message === undefined) {
          this.#signals.delete(id)
          continue
        }
        const known = this.#signals.get(id)
        if (known === undefined) this.#signals.set(id, signal(message))
        else known.value = message
      }
      this.#dirty.clear()
      if (!sameIds(this.order.peek(), this.#ids)) this.order.value = [...this.#ids]
      this.#tellEnd()
      if (this.#hasNews) this.news.value++
      this.#hasNews = false
    })
  }

  /** Running messages stand at the end, so the look back is short. */
  #tellEnd(): void {
    const newest = this.#ids.slice(-END_WINDOW).flatMap((id) => this.#model.get(id) ?? [])
    const turn = newest.findLast(
      ({ role, status }) => role !== "user" && (status === "running" || status === "waiting"),
    )
    const last = newest.at(-1)
    this.busy.value = newest.some(
      ({ status }) => status === "running" || (status === "queued" && turn?.status !== "waiting"),
    )
    if (turn?.id !== this.turn.peek()?.id) {
      this.turn.value = turn === undefined ? null : { id: turn.id, exchange: turn.exchange_id }
    }
    this.lastAnswer.value = last === undefined || last.role === "user" ? null : last.id
  }
}

/** Messages at the end among which one may still be running or queued. */
const END_WINDOW = 64

function isWithdrawn({ role, status }: WireMessage): boolean {
  return role === "user" && status === "cancelled"
}

function keepSame(before: WireMessage | undefined, after: WireMessage): WireMessage {
  if (before === undefined) return after
  const segments = after.segments.map((segment, at) => {
    const known = before.segments[at]
    return known !== undefined && canonicalJson(known) === canonicalJson(segment) ? known : segment
  })
  return { ...after, segments }
}

/**
 * Where a new message goes. An answer stands after what it answers, and exchanges in the order of their beginning:
 * a resume sends messages in the order of their last change, and a queued question is answered after later ones came.
 */
function placeOf(message: WireMessage, ids: readonly string[], model: ReadonlyMap<string, WireMessage>): number {
  const at = (index: number): WireMessage | undefined => model.get(ids[index] ?? "")
  const last = ids.findLastIndex((_, index) => at(index)?.exchange_id === message.exchange_id)
  if (last >= 0)
    return message.role === "user" ? ids.findIndex((_, i) => at(i)?.exchange_id === message.exchange_id) : last + 1
  let place = ids.length
  while (place > 0) {
    const before = at(place - 1)
    const asked = before === undefined ? undefined : (model.get(before.exchange_id) ?? before)
    if (asked === undefined || asked.timestamp <= message.timestamp) break
    place--
  }
  return place
}

function sameIds(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((id, at) => id === b[at])
}
