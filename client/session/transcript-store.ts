/**
 * transcript-store.ts: one session's messages, as signals.
 *
 * history, frames → STORE → view
 * Frames change a plain model at once; the signals are updated in one batch per animation frame. Each message has a
 * signal, and `apply` keeps the identity of unchanged segments, so that a delta re-renders only one segment. Withdrawn
 * messages are removed, because history doesn't contain them. The newest messages are always loaded, even if other
 * messages are shown (shown-history.ts). Source: SPEC PG6–PG8, PG18, PG19, LT1.
 */

import { batch, type Signal, signal } from "@preact/signals"
import { applyToMessage } from "../../shared/protocol/apply-ops.ts"
import type { HistoryPage } from "../../shared/protocol/http-body.ts"
import type { MessageFrame, OpsFrame, WireMessage } from "../../shared/protocol/server-frame.ts"
import { toCanonicalJson } from "../../shared/json.ts"
import { isEnded } from "../../shared/protocol/message.ts"

export interface TranscriptStoreDeps {
  /** Runs the callback in the next animation frame, or soon in a hidden tab. */
  scheduleRender(callback: () => void): void
  /** Called when a running message has ended or is waiting for the user. */
  onMessageEnd(message: WireMessage): void
}

/** The answer that is running, or waiting for the user. */
export interface ActiveTurn {
  readonly id: string
  readonly exchangeId: string
}

/** The messages to show. All others are dropped, except the newest messages. */
export interface Arrangement {
  /** Messages that aren't loaded yet. */
  readonly added: readonly WireMessage[]
  /** The ids of the messages to show, oldest first. */
  readonly shown: readonly string[]
  /** The ids of the newest messages. Null if `shown` ends with the newest message. */
  readonly newest: readonly string[] | null
  /** The cursor of the next older page. Undefined if there is no older page, or its cursor is unknown. */
  readonly cursor: string | undefined
  readonly hasOlder: boolean
}

export class TranscriptStore {
  /** The ids of the shown messages, oldest first. */
  readonly messageIds = signal<readonly string[]>([])
  /** Whether an answer is running or queued. False while one is waiting for the user. */
  readonly isBusy = signal(false)
  /** The answer that can be stopped. */
  readonly activeTurn: Signal<ActiveTurn | null> = signal(null)
  /** The id of the last message if it is an answer. Only that answer can be regenerated. */
  readonly lastAnswerId: Signal<string | null> = signal(null)
  readonly hasOlder = signal(false)
  /** True if the newest messages aren't shown. */
  readonly hasNewer = signal(false)
  /** Whether the session is temporary: it isn't in any list, and is erased after a day (SPEC OG8). */
  readonly isTemporary = signal(false)
  /** The epoch of the newest page. */
  epoch = ""
  /** The number of batches that changed something. The scrolling code reacts to changes of this number. */
  readonly changeCount = signal(0)
  readonly #deps: TranscriptStoreDeps
  readonly #messages = new Map<string, WireMessage>()
  readonly #signalsById = new Map<string, Signal<WireMessage>>()
  /** How many segments each message had when it was first received or loaded. Later segments arrived live. */
  readonly #initialSegmentCounts = new Map<string, number>()
  readonly #dirtyIds = new Set<string>()
  /** The newest messages, oldest first. */
  #ids: string[] = []
  /** The shown messages; null if the newest messages are shown. */
  #olderIds: readonly string[] | null = null
  #cursor: string | undefined
  #isScheduled = false
  #hasChanges = false

  constructor(deps: TranscriptStoreDeps) {
    this.#deps = deps
  }

  /** Whether some of the applied frames aren't shown by the signals yet. Once they are, `changeCount` changes. */
  get hasUnshownChanges(): boolean {
    return this.#isScheduled
  }

  /** The cursor of the next older page; undefined if there is none, or none is known. */
  get cursor(): string | undefined {
    return this.#cursor
  }

  /** Ids of the newest messages as of the last frame, oldest first. */
  get newestIds(): readonly string[] {
    return this.#ids
  }

  /** Ids of the messages to show as of the last frame, oldest first. */
  get shownIds(): readonly string[] {
    return this.#olderIds ?? this.#ids
  }

  /** The number of loaded messages. */
  get size(): number {
    return this.#messages.size
  }

  has(id: string): boolean {
    return this.#messages.has(id)
  }

  /** Returns the message as of the last frame, whether or not it has been rendered. */
  get(id: string): WireMessage | undefined {
    return this.#messages.get(id)
  }

  /**
   * Returns the agent that asked the question in this session. Null in a user's session, and until a loaded message
   * names the agent.
   */
  findAskingAgent(): string | null {
    for (const id of this.messageIds.value) {
      const agent = this.getMessageSignal(id)?.peek().agent
      // With a call id, `agent` marks an answer that came from another agent's session.
      if (agent !== undefined && agent.call_id === undefined) return agent.name
    }
    return null
  }

  getMessageSignal(id: string): Signal<WireMessage> | undefined {
    return this.#signalsById.get(id)
  }

