/**
 * producer.ts: an answer that somebody outside tells: how far it was told, and whether they are still there.
 *
 * external → PRODUCER → run
 * Until when it may be silent stands in the answer's row, and is put off seldom. The alarm ends what nobody goes on with
 * (law 8), in this process or the next; no timer keeps the object awake.
 */

import type { StoredMessage } from "./rows.ts"
import { failLater, finish, isOver, type Run, type TurnHost } from "./run.ts"
import type { Store } from "./store.ts"

export interface Producer {
  /** Number of the newest record that was taken; the run's messages hold it, or will with their next window. */
  told: number
  /** Until when it may be silent, as stored, in milliseconds since 1970. */
  deadline: number
  /** UTF-16 code units of results and output that it has sent. */
  data: number
}

/** The producer of a stored answer; null where the answer is ours. */
export function producerOf({ store, now }: TurnHost, { pos, deadline, message }: StoredMessage): Producer | null {
  if (message.mode !== "external") return null
  const data = message.parts.reduce((sum, part) => {
    return part.type === "tool_call" ? sum + part.call.output.length + (part.call.result?.length ?? 0) : sum
  }, 0)
  return { told: store.told(pos), deadline: deadline ?? now(), data }
}

/** Written with whatever the records brought, in the same transaction. */
export function keepTold(store: Store, pos: number, { told }: Producer): void {
  if (store.told(pos) !== told) store.setTold(pos, told)
}

/** A sign of life; `isLast`: the next one may come from a request of its own, so that this one is written down exactly. */
export function noteLife({ store, now, times }: TurnHost, run: Run, producer: Producer, isLast = false): void {
  if (isOver(run)) return
  const deadline = Math.min(now() + times.producerSilenceMs, run.startedMs + times.producerTurnMs)
  if (deadline - producer.deadline < (isLast ? 1 : times.producerRefreshMs)) return
  store.setDeadline(run.recorder.pos, deadline)
  producer.deadline = deadline
}

/** Ends an answer whose producer was silent for too long, or all of whose time is over. */
export function endSilent(host: TurnHost, run: Run): void {
  const isLate = host.now() >= run.startedMs + host.times.producerTurnMs
  try {
    if (isLate) finish(host, run, "failed", "turn_timeout")
    else finish(host, run, "interrupted", "producer_gone")
  } catch (error) {
    failLater(run, error)
  }
  host.goOn()
}
