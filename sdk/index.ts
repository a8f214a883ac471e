/**
 * index.ts: the package entry `cuecard/client`: sessions and conversations of one user, for any user interface.
 *
 * Runs in browsers and in Node ≥ 22, without a framework and without the DOM. It has the same controllers as the page.
 */

import { createEnvironment } from "../client/net/client-environment.ts"
import { readUser } from "../client/net/token-source.ts"
import { SessionList } from "../client/session/session-list.ts"
import { CuecardError, withTypedErrors } from "./client-error.ts"
import { type ClientSessions, createClientSessions } from "./client-sessions.ts"
import { createClientRows } from "./client-storage.ts"
import type { Client, ClientOptions } from "./client-types.ts"
import { SessionHandle } from "./conversation.ts"
import { OpenSessions } from "./open-sessions.ts"

export { type ClientErrorCode, CuecardError } from "./client-error.ts"
export type * from "./client-types.ts"
export type { FaultReason } from "../shared/fault.ts"
export type { Segment } from "../shared/protocol/segment.ts"

/** Default delay of a snapshot's update, in milliseconds: one frame of a display. */
const UPDATE_DELAY_MS = 16

/** Creates a client for one user. It sends its first request when it is used. */
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
      open.mergeStored()
    },
  })
  const sessionList = new SessionList({ ...environment, isVisible: () => true })
  const open = new OpenSessions({
    environment,
    ownFetch: options.fetch,
    storage: rows,
    sessionList,
    scheduleRender: options.scheduleUpdate ?? ((update) => void setTimeout(update, UPDATE_DELAY_MS)),
    onMessageEnd: () => sessions.refreshIfShown(),
  })
  const sessions: ClientSessions = createClientSessions(open, rows)
  const checkConnections = (): void => open.checkConnections()
  // Only browsers have this event.
  globalThis.addEventListener?.("online", checkConnections)
  return {
    sessions,
    openSession: (id) => new SessionHandle(id, open),
    async resume() {
      await withTypedErrors(() => environment.api.getToken())
      open.sendStored()
    },
    checkConnections,
    request: (path, init) => withTypedErrors(() => environment.api.fetchAuthorized(path, init)),
    close() {
      globalThis.removeEventListener?.("online", checkConnections)
      environment.close()
      sessions.stopPolling()
      open.close()
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
