/**
 * user-need.ts: determines what a waiting tool call needs from the user: approval, or an answer to the MCP server's
 * question. Pure.
 */

import type { Segment } from "../../../shared/protocol/segment.ts"
import type { UserNeed } from "../../words/parts/message-text.ts"

/** Returns what a segment needs from the user; null unless the segment is a call that is waiting for the user. */
export function getUserNeed(segment: Segment): UserNeed {
  if (segment.type !== "tool" || segment.status !== "waiting") return null
  if (segment.input !== undefined) return "input"
  return segment.approval === "asked" ? "approval" : null
}

/** Returns what the first call that is waiting for the user needs. */
export function findUserNeed(segments: readonly Segment[]): UserNeed {
  return segments.map(getUserNeed).find((need) => need !== null) ?? null
}
