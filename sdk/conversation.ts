/**
 * conversation.ts: the public object for one session. It loads the code for open sessions when it is first used.
 *
 * `getSnapshot` and `subscribe` work at once; commands run in order once the code is loaded. Source: SPEC SK3, SK9.
 */

import { computed, type Signal, signal } from "@preact/signals"
import { toCuecardError } from "./client-error.ts"
import type { Conversation, ConversationSnapshot } from "./client-types.ts"
import type { LoadedSessions, SessionHandle } from "./session-handle.ts"
import { subscribeTo } from "./subscription.ts"

/** Loads the code for open sessions once. */
export interface SessionCode {
  /** Null until it is loaded. */
  readonly loaded: LoadedSessions | null
  load(): Promise<LoadedSessions>
}

/** The snapshot of a session that isn't open. */
export const EMPTY_SNAPSHOT: ConversationSnapshot = {
  messages: [],
  unsent: [],
  connection: "connecting",
  isLoaded: false,
  isBusy: false,
  activeAnswer: null,
  isReadOnly: false,
  hasOlder: false,
  isLoadingOlder: false,
  pending: new Set(),
  error: null,
  waitingText: "",
}

export function createConversation(id: string, code: SessionCode): Conversation {
  const handle: Signal<SessionHandle | null> = signal(null)
  const snapshot = computed(() => handle.value?.snapshot.value ?? EMPTY_SNAPSHOT)
  /** False after `close`, until the next use. */
  let isWanted = false
  const attachHandle = ({ openHandle }: LoadedSessions): SessionHandle => {
    const attached = handle.peek() ?? openHandle(id)
    handle.value = attached
    return attached
  }
  /** Calls `run` once the code is loaded. The returned promise may be ignored, like those of a handle. */
  const performWhenOpen = <T>(run: (open: SessionHandle) => Promise<T> | T): Promise<T> => {
    isWanted = true
    const startCall = async (loaded: LoadedSessions): Promise<T> => {
      const attached = attachHandle(loaded)
      const running = run(attached)
      if (!isWanted) attached.close()
      return await running
    }
    const started = code.loaded === null ? code.load().then(startCall) : startCall(code.loaded)
    const promise = started.catch((error: unknown) => {
      throw toCuecardError(error)
    })
    promise.catch(() => {})
    return promise
  }
  return {
    id,
    getSnapshot: () => snapshot.peek(),
    subscribe(listener) {
      void performWhenOpen((open) => open.open())
      return subscribeTo(snapshot, listener)
    },
    ready: () => performWhenOpen((open) => open.ready()),
    send: (content, options) => performWhenOpen((open) => open.send(content, options)),
    resend: (message) => performWhenOpen((open) => open.resend(message)),
    discard: (message) => handle.peek()?.discard(message),
    cancel: () => handle.peek()?.cancel() ?? false,
    approve: (call) => performWhenOpen((open) => open.approve(call)),
    deny: (call) => performWhenOpen((open) => open.deny(call)),
    edit: (message, content) => performWhenOpen((open) => open.edit(message, content)),
    regenerate: (message) => performWhenOpen((open) => open.regenerate(message)),
    retry: (message) => performWhenOpen((open) => open.retry(message)),
    withdraw: (message) => performWhenOpen((open) => open.withdraw(message)),
    selectVersion: (message, version) => performWhenOpen((open) => open.selectVersion(message, version)),
    attach: (file, options) => performWhenOpen((open) => open.attach(file, options)),
    getMediaUrl: (url) => performWhenOpen((open) => open.getMediaUrl(url)),
    loadOlder: () => performWhenOpen((open) => open.loadOlder()),
    whenIdle: () => performWhenOpen((open) => open.whenIdle()),
    checkConnection: () => handle.peek()?.checkConnection(),
    close() {
      isWanted = false
      handle.peek()?.close()
    },
  }
}
