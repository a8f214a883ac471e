/**
 * session-router.ts: opens the session that the address names, and keeps others running in the background.
 *
 * location hash → ROUTER → session controller
 * If no session is open, the first message creates one; until it exists the message is in `startingEntry`. A session that
 * the user left continues in the background until the server has all its messages, and so does one for which a closed
 * page left unsent messages. Source: SPEC PG14, SO7, SO13.
 */

import { effect, type Signal, signal } from "@preact/signals"
import { MAX_ATTACHMENTS, MAX_TITLE_CHARS } from "../../shared/limits.ts"
import { cutText } from "../../shared/text/cut-text.ts"
import type { Api } from "../net/api.ts"
import { Draft } from "./draft.ts"
import { DraftSession } from "./draft-session.ts"
import { uploadAttachment } from "../files/attachment-uploads.ts"
import { attachmentText } from "../words/page-text.ts"
import { UnfinishedImports } from "../files/unfinished-imports.ts"
import type { ImporterDeps } from "../files/import-file.ts"
import type { SendFile } from "../files/send-file.ts"
import {
  type MessageExtras,
  pickExtras,
  clearSessionStorage,
  findSessionsWithPending,
  type OutboxEntry,
} from "../net/outbox.ts"
import { SessionController, type SessionControllerDeps } from "./session-controller.ts"
import { SessionList, type SessionListDeps } from "./session-list.ts"
import { SessionStarts, type SessionStartsDeps, deriveTitle } from "./session-starts.ts"

/** Within this time an open tab sends the messages that it has stored, in milliseconds. */
const STORAGE_SETTLE_MS = 3_000

export interface SessionRouterDeps extends SessionControllerDeps, SessionStartsDeps, SessionListDeps {
  readonly sendFile: SendFile
  /** The part of the address after `#`. */
  readHash(): string
  writeHash(hash: string): void
}

export class SessionRouter {
  readonly controller: Signal<SessionController | null> = signal(null)
  readonly sessionList: SessionList
  /** The first message of a session that is being created. */
  readonly startingEntry: Signal<OutboxEntry | null> = signal(null)
  readonly #deps: SessionRouterDeps
  readonly #sessionStarts: SessionStarts
  readonly #unfinishedImports: UnfinishedImports
  readonly #draftSession: DraftSession
  /** By session id; "" for the draft of a new session. */
  readonly #draftsBySession = new Map<string, Draft>()
  /** Sessions that aren't shown and still have something to send. */
  readonly #backgroundControllers = new Map<string, SessionController>()
  #cancelResumeStored: (() => void) | null = null
  /** Stops reporting the open session's state to the list. */
  #stopReporting: (() => void) | null = null

