/**
 * session-controller.ts: one open session: its page, its socket, its store, its outbox and its commands, joined.
 *
 * page → store; socket → store; composer → outbox → socket; buttons → commands → socket
 * What does not fit (another epoch, ops out of step) is answered with the newest page, never guessed at.
 * Source: SPEC SO4–SO7, SO11–SO13.
 */

import { type ReadonlySignal, type Signal, signal } from "@preact/signals"
import type { PageSettings, SignAnswer } from "../../shared/protocol/asset.ts"
import type { FaultReason } from "../../shared/fault.ts"
import type { MessageFrame, OpsFrame, WireMessage } from "../../shared/protocol/frame.ts"
import { type Api, RequestError } from "../net/api.ts"
import { Commands, isDone } from "./commands.ts"
import { besideIn, Draft } from "./draft.ts"
import { Edits } from "./pending-edits.ts"
import { NO_SETTINGS } from "../files/remote-media.ts"
import { type LinkState, retryDelayMs, type Wire, type WireEvents } from "../net/socket-link.ts"
import { readNewest } from "./history-newest.ts"
import { Older } from "./history-older.ts"
import { type Beside, besideOf, Outbox, sendOf, type Shelf } from "../net/outbox.ts"
import { type ErrorFrame, SessionSocket } from "../net/session-socket.ts"
import { TranscriptStore, type Turn } from "./transcript-store.ts"

export interface RoomDeps {
  readonly api: Api
  readonly shelf: Shelf
  /** What the tenant allows; nothing where it does not say. */
  readonly settings?: ReadonlySignal<PageSettings>
  connect(session: string, protocols: string[], events: WireEvents): Wire
  now(): number
  random(): number
  nextId(): string
  after(ms: number, call: () => void): () => void
  schedule(call: () => void): void
  ended(message: WireMessage): void
  /** The net is there, whatever the browser says. */
  reached?(): void
}

/** A reset so long after the one before it stands alone, in milliseconds. */
const CALM_MS = 20_000
/** Epochs in a row that are followed at once without ever being live in one: versions chosen faster than pages come. */
const MAX_HASTY_EPOCHS = 3
/** A stop so soon after another, or after an answer ended, was meant for the one before, in milliseconds. */
const STOP_APART_MS = 600

const NOTHING_ALLOWED = signal(NO_SETTINGS)

export class Room {
  readonly id: string
  readonly store: TranscriptStore
  readonly outbox: Outbox
  readonly commands: Commands
  readonly link: Signal<LinkState> = signal("connecting")
  /** The first page has come. */
  readonly loaded = signal(false)
  readonly draft: Draft
  /** The message that the reader has before them; null at the end. The view knows. */
  reading: () => string | null = () => null
  readonly #deps: RoomDeps
  readonly #socket: SessionSocket
  readonly #edits: Edits
  readonly #older: Older
  #failures = 0
  #resets = 0
  #resetAt = Number.NEGATIVE_INFINITY
  #epochs = 0
  #left = false
  #closed = false
  #cancelRetry: (() => void) | null = null
  /** The message that was sent and is not acknowledged. */
  #sending: string | null = null
  /** The server's queue is full: no word is sent before something moves in it. */
  #isFull = false
  /** When the answer under way was stopped, or gave way to the next. */
  #stoppedAt = Number.NEGATIVE_INFINITY
  #turn: Turn | null = null
  /** The exchange that is stopped as soon as its answer begins. */
  #unbegun: string | null = null

