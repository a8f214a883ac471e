/**
 * finished-tip.ts: finds the newest finished message of a session's active path.
 */

import { isEnded, type Message } from "../../shared/protocol/message.ts"

/** The part of a session's store that the search reads. */
export interface PathReader {
  /** Returns the position of the newest message of the active path. */
  readTip(): number | null
  isOnPath(pos: number): boolean
  /** Returns up to `limit` positions of the active path after a position, in the order of the path. */
  listPathAfter(pos: number, limit: number): number[]
  findMessageAt(pos: number): PathMessage | null
}

export interface PathMessage {
  readonly pos: number
  readonly parent: number | null
  readonly message: Message
}

/** Returns the position of the newest finished message; 0 if there is none. Cost: the rows of two messages. */
export function readFinishedTip(store: Pick<PathReader, "readTip" | "findMessageAt">): number {
  const tip = store.readTip()
  const newest = tip === null ? null : store.findMessageAt(tip)
  if (newest === null) return 0
  if (isFinished(newest.message)) return newest.pos
  const question = newest.parent === null ? null : store.findMessageAt(newest.parent)
  if (question === null) return 0
  return question.message.exchange_id === newest.message.exchange_id ? (question.parent ?? 0) : question.pos
}

function isFinished({ role, status }: Message): boolean {
  return role !== "assistant" || isEnded(status)
}
