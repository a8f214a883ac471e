/**
 * growth.ts: measures the cost of a session's first turn, and of one more turn after 100 turns and after 1,000 turns.
 *
 * The turns are short, which is the hard case, because the model's context then includes the most turns.
 */

import { startCuecard } from "cuecard/testing"
import { fillSession, openSession, runTurn, type Turn } from "./client.ts"
import { formatMb, median, formatMs, rssBytes, sleep } from "./measure.ts"
import type { Row } from "./table.ts"

const MARKS = [1, 100, 1_000] as const
/** The number of turns that are measured from each mark onwards. */
const RUNS = 15

const ANSWER = [
  [{ type: "text_delta", delta: "An answer about as long as a sentence is, and no longer." }, { type: "finish" }],
] as const

interface TurnEndLog {
  readonly rows_written: number
  /** Undefined if the server does not report it. */
  readonly rows_read?: number
}

interface Mark {
  readonly turns: readonly Turn[]
  readonly logs: readonly TurnEndLog[]
  readonly memory: number
}

function rowOf(mark: number, { turns, logs, memory }: Mark): Row {
  const medianOf = (key: "firstMs" | "wholeMs" | "up" | "bytes"): number => median(turns.map((turn) => turn[key]))
  const written = Math.max(...logs.map((log) => log.rows_written))
  const read = logs.map((log) => log.rows_read ?? Number.NaN)
  const rows = read.some(Number.isNaN) ? `${written} rows written` : `${written} rows written, ${median(read)} read`
  return {
    what: `one more short turn at turn ${mark.toLocaleString("en")}: first delta, whole, up, down; workerd`,
    ours: `${formatMs(medianOf("firstMs"))}, ${formatMs(medianOf("wholeMs"))}, ${medianOf("up")} B, ${medianOf("bytes")} B, ${rows}; ${formatMb(memory)}`,
    goal: "flat",
    floor: "",
    peer: mark === 1_000 ? "287 ms, 14.4 MB up; 771 MB" : "",
  }
}

export async function benchGrowth(): Promise<Row[]> {
  const logs: TurnEndLog[] = []
  const onLog = (line: string): void => {
    if (line.includes('"turn_end"')) logs.push(JSON.parse(line))
  }
  const cuecard = await startCuecard({ script: ANSWER, onLog })
  // Warm up the process with another session, so that turn 1 is comparable.
  const other = await openSession(cuecard)
  for (let i = 0; i < 2 * RUNS; i++) await runTurn(other, "Question?")
  other.close()
  const { id } = await cuecard.createSession()
  const rows: Row[] = []
  let turn = 1
  for (const mark of MARKS) {
    await fillSession(cuecard, id, mark - turn)
    await untilLogsSettle(logs)
    logs.length = 0
    const socket = await openSession(cuecard, id)
    const turns: Turn[] = []
    for (turn = mark; turn < mark + RUNS; turn++) turns.push(await runTurn(socket, `Question number ${turn}?`))
    socket.close()
    await untilLogsSettle(logs)
    rows.push(rowOf(mark, { turns, logs, memory: rssBytes(cuecard.pid()) }))
  }
  await cuecard.close()
  return rows
}

/** Waits until no more log lines arrive, because a log line can arrive after the frames that it describes. */
async function untilLogsSettle(logs: readonly TurnEndLog[]): Promise<void> {
  for (let count = -1; count !== logs.length; await sleep(50)) count = logs.length
}
