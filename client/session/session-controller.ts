/**
 * session-controller.ts: one open session: connects its history, socket, transcript store, outbox and commands.
 *
 * history → store; socket → store; composer → outbox → socket; buttons → commands → socket
 * If the client's state doesn't match the server's (another epoch, or ops that don't fit), the newest history is loaded
 * again. Source: SPEC SO4–SO7, SO11–SO16.
 */

import { type ReadonlySignal, type Signal, signal } from "@preact/signals"
import type { PageSettings, SignResponse } from "../../shared/protocol/http-body.ts"
import type { MessageFrame, OpsFrame, WireMessage } from "../../shared/protocol/server-frame.ts"
import { type Api, isShared } from "../net/api.ts"
import { EMPTY_SETTINGS } from "../net/client-environment.ts"
import { RequestError } from "../net/http-request.ts"
import { extractExtras } from "../net/message-extras.ts"
import { holdFrames, wordRefusal } from "../net/rate-limit-retry.ts"
import { type MessageExtras, pickExtras, Outbox, type KeyValueStorage } from "../net/outbox.ts"
import { type ErrorFrame, SessionSocket, type SessionSocketHandlers } from "../net/session-socket.ts"
import type { LinkState, WebSocketLike, WebSocketEvents } from "../net/socket-link.ts"
import { connectionText, wordFault } from "../words/page-text.ts"
import { AnswerStopper } from "./answer-stopper.ts"
import { Commands, isCommandDone } from "./commands.ts"
import type { Draft } from "./draft.ts"
import { PAGE_MESSAGES } from "./history-deps.ts"
import { HistoryLoader } from "./history-loader.ts"
import { MessageSender } from "./message-sender.ts"
import { PendingEdits } from "./pending-edits.ts"
import { ReloadSchedule } from "./reload-schedule.ts"
import { TranscriptStore } from "./transcript-store.ts"

export interface SessionControllerDeps {
  readonly api: Api
  readonly storage: KeyValueStorage
  /** The origins and hosts that the tenant allows. If absent, none are allowed. */
  readonly settings?: ReadonlySignal<PageSettings>
  /** True if the user isn't allowed to write. */
  readonly isReadOnly?: ReadonlySignal<boolean>
  /** Called when the user's rights may have changed: the server refused a write, or the page has reconnected. */
  onAccessUnsure?(): void
  connect(session: string, protocols: string[], events: WebSocketEvents): WebSocketLike
  now(): number
  random(): number
  createId(): string
  setTimer(ms: number, callback: () => void): () => void
  scheduleRender(callback: () => void): void
  /** Maximum number of messages shown. If absent, all loaded messages are shown. SPEC LT1. */
  readonly maxShownMessages?: number
  onMessageEnd(message: WireMessage): void
  /** Called when the server has responded, which is possible even if the browser reports that it is offline. */
  onReachable?(): void
}

/** The message at the top of the view, and its distance from the top in CSS pixels. */
export interface ReadingPlace {
  readonly messageId: string
  readonly offset: number
}

export const NO_SETTINGS: ReadonlySignal<PageSettings> = signal(EMPTY_SETTINGS)
export const WRITABLE: ReadonlySignal<boolean> = signal(false)

/** The parts of a draft that a session itself changes. */
export type SessionDraft = Pick<Draft, "editTexts" | "restoreText">

export class SessionController<D extends SessionDraft = Draft> {
  readonly id: string
  readonly store: TranscriptStore
  readonly outbox: Outbox
  readonly commands: Commands
  readonly link: Signal<LinkState> = signal("connecting")
  /** Whether the connection has been live at least once. */
  readonly wasLive = signal(false)
  /** The session's agent. Undefined for the general agent, and until the connection is live. */
  readonly agent: Signal<string | undefined> = signal(undefined)
  /** Whether the newest history has been loaded at least once. */
  readonly isLoaded = signal(false)
  /** The error of the last attempt to load the newest history; null if it succeeded. */
  readonly loadError = signal<unknown>(null)
  /** True if nothing can be written in this session. In that case, messages remain in the outbox. */
  readonly isReadOnly: ReadonlySignal<boolean>
  readonly draft: D
  readonly history: HistoryLoader
  /** The message that a link leads to, until the view begins to scroll there. */
  readonly targetId = signal<string | null>(null)
  /** Returns the user's reading position; null if the view is at the end. Set by the view. */
  findReadingPlace: () => ReadingPlace | null = () => null
  readonly #deps: SessionControllerDeps
  readonly #socket: SessionSocket
  readonly #pendingEdits: PendingEdits
  readonly #reloads: ReloadSchedule
  readonly #sender: MessageSender
  readonly #stopper: AnswerStopper
  #isInBackground = false
  #isClosed = false

