/**
 * session-router.ts: opens the session named in the URL, and keeps other sessions running in the background.
 *
 * location hash → ROUTER → session controller
 * If no session is open, the first message creates one; until the session exists, the message is in `startingEntry`. A
 * session that the user has left continues in the background until the server has all its messages, and so does a
 * session for which a closed page left unsent messages. Source: SPEC PG14, PG77, PG78, PG81, PG90, PG92, SO7, SO13.
 */

import { effect, type ReadonlySignal, type Signal, signal } from "@preact/signals"
import type { PageSettings } from "../../shared/protocol/http-body.ts"
import type { Api, SessionOptions } from "../net/api.ts"
import { readUser } from "../net/token-source.ts"
import { Draft } from "./draft.ts"
import { appText } from "../words/page-text.ts"
import { retryDelayMs } from "../net/retry-delay.ts"
import type { ImporterDeps } from "../files/import-file.ts"
import type { SendFile } from "../files/send-file.ts"
import type { SessionUploads } from "../files/session-uploads.ts"
import {
  type MessageExtras,
  pickExtras,
  clearSessionStorage,
  findSessionsWithPending,
  type OutboxEntry,
} from "../net/outbox.ts"
import {
  NO_SETTINGS,
  type ReadingPlace,
  SessionController,
  type SessionControllerDeps,
  WRITABLE,
} from "./session-controller.ts"
import { createHeading, type SessionHeading } from "./session-heading.ts"
import { SessionList, type SessionListDeps } from "./session-list.ts"
import { SessionStarts, type SessionStartsDeps, deriveTitle } from "./session-starts.ts"
import type { StoredDrafts } from "./stored-drafts.ts"

/** How long another tab has to send its stored messages before this tab takes over, in milliseconds. */
const STORAGE_SETTLE_MS = 3_000
/** Maximum number of conversations whose reading position is kept. */
const MAX_READING_PLACES = 100

export interface SessionRouterDeps extends SessionControllerDeps, SessionStartsDeps, SessionListDeps {
  readonly sendFile: SendFile
  /** The part of the URL after `#`. */
  readHash(): string
  writeHash(hash: string): void
  /** Returns the session from which the current entry of the browser's history was opened; null if there is none. */
  readOpenedFrom?(): string | null
  writeOpenedFrom?(session: string): void
}

export class SessionRouter {
  readonly controller: Signal<SessionController | null> = signal(null)
  readonly sessionList: SessionList
  /** The first message of a session that is being created. */
  readonly startingEntry: Signal<OutboxEntry | null> = signal(null)
  /** The options of the next session. */
  readonly nextOptions: Signal<SessionOptions> = signal({})
  /** The heading of the open session. */
  readonly heading: ReadonlySignal<SessionHeading>
  readonly #deps: SessionRouterDeps
  readonly #sessionStarts: SessionStarts
  /** Null until the code for uploads has been loaded. */
  #uploads: SessionUploads | null = null
  /** The drafts by session id; "" stands for a new session. */
  readonly #draftsBySession = new Map<string, Draft>()
  /** Null until the user is known. */
  #storedDrafts: StoredDrafts | null = null
  readonly #openedFrom: Signal<string | null> = signal(null)
  /** The reading positions by session id. Sessions that were left at the end have no entry. */
  readonly #readingPlaces = new Map<string, ReadingPlace>()
  /** The controllers of sessions that aren't shown but still have something to send. */
  readonly #backgroundControllers = new Map<string, SessionController>()
  #cancelResumeStored: (() => void) | null = null
  /** Stops reporting the open session's state to the list. Null if no session is open. */
  #stopReporting: (() => void) | null = null

