/**
 * session-handle.ts: a handle for one session, which implements the public commands with the shared session controller.
 *
 * Loaded, together with everything else that an open session needs, when a conversation is first used
 * (conversation.ts).
 */

import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals"
import { pickExtras } from "../client/net/outbox.ts"
import type { Segment } from "../shared/protocol/segment.ts"
import { awaitState, NOT_YET } from "./await-state.ts"
import { CuecardError, isFinal, withTypedErrors } from "./client-error.ts"
import type { AttachOptions, Attachment, ConversationSnapshot, SendOptions } from "./client-types.ts"
import { readRefusal } from "./conversation-snapshot.ts"
import { type OpenSession, OpenSessions, type OpenSessionsDeps, type SharedController } from "./open-sessions.ts"

/** The sessions of a client, once their code is loaded. */
export interface LoadedSessions {
  readonly openSessions: OpenSessions
  openHandle(id: string): SessionHandle
}

export function createLoadedSessions(deps: OpenSessionsDeps): LoadedSessions {
  const openSessions = new OpenSessions(deps)
  return { openSessions, openHandle: (id) => new SessionHandle(id, openSessions) }
}

/**
 * A handle for one session. It opens the session on the first command, and again on the first command after `close`.
 */
export class SessionHandle {
  /** Null until the session is first opened. After `close`, the state of the closed session, which can still change. */
  readonly snapshot: ReadonlySignal<ConversationSnapshot | null> = computed(
    () => this.#open.value?.snapshot.value ?? null,
  )
  readonly #id: string
  readonly #sessions: OpenSessions
  readonly #open: Signal<OpenSession | null> = signal(null)
  #isReleased = true
  /** Messages that were discarded before the server had accepted them. */
  readonly #discarded = new Set<string>()

  constructor(id: string, sessions: OpenSessions) {
    this.#id = id
    this.#sessions = sessions
  }

  /** Throws if the client is closed. */
  open(): OpenSession {
    if (this.#open.peek() === null || this.#isReleased || this.#sessions.isClosed.peek()) {
      this.#open.value = this.#sessions.acquire(this.#id)
    }
    this.#isReleased = false
    return this.#open.peek() ?? this.open()
  }

