/** component-hooks.ts: the hooks of `cuecard/react` and `cuecard/preact`, built on each framework's own functions. */

import type { Client, Conversation, ConversationSnapshot, SessionsSnapshot } from "./client-types.ts"

/** The functions of a framework that the hooks use. */
export interface HookFunctions {
  useMemo<T>(create: () => T, inputs: readonly unknown[]): T
  useSyncExternalStore<T>(
    subscribe: (listener: () => void) => () => void,
    getSnapshot: () => T,
    getServerSnapshot: () => T,
  ): T
}

export interface ConversationState extends ConversationSnapshot {
  /** The handle, for commands. */
  readonly conversation: Conversation
}

export interface ComponentHooks {
  /**
   * Returns the state of a session. The session is open while the component is mounted, and closes afterwards, once
   * everything has been sent. All components that use a session share its connection.
   */
  useConversation(client: Client, id: string): ConversationState
  /** Returns the list of the user's sessions. The list is refreshed at intervals while the component is mounted. */
  useSessions(client: Client): SessionsSnapshot
}

export function createComponentHooks({ useMemo, useSyncExternalStore }: HookFunctions): ComponentHooks {
  return {
    useConversation(client, id) {
      const { conversation, subscribe } = useMemo(() => prepareConversation(client, id), [client, id])
      const { getSnapshot } = conversation
      return { ...useSyncExternalStore(subscribe, getSnapshot, getSnapshot), conversation }
    },
    useSessions({ sessions: { subscribe, getSnapshot } }) {
      return useSyncExternalStore(subscribe, getSnapshot, getSnapshot)
    },
  }
}

/** Prepares a handle without opening the session, because a component may be rendered without being mounted. */
function prepareConversation(client: Client, id: string) {
  const conversation = client.openSession(id)
  const subscribe = (listener: () => void) => {
    const unsubscribe = conversation.subscribe(listener)
    return () => {
      unsubscribe()
      conversation.close()
    }
  }
  return { conversation, subscribe }
}
