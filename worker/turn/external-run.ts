/**
 * external-run.ts: an answer that somebody outside tells: how far it was told, and whether they are still there.
 *
 * external → PRODUCER → run
 * Until when it may be silent stands in the answer's row, and is put off seldom. The alarm ends what nobody goes on with
 * (law 8), in this process or the next; no timer keeps the object awake.
 */

import type { Output } from "./dispatch-tool.ts"
import type { Beside } from "./turn-recorder.ts"
import type { StoredMessage } from "../store/row-codec.ts"
import { failLater, finish, isOver, type Run, type TurnHost } from "./turn-run.ts"
import type { Store } from "../store/session-store.ts"

export interface Producer {
  /** Number of the newest record that was taken: stored with the window that holds what it brought (`toldBeside`). */
  told: number
  /** Until when it may be silent, in milliseconds since 1970. */
  until: number
  /** The same as stored: that lags by `times.producerRefreshMs` at most. */
  deadline: number
  /** UTF-16 code units of results and output that it has sent. */
  data: number
  /** What each call has said, as far as this process heard it. */
  readonly outputs: Map<string, Output>
}

/** The producer of a stored answer; null where the answer is ours. */
export function producerOf({ store, now }: TurnHost, { pos, deadline, message }: StoredMessage): Producer | null {
  if (message.mode !== "external") return null
  const data = message.parts.reduce((sum, part) => {
    return part.type === "tool_call" ? sum + part.call.output.length + (part.call.result?.length ?? 0) : sum
  }, 0)
  const until = deadline ?? now()
  return { told: store.told(pos), until, deadline: until, data, outputs: new Map() }
}

/** What a window writes of its producer: a number is never stored without what its record brought. */
export function toldBeside(store: Store, pos: number, producer: Producer): Beside {
  let stored = producer.told
  return {
    isDue: () => producer.told !== stored,
    write() {
      if (producer.told !== stored) store.setTold(pos, producer.told)
      stored = producer.told
    },
  }
}

/** A sign of life; `isLast`: the next one may come from a request of its own, so that this one is written down exactly. */
export function noteLife(host: TurnHost, run: Run, producer: Producer, isLast = false): void {
  // Nothing puts off the end of one that failed.
  if (isOver(run) || run.failure !== null) return
  const { now, times } = host
  producer.until = Math.min(now() + times.producerSilenceMs, run.startedMs + times.producerTurnMs)
  if (producer.until - producer.deadline >= (isLast ? 1 : times.producerRefreshMs)) keepUntil(host, run, producer)
}

/** Whether it lived longer than its row says, which then says so. */
export function isStillThere(host: TurnHost, run: Run): boolean {
  const { producer } = run
  if (producer === null || producer.until <= host.now()) return false
  keepUntil(host, run, producer)
  return true
}

function keepUntil({ store }: TurnHost, run: Run, producer: Producer): void {
  store.setDeadline(run.recorder.pos, producer.until)
  producer.deadline = producer.until
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
