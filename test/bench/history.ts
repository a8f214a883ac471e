/** history.ts: a page of 50 from sessions of 100, 1,000 and 10,000 messages: time, bytes, rows read. */

import { type Cuecard, startCuecard } from "cuecard/testing"
import { median } from "./measure.ts"
import type { Row } from "./table.ts"
import { openSession, runTurn } from "./turn.ts"

const SIZES = [100, 1_000, 10_000] as const
const RUNS = 21

/** Told at once, so that ten thousand messages are there within a minute. */
const ANSWER = [
  [{ type: "text_delta", delta: "An answer about as long as a sentence is, and no longer." }, { type: "finish" }],
] as const

interface Page {
  readonly ms: number
  readonly bytes: number
  readonly rows: number
}

async function readPage(cuecard: Cuecard, id: string): Promise<Page> {
  const url = `${cuecard.url}/v1/sessions/${id}/conversation/recent?limit=50`
  const started = performance.now()
  const response = await fetch(url, { headers: { authorization: `Bearer ${cuecard.token}` } })
  const body = await response.text()
  const ms = performance.now() - started
  return {
    ms,
    bytes: Buffer.byteLength(body),
    rows: Number(/dur=(\d+)/.exec(response.headers.get("server-timing") ?? "")?.[1]),
  }
}

/** A session of so many messages, made the way a user makes one. */
async function fill(cuecard: Cuecard, messages: number): Promise<string> {
  const { id } = await cuecard.createSession()
  const socket = await openSession(cuecard, id)
  for (let i = 0; i < messages / 2; i++) await runTurn(socket, `Question number ${i}?`)
  socket.close()
  return id
}

export async function benchHistory(): Promise<Row[]> {
  const cuecard = await startCuecard({ port: 0, script: ANSWER })
  const rows: Row[] = []
  for (const size of SIZES) {
    const id = await fill(cuecard, size)
    const pages: Page[] = []
    for (let i = 0; i < RUNS; i++) pages.push(await readPage(cuecard, id))
    const [ms, bytes, read] = [pages.map((page) => page.ms), pages[0]?.bytes ?? 0, pages[0]?.rows ?? 0]
    rows.push({
      what: `page of 50 from a session of ${size.toLocaleString("en")} messages`,
      ours: `${median(ms).toFixed(1)} ms, ${(bytes / 1000).toFixed(1)} KB, ${read} rows read`,
      ...{ goal: "flat", floor: "", peer: "sends all: 1.4 MB after 100 turns, 14 MB and 219 ms after 1,000" },
    })
  }
  await cuecard.close()
  return rows
}
