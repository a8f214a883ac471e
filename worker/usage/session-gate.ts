/** session-gate.ts: creates the turn gate of a live session, which calls the user's directory. */

import type { Env } from "../env.ts"
import { directoryStub } from "../platform/rpc/object-stubs.ts"
import { type GatedSession, TurnGate } from "./turn-gate.ts"

export function createTurnGate(env: Env, session: GatedSession): TurnGate {
  const { row } = session
  return new TurnGate({
    now: Date.now,
    readView: () => session.agentView,
    askDirectory: async (isAgent) => {
      // Otherwise, turns in quick succession could begin before any of them is counted.
      await session.directorySync.syncRunningState()
      return await directoryStub(env, row).leaseTurn(row.id, isAgent)
    },
    refreshView: async () => await session.refreshAgent(),
    isRunning: () => session.turns.isRunning(),
    returnLease: async () => await directoryStub(env, row).setRunning(row.id, false),
  })
}
