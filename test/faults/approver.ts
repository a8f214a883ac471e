/**
 * approver.ts: allows or denies each call that is waiting for approval, as the plan of its turn requires.
 */

import type { Segment } from "../../shared/protocol/segment.ts"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { type PlannedApproval, DENIAL } from "./plan.ts"
import { type Host, type TestSession, tabOf } from "./test-session.ts"

/** Interval between checks for waiting calls, in milliseconds. */
const POLL_MS = 15

/** Starts allowing and denying calls. Returns a function that stops it. */
export function startApprover(host: Host, session: TestSession): () => void {
  const since = new Map<string, number>()
  const counted = new Set<string>()
  const decide = (message: WireMessage, call_id: string, approval: PlannedApproval): void => {
    const key = `${message.id} ${call_id}`
    const first = since.get(key) ?? performance.now()
    since.set(key, first)
    if (performance.now() < first + approval.afterMs) return
    if (!counted.has(key)) host.count(`approve: ${approval.disputed ? "disputed" : approval.decision}`)
    counted.add(key)
    tabOf(session, approval.tab).controller().decideApproval(message.id, call_id, approval.decision)
    if (approval.disputed) {
      const other = approval.decision === "allow" ? "deny" : "allow"
      tabOf(session, approval.tab + 1)
        .controller()
        .decideApproval(message.id, call_id, other)
    }
  }
  const poll = (): void => {
    if (session.isEvicting) return
    for (const tab of session.tabs) {
      for (const message of tab.messages().filter(({ role }) => role === "assistant")) {
        const approval = findApproval(session, message.exchange_id)
        if (approval === null) continue
        for (const call of listWaitingCalls(message)) decide(message, call, approval)
      }
    }
  }
  const timer = setInterval(poll, POLL_MS)
  return () => clearInterval(timer)
}

/**
 * Returns the planned decision, or null if there is none. Calls of a turn without a plan (another version) are denied,
 * as are calls that are still waiting at the end of the run.
 */
function findApproval(session: TestSession, exchange: string): PlannedApproval | null {
  const turn = session.plan.turns.find(({ id }) => id === exchange)
  if (turn === undefined || session.isSettling) return turn?.approval ?? DENIAL
  return turn.approval
}

export function listWaitingCalls({ segments }: WireMessage): string[] {
  const isWaiting = (segment: Segment) => segment.type === "tool" && segment.approval === "asked"
  return segments.filter(isWaiting).flatMap((segment) => (segment.type === "tool" ? [segment.call_id] : []))
}
