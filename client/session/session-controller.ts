/**
 * session-controller.ts: one open session: its page, its socket, its store, its outbox and its commands, joined.
 *
 * page → store; socket → store; composer → outbox → socket; buttons → commands → socket
 * What does not fit (another epoch, ops out of step) is answered with the newest page, never guessed at.
 * Source: SPEC SO4–SO7, SO11–SO16.
 */

import { type ReadonlySignal, type Signal, signal } from "@preact/signals"
import type { PageSettings, SignResponse } from "../../shared/protocol/http-body.ts"
import type { FaultReason } from "../../shared/fault.ts"
import type { MessageFrame, OpsFrame, WireMessage } from "../../shared/protocol/server-frame.ts"
import { type Api, RequestError } from "../net/api.ts"
import { Commands, isCommandDone } from "./commands.ts"
import { extractExtras, Draft } from "./draft.ts"
import { PendingEdits } from "./pending-edits.ts"
import { EMPTY_SETTINGS } from "../files/remote-media.ts"
import { type LinkState, retryDelayMs, type WebSocketLike, type WebSocketEvents } from "../net/socket-link.ts"
import { readNewestPage } from "./history-newest.ts"
import { OlderHistory } from "./history-older.ts"
import { type MessageExtras, pickExtras, Outbox, toSendFrame, type KeyValueStorage } from "../net/outbox.ts"
import { type ErrorFrame, SessionSocket } from "../net/session-socket.ts"
import { TranscriptStore, type ActiveTurn } from "./transcript-store.ts"

export interface SessionControllerDeps {
  readonly api: Api
  readonly storage: KeyValueStorage
  /** What the tenant allows; nothing where it does not say. */
  readonly settings?: ReadonlySignal<PageSettings>
  connect(session: string, protocols: string[], events: WebSocketEvents): WebSocketLike
  now(): number
  random(): number
  createId(): string
  setTimer(ms: number, callback: () => void): () => void
  scheduleRender(callback: () => void): void
  onMessageEnd(message: WireMessage): void
  /** The net is there, whatever the browser says. */
  onReachable?(): void
}

/** A reset so long after the one before it stands alone, in milliseconds. */
const RESET_WINDOW_MS = 20_000
/** Epochs in a row that are followed at once without ever being live in one: versions chosen faster than pages come. */
const MAX_IMMEDIATE_EPOCHS = 3
/** A stop so soon after another, or after an answer ended, was meant for the one before, in milliseconds. */
const STOP_COOLDOWN_MS = 600

const EMPTY_SETTINGS_SIGNAL = signal(EMPTY_SETTINGS)

export class SessionController {
  readonly id: string
  readonly store: TranscriptStore
  readonly outbox: Outbox
  readonly commands: Commands
  readonly link: Signal<LinkState> = signal("connecting")
  /** The first page has come. */
  readonly isLoaded = signal(false)
  readonly draft: Draft
  /** The message that the reader has before them; null at the end. The view knows. */
  findReadingMessage: () => string | null = () => null
  readonly #deps: SessionControllerDeps
  readonly #socket: SessionSocket
  readonly #pendingEdits: PendingEdits
  readonly #olderHistory: OlderHistory
  #failures = 0
  #recentResets = 0
  #lastResetAt = Number.NEGATIVE_INFINITY
  #epochReloads = 0
  #isInBackground = false
  #isClosed = false
  #cancelRetry: (() => void) | null = null
  /** The message that was sent and is not acknowledged. */
  #sendingId: string | null = null
  /** The server's queue is full: no word is sent before something moves in it. */
  #isQueueFull = false
  /** When the answer under way was stopped, or gave way to the next. */
  #stoppedAt = Number.NEGATIVE_INFINITY
  #activeTurn: ActiveTurn | null = null
  /** The exchange that is stopped as soon as its answer begins. */
  #exchangeToStop: string | null = null

