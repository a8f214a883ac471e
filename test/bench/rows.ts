/**
 * rows.ts: counts the rows written for one turn: those in the turn's log line, plus the alarms.
 *
 * Cursors count every row that a statement writes, including deleted rows, but not alarms. The platform bills each
 * setAlarm as one row, and an alarm lasts for TURN_ALARM_MS, so the maximum number of alarms during the turn is added.
 * The directory is another object, which a turn updates when it begins and when it ends. Its rows are listed
 * separately.
 */

import { startCuecard } from "cuecard/testing"
import { TURN_ALARM_MS } from "../../shared/limits.ts"
import { openSession, runTurn } from "./client.ts"
import { sleep } from "./measure.ts"
import type { Row } from "./table.ts"

/**
 * The number of rows that one turn writes in the directory: the session's row and its index entry when the turn begins,
 * and the session's row and the usage when it ends (SPEC CM2).
 */
const LIST_ROWS = 4
/** The number of concurrent turns. The maximum of their counts is reported. */
const RUNS = 3

const PROMPTS = [
  { prompt: "/bench deltas=400 tools=2 delay_ms=10", what: "400 deltas over 4 s, two tools", goal: 30, peer: "45" },
  { prompt: "/bench deltas=2000 tools=2 delay_ms=1", what: "2,000 deltas at 1 ms, two tools", goal: 30, peer: "230" },
] as const

export async function benchRows(): Promise<Row[]> {
  const counts: number[] = []
  const onLog = (line: string): void => {
    const rows = /"rows_written":(\d+)/.exec(line)?.[1]
    if (rows !== undefined) counts.push(Number(rows))
  }
  const cuecard = await startCuecard({ port: 0, onLog })
  const rows: Row[] = []
  for (const { prompt, what, goal, peer } of PROMPTS) {
    counts.length = 0
    const turns = Array.from({ length: RUNS }, async () => {
      const socket = await openSession(cuecard)
      const { wholeMs } = await runTurn(socket, prompt)
      socket.close()
      return wholeMs
    })
    const longest = Math.max(...(await Promise.all(turns)))
    // A log line can arrive after the frame that it describes.
    for (let tries = 0; counts.length < RUNS && tries < 50; tries++) await sleep(20)
    const alarms = Math.ceil(longest / TURN_ALARM_MS)
    rows.push({
      what: `rows written: ${what}`,
      ours: `${Math.max(...counts) + alarms} (including ${alarms} for alarms), and ${LIST_ROWS} in the directory`,
      goal: `≤ ${goal}`,
      floor: "",
      peer,
    })
  }
  await cuecard.close()
  return rows
}
