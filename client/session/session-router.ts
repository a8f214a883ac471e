/**
 * session-router.ts: which session is open, and which there are.
 *
 * location hash → CHAT → room
 * With no session open the first words make one; until it exists they stand in `starting`.
 * A room that is left goes on until all that was said in it is handed over, and so does one that a closed page left
 * something on the shelf for. Source: SPEC PG14, SO7, SO13.
 */

import { effect, type Signal, signal } from "@preact/signals"
import { MAX_TITLE_CHARS } from "../../shared/limits.ts"
import type { Api } from "../net/api.ts"
import { Draft } from "./draft.ts"
import { DraftSession } from "./draft-session.ts"
import { uploadAttachment } from "../files/attachment-uploads.ts"
import { describeLeftOut } from "../files/attachment-limits.ts"
import { UnfinishedImports } from "../files/unfinished-imports.ts"
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

/** Words on the shelf are taken by their own page within so long, if it lives, in milliseconds. */
const STORAGE_SETTLE_MS = 3_000

export interface SessionRouterDeps extends SessionControllerDeps, SessionStartsDeps, SessionListDeps {
  /** Brings a file up, and tells how far it is. */
  readonly sendFile?: SendFile
  /** The part of the address after `#`. */
  readHash(): string
  writeHash(hash: string): void
}

export class SessionRouter {
  readonly controller: Signal<SessionController | null> = signal(null)
  readonly sessionList: SessionList
  /** First words of a session that is being made. */
  readonly startingEntry: Signal<OutboxEntry | null> = signal(null)
  readonly #deps: SessionRouterDeps
  readonly #sessionStarts: SessionStarts
  readonly #unfinishedImports: UnfinishedImports
  readonly #draftSession: DraftSession
  /** By session; what is written before there is one has "". */
  readonly #draftsBySession = new Map<string, Draft>()
  /** Rooms that nobody looks at, which still have something to hand over. */
  readonly #backgroundControllers = new Map<string, SessionController>()
  #cancelResumeStored: (() => void) | null = null
  /** Stops telling the list what the open room sees. */
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

  /** What is being written where the reader is. */
  get draft(): Draft {
    return this.controller.value?.draft ?? this.#getDraft("")
  }

  get api(): Api {
    return this.#deps.api
  }

  /** What an import needs of the page. */
  get importerDeps(): Pick<SessionRouterDeps, "api" | "createId" | "setTimer" | "random"> & {
    readonly unfinishedImports: UnfinishedImports
  } {
    const { api, createId: nextId, setTimer: after, random } = this.#deps
    return { api, createId: nextId, setTimer: after, random, unfinishedImports: this.#unfinishedImports }
  }

  /** Opens a session that came from a file; one that says nothing of its title is called after the file. */
  async openImportedSession(id: string, fileTitle: string): Promise<void> {
    await this.sessionList.refresh()
    if (this.sessionList.findSession(id)?.title === "" && fileTitle.trim() !== "") {
      await this.sessionList.renameSession(id, fileTitle.trim().slice(0, MAX_TITLE_CHARS))
    }
    this.#deps.writeHash(`#/s/${id}`)
    this.openFromHash()
  }

  /** Opens what the address names. */
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
    // A session has the id of its first message: so the one that files made is the one that these words make.
    const id = this.#draftSession.takeSession() ?? this.#deps.createId()
    const entry = { id, content, at: this.#deps.now(), error: null, ...pickExtras(extras) }
    this.startingEntry.value = entry
    this.#sessionStarts.addEntry(entry)
  }

  /** Files for the next message, where the reader is. */
  attachFiles(files: readonly File[]): void {
    const { sendFile: upload } = this.#deps
    if (upload === undefined) return
    const { draft } = this
    const controller = this.controller.peek()
    if (controller?.link.peek() === "gone") return
    const leftOut = draft.attachments.addFiles(files, async (...file) => {
      const sessionId = controller?.id ?? (await this.#draftSession.ensureSession())
      return await uploadAttachment(sessionId, { api: this.#deps.api, upload }, ...file)
    })
    if (leftOut > 0) this.sessionList.showNotice(describeLeftOut(leftOut), true)
    if (controller !== null) return
    const unsubscribe = draft.attachments.entries.subscribe((list) => {
      if (list.length > 0) return
      // Words that take them take the session too, in this very moment.
      queueMicrotask(() => {
        unsubscribe()
        if (draft.attachments.entries.peek().length === 0) this.#draftSession.discardSession()
      })
    })
  }

  /** Tries again to make the session that could not be made. */
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

  /** Erases a session; the reader of it goes on to a new one. What was never sent there goes with it. */
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

  /** The machine is online or visible again. */
  checkConnections(): void {
    this.sessionList.refreshIfStale()
    this.controller.peek()?.checkConnection()
    for (const controller of this.#backgroundControllers.values()) controller.checkConnection()
    this.#sessionStarts.skipPauses()
    for (const { attachments: files } of this.#draftsBySession.values()) files.retryUnreachable()
    this.#unfinishedImports.settleStale()
  }

  /** Hands over what closed pages left on the shelf, of whichever session. */
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

  /** Another page put something on the shelf, or took it. */
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
    // Its files had made it before there were words.
    if (entry.attachments !== undefined) void this.sessionList.renameSession(id, deriveTitle(entry))
    void this.sessionList.refresh()
    // The reader may have gone elsewhere meanwhile: then it is sent behind their back.
    if (this.startingEntry.peek()?.id !== entry.id) return this.#moveToBackground(controller)
    controller.draft.restoreText(this.#getDraft("").text.peek())
    this.#draftsBySession.delete("")
    this.#showController(controller)
    this.startingEntry.value = null
    this.#deps.writeHash(`#/s/${id}`)
  }

  /** The open room knows first whether it is at work, and whether it is still there. */
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

/** The session that an address names; null for none. */
export function parseSessionHash(hash: string): string | null {
  return SESSION_HASH.exec(hash)?.[1] ?? null
}
