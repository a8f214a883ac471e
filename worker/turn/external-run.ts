/**
 * external-run.ts: an answer that an external producer streams in. Tracks how much was accepted, and when the producer
 * times out.
 *
 * The deadline is stored in the answer's row and extended at intervals (SPEC EX14). The alarm ends an answer whose
 * producer has gone silent, in this process or the next, so no timer keeps the object awake.
 */

import { StreamedText } from "../../shared/ingest/whole-text.ts"
import type { ToolOutput } from "./dispatch-tool.ts"
import type { AlongsideWrite } from "./turn-recorder.ts"
import type { StoredMessage } from "../store/row-codec.ts"
import { recordFailure, finishRun, isRunEnded, type TurnRun, type TurnHost } from "./turn-run.ts"
import type { SessionStore } from "../store/session-store.ts"

export interface Producer {
  /** Number of the newest accepted record. It is stored together with the output of that record. */
  ackedRecord: number
  /** When the producer times out unless it sends something, in milliseconds since 1970. */
  silentUntilMs: number
  /** The stored deadline. It lags behind by at most `times.producerRefreshMs`. */
  storedDeadlineMs: number
  /** UTF-16 code units of tool results and tool output that the producer has sent. */
  dataChars: number
  /** The tool output that this process has received, by call id. */
  readonly outputs: Map<string, ToolOutput>
  /** The text as the producer sent it, to compare with text that arrives as a whole. */
  readonly streamed: StreamedText
}

/** Returns the producer of a stored answer; null if the session's own model wrote the answer. */
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
    streamed: StreamedText.fromMessage(message),
  }
}

/** Stores the number of the newest accepted record in the same write as that record's output. */
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

/**
 * Extends the deadline of a producer that has sent something. Small extensions are not written, except at the end of a
 * request (`isLastOfRequest`), because the producer may be silent for long afterwards.
 */
export function extendDeadline(host: TurnHost, run: TurnRun, producer: Producer, isLastOfRequest = false): void {
  if (isRunEnded(run) || run.failure !== null) return
  const { now, times } = host
  producer.silentUntilMs = Math.min(now() + times.producerSilenceMs, run.startedMs + times.producerTurnMs)
  const extensionMs = producer.silentUntilMs - producer.storedDeadlineMs
  // The stored deadline was the time by which a program had to claim the answer. The alarm must fire earlier than that.
  if (extensionMs < 0) host.armAlarm()
  if (extensionMs < 0 || extensionMs >= (isLastOfRequest ? 1 : times.producerRefreshMs))
    storeDeadline(host, run, producer)
}

/**
 * Writes the later deadline if the producer was active after the stored one was written. Returns whether the producer
 * was active.
 */
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

/** Ends an answer whose producer was silent for too long, or that reached its total time limit. */
export function endSilentRun(host: TurnHost, run: TurnRun): void {
  const isOutOfTime = host.now() >= run.startedMs + host.times.producerTurnMs
  try {
    if (host.store.isUnclaimed(run.recorder.pos)) finishRun(host, run, "failed", "agent_failed")
    else if (isOutOfTime) finishRun(host, run, "failed", "turn_timeout")
    else finishRun(host, run, "interrupted", "producer_gone")
  } catch (error) {
    recordFailure(run, error)
  }
  host.resume()
}