  constructor(deps: SessionRouterDeps) {
    this.#deps = deps
    this.sessionList = new SessionList(deps)
    this.heading = createHeading(this.controller, this.sessionList, this.#openedFrom)
    this.#sessionStarts = new SessionStarts(deps, {
      onChange: (entry) => this.#handleStartChange(entry),
      onCreated: (entry, session) => this.#openCreated(entry, session),
    })
  }

  /** The draft of the open session or, if none is open, of a new session. */
  get draft(): Draft {
    return this.controller.value?.draft ?? this.#getDraft("")
  }

  /** True if nothing can be written in any conversation. */
  get isReadOnly(): ReadonlySignal<boolean> {
    return this.#deps.isReadOnly ?? WRITABLE
  }

  get settings(): ReadonlySignal<PageSettings> {
    return this.#deps.settings ?? NO_SETTINGS
  }

  get api(): Api {
    return this.#deps.api
  }

  get importerDeps(): ImporterDeps {
    const { api, createId, setTimer, random, sendFile } = this.#deps
    const trackSession: ImporterDeps["unfinishedImports"]["trackSession"] = async (...session) =>
      await (await this.loadUploads()).unfinishedImports.trackSession(...session)
    return { api, createId, setTimer, random, sendFile, unfinishedImports: { trackSession } }
  }

  /**
   * Loads the code for uploads and imports, which the initial render doesn't need. If that fails, the next call tries
   * again.
   */
  async loadUploads(): Promise<SessionUploads> {
    const module = await import("../files/session-uploads.ts")
    if (this.#uploads === null) {
      this.#uploads = new module.SessionUploads({
        ...this.#deps,
        sessionList: this.sessionList,
        nextOptions: () => this.nextOptions.peek(),
      })
      if (!this.isReadOnly.peek()) this.#uploads.unfinishedImports.settleStale()
    }
    return this.#uploads
  }

  /** Opens the session named in the URL, or a new one. If the URL names a message, the view scrolls to it. */
  openFromHash(): void {
    const hash = this.#deps.readHash()
    const [, id = null, messageId = null] = SESSION_HASH.exec(hash) ?? []
    if (id !== null && messageId !== null) this.#readingPlaces.delete(id)
    this.#openSession(id)
    const controller = this.controller.peek()
    if (controller !== null && messageId !== null) controller.targetId.value = messageId
  }

  #openSession(id: string | null): void {
    const open = this.controller.peek()
    if (open !== null ? id === open.id : id === null && this.startingEntry.peek() !== null) return
    if (open !== null) {
      this.#keepReadingPlace(open)
      this.#moveToBackground(open)
    }
    if (open?.link.peek() === "gone") this.#keepDraftOfGone(open)
    this.#noteOpenedFrom(open?.id ?? null)
    this.startingEntry.value = id === null ? this.#sessionStarts.findOldest() : null
    this.#showController(id === null ? null : this.#openController(id))
  }

  /**
   * Restores the drafts that the user was writing before the page was closed. Retries after a failure. Does nothing if
   * the token doesn't name a user.
   */
  async restoreDrafts(attempt = 1): Promise<void> {
    const { api, setTimer, random } = this.#deps
    try {
      const user = readUser((await api.getToken()).token)
      if (user === null) return
      // Imported only here, because the initial render doesn't need this code.
      const module = await import("./stored-drafts.ts")
      const storedDrafts = new module.StoredDrafts(this.#deps, user)
      this.#storedDrafts = storedDrafts
      for (const [id, draft] of this.#draftsBySession) storedDrafts.keepDraft(id, draft)
    } catch {
      setTimer(retryDelayMs(attempt, random()), () => void this.restoreDrafts(attempt + 1))
    }
  }

  /** Writes all drafts now, because the page may be about to close. */
  flushDrafts(): void {
    this.#storedDrafts?.flush()
  }

  /** Stores the user's reading position in a session. */
  #keepReadingPlace({ id, findReadingPlace }: SessionController): void {
    const place = findReadingPlace()
    this.#readingPlaces.delete(id)
    if (place !== null) this.#readingPlaces.set(id, place)
    const [oldest] = this.#readingPlaces.keys()
    if (oldest !== undefined && this.#readingPlaces.size > MAX_READING_PLACES) this.#readingPlaces.delete(oldest)
  }

  /** Records from which session this one was opened. A browser history entry keeps the first value. */
  #noteOpenedFrom(previous: string | null): void {
    const stored = this.#deps.readOpenedFrom?.() ?? null
    if (stored === null && previous !== null) this.#deps.writeOpenedFrom?.(previous)
    this.#openedFrom.value = stored ?? previous
  }

  /** Moves the draft of a deleted conversation to a new one. */
  #keepDraftOfGone({ id, draft }: SessionController): void {
    this.#getDraft("").restoreText(draft.text.peek())
    this.#forgetDraft(id)
  }

  sendMessage(content: string, extras: MessageExtras = {}): void {
    const controller = this.controller.peek()
    if (controller !== null) {
      this.sessionList.markActive(controller.id)
      return controller.sendMessage(content, extras)
    }
    // A session has the id of its first message, so attachments may already have created it.
    const id = this.#uploads?.draftSession.takeSession() ?? this.#deps.createId()
    const options = this.nextOptions.peek()
    const entry = { id, content, options, at: this.#deps.now(), error: null, ...pickExtras(extras) }
    this.nextOptions.value = {}
    this.startingEntry.value = entry
    this.#sessionStarts.addEntry(entry)
  }

  /** Attaches files to the next message. */
  attachFiles(files: readonly File[]): void {
    const { draft } = this
    const controller = this.controller.peek()
    if (controller?.link.peek() === "gone" || (controller ?? this).isReadOnly.peek()) return
    const { attachments } = draft
    attachments.chosen.value = [...attachments.chosen.peek(), ...files]
    const showFault = (text: string): void => this.sessionList.showNotice(text, true)
    this.loadUploads().then(
      (uploads) => {
        const fault = uploads.addChosen(attachments, controller?.id ?? null)
        if (fault !== null) showFault(fault)
      },
      () => {
        attachments.chosen.value = []
        showFault(appText.codeMissing)
      },
    )
  }

  /** Tries again to create the session. */
  retryStart(): void {
    const entry = this.startingEntry.peek()
    if (entry === null) return
    this.startingEntry.value = { ...entry, error: null }
    this.#sessionStarts.retryEntry(entry.id)
  }

  discardFirstMessage(): void {
    const entry = this.startingEntry.peek()
    if (entry !== null) this.#sessionStarts.discardEntry(entry.id)
    this.startingEntry.value = null
  }

  /** Closes a session that is being deleted. If it is open, a new conversation is shown. */
  closeSession(id: string): void {
    this.#backgroundControllers.get(id)?.close()
    this.#backgroundControllers.delete(id)
    const open = this.controller.peek()
    if (open?.id !== id) return
    open.close()
    this.#showController(null)
    this.startingEntry.value = this.#sessionStarts.findOldest()
    // The settings page stays open.
    if (parseSessionHash(this.#deps.readHash()) === id) this.#deps.writeHash("#/")
  }

  /** Drops a deleted session's draft and unsent messages. Returns a function that restores the draft. */
  forgetStored(id: string): () => void {
    const text = this.#draftsBySession.get(id)?.text.peek() ?? ""
    this.#forgetDraft(id)
    clearSessionStorage(this.#deps.storage, id)
    return () => this.#getDraft(id).restoreText(text)
  }

  /** Opens a session (null: a new one) as a link to the session does. */
  showSession(id: string | null): void {
    this.#deps.writeHash(id === null ? "#/" : `#/s/${id}`)
    this.openFromHash()
  }

  /** Erases a session and its unsent messages at once. If that fails, keeps the messages and rejects. */
  async eraseSession(id: string): Promise<void> {
    this.closeSession(id)
    await this.sessionList.removeSession(id)
    this.forgetStored(id)
  }

  /** Called when the device is online again or the page is visible again. */
  checkConnections(): void {
    this.sessionList.refreshIfStale()
    this.controller.peek()?.checkConnection()
    for (const controller of this.#backgroundControllers.values()) controller.checkConnection()
    this.#sessionStarts.skipPauses()
    for (const { attachments } of this.#draftsBySession.values()) this.#uploads?.retryUnreachable(attachments)
    this.#uploads?.unfinishedImports.settleStale()
  }

  /** Sends the messages and edits that closed tabs have left in storage, for all sessions. */
  resumeStored(): void {
    this.#sessionStarts.resumeStored()
    this.#uploads?.unfinishedImports.settleStale()
    const open = this.controller.peek()
    open?.sendStored()
    for (const id of findSessionsWithPending(this.#deps.storage)) {
      if (id === open?.id || this.sessionList.isErasing(id)) continue
      const controller = this.#openController(id)
      controller.sendStored()
      this.#moveToBackground(controller)
    }
  }

  /** Called when another tab has changed the storage. `key` is null if that tab deleted everything. */
  handleStorageEvent({ key, oldValue, newValue }: Pick<StorageEvent, "key" | "oldValue" | "newValue">): void {
    if (key !== null && newValue === null) this.#storedDrafts?.handleRemoved(key, oldValue)
    this.#cancelResumeStored?.()
    this.#cancelResumeStored = this.#deps.setTimer(STORAGE_SETTLE_MS, () => this.resumeStored())
  }

  #handleStartChange(entry: OutboxEntry): void {
    const shown = this.startingEntry.peek()
    if (shown === null ? this.controller.peek() === null : shown.id === entry.id) this.startingEntry.value = entry
  }

  #openCreated(entry: OutboxEntry, id: string): void {
    const controller = this.#openController(id)
    controller.sendMessageWithId(entry.id, entry.content, entry)
    // Attachments created the session before there was text for a title.
    if (entry.attachments !== undefined) void this.sessionList.renameSession(id, deriveTitle(entry))
    void this.sessionList.refresh()
    // If the user opened another session in the meantime, the message is sent in the background.
    if (this.startingEntry.peek()?.id !== entry.id) return this.#moveToBackground(controller)
    controller.draft.restoreText(this.#getDraft("").text.peek())
    this.#forgetDraft("")
    this.#showController(controller)
    this.startingEntry.value = null
    this.#deps.writeHash(`#/s/${id}`)
  }

  /** Shows a session (null: a new conversation), and reports to the list whether it is running or was deleted. */
  #showController(controller: SessionController | null): void {
    this.#stopReporting?.()
    this.#stopReporting = null
    this.controller.value = controller
    if (controller === null) return
    const disposeEffect = effect(() => {
      if (controller.link.value === "gone") return this.#handleGone(controller)
      if (controller.isLoaded.value) this.sessionList.setLocalRunning(controller.id, controller.store.isBusy.value)
    })
    this.#stopReporting = () => {
      disposeEffect()
      this.sessionList.clearLocalRunning(controller.id)
    }
  }

  #handleGone({ id }: SessionController): void {
    this.#storedDrafts?.forgetDraft(id)
    this.sessionList.forgetSession(id)
  }

  #openController(id: string): SessionController {
    const background = this.#backgroundControllers.get(id)
    this.#backgroundControllers.delete(id)
    // Used until the view is shown and has scrolled to that position.
    const findReadingPlace = (): ReadingPlace | null => this.#readingPlaces.get(id) ?? null
    if (background !== undefined && !background.isClosed) {
      background.moveToForeground()
      background.findReadingPlace = findReadingPlace
      return background
    }
    const controller = new SessionController(id, this.#deps, this.#getDraft(id))
    controller.findReadingPlace = findReadingPlace
    void controller.loadNewest()
    return controller
  }

  #getDraft(sessionId: string): Draft {
    const known = this.#draftsBySession.get(sessionId)
    if (known !== undefined) return known
    const draft = new Draft()
    this.#draftsBySession.set(sessionId, draft)
    this.#storedDrafts?.keepDraft(sessionId, draft)
    return draft
  }

  #forgetDraft(sessionId: string): void {
    this.#draftsBySession.delete(sessionId)
    this.#storedDrafts?.forgetDraft(sessionId)
  }

  #moveToBackground(controller: SessionController): void {
    controller.moveToBackground()
    for (const [id, { isClosed }] of this.#backgroundControllers) if (isClosed) this.#backgroundControllers.delete(id)
    if (!controller.isClosed) this.#backgroundControllers.set(controller.id, controller)
  }
}

/** Matches a link to a session and, possibly, to one of its messages: `#/s/ID/m/MESSAGE`. */
const SESSION_HASH = /^#\/s\/((?:[\w-]{1,64}\/)?[\w-]{1,64})(?:\/m\/([\w-]{1,64}))?$/

/** Returns the session named in a URL hash: an id, or `<owner>/<id>`. Null if there is none. */
export function parseSessionHash(hash: string): string | null {
  return SESSION_HASH.exec(hash)?.[1] ?? null
}
