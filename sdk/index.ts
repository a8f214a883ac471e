/**
 * index.ts: the package entry `cuecard/client`: one user's sessions and conversations, for any user interface.
 *
 * Runs in browsers and in Node ≥ 22, without a framework and without the DOM. The client uses the same controllers as
 * the page.
 */

import { signal } from "@preact/signals"
import { createEnvironment } from "../client/net/client-environment.ts"
import { readUser } from "../client/net/token-source.ts"
import { SessionList } from "../client/session/session-list.ts"
import { CuecardError, withTypedErrors } from "./client-error.ts"
import { createClientSessions } from "./client-sessions.ts"
import { createClientRows } from "./client-storage.ts"
import type { Client, ClientOptions } from "./client-types.ts"
import { createConversation, type SessionCode } from "./conversation.ts"
import type { OpenSessionsDeps } from "./open-sessions.ts"
import type { LoadedSessions } from "./session-handle.ts"

export { type ClientErrorCode, CuecardError } from "./client-error.ts"
export type * from "./client-types.ts"
export type { FaultReason } from "../shared/fault.ts"
export type { Segment } from "../shared/protocol/segment.ts"

/** Default delay of a snapshot's update, in milliseconds: one frame of a display. */
const UPDATE_DELAY_MS = 16

/** Creates a client for one user. The client sends its first request when it is first used. */
export function createClient(options: ClientOptions): Client {
  const origin = options.url.replace(/\/+$/, "")
  const rows = createClientRows(options.storage)
  let knownUser: string | null = null
  const environment = createEnvironment({
    origin,
    fetch: options.fetch ?? ((url, init) => fetch(url, init)),
    WebSocket: options.WebSocket ?? globalThis.WebSocket,
    tokenRoutes: [],
    getEmbeddedToken: () => requestToken(options),
    onToken({ token }) {
      const user = `${origin} ${readUser(token)}`
      if (knownUser !== null && user !== knownUser) throw new CuecardError("user_changed")
      if (knownUser !== null) return
      knownUser = user
      rows.openRowsOf(user)
      code.loaded?.openSessions.mergeStored()
    },
  })
  const sessionList = new SessionList({ ...environment, isVisible: () => true })
  const isClosed = signal(false)
  const code = createSessionCode({
    environment,
    ownFetch: options.fetch,
    storage: rows,
    sessionList,
    isClosed,
    scheduleRender: options.scheduleUpdate ?? ((update) => void setTimeout(update, UPDATE_DELAY_MS)),
    onMessageEnd: () => sessions.refreshIfShown(),
  })
  const sessions = createClientSessions({ sessionList, environment, isClosed, code })
  const checkConnections = (): void => code.loaded?.openSessions.checkConnections()
  // Only browsers have this event.
  globalThis.addEventListener?.("online", checkConnections)
  return {
    sessions,
    openSession: (id) => createConversation(id, code),
    async resume() {
      await withTypedErrors(async () => {
        await environment.api.getToken()
        const { openSessions } = await code.load()
        openSessions.sendStored()
      })
    },
    checkConnections,
    request: (path, init) => withTypedErrors(() => environment.api.fetchAuthorized(path, init)),
    close() {
      globalThis.removeEventListener?.("online", checkConnections)
      isClosed.value = true
      environment.close()
      sessions.stopPolling()
      code.loaded?.openSessions.close()
    },
  }
}

/** Loads the code for open sessions when it is needed. If that fails, the next use tries again. */
function createSessionCode(deps: OpenSessionsDeps): SessionCode {
  let loading: Promise<LoadedSessions> | null = null
  let loaded: LoadedSessions | null = null
  const loadSessions = async (): Promise<LoadedSessions> => {
    const { createLoadedSessions } = await import("./session-handle.ts")
    loaded ??= createLoadedSessions(deps)
    return loaded
  }
  return {
    get loaded() {
      return loaded
    },
    load() {
      loading ??= loadSessions().finally(() => {
        loading = null
      })
      return loading
    },
  }
}

async function requestToken({ getToken }: ClientOptions): Promise<string> {
  try {
    return await getToken()
  } catch (error) {
    throw new CuecardError("token_failed", String(error), { cause: error })
  }
}
