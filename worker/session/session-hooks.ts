/**
 * session-hooks.ts: wraps parts of a session object as it is built. Production uses NO_HOOKS; the fault suite injects
 * bugs here (test/faults/mutants.ts).
 */

import type { Sockets } from "../socket/sockets.ts"
import type { SessionStore } from "../store/session-store.ts"

export interface SessionHooks {
  wrapStore(store: SessionStore): SessionStore
  wrapSockets(sockets: Sockets): Sockets
}

export const NO_HOOKS: SessionHooks = {
  wrapStore: (store) => store,
  wrapSockets: (sockets) => sockets,
}