  constructor(id: string, deps: RoomDeps, draft = new Draft()) {
    this.id = id
    this.draft = draft
    this.#deps = deps
    this.store = new TranscriptStore({
      schedule: deps.schedule,
      ended: (message) => {
        if (!this.#left) deps.ended(message)
      },
    })
    this.#older = new Older({ session: id, api: deps.api, store: this.store, isClosed: () => this.#closed })
    this.outbox = new Outbox(deps.shelf, id)
    this.commands = new Commands((command) => void this.#socket.send(command))
    this.store.turn.subscribe((turn) => this.#noteTurn(turn))
    this.#edits = new Edits(deps.shelf, id, this.commands)
    const { api } = deps
    this.#socket = new SessionSocket(
      {
        connect: (protocols, events) => deps.connect(id, protocols, events),
        token: api.token,
        forgetToken: api.forgetToken,
        now: deps.now,
        random: deps.random,
        after: deps.after,
      },
      {
        frame: (frame) => this.#take(frame),
        ack: (what, seq) => this.#acknowledge(what, seq),
        error: (error) => this.#refuse(error),
        live: () => this.#goLive(),
        reset: (why) => this.#reload(why),
        link: (state) => {
          if (state === "gone") this.#lose("The conversation was deleted.")
          else this.link.value = state
        },
        reached: () => deps.reached?.(),
      },
    )
    this.#collectEdits()
  }

  get loadingOlder(): ReadonlySignal<boolean> {
    return this.#older.loading
  }

  get settings(): ReadonlySignal<PageSettings> {
    return this.#deps.settings ?? NOTHING_ALLOWED
  }

  sign(urls: readonly string[]): Promise<SignAnswer> {
    return this.#deps.api.sign(this.id, urls)
  }

  get isClosed(): boolean {
    return this.#closed
  }

  /** Reads the newest page and goes on from there; tries again until it can. */
  async load(): Promise<void> {
    if (this.#closed) return
    this.#cancelRetry?.()
    this.#cancelRetry = null
    try {
      const page = await readNewest(this.#deps.api, this.id, this.store.order.peek(), this.reading())
      if (this.#closed) return
      this.#failures = 0
      this.store.load(page)
      this.outbox.settle(page.seq, (id) => this.store.has(id))
      this.commands.age()
      this.#tidy()
      this.#reclaim()
      this.loaded.value = true
      this.#socket.start({ epoch: page.epoch, seq: page.seq })
    } catch (error) {
      this.#loadFailed(error)
    }
  }

  /** Another version is shown at once; a server with which it goes on failing is asked less and less often. */
  #reload(why: "epoch" | "step"): void {
    if (why === "epoch") {
      this.#epochs++
      if (this.#epochs <= MAX_HASTY_EPOCHS) void this.load()
      else this.#loadLater(this.#epochs - MAX_HASTY_EPOCHS)
      return
    }
    const now = this.#deps.now()
    this.#resets = now - this.#resetAt > CALM_MS ? 0 : this.#resets + 1
    this.#resetAt = now
    if (this.#resets === 0) void this.load()
    else this.#loadLater(this.#resets)
  }

  #loadLater(failures: number): void {
    const delay = retryDelayMs(failures, this.#deps.random())
    this.#cancelRetry = this.#deps.after(delay, () => void this.load())
  }

  #loadFailed(error: unknown): void {
    if (this.#closed) return
    if (error instanceof RequestError && error.status === 404) {
      return this.#lose(error.message)
    }
    this.link.value = "waiting"
    this.#failures++
    this.#loadLater(this.#failures)
  }

  /** There is no such session, or none any more: nothing that is said or asked can reach it. */
  #lose(text: string): void {
    this.link.value = "gone"
    for (const { id } of this.outbox.waiting()) this.outbox.fail(id, text)
    for (const { target } of this.commands.asked.peek().values()) this.commands.forget(target)
    this.#closeIfDone()
  }

  loadOlder(): Promise<void> {
    return this.#older.load()
  }

  /** Loads what lies before the page until this message is there; false where it is not. */
  fetchMessage(id: string): Promise<boolean> {
    return this.#older.fetch(id)
  }

  send(content: string, beside: Beside = {}): void {
    // Whoever writes again can mean the answer to it.
    this.#stoppedAt = Number.NEGATIVE_INFINITY
    this.sendAs(this.#deps.nextId(), content, beside)
  }

  sendAs(id: string, content: string, beside: Beside = {}): void {
    this.outbox.add({ id, content, at: this.#deps.now(), error: null, ...besideOf(beside) })
    this.#sendNext()
  }

  /** One by one, each after the one before was taken: so they keep their order where one of them has to wait. */
  #sendNext(): void {
    const next = this.outbox.waiting()[0]
    if (next === undefined || next.id === this.#sending || this.#isFull) return
    if (this.#socket.send(sendOf(next))) this.#sending = next.id
  }

  /** What another page of this session left on the shelf. */
  collect(): void {
    this.outbox.collect((id) => this.store.has(id))
    this.#sendNext()
    this.#collectEdits()
  }

  /** Sends what failed once more, under the same id. */
  retrySend(id: string): void {
    const entry = this.outbox.entries.peek().find((known) => known.id === id)
    if (entry !== undefined) this.sendAs(id, entry.content, entry)
  }

  discard(id: string): void {
    this.outbox.remove(id)
  }

  /**
   * Stops the answer that is under way, or the one that is about to begin; false where there is none, or none that the
   * reader can mean.
   */
  stop(): boolean {
    const now = this.#deps.now()
    if (now - this.#stoppedAt < STOP_APART_MS) return false
    const turn = this.store.turn.peek()
    if (turn === null) this.#unbegun = this.link.peek() === "live" ? (this.outbox.coming() ?? null) : null
    else this.commands.ask(turn.id, { type: "cancel", exchange_id: turn.exchange })
    if (turn === null && this.#unbegun === null) return false
    this.#stoppedAt = now
    return true
  }

  #noteTurn(turn: Turn | null): void {
    if (this.#turn !== null) this.#stoppedAt = this.#deps.now()
    this.#turn = turn
    // What was refused for the sake of the answer before may be asked again.
    this.commands.calm()
    if (turn === null || turn.exchange !== this.#unbegun) return
    this.commands.ask(turn.id, { type: "cancel", exchange_id: turn.exchange })
    this.#unbegun = null
  }

  approve(message: string, call_id: string, decision: "allow" | "deny"): void {
    this.commands.ask(message, { type: "approve", call_id, decision })
  }

  withdraw(message: string): void {
    const taken = this.store.get(message)
    const command = { type: "withdraw", id: this.#deps.nextId(), message } as const
    this.commands.ask(message, command, taken && { words: taken.content, beside: besideIn(taken) })
  }

  regenerate(message: string): void {
    this.commands.ask(message, { type: "regenerate", id: this.#deps.nextId(), message })
  }

  retry(message: string): void {
    this.commands.ask(message, { type: "retry", id: this.#deps.nextId(), message })
  }

  edit(message: string, content: string): void {
    this.commands.ask(message, { type: "edit", id: this.#deps.nextId(), message, content })
  }

  /** False where the server has it already. */
  giveUpEdit(message: string): boolean {
    const asked = this.commands.asked.peek().get(message)
    if (asked?.isHeard === true) return false
    if (asked?.command.type === "edit") this.commands.forget(message)
    this.draft.edits.delete(message)
    this.commands.calm()
    this.#closeIfDone()
    return true
  }

  #collectEdits(): void {
    for (const { message, content } of this.#edits.collect()) this.draft.edits.set(message, content)
  }

  switchTo(message: string, version: number): void {
    this.commands.ask(message, { type: "switch", id: this.#deps.nextId(), message, version })
  }

  /** The machine is online or visible again. */
  wake(): void {
    if (this.#cancelRetry !== null) void this.load()
    else this.#socket.wake()
  }

  /** The reader went elsewhere: it goes on until the server has all that was said and asked. */
  leave(): void {
    this.#left = true
    this.reading = () => null
    this.#closeIfDone()
  }

  /** The reader is back before that. */
  enter(): void {
    this.#left = false
  }

  close(): void {
    this.#closed = true
    this.#cancelRetry?.()
    this.#socket.stop()
  }

  #closeIfDone(): void {
    if (!this.#left || this.#closed || this.outbox.waiting().length > 0) return
    if ([...this.commands.asked.peek().values()].every(({ isHeard }) => isHeard)) this.close()
  }

  #take(frame: MessageFrame | OpsFrame): void {
    this.store.applyFrame(frame)
    if (frame.type === "message") this.outbox.remove(frame.id)
    if (frame.type === "message" || this.store.get(frame.message)?.role !== "assistant") this.#isFull = false
    this.#sendNext()
    this.#tidy()
  }

  #acknowledge(id: string, seq: number): void {
    const asked = this.commands.acknowledge(id)
    if (asked === undefined || asked.command.type === "cancel") {
      // Sent before and long since: its message lies before the pages at hand, and no frame of it will come.
      const isPast = seq <= this.#socket.seq
      this.outbox.acknowledge(id, seq, this.store.has(id) || isPast)
      this.#sendNext()
    }
    this.#tidy()
  }

  #refuse({ id, code, text }: ErrorFrame): void {
    if (id === undefined) return
    if (this.commands.refuse(id, code, text)) this.#reclaim()
    else this.#refuseWords(id, code, text)
    this.#closeIfDone()
  }

  /** A full queue means not yet. */
  #refuseWords(id: string, code: FaultReason, text: string): void {
    if (code === "queue_full" && this.#sending === id) this.#isFull = true
    else this.outbox.fail(id, text)
    if (this.#sending === id) this.#sending = null
    this.#sendNext()
  }

  #goLive(): void {
    this.#epochs = 0
    this.#sending = null
    this.#isFull = false
    this.#sendNext()
    this.commands.sendAgain()
  }

  /** Lets go of the commands whose work is seen to be done. */
  #tidy(): void {
    for (const asked of this.commands.asked.peek().values()) {
      if (!isDone(asked, this.store.get(asked.message))) continue
      this.commands.forget(asked.target)
      if (asked.command.type === "edit") this.draft.edits.delete(asked.message)
      if (asked.words !== undefined) this.draft.giveBack(asked.words, asked.beside)
    }
    this.#closeIfDone()
  }

  /** Words whose editor went with its message go on in the composer, unless they are on their way. */
  #reclaim(): void {
    for (const [id, words] of this.draft.edits) {
      if (this.store.has(id) || this.commands.asked.peek().has(id)) continue
      this.draft.edits.delete(id)
      this.draft.giveBack(words)
    }
  }
}
