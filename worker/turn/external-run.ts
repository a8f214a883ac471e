/**
 * external-run.ts: an answer that somebody outside tells: how far it was told, and whether they are still there.
 *
 * external → PRODUCER → run
 * Until when it may be silent stands in the answer's row, and is put off seldom. The alarm ends what nobody goes on with
 * (law 8), in this process or the next; no timer keeps the object awake.
 */

import type { ToolOutput } from "./dispatch-tool.ts"
import type { AlongsideWrite } from "./turn-recorder.ts"
import type { StoredMessage } from "../store/row-codec.ts"
import { recordFailure, finishRun, isRunEnded, type TurnRun, type TurnHost } from "./turn-run.ts"
import type { SessionStore } from "../store/session-store.ts"

export interface Producer {
  /** Number of the newest record that was taken: stored with the window that holds what it brought (`toldBeside`). */
  ackedRecord: number
  /** Until when it may be silent, in milliseconds since 1970. */
  silentUntilMs: number
  /** The same as stored: that lags by `times.producerRefreshMs` at most. */
  storedDeadlineMs: number
  /** UTF-16 code units of results and output that it has sent. */
  dataChars: number
  /** What each call has said, as far as this process heard it. */
  readonly outputs: Map<string, ToolOutput>
}

/** The producer of a stored answer; null where the answer is ours. */
export function restoreProducer({ store, now }: TurnHost, { pos, deadline, message }: StoredMessage): Producer | null {
  if (message.mode !== "external") return null
  const dataChars = message.parts.reduce((sum, part) => {
    return part.type === "tool_call" ? sum + part.call.output.length + (part.call.result?.length ?? 0) : sum
  }, 0)
  const silentUntilMs = deadline ?? now()
  return {
    ackedRecord: store.readAckedRecord(pos),
    silentUntilMs,
    storedDeadlineMs: silentUntilMs,
    dataChars,
    outputs: new Map(),
  }
}

/** What a window writes of its producer: a number is never stored without what its record brought. */
export function createAckedRecordWrite(store: SessionStore, pos: number, producer: Producer): AlongsideWrite {
  let storedRecord = producer.ackedRecord
  return {
    isPending: () => producer.ackedRecord !== storedRecord,
    write() {
      if (producer.ackedRecord !== storedRecord) store.setAckedRecord(pos, producer.ackedRecord)
      storedRecord = producer.ackedRecord
    },
  }
}

/** A sign of life; `isLast`: the next one may come from a request of its own, so that this one is written down exactly. */
export function extendDeadline(host: TurnHost, run: TurnRun, producer: Producer, isLastOfRequest = false): void {
  // Nothing puts off the end of one that failed.
  if (isRunEnded(run) || run.failure !== null) return
  const { now, times } = host
  producer.silentUntilMs = Math.min(now() + times.producerSilenceMs, run.startedMs + times.producerTurnMs)
  if (producer.silentUntilMs - producer.storedDeadlineMs >= (isLastOfRequest ? 1 : times.producerRefreshMs))
    storeDeadline(host, run, producer)
}

/** Whether it lived longer than its row says, which then says so. */
export function extendIfAlive(host: TurnHost, run: TurnRun): boolean {
  const { producer } = run
  if (producer === null || producer.silentUntilMs <= host.now()) return false
  storeDeadline(host, run, producer)
  return true
}

function storeDeadline({ store }: TurnHost, run: TurnRun, producer: Producer): void {
  store.setDeadline(run.recorder.pos, producer.silentUntilMs)
  producer.storedDeadlineMs = producer.silentUntilMs
}

/** Ends an answer whose producer was silent for too long, or all of whose time is over. */
export function endSilentRun(host: TurnHost, run: TurnRun): void {
  const isOutOfTime = host.now() >= run.startedMs + host.times.producerTurnMs
  try {
    if (isOutOfTime) finishRun(host, run, "failed", "turn_timeout")
    else finishRun(host, run, "interrupted", "producer_gone")
  } catch (error) {
    recordFailure(run, error)
  }
  host.resume()
}
