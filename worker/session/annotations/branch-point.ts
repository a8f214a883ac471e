/** branch-point.ts: the position in a session at which a new session branches off. Source: SPEC WR40. */

import { fail, type Result, succeed } from "../../../shared/fault.ts"
import { isEnded } from "../../../shared/protocol/message.ts"
import type { SessionStore } from "../../store/session-store.ts"

/**
 * Returns the position of a message. Errors: `message_unknown` if it isn't on the active path; `turn_running` if it
 * hasn't ended.
 */
export function findBranchPoint(store: SessionStore, id: string): Result<number> {
  const pos = store.findById(id)?.pos ?? null
  if (pos === null || !store.isOnPath(pos)) return fail({ reason: "message_unknown" })
  const status = store.findMessageAt(pos)?.message.status ?? "queued"
  return isEnded(status) ? succeed(pos) : fail({ reason: "turn_running" })
}