  /** Returns whether this segment arrived live. Only cards in such segments are animated. */
  readonly isFresh = (id: string, segmentIndex: number): boolean =>
    segmentIndex >= (this.#initialSegmentCounts.get(id) ?? 0)

  /** Replaces all messages with the newest page. Segments that are equal to the loaded ones keep their identity. */
  loadPage({ messages, cursor, has_more, epoch, temporary }: HistoryPage): void {
    this.epoch = epoch
    this.isTemporary.value = temporary === true
    const added = messages.map((message) => reuseSegments(this.#messages.get(message.id), message))
    const shown = messages.map(({ id }) => id)
    this.arrange({ added, shown, newest: null, cursor, hasOlder: has_more && cursor !== undefined })
  }

  arrange({ added, shown, newest, cursor, hasOlder }: Arrangement): void {
    for (const message of added) {
      this.#setMessage(message)
      this.#initialSegmentCounts.set(message.id, message.segments.length)
    }
    this.#olderIds = newest === null ? null : shown
    this.#ids = [...(newest ?? shown)]
    const kept = new Set([...shown, ...this.#ids])
    for (const id of this.#messages.keys()) if (!kept.has(id)) this.#dropMessage(id)
    this.#cursor = cursor
    this.hasOlder.value = hasOlder
    this.#publishChanges()
  }

  /** Applies one numbered frame. Throws RangeError if it doesn't fit. */
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
    if (before === undefined && this.#isOlderThanLoaded(message)) return
    if (before === undefined) this.#initialSegmentCounts.set(message.id, message.segments.length)
    // A queued message may begin before messages that were queued earlier.
    const hasBegun = before?.status === "queued" && message.status !== "queued"
    if (before === undefined || hasBegun) {
      this.#ids = this.#ids.filter((id) => id !== message.id)
      this.#ids.splice(findInsertIndex(message, this.#ids, this.#messages), 0, message.id)
    }
    this.#setMessage(message)
    this.#reportEnd(before, message)
  }

  /**
   * Returns whether a message is older than the loaded messages. Such a message arrives if it changes long after it has
   * ended.
   */
  #isOlderThanLoaded({ timestamp }: WireMessage): boolean {
    const first = this.#messages.get(this.#ids[0] ?? "")
    const hasOlder = this.hasOlder.peek() || this.#olderIds !== null
    return hasOlder && first !== undefined && timestamp < first.timestamp
  }

  #applyOps(frame: OpsFrame): void {
    const before = this.#messages.get(frame.message)
    // The message is older than the loaded history, so nothing changes.
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
    this.#dropMessage(id)
    this.#ids = this.#ids.filter((known) => known !== id)
  }

  #dropMessage(id: string): void {
    this.#messages.delete(id)
    this.#initialSegmentCounts.delete(id)
    this.#dirtyIds.add(id)
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
      if (!hasSameIds(this.messageIds.peek(), this.shownIds)) this.messageIds.value = [...this.shownIds]
      this.hasNewer.value = this.#olderIds !== null
      this.#updateTurnState()
      if (this.#hasChanges) this.changeCount.value++
      this.#hasChanges = false
    })
  }

  /**
   * Updates the state of the running turn. Looks only at the newest messages, because running and queued messages are
   * among them.
   */
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

/** The number of newest messages that are certain to include all running and queued messages. */
export const TURN_WINDOW_MESSAGES = 64

function isWithdrawn({ role, status }: WireMessage): boolean {
  return role === "user" && status === "cancelled"
}

function reuseSegments(before: WireMessage | undefined, after: WireMessage): WireMessage {
  if (before === undefined) return after
  const segments = after.segments.map((segment, index) => {
    const known = before.segments[index]
    return known !== undefined && toCanonicalJson(known) === toCanonicalJson(segment) ? known : segment
  })
  return { ...after, segments }
}

/**
 * Returns the index at which to insert a message that is new or has just begun. An answer follows its question.
 * Exchanges that have begun are in the order in which they began, which is the order of their frames. Queued messages
 * come after them: first users' messages, then agents' messages.
 */
function findInsertIndex(
  message: WireMessage,
  ids: readonly string[],
  messages: ReadonlyMap<string, WireMessage>,
): number {
  const findIndex = (isMatch: (one: WireMessage) => boolean): number =>
    ids.findIndex((id) => {
      const one = messages.get(id)
      return one !== undefined && isMatch(one)
    })
  const firstOfExchange = findIndex(({ exchange_id }) => exchange_id === message.exchange_id)
  if (firstOfExchange >= 0 && message.role !== "assistant") return firstOfExchange
  if (firstOfExchange >= 0) return ids.findLastIndex((id) => messages.get(id)?.exchange_id === message.exchange_id) + 1
  const isLater = ({ status, role }: WireMessage): boolean =>
    status === "queued" && (message.status !== "queued" || (message.role === "user" && role === "agent"))
  const next = findIndex(isLater)
  return next < 0 ? ids.length : next
}

function hasSameIds(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((id, index) => id === b[index])
}