  constructor(deps: SessionRouterDeps) {
    this.#deps = deps
    this.sessionList = new SessionList(deps)
    this.#unfinishedImports = new UnfinishedImports({
      ...deps,
      eraseSession: (id) => this.sessionList.eraseSession(id, true),
    })
    this.#draftSession = new DraftSession({ ...deps, unfinishedImports: this.#unfinishedImports })
    this.#sessionStarts = new SessionStarts(deps, {
      onChange: (entry) => this.#handleStartChange(entry),
      onCreated: (entry, session) => this.#openCreated(entry, session),
    })
  }

  /** The draft of the open session, or of a new one. */
  get draft(): Draft {
    return this.controller.value?.draft ?? this.#getDraft("")
  }

  get api(): Api {
    return this.#deps.api
  }

  get importerDeps(): ImporterDeps {
    const { api, createId, setTimer, random, sendFile } = this.#deps
    return { api, createId, setTimer, random, sendFile, unfinishedImports: this.#unfinishedImports }
  }

  /** Opens an imported session. If the file contained no title, the session is named after the file. */
  async openImportedSession(id: string, fileTitle: string): Promise<void> {
    await this.sessionList.refresh()
    if (this.sessionList.findSession(id)?.title === "" && fileTitle.trim() !== "") {
      await this.sessionList.renameSession(id, cutText(fileTitle.trim(), MAX_TITLE_CHARS))
    }
    this.#deps.writeHash(`#/s/${id}`)
    this.openFromHash()
  }

  /** Opens the session that the address names, or a new one. */
  openFromHash(): void {
    const id = parseSessionHash(this.#deps.readHash())
    const open = this.controller.peek()
    if (open !== null ? id === open.id : id === null && this.startingEntry.peek() !== null) return
    if (open !== null) this.#moveToBackground(open)
    this.startingEntry.value = id === null ? this.#sessionStarts.findOldest() : null
    this.#showController(id === null ? null : this.#openController(id))
  }

  sendMessage(content: string, extras: MessageExtras = {}): void {
    const controller = this.controller.peek()
    if (controller !== null) {
      this.sessionList.markActive(controller.id)
      return controller.sendMessage(content, extras)
    }
    // A session has the id of its first message, so attachments may already have created it.
    const id = this.#draftSession.takeSession() ?? this.#deps.createId()
    const entry = { id, content, at: this.#deps.now(), error: null, ...pickExtras(extras) }
    this.startingEntry.value = entry
    this.#sessionStarts.addEntry(entry)
  }

  /** Attaches files to the next message. */
  attachFiles(files: readonly File[]): void {
    const { draft } = this
    const controller = this.controller.peek()
    if (controller?.link.peek() === "gone") return
    const leftOut = draft.attachments.addFiles(files, async (...file) => {
      const sessionId = controller?.id ?? (await this.#draftSession.ensureSession())
      return await uploadAttachment(sessionId, this.#deps, ...file)
    })
    if (leftOut > 0) this.sessionList.showNotice(attachmentText.tooMany(MAX_ATTACHMENTS, leftOut), true)
    if (controller === null) this.#discardDraftSessionWithout(draft)
  }

  /** Discards the draft session once the draft has no attachments any more. */
  #discardDraftSessionWithout({ attachments }: Draft): void {
    const unsubscribe = attachments.entries.subscribe((list) => {
      if (list.length > 0) return
      // Sending a message empties the list too. By the microtask it has taken the session over.
      queueMicrotask(() => {
        unsubscribe()
        if (attachments.entries.peek().length === 0) this.#draftSession.discardSession()
      })
    })
  }

  /** Tries again to create the session. */
  retryStart(): void {
    const entry = this.startingEntry.peek()
    if (entry === null) return
    this.startingEntry.value = { ...entry, error: null }
    this.#sessionStarts.retryEntry(entry.id)
  }

  discardStart(): void {
    const entry = this.startingEntry.peek()
    if (entry !== null) this.#sessionStarts.discardEntry(entry.id)
    this.startingEntry.value = null
  }

  /** Erases a session, with its unsent messages. If it is open, a new conversation is shown. */
  async eraseSession(id: string): Promise<void> {
    this.#backgroundControllers.get(id)?.close()
    this.#backgroundControllers.delete(id)
    const open = this.controller.peek()
    if (open?.id === id) {
      open.close()
      this.#stopReporting?.()
      this.controller.value = null
      this.startingEntry.value = this.#sessionStarts.findOldest()
      this.#deps.writeHash("#/")
    }
    if (!(await this.sessionList.eraseSession(id))) return
    this.#draftsBySession.delete(id)
    clearSessionStorage(this.#deps.storage, id)
  }

  /** The device is online again or the page is visible again. */
  checkConnections(): void {
    this.sessionList.refreshIfStale()
    this.controller.peek()?.checkConnection()
    for (const controller of this.#backgroundControllers.values()) controller.checkConnection()
    this.#sessionStarts.skipPauses()
    for (const { attachments: files } of this.#draftsBySession.values()) files.retryUnreachable()
    this.#unfinishedImports.settleStale()
  }

  /** Sends what closed tabs have left in storage, for all sessions. */
  resumeStored(): void {
    this.#sessionStarts.resumeStored()
    this.#unfinishedImports.settleStale()
    const open = this.controller.peek()
    open?.sendStored()
    for (const id of findSessionsWithPending(this.#deps.storage)) {
      if (id === open?.id || this.sessionList.isErasing(id)) continue
      const controller = this.#openController(id)
      controller.sendStored()
      this.#moveToBackground(controller)
    }
  }

  /** Another tab changed the storage. */
  handleStorageEvent(): void {
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
    this.#draftsBySession.delete("")
    this.#showController(controller)
    this.startingEntry.value = null
    this.#deps.writeHash(`#/s/${id}`)
  }

  /** Shows a session, and reports to the list whether it is running or was deleted. */
  #showController(controller: SessionController | null): void {
    this.#stopReporting?.()
    this.#stopReporting = null
    this.controller.value = controller
    if (controller === null) return
    const disposeEffect = effect(() => {
      if (controller.link.value === "gone") return void this.sessionList.refresh()
      if (controller.isLoaded.value) this.sessionList.setLocalRunning(controller.id, controller.store.isBusy.value)
    })
    this.#stopReporting = () => {
      disposeEffect()
      this.sessionList.clearLocalRunning(controller.id)
    }
  }

  #openController(id: string): SessionController {
    const background = this.#backgroundControllers.get(id)
    this.#backgroundControllers.delete(id)
    if (background !== undefined && !background.isClosed) {
      background.moveToForeground()
      return background
    }
    const controller = new SessionController(id, this.#deps, this.#getDraft(id))
    void controller.loadNewest()
    return controller
  }

  #getDraft(sessionId: string): Draft {
    const draft = this.#draftsBySession.get(sessionId) ?? new Draft()
    this.#draftsBySession.set(sessionId, draft)
    return draft
  }

  #moveToBackground(controller: SessionController): void {
    controller.moveToBackground()
    for (const [id, { isClosed }] of this.#backgroundControllers) if (isClosed) this.#backgroundControllers.delete(id)
    if (!controller.isClosed) this.#backgroundControllers.set(controller.id, controller)
  }
}

const SESSION_HASH = /^#\/s\/([A-Za-z0-9_-]{1,64})$/

/** The id of the session that an address names; null for none. */
export function parseSessionHash(hash: string): string | null {
  return SESSION_HASH.exec(hash)?.[1] ?? null
}
