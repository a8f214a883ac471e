/**
 * history.ts: measures the time, bytes and rows read for a page of 50 messages, from sessions of 100, 1,000 and 10,000
 * messages.
 */

import { type Cuecard, startCuecard } from "cuecard/testing"
import { fillSession, type Page, readPage } from "./client.ts"
import { formatKb, median, formatMs } from "./measure.ts"
import type { Row } from "./table.ts"

const SIZES = [100, 1_000, 10_000] as const
const RUNS = 21
const PAGE = 50

/** A short answer, so that it takes less than a minute to create ten thousand messages. */
const ANSWER = [
  [{ type: "text_delta", delta: "An answer about as long as a sentence is, and no longer." }, { type: "finish" }],
] as const

/** Creates a session with this number of messages through the API. */
async function fillHistory(cuecard: Cuecard, messages: number): Promise<string> {
  const { id } = await cuecard.createSession()
  await fillSession(cuecard, id, messages / 2)
  return id
}

export async function benchHistory(): Promise<Row[]> {
  const cuecard = await startCuecard({ port: 0, script: ANSWER })
  const ids = await Promise.all(SIZES.map((size) => fillHistory(cuecard, size)))
  const rows: Row[] = []
  for (const [i, size] of SIZES.entries()) {
    const pages: Page[] = []
    for (let run = 0; run < RUNS; run++) pages.push(await readPage(cuecard, ids[i] ?? "", PAGE))
    const page = pages[0]
    rows.push({
      what: `page of ${PAGE} from a session of ${size.toLocaleString("en")} messages`,
      ours: `${formatMs(median(pages.map((page) => page.ms)))}, ${formatKb(page?.bytes ?? 0)}, ${page?.rows ?? 0} rows read`,
      goal: "flat",
      floor: "",
      peer: "sends all: 1.4 MB after 100 turns, 14 MB and 219 ms after 1,000",
    })
  }
  await cuecard.close()
  return rows
}