  constructor(id: string, deps: SessionControllerDeps, draft: D) {
    this.id = id
    this.draft = draft
    this.#deps = deps
    this.store = new TranscriptStore({
      scheduleRender: deps.scheduleRender,
      onMessageEnd: (message) => {
        if (!this.#isInBackground) deps.onMessageEnd(message)
      },
    })
    const { maxShownMessages: maxMessages } = deps
    this.history = new HistoryLoader({
      ...deps,
      session: id,
      store: this.store,
      maxMessages,
      isClosed: () => this.#isClosed,
    })
    this.outbox = new Outbox(deps.storage, id)
    this.commands = new Commands((command) => void this.#socket.send(command))
    this.isReadOnly = isShared(id) ? signal(true) : (deps.isReadOnly ?? WRITABLE)
    this.#sender = new MessageSender(this.outbox, (frame) => !this.isReadOnly.peek() && this.#socket.send(frame))
    this.#stopper = new AnswerStopper({
      store: this.store,
      outbox: this.outbox,
      commands: this.commands,
      now: deps.now,
      isLive: () => this.link.peek() === "live",
    })
    this.#pendingEdits = new PendingEdits(deps.storage, id, this.commands, deps.now)
    this.#reloads = new ReloadSchedule(deps, () => void this.loadNewest())
    this.#socket = this.#createSocket()
    this.#restoreEdits()
  }

  #createSocket(): SessionSocket {
    const { api, now, random, setTimer } = this.#deps
    const linkDeps = {
      connect: (protocols: string[], events: WebSocketEvents) => this.#deps.connect(this.id, protocols, events),
      getToken: () => api.getToken(),
      forgetToken: () => api.forgetToken(),
      now,
      random,
      setTimer,
    }
    return new SessionSocket(linkDeps, this.#createSocketHandlers())
  }