  constructor(id: string, deps: SessionControllerDeps, draft = new Draft()) {
    this.id = id
    this.draft = draft
    this.#deps = deps
    this.store = new TranscriptStore({
      scheduleRender: deps.scheduleRender,
      onMessageEnd: (message) => {
        if (!this.#isInBackground) deps.onMessageEnd(message)
      },
    })
    this.#olderHistory = new OlderHistory({
      session: id,
      api: deps.api,
      store: this.store,
      isClosed: () => this.#isClosed,
    })
    this.outbox = new Outbox(deps.storage, id)
    this.commands = new Commands((command) => void this.#socket.send(command))
    this.store.activeTurn.subscribe((turn) => this.#handleTurnChange(turn))
    this.#pendingEdits = new PendingEdits(deps.storage, id, this.commands)
    const { api } = deps
    this.#socket = new SessionSocket(
      {
        connect: (protocols, events) => deps.connect(id, protocols, events),
        getToken: api.getToken,
        forgetToken: api.forgetToken,
        now: deps.now,
        random: deps.random,
        setTimer: deps.setTimer,
      },
      {
        onFrame: (frame) => this.#applyFrame(frame),
        onAck: (acknowledgedId, seq) => this.#handleAck(acknowledgedId, seq),
        onError: (error) => this.#handleError(error),
        onLive: () => this.#handleLive(),
        onReset: (why) => this.#handleReset(why),
        onStateChange: (state) => {
          if (state === "gone") this.#markGone("The conversation was deleted.")
          else this.link.value = state
        },
        onReachable: () => deps.onReachable?.(),
      },
    )
    this.#restoreEdits()
  }

  get isLoadingOlder(): ReadonlySignal<boolean> {
    return this.#olderHistory.isLoading
  }

  get settings(): ReadonlySignal<PageSettings> {
    return this.#deps.settings ?? EMPTY_SETTINGS_SIGNAL
  }

