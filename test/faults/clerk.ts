/**
 * clerk.ts: the person who is asked for leave: answers each call that waits as its turn's plan says.
 */

import type { Segment } from "../../shared/protocol/segment.ts"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { type Leave, REFUSAL } from "./plan.ts"
import { type Host, type Stage, tabOf } from "./stage.ts"

/** Looks for calls that wait so often, in milliseconds. */
const LOOK_MS = 15

/** Begins to answer; returns what ends it. */
export function startClerk(host: Host, stage: Stage): () => void {
  const since = new Map<string, number>()
  const counted = new Set<string>()
  const decide = (message: WireMessage, call_id: string, leave: Leave): void => {
    const key = `${message.id} ${call_id}`
    const first = since.get(key) ?? performance.now()
    since.set(key, first)
    if (performance.now() < first + leave.afterMs) return
    if (!counted.has(key)) host.count(`approve: ${leave.disputed ? "disputed" : leave.decision}`)
    counted.add(key)
    tabOf(stage, leave.tab).room().decideApproval(message.id, call_id, leave.decision)
    if (leave.disputed) {
      const other = leave.decision === "allow" ? "deny" : "allow"
      tabOf(stage, leave.tab + 1)
        .room()
        .decideApproval(message.id, call_id, other)
    }
  }
  const look = (): void => {
    if (stage.isEvicting) return
    for (const tab of stage.tabs) {
      for (const message of tab.messages().filter(({ role }) => role === "assistant")) {
        const leave = leaveFor(stage, message.exchange_id)
        if (leave === null) continue
        for (const call of waitingIn(message)) decide(message, call, leave)
      }
    }
  }
  const timer = setInterval(look, LOOK_MS)
  return () => clearInterval(timer)
}

/** What no plan speaks of (another version of a turn) and whoever is left in the end is refused. */
function leaveFor(stage: Stage, exchange: string): Leave | null {
  const turn = stage.plan.turns.find(({ id }) => id === exchange)
  if (turn === undefined || stage.isSettling) return turn?.leave ?? REFUSAL
  return turn.leave
}

export function waitingIn({ segments }: WireMessage): string[] {
  const isWaiting = (segment: Segment) => segment.type === "tool" && segment.approval === "asked"
  return segments.filter(isWaiting).flatMap((segment) => (segment.type === "tool" ? [segment.call_id] : []))
}
