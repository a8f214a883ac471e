/**
 * turn-alarm.ts: computes when a session object must wake for its turns, and ends overdue turns.
 *
 * The time is computed from rows alone, so a turn that waits for the user or for a producer needs no process.
 */

import { dismissWaitingCalls } from "./approvals.ts"
import { endSilentRun, extendIfAlive } from "./external-run.ts"
import { hasUnfinishedAnswer } from "./turn-recovery.ts"
import type { ActiveTurn, TurnHost } from "./turn-run.ts"

/** Returns when the object must wake, in milliseconds since 1970; null if nothing is in progress. */
export function nextTurnAlarmAt(host: TurnHost): number | null {
  const { store } = host
  const newest = store.findNewestAnswer()
  // A question is offered to programs again at each alarm, until one has claimed it (SPEC EA4).
  const isUnclaimed = newest?.isExternal === true && store.isUnclaimed(store.readNewestPos())
  const isWaitingInRows = !isUnclaimed && (newest?.status === "waiting" || newest?.isExternal === true)
  const hasWork = !isWaitingInRows && (hasUnfinishedAnswer(host) || store.countQueued() > 0)
  const alarmTimes = [
    store.agentAsks.hasOwedAnswers() || hasWork ? host.now() + host.times.alarmMs : null,
    store.agentAsks.nextExpiryMs(),
    isWaitingInRows ? newest.deadline : null,
  ].filter((at) => at !== null)
  return alarmTimes.length === 0 ? null : Math.min(...alarmTimes)
}

/** Ends the waiting of calls that have run out of time, and ends an external answer whose producer has gone silent. */
export function endOverdueTurn(turn: ActiveTurn): void {
  const { host } = turn
  const newest = host.store.findNewestAnswer()
  if (newest?.deadline == null || newest.deadline > host.now()) return
  if (newest.status === "waiting") dismissWaitingCalls(turn)
  const externalRun = newest.isExternal ? turn.currentRun() : null
  if (externalRun !== null && !extendIfAlive(host, externalRun)) endSilentRun(host, externalRun)
}