  signUrls(urls: readonly string[]): Promise<SignResponse> {
    return this.#deps.api.signUrls(this.id, urls)
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Reads the newest page and goes on from there; tries again until it can. */
  async loadNewest(): Promise<void> {
    if (this.#isClosed) return
    this.#cancelRetry?.()
    this.#cancelRetry = null
    try {
      const page = await readNewestPage(
        this.#deps.api,
        this.id,
        this.store.messageIds.peek(),
        this.findReadingMessage(),
      )
      if (this.#isClosed) return
      this.#failures = 0
      this.store.loadPage(page)
      this.outbox.removeSettled(page.seq, (id) => this.store.has(id))
      this.commands.markAllStale()
      this.#forgetDoneCommands()
      this.#restoreOrphanedEdits()
      this.isLoaded.value = true
      this.#socket.resumeFrom({ epoch: page.epoch, seq: page.seq })
    } catch (error) {
      this.#handleLoadError(error)
    }
  }

  /** Another version is shown at once; a server with which it goes on failing is asked less and less often. */
  #handleReset(reason: "epoch" | "step"): void {
    if (reason === "epoch") {
      this.#epochReloads++
      if (this.#epochReloads <= MAX_IMMEDIATE_EPOCHS) void this.loadNewest()
      else this.#scheduleLoad(this.#epochReloads - MAX_IMMEDIATE_EPOCHS)
      return
    }
    const now = this.#deps.now()
    this.#recentResets = now - this.#lastResetAt > RESET_WINDOW_MS ? 0 : this.#recentResets + 1
    this.#lastResetAt = now
    if (this.#recentResets === 0) void this.loadNewest()
    else this.#scheduleLoad(this.#recentResets)
  }

  #scheduleLoad(failures: number): void {
    const delay = retryDelayMs(failures, this.#deps.random())
    this.#cancelRetry = this.#deps.setTimer(delay, () => void this.loadNewest())
  }

  #handleLoadError(error: unknown): void {
    if (this.#isClosed) return
    if (error instanceof RequestError && error.status === 404) {
      return this.#markGone(error.message)
    }
    this.link.value = "waiting"
    this.#failures++
    this.#scheduleLoad(this.#failures)
  }

  /** There is no such session, or none any more: nothing that is said or asked can reach it. */
  #markGone(text: string): void {
    this.link.value = "gone"
    for (const { id } of this.outbox.listPending()) this.outbox.markFailed(id, text)
    for (const { target } of this.commands.pending.peek().values()) this.commands.forgetCommand(target)
    this.#closeIfDone()
  }

  loadOlder(): Promise<void> {
    return this.#olderHistory.loadNextPage()
  }

  /** Loads what lies before the page until this message is there; false where it is not. */
  loadUntilMessage(id: string): Promise<boolean> {
    return this.#olderHistory.loadUntilMessage(id)
  }

  sendMessage(content: string, extras: MessageExtras = {}): void {
    // Whoever writes again can mean the answer to it.
    this.#stoppedAt = Number.NEGATIVE_INFINITY
    this.sendMessageWithId(this.#deps.createId(), content, extras)
  }

  sendMessageWithId(id: string, content: string, extras: MessageExtras = {}): void {
    this.outbox.addEntry({ id, content, at: this.#deps.now(), error: null, ...pickExtras(extras) })
    this.#sendNext()
  }

  /** One by one, each after the one before was taken: so they keep their order where one of them has to wait. */
  #sendNext(): void {
    const next = this.outbox.listPending()[0]
    if (next === undefined || next.id === this.#sendingId || this.#isQueueFull) return
    if (this.#socket.send(toSendFrame(next))) this.#sendingId = next.id
  }

  /** What another page of this session left on the shelf. */
  sendStored(): void {
    this.outbox.mergeStored((id) => this.store.has(id))
    this.#sendNext()
    this.#restoreEdits()
  }

  /** Sends what failed once more, under the same id. */
  retrySend(id: string): void {
    const entry = this.outbox.entries.peek().find((known) => known.id === id)
    if (entry !== undefined) this.sendMessageWithId(id, entry.content, entry)
  }

  discardUnsent(id: string): void {
    this.outbox.removeEntry(id)
  }

  /**
   * Stops the answer that is under way, or the one that is about to begin; false where there is none, or none that the
   * reader can mean.
   */
  stopAnswer(): boolean {
    const now = this.#deps.now()
    if (now - this.#stoppedAt < STOP_COOLDOWN_MS) return false
    const activeTurn = this.store.activeTurn.peek()
    if (activeTurn === null)
      this.#exchangeToStop = this.link.peek() === "live" ? (this.outbox.findNewestPending() ?? null) : null
    else this.commands.sendCommand(activeTurn.id, { type: "cancel", exchange_id: activeTurn.exchangeId })
    if (activeTurn === null && this.#exchangeToStop === null) return false
    this.#stoppedAt = now
    return true
  }

  #handleTurnChange(turn: ActiveTurn | null): void {
    if (this.#activeTurn !== null) this.#stoppedAt = this.#deps.now()
    this.#activeTurn = turn
    // What was refused for the sake of the answer before may be asked again.
    this.commands.clearRefusals()
    if (turn === null || turn.exchangeId !== this.#exchangeToStop) return
    this.commands.sendCommand(turn.id, { type: "cancel", exchange_id: turn.exchangeId })
    this.#exchangeToStop = null
  }

  decideApproval(messageId: string, call_id: string, decision: "allow" | "deny"): void {
    this.commands.sendCommand(messageId, { type: "approve", call_id, decision })
  }

  withdrawMessage(messageId: string): void {
    const withdrawn = this.store.get(messageId)
    const command = { type: "withdraw", id: this.#deps.createId(), message: messageId } as const
    this.commands.sendCommand(
      messageId,
      command,
      withdrawn && { text: withdrawn.content, extras: extractExtras(withdrawn) },
    )
  }

  regenerateAnswer(messageId: string): void {
    this.commands.sendCommand(messageId, { type: "regenerate", id: this.#deps.createId(), message: messageId })
  }

  retryAnswer(messageId: string): void {
    this.commands.sendCommand(messageId, { type: "retry", id: this.#deps.createId(), message: messageId })
  }

  editMessage(messageId: string, content: string): void {
    this.commands.sendCommand(messageId, { type: "edit", id: this.#deps.createId(), message: messageId, content })
  }

  /** False where the server has it already. */
  cancelEdit(messageId: string): boolean {
    const pending = this.commands.pending.peek().get(messageId)
    if (pending?.isAcknowledged === true) return false
    if (pending?.command.type === "edit") this.commands.forgetCommand(messageId)
    this.draft.editTexts.delete(messageId)
    this.commands.clearRefusals()
    this.#closeIfDone()
    return true
  }

  #restoreEdits(): void {
    for (const { message, content } of this.#pendingEdits.resendStored()) this.draft.editTexts.set(message, content)
  }

  switchVersion(messageId: string, version: number): void {
    this.commands.sendCommand(messageId, { type: "switch", id: this.#deps.createId(), message: messageId, version })
  }

  /** The machine is online or visible again. */
  checkConnection(): void {
    if (this.#cancelRetry !== null) void this.loadNewest()
    else this.#socket.checkConnection()
  }

  /** The reader went elsewhere: it goes on until the server has all that was said and asked. */
  moveToBackground(): void {
    this.#isInBackground = true
    this.findReadingMessage = () => null
    this.#closeIfDone()
  }

  /** The reader is back before that. */
  moveToForeground(): void {
    this.#isInBackground = false
  }

  close(): void {
    this.#isClosed = true
    this.#cancelRetry?.()
    this.#socket.close()
  }

  #closeIfDone(): void {
    if (!this.#isInBackground || this.#isClosed || this.outbox.listPending().length > 0) return
    if ([...this.commands.pending.peek().values()].every(({ isAcknowledged: isHeard }) => isHeard)) this.close()
  }

  #applyFrame(frame: MessageFrame | OpsFrame): void {
    this.store.applyFrame(frame)
    if (frame.type === "message") this.outbox.removeEntry(frame.id)
    if (frame.type === "message" || this.store.get(frame.message)?.role !== "assistant") this.#isQueueFull = false
    this.#sendNext()
    this.#forgetDoneCommands()
  }

  #handleAck(id: string, seq: number): void {
    const pending = this.commands.acknowledgeCommand(id)
    if (pending === undefined || pending.command.type === "cancel") {
      // Sent before and long since: its message lies before the pages at hand, and no frame of it will come.
      const isPast = seq <= this.#socket.seq
      this.outbox.acknowledgeEntry(id, seq, this.store.has(id) || isPast)
      this.#sendNext()
    }
    this.#forgetDoneCommands()
  }

  #handleError({ id, code, text }: ErrorFrame): void {
    if (id === undefined) return
    if (this.commands.refuseCommand(id, code, text)) this.#restoreOrphanedEdits()
    else this.#handleRefusedSend(id, code, text)
    this.#closeIfDone()
  }

  /** A full queue means not yet. */
  #handleRefusedSend(id: string, code: FaultReason, text: string): void {
    if (code === "queue_full" && this.#sendingId === id) this.#isQueueFull = true
    else this.outbox.markFailed(id, text)
    if (this.#sendingId === id) this.#sendingId = null
    this.#sendNext()
  }

  #handleLive(): void {
    this.#epochReloads = 0
    this.#sendingId = null
    this.#isQueueFull = false
    this.#sendNext()
    this.commands.resendPending()
  }

  /** Lets go of the commands whose work is seen to be done. */
  #forgetDoneCommands(): void {
    for (const pending of this.commands.pending.peek().values()) {
      if (!isCommandDone(pending, this.store.get(pending.messageId))) continue
      this.commands.forgetCommand(pending.target)
      if (pending.command.type === "edit") this.draft.editTexts.delete(pending.messageId)
      if (pending.text !== undefined) this.draft.restoreText(pending.text, pending.extras)
    }
    this.#closeIfDone()
  }

  /** Words whose editor went with its message go on in the composer, unless they are on their way. */
  #restoreOrphanedEdits(): void {
    for (const [id, text] of this.draft.editTexts) {
      if (this.store.has(id) || this.commands.pending.peek().has(id)) continue
      this.draft.editTexts.delete(id)
      this.draft.restoreText(text)
    }
  }
}
