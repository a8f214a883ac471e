/**
 * cancel.ts: measures the time from a cancel in the middle of a turn to its acknowledgement, which the server sends
 * only after the write.
 */

import { startCuecard } from "cuecard/testing"
import type { ServerFrame } from "../../shared/protocol/server-frame.ts"
import { DELTA_WINDOW_MS } from "../../shared/delta-window.ts"
import { nextId, openReader, type Reader } from "./client.ts"
import { askFloor, startFloor } from "./floor.ts"
import { median, formatMs, percentile, sleep } from "./measure.ts"
import type { Row } from "./table.ts"

const RUNS = 100
const PROMPT = "/bench deltas=100000 chars=6 delay_ms=1"

/**
 * Cancels once. Returns the time until the acknowledgement, in milliseconds, or null if the server does not support
 * cancelling.
 */
async function cancelOnce(reader: Reader, afterMs: number): Promise<number | null> {
  const exchange = nextId()
  const begun = reader.until((frame) => frame.type === "ops")
  reader.say({ type: "send", id: exchange, content: PROMPT })
  await begun
  await sleep(afterMs)
  const isAnswer = (frame: ServerFrame): boolean =>
    (frame.type === "ack" && frame.id === exchange) || frame.type === "error"
  const [answer, over] = [reader.until(isAnswer), reader.until(isCancelled)]
  const started = performance.now()
  reader.say({ type: "cancel", exchange_id: exchange })
  const { type } = await answer
  const done = performance.now() - started
  if (type === "error") return null
  await over
  return done
}

function isCancelled(frame: ServerFrame): boolean {
  return frame.type === "ops" && frame.ops.some((op) => op.op === "end" && op.status === "cancelled")
}

/** Measures the floor: an object that writes one row and then sends one frame. */
async function floorTimes(): Promise<number[]> {
  const floor = await startFloor()
  const socket = await floor.open()
  const times: number[] = []
  for (let i = 0; i < RUNS; i++) times.push((await askFloor(socket, { write: true })).wholeMs)
  socket.close()
  await floor.close()
  return times
}

async function measureCancels(): Promise<readonly (number | null)[]> {
  const cuecard = await startCuecard()
  const reader = await openReader(cuecard, (await cuecard.createSession()).id)
  const times: (number | null)[] = []
  // Each run cancels at a different moment within a window. 61 and RUNS have no common factor, so the moments are
  // evenly spread, and they are the same in every benchmark.
  for (let i = 0; i < RUNS && times.at(-1) !== null; i++) {
    times.push(await cancelOnce(reader, (((i * 61) % RUNS) / RUNS) * DELTA_WINDOW_MS))
  }
  reader.socket.close()
  await cuecard.close()
  return times
}

export async function benchCancel(): Promise<Row[]> {
  const formatBoth = (values: readonly number[]): string =>
    `p50 ${formatMs(median(values))}, p99 ${formatMs(percentile(values, 99))}`
  const floor = await floorTimes()
  const times = (await measureCancels()).filter((time) => time !== null)
  return [
    {
      what: `cancel in the middle of a turn, until it is durable and acknowledged (${RUNS} times)`,
      ours: times.length < RUNS ? "not supported" : formatBoth(times),
      goal: "p99 ≤ 100 ms",
      floor: `${formatBoth(floor)} (a row written)`,
      peer: "",
    },
  ]
}
