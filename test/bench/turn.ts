/**
 * turn.ts: measures one `/bench` turn over a real socket, and compares it with a bare object that sends the same deltas
 * in the same run.
 */

import { startCuecard } from "cuecard/testing"
import { openSession, runTurn } from "./client.ts"
import { askFloor, type Floor, startFloor } from "./floor.ts"
import { cpuMs, type Exchange, formatKb, median, formatMs } from "./measure.ts"
import type { Row } from "./table.ts"

const WARM_UP = 5
const RUNS = 15
const PROMPT = "/bench deltas=2000 chars=6 tools=2 delay_ms=0 yield_every=10"

interface Timed extends Exchange {
  readonly cpuMs: number
}

/** Repeats a run. Processor time is measured across all runs together, because it has a resolution of 10 ms. */
async function repeatRun(pid: number, run: () => Promise<Exchange>): Promise<Timed[]> {
  for (let i = 0; i < WARM_UP; i++) await run()
  const before = cpuMs(pid)
  const runs: Exchange[] = []
  for (let i = 0; i < RUNS; i++) runs.push(await run())
  const each = (cpuMs(pid) - before) / RUNS
  return runs.map((once) => ({ ...once, cpuMs: each }))
}

async function runFloor(floor: Floor, gather: boolean): Promise<Timed[]> {
  const socket = await floor.open()
  const timed = await repeatRun(floor.pid, () => askFloor(socket, { deltas: 2000, chars: 6, every: 10, gather }))
  socket.close()
  return timed
}

export async function benchTurn(): Promise<Row[]> {
  const floor = await startFloor()
  const single = await runFloor(floor, false)
  const gathered = await runFloor(floor, true)
  await floor.close()

  let rowsWritten = 0
  const onLog = (line: string): void => {
    rowsWritten = Number(/"rows_written":(\d+)/.exec(line)?.[1] ?? rowsWritten)
  }
  const cuecard = await startCuecard({ port: 0, onLog })
  const socket = await openSession(cuecard)
  const ours = await repeatRun(cuecard.pid(), () => runTurn(socket, PROMPT))
  const upload = Buffer.byteLength(
    JSON.stringify({ type: "send", id: "V1StGXR8_Z5jdHi6B-myT", content: "And in Rome?" }),
  )
  socket.close()
  await cuecard.close()

  const medianOf = (runs: readonly Timed[], key: "firstMs" | "wholeMs" | "cpuMs" | "bytes"): number =>
    median(runs.map((run) => run[key]))
  const createRow = (what: string, key: "firstMs" | "wholeMs" | "cpuMs", peer: string, goal: string): Row => ({
    what,
    ours: formatMs(medianOf(ours, key)),
    peer,
    goal,
    floor: `${formatMs(medianOf(single, key))} single, ${formatMs(medianOf(gathered, key))} gathered`,
  })
  return [
    createRow("2,000 deltas, two tools: time to first delta", "firstMs", "12 ms", "≤ 5 ms"),
    createRow("the same: whole turn", "wholeMs", "745 ms", "≤ 100 ms"),
    createRow("the same: processor time of workerd", "cpuMs", "766 ms", "≤ 100 ms"),
    {
      what: "the same: bytes on the wire for 12 KB of text",
      ours: formatKb(medianOf(ours, "bytes")),
      peer: "314 KB",
      goal: "≤ 36 KB",
      floor: `${formatKb(medianOf(single, "bytes"))} single, ${formatKb(medianOf(gathered, "bytes"))} gathered`,
    },
    {
      what: "the same: rows written, the alarm included",
      ours: String(rowsWritten + 1),
      floor: "",
      peer: "230",
      goal: "≤ 25",
    },
    {
      what: "upload for one more message, at any history",
      ours: `${upload} B`,
      floor: "",
      peer: "1.4 MB after 100 turns",
      goal: "≤ 1 KB",
    },
  ]
}
