/**
 * open-sessions.ts: the session controllers of a client, each shared by all handles of its session.
 *
 * A released session stays open until the server has all its messages and commands. Source: SPEC SK3.
 */

import { effect, type ReadonlySignal } from "@preact/signals"
import type { ClientEnvironment } from "../client/net/client-environment.ts"
import { clearSessionStorage, findSessionsWithPending, type KeyValueStorage } from "../client/net/outbox.ts"
import { SessionController, type SessionDraft } from "../client/session/session-controller.ts"
import type { SessionList } from "../client/session/session-list.ts"
import { CuecardError } from "./client-error.ts"
import type { ConversationSnapshot } from "./client-types.ts"
import { createSnapshot } from "./conversation-snapshot.ts"
import type { GetMediaLink } from "./media-links.ts"

/** A controller without a draft: the caller keeps what the user is writing. */
export type SharedController = SessionController<SessionDraft>

export interface OpenSession {
  readonly controller: SharedController
  readonly snapshot: ReadonlySignal<ConversationSnapshot>
  /** Number of handles that use the session. */
  users: number
  /** Whether this client has sent a message or command that an answer should follow. */
  isAnswerExpected: boolean
  /** Signs media URLs; null until the first one is requested. */
  getMediaLink: GetMediaLink | null
  stopReporting(): void
}

/** A `fetch` that was passed to the client. */
export type OwnFetch = (url: string, init: RequestInit) => Promise<Response>

export interface OpenSessionsDeps {
  readonly environment: ClientEnvironment
  readonly ownFetch: OwnFetch | undefined
  readonly storage: KeyValueStorage
  readonly sessionList: SessionList
  /** True once the client has been closed. */
  readonly isClosed: ReadonlySignal<boolean>
  scheduleRender(callback: () => void): void
  /** Called when an answer has ended or is waiting for the user. */
  onMessageEnd(): void
}

export class OpenSessions {
  readonly environment: ClientEnvironment
  readonly ownFetch: OwnFetch | undefined
  readonly sessionList: SessionList
  /** True once the client has been closed. */
  readonly isClosed: ReadonlySignal<boolean>
  readonly #deps: OpenSessionsDeps
  readonly #openById = new Map<string, OpenSession>()

  constructor(deps: OpenSessionsDeps) {
    this.#deps = deps
    this.environment = deps.environment
    this.ownFetch = deps.ownFetch
    this.sessionList = deps.sessionList
    this.isClosed = deps.isClosed
  }

  /** Opens a session for one more handle. */
  acquire(id: string): OpenSession {
    if (this.isClosed.peek()) throw new CuecardError("closed")
    const known = this.#openById.get(id)
    if (known?.controller.isClosed === true) known.stopReporting()
    const open = known === undefined || known.controller.isClosed ? this.#open(id) : known
    open.users++
    open.controller.moveToForeground()
    return open
  }

  release(open: OpenSession): void {
    open.users--
    if (open.users === 0) open.controller.moveToBackground()
    for (const [id, { controller, stopReporting }] of this.#openById) {
      if (!controller.isClosed) continue
      stopReporting()
      this.#openById.delete(id)
    }
  }

  /** Sends what the storage contains, for all sessions. */
  sendStored(): void {
    for (const id of findSessionsWithPending(this.#deps.storage)) {
      const open = this.acquire(id)
      open.controller.sendStored()
      this.release(open)
    }
  }

  /** Called when the user's storage has been opened. */
  mergeStored(): void {
    for (const { controller } of this.#openById.values()) controller.sendStored()
  }

  checkConnections(): void {
    for (const { controller } of this.#openById.values()) controller.checkConnection()
  }

  /** Closes a session that was deleted, and removes what is stored for it. */
  forgetSession(id: string): void {
    this.#openById.get(id)?.controller.close()
    clearSessionStorage(this.#deps.storage, id)
  }

  close(): void {
    for (const { controller, stopReporting } of this.#openById.values()) {
      stopReporting()
      controller.close()
    }
  }

  #open(id: string): OpenSession {
    const { environment, storage, scheduleRender, onMessageEnd } = this.#deps
    const controller = new SessionController(
      id,
      { ...environment, storage, scheduleRender, onMessageEnd },
      createNoDraft(),
    )
    const snapshot = createSnapshot(controller)
    const stopReporting = this.#reportRunning(controller)
    const open: OpenSession = {
      controller,
      snapshot,
      users: 0,
      isAnswerExpected: false,
      getMediaLink: null,
      stopReporting,
    }
    this.#openById.set(id, open)
    void controller.loadNewest()
    return open
  }

  /** Reports to the list whether an answer is running in the session. Returns a function that stops this. */
  #reportRunning({ id, link, isLoaded, store }: SharedController): () => void {
    const { sessionList } = this.#deps
    const dispose = effect(() => {
      if (link.value !== "gone" && isLoaded.value) sessionList.setLocalRunning(id, store.isBusy.value)
    })
    return () => {
      dispose()
      sessionList.clearLocalRunning(id)
    }
  }
}

function createNoDraft(): SessionDraft {
  return { editTexts: new Map(), restoreText() {} }
}