  ready(): Promise<void> {
    return this.#start(({ controller }) => {
      const { loadError, isLoaded, link } = controller
      // This is the error of an earlier attempt, so this call tries again.
      const earlier = loadError.peek()
      if (earlier !== null) void controller.loadNewest()
      return () => {
        const error = loadError.value
        if (isLoaded.value && error === null) return undefined
        if (error !== earlier && isFinal(error)) throw error
        if (link.value === "outdated") throw new CuecardError("protocol_unsupported")
        return NOT_YET
      }
    })
  }

  send(content: string, options: SendOptions = {}): Promise<string> {
    const { id = this.#sessions.environment.createId(), replyTo = null, attachments = null } = options
    return this.#start((open) => {
      open.controller.sendMessageWithId(id, content, pickExtras({ reply_to: replyTo, attachments }))
      return this.#checkAccepted(open, id)
    })
  }

  resend(id: string): Promise<string> {
    return this.#start((open) => {
      open.controller.retrySend(id)
      return this.#checkAccepted(open, id)
    })
  }

  discard(id: string): void {
    this.#discarded.add(id)
    this.open().controller.discardUnsent(id)
  }

  cancel(): boolean {
    return this.open().controller.stopAnswer()
  }

  approve(callId: string): Promise<void> {
    return this.#decideCall(callId, "allow")
  }

  deny(callId: string): Promise<void> {
    return this.#decideCall(callId, "deny")
  }

  edit(messageId: string, content: string): Promise<void> {
    return this.#command(messageId, true, (controller) => controller.editMessage(messageId, content))
  }

  regenerate(messageId: string): Promise<void> {
    return this.#command(messageId, true, (controller) => controller.regenerateAnswer(messageId))
  }

  retry(messageId: string): Promise<void> {
    return this.#command(messageId, true, (controller) => controller.retryAnswer(messageId))
  }

  withdraw(messageId: string): Promise<void> {
    return this.#command(messageId, false, (controller) => controller.withdrawMessage(messageId))
  }

  selectVersion(messageId: string, version: number): Promise<void> {
    return this.#command(messageId, false, (controller) => controller.switchVersion(messageId, version))
  }

  async attach(file: Blob, { name, onProgress = () => {}, signal }: AttachOptions = {}): Promise<Attachment> {
    const { environment, ownFetch } = this.#sessions
    return await withTypedErrors(async () => {
      const { uploadFile } = await import("./upload-file.ts")
      return await uploadFile(environment, this.#id, ownFetch, { file, name, onProgress, signal })
    })
  }

  async getMediaUrl(url: string): Promise<string | null> {
    const open = this.open()
    const { environment } = this.#sessions
    return await withTypedErrors(async () => {
      const { createMediaLinks } = await import("./media-links.ts")
      open.getMediaLink ??= createMediaLinks(environment, this.#id)
      return await open.getMediaLink(url)
    })
  }

  async loadOlder(): Promise<void> {
    const { controller } = this.open()
    const { store } = controller
    const { cursor } = store
    await controller.history.loadOlder()
    if (store.hasOlder.peek() && store.cursor === cursor) throw new CuecardError("unreachable")
  }

  whenIdle(): Promise<ConversationSnapshot> {
    return this.#start((open) => () => {
      const current = open.snapshot.value
      const error = open.controller.loadError.value
      if (isFinal(error)) throw error
      if (current.connection === "gone") throw new CuecardError("session_unknown")
      return isIdle(open, current) ? current : NOT_YET
    })
  }

  checkConnection(): void {
    this.open().controller.checkConnection()
  }

  close(): void {
    const open = this.#open.peek()
    if (this.#isReleased || open === null) return
    this.#isReleased = true
    this.#sessions.release(open)
  }

  /** Returns a function that checks whether the server has accepted a message. */
  #checkAccepted(open: OpenSession, id: string): () => string | typeof NOT_YET {
    const { outbox, isReadOnly } = open.controller
    open.isAnswerExpected = true
    this.#sessions.sessionList.markActive(this.#id)
    return () => {
      const entry = outbox.entries.value.find((known) => known.id === id)
      if (entry === undefined && this.#discarded.delete(id)) throw new CuecardError("discarded")
      if (entry === undefined) return id
      const refusal = readRefusal(entry)
      if (refusal !== null) throw refusal
      if (isReadOnly.value) throw new CuecardError("scope_denied")
      return NOT_YET
    }
  }

  #decideCall(callId: string, decision: "allow" | "deny"): Promise<void> {
    return this.#command(callId, false, (controller, open) => {
      const message = open.snapshot
        .peek()
        .messages.findLast(({ segments }) =>
          segments.some((segment) => segment.type === "tool" && segment.call_id === callId),
        )
      if (message === undefined) throw new CuecardError("call_unknown")
      controller.decideApproval(message.id, callId, decision)
    })
  }

  /**
   * Sends a command. `target` is the message or tool call that the command changes. `isAnswered`: whether an answer
   * follows.
   */
  #command(
    target: string,
    isAnswered: boolean,
    give: (controller: SharedController, open: OpenSession) => void,
  ): Promise<void> {
    return this.#start((open) => {
      const { controller } = open
      const { commands, link, isReadOnly } = controller
      if (commands.pending.peek().has(target)) throw new CuecardError("command_pending")
      if (isReadOnly.peek()) throw new CuecardError("scope_denied")
      give(controller, open)
      open.isAnswerExpected ||= isAnswered
      return () => {
        const pending = commands.pending.value.get(target)
        if (pending !== undefined && !pending.isAcknowledged) return NOT_YET
        const refusal = commands.lastRefusals.get(target)
        if (refusal !== undefined) throw new CuecardError(refusal.code, refusal.text, { fields: refusal.fields })
        if (pending === undefined && link.peek() === "gone") throw new CuecardError("session_unknown")
        return undefined
      }
    })
  }

  /**
   * Opens the session, and resolves with the first result of the check that `begin` returns. Rejects if `begin` or the
   * check throws.
   */
  #start<T>(begin: (open: OpenSession) => () => T | typeof NOT_YET): Promise<T> {
    let check: () => T | typeof NOT_YET
    try {
      check = begin(this.open())
    } catch (error) {
      check = () => {
        throw error
      }
    }
    return awaitState(this.#sessions, check)
  }
}

/** Whether nothing is in progress. An expected answer that has not begun counts as in progress. */
function isIdle({ isAnswerExpected, controller }: OpenSession, snapshot: ConversationSnapshot): boolean {
  const { messages, unsent, pending, isLoaded, isBusy } = snapshot
  const { changeCount, hasUnshownChanges } = controller.store
  const last = messages.at(-1)
  const isSent = isLoaded && pending.size === 0 && unsent.every(({ error }) => error !== null)
  // Reading the count makes the caller check again after the next update.
  if (changeCount.value < 0 || hasUnshownChanges || !isSent || isBusy) return false
  // If no call is waiting any more, the user has decided every call, and the answer is about to continue.
  if (last?.status === "waiting") return last.segments.some(isWaitingCall)
  return last?.role !== "user" || !isAnswerExpected || unsent.length > 0
}

function isWaitingCall(segment: Segment): boolean {
  return segment.type === "tool" && segment.status === "waiting"
}
