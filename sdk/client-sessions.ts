/** client-sessions.ts: the public list of sessions, built on the page's session list. */

import { computed, type ReadonlySignal } from "@preact/signals"
import type { ClientEnvironment } from "../client/net/client-environment.ts"
import type { SessionList } from "../client/session/session-list.ts"
import { toCuecardError, withTypedErrors } from "./client-error.ts"
import type { Sessions, SessionsSnapshot } from "./client-types.ts"
import type { SessionCode } from "./conversation.ts"
import { subscribeTo } from "./subscription.ts"

export interface ClientSessions extends Sessions {
  /** Reloads the list if it has subscribers. */
  refreshIfShown(): void
  stopPolling(): void
}

export interface ClientSessionsDeps {
  readonly sessionList: SessionList
  readonly environment: ClientEnvironment
  readonly isClosed: ReadonlySignal<boolean>
  readonly code: SessionCode
}

export function createClientSessions(deps: ClientSessionsDeps): ClientSessions {
  const { sessionList, environment, isClosed, code } = deps
  const { api, createId } = environment
  const snapshot = computed<SessionsSnapshot>(() => ({
    sessions: sessionList.sessions.value,
    isLoaded: sessionList.isLoaded.value,
    more: sessionList.more.value,
  }))
  const subscriptions = new Set<() => void>()
  const startPolling = (): void => {
    if (subscriptions.size > 0 && !isClosed.peek()) sessionList.startPolling()
  }
  const refreshIfShown = (): void => {
    if (subscriptions.size > 0) void sessionList.refresh()
  }
  /** Throws the error of the last attempt, which the list only stores because the page shows it. */
  const rejectFailed = (): void => {
    if (sessionList.loadError !== null) throw toCuecardError(sessionList.loadError)
  }
  return {
    getSnapshot: () => snapshot.peek(),
    subscribe(listener) {
      const unsubscribe = subscribeTo(snapshot, listener)
      subscriptions.add(unsubscribe)
      if (subscriptions.size === 1) void sessionList.refresh().then(startPolling)
      return () => {
        unsubscribe()
        subscriptions.delete(unsubscribe)
        if (subscriptions.size === 0) sessionList.stopPolling()
      }
    },
    refreshIfShown,
    stopPolling: () => sessionList.stopPolling(),
    async refresh() {
      await sessionList.refresh()
      rejectFailed()
    },
    async loadMore() {
      await sessionList.loadMore()
      if (sessionList.more.peek() === "failed") rejectFailed()
    },
    async create({ title = "", id = createId(), agent } = {}) {
      const created = await withTypedErrors(() => api.createSession(title, id, { agent }))
      refreshIfShown()
      return { id: created }
    },
    rename: (id, title) => withTypedErrors(() => sessionList.saveTitle(id, title)),
    delete: (id) =>
      withTypedErrors(async () => {
        const { openSessions } = await code.load()
        await sessionList.removeSession(id)
        openSessions.forgetSession(id)
      }),
    export: (id, format = "jsonl") =>
      withTypedErrors(async () => {
        const { downloadExport } = await import("../client/files/download-export.ts")
        return await downloadExport(api, id, format)
      }),
  }
}
