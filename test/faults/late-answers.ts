/** late-answers.ts: checks where the late answers of agents are stored, and which turns they begin. */

import { isEnded, listCalls, type ToolCall } from "../../shared/protocol/message.ts"
import { callIdToPos } from "../../worker/platform/call-id.ts"
import type { StoredSession } from "./rows.ts"
import type { Violation } from "./violation.ts"

/** Returns whether any call in an exported session is still waiting for an agent's answer. */
export function hasWaitingCall(jsonl: string): boolean {
  return jsonl.includes('"waiting":true')
}

/** Returns whether the answer to a call arrives after its turn. */
export function isAsynchronous({ name, args }: Pick<ToolCall, "name" | "args">): boolean {
  return name === "agents_message" && args.includes('"mode":"async"')
}

/**
 * Finds late answers that did not begin exactly one turn below the message whose call they answer. The session must be
 * idle, so that each answer to a message on the active path has begun its turn.
 */
export function findLateViolations(name: string, { all, path, places }: StoredSession): Violation[] {
  const found: Violation[] = []
  const report = (detail: string): void => void found.push({ rule: "late_in_place", session: name, detail })
  const messageAt = new Map([...places].map(([id, { pos }]) => [pos, id]))
  const isBelow = (id: string, ancestor: number): boolean => {
    let pos = places.get(id)?.parent ?? null
    while (pos !== null && pos !== ancestor) pos = places.get(messageAt.get(pos) ?? "")?.parent ?? null
    return pos === ancestor
  }
  const replies = all.filter(({ role, agent }) => role === "agent" && agent?.call_id !== undefined)
  for (const { id, agent } of replies) {
    const asked = callIdToPos(agent?.call_id ?? "")
    if (asked === null || !isBelow(id, asked)) report(`${id} answers ${agent?.call_id}, which is on another path`)
  }
  for (const message of path) {
    if (message.role !== "assistant" || !isEnded(message.status)) continue
    for (const call of listCalls(message)) {
      // Skip the calls of completed steps, which a retry copies from the first attempt.
      const isOwn = callIdToPos(call.call_id) === places.get(message.id)?.pos
      if (!isOwn || !isAsynchronous(call) || call.status !== "ok") continue
      const count = replies.filter(({ agent }) => agent?.call_id === call.call_id).length
      if (count !== 1) report(`${call.call_id} of ${message.id} was answered, and ${count} turns began`)
    }
  }
  return found
}