  #createSocketHandlers(): SessionSocketHandlers {
    return {
      onFrame: (frame) => this.#applyFrame(frame),
      onAck: (acknowledgedId, seq) => this.#handleAck(acknowledgedId, seq),
      onError: (error) => this.#handleError(error),
      onLive: (agent) => this.#handleLive(agent),
      onReset: (reason) => this.#reloads.handleReset(reason),
      onStateChange: (state) => {
        if (state === "gone") this.#markGone(connectionText.deleted)
        else this.link.value = state
        if (state !== "live") return
        if (this.wasLive.peek()) this.#deps.onAccessUnsure?.()
        this.wasLive.value = true
      },
      onReachable: () => this.#deps.onReachable?.(),
    }
  }

  get api(): Api {
    return this.#deps.api
  }

  get settings(): ReadonlySignal<PageSettings> {
    return this.#deps.settings ?? NO_SETTINGS
  }

  signUrls(urls: readonly string[]): Promise<SignResponse> {
    return this.#deps.api.signUrls(this.id, urls)
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Loads the newest history and resumes the socket from there. Retries until that succeeds or the session is gone. */
  async loadNewest(): Promise<void> {
    if (this.#isClosed) return
    this.#reloads.cancel()
    try {
      const page = await this.#deps.api.getHistoryPage(this.id, PAGE_MESSAGES)
      await this.history.replaceAll(page, this.findReadingPlace()?.messageId)
      if (this.#isClosed) return
      this.#reloads.markLoaded()
      this.outbox.removeSettled(page.seq, (id) => this.store.has(id))
      this.commands.markAllStale()
      this.#forgetDoneCommands()
      this.#restoreOrphanedEdits()
      this.isLoaded.value = true
      this.loadError.value = null
      this.#socket.resumeFrom({ epoch: page.epoch, seq: page.seq })
    } catch (error) {
      this.#handleLoadError(error)
    }
  }

  #handleLoadError(error: unknown): void {
    if (this.#isClosed) return
    this.loadError.value = error
    if (error instanceof RequestError && error.status === 404) {
      return this.#markGone(error.message)
    }
    this.link.value = "waiting"
    this.#reloads.handleFailure()
  }

  /** Marks unsent messages as failed and drops pending commands. Called when the session doesn't exist. */
  #markGone(text: string): void {
    this.link.value = "gone"
    for (const { id } of this.outbox.listPending()) this.outbox.markFailed(id, text, { code: "session_unknown" })
    for (const { target } of this.commands.pending.peek().values()) this.commands.forgetCommand(target)
    this.#closeIfDone()
  }

  /** Shows a message, loading it if necessary. Resolves with false if the message can't be found. */
  loadUntilMessage(id: string): Promise<boolean> {
    return this.history.showMessage(id)
  }

  sendMessage(content: string, extras: MessageExtras = {}): void {
    this.#stopper.endCooldown()
    this.sendMessageWithId(this.#deps.createId(), content, extras)
  }

  sendMessageWithId(id: string, content: string, extras: MessageExtras = {}): void {
    this.outbox.addEntry({ id, content, at: this.#deps.now(), error: null, ...pickExtras(extras) })
    this.#sender.sendNext()
  }

  /** Sends the messages and edits that another tab has stored for this session. */
  sendStored(): void {
    this.outbox.mergeStored((id) => this.store.has(id))
    this.#sender.sendNext()
    this.#restoreEdits()
  }

  /** Sends a failed message again, under the same id. */
  retrySend(id: string): void {
    const entry = this.outbox.entries.peek().find((known) => known.id === id)
    if (entry !== undefined) this.sendMessageWithId(id, entry.content, entry)
  }

  discardUnsent(id: string): void {
    this.outbox.removeEntry(id)
  }

  /** Stops the running answer, or one that is about to begin. Returns false if there is none. */
  stopAnswer(): boolean {
    return !this.isReadOnly.peek() && this.#stopper.stopAnswer()
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

  /** Drops the edit of a message. Returns false if the server already has the edit. */
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

  /** Called when the device is online again or the page is visible again. */
  checkConnection(): void {
    if (this.#reloads.isPending) void this.loadNewest()
    else this.#socket.checkConnection()
  }

  /** Called when the user leaves the session, which closes once the server has all messages and commands. */
  moveToBackground(): void {
    this.#isInBackground = true
    this.findReadingPlace = () => null
    this.#closeIfDone()
  }

  /** Called when the user returns before the session has closed. */
  moveToForeground(): void {
    this.#isInBackground = false
  }

  close(): void {
    this.#isClosed = true
    this.#reloads.cancel()
    this.#socket.close()
  }

  #closeIfDone(): void {
    if (!this.#isInBackground || this.#isClosed || this.outbox.listPending().length > 0) return
    if ([...this.commands.pending.peek().values()].every(({ isAcknowledged }) => isAcknowledged)) this.close()
  }

  #applyFrame(frame: MessageFrame | OpsFrame): void {
    this.store.applyFrame(frame)
    if (frame.type === "message") {
      this.outbox.removeEntry(frame.id)
      void this.history.dropFar(() => this.findReadingPlace()?.messageId ?? null)
    }
    if (frame.type === "message" || this.store.get(frame.message)?.role !== "assistant") this.#sender.markQueueMoved()
    this.#sender.sendNext()
    this.#forgetDoneCommands()
  }

  #handleAck(id: string, seq: number): void {
    const pending = this.commands.acknowledgeCommand(id)
    if (pending === undefined || pending.command.type === "cancel") {
      // The loaded history already covers the message, so no frame will arrive for it.
      const isPast = seq <= this.#socket.seq
      this.outbox.acknowledgeEntry(id, seq, this.store.has(id) || isPast)
      this.#sender.sendNext()
    }
    this.#forgetDoneCommands()
  }

  #handleError(frame: ErrorFrame): void {
    const { code, resets } = frame
    const text = wordFault(code, frame.text, frame.fields)
    if (/^rate_l|sockets_f/.test(code)) void holdFrames(this.api.hold, code, text, this.#resend)
    else if (resets === undefined) this.#handleRefusal(frame, text)
    else void wordRefusal(frame).then((words) => this.#handleRefusal(frame, words))
  }

  #handleRefusal({ id, code, trace, fields }: ErrorFrame, text: string): void {
    if (id === undefined) return
    if (code === "scope_denied") this.#deps.onAccessUnsure?.()
    if (this.commands.refuseCommand(id, code, text, fields)) this.#restoreOrphanedEdits()
    else this.#sender.handleRefusal(id, text, { code, fields, trace })
    this.#closeIfDone()
  }

  #handleLive(agent: string | undefined): void {
    this.agent.value = agent
    if (this.api.hold.end === null) this.api.hold.text.value = ""
    this.#reloads.markLive()
    this.#resend()
  }

  /** Sends everything that has not been acknowledged, under the same ids. */
  readonly #resend = (): void => {
    this.#sender.restart()
    this.commands.resendPending()
  }

  /** Removes the commands that are done, and restores the text of withdrawn messages. */
  #forgetDoneCommands(): void {
    for (const pending of this.commands.pending.peek().values()) {
      if (!isCommandDone(pending, this.store.get(pending.messageId))) continue
      this.commands.forgetCommand(pending.target)
      if (pending.command.type === "edit") this.draft.editTexts.delete(pending.messageId)
      if (pending.text !== undefined) this.draft.restoreText(pending.text, pending.extras)
    }
    this.#closeIfDone()
  }

  /** Moves the text of editors whose message is gone to the composer, unless the edit is pending. */
  #restoreOrphanedEdits(): void {
    for (const [id, text] of this.draft.editTexts) {
      if (this.store.has(id) || this.commands.pending.peek().has(id)) continue
      this.draft.editTexts.delete(id)
      this.draft.restoreText(text)
    }
  }
}
