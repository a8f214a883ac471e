/**
 * import.ts: measures an import of 100,000 records and 50 MB: the memory growth of workerd, the duration, and a page of
 * history afterwards.
 *
 * The floor is an object that reads the same bytes through one buffer, writes each line as a row, and then reads the
 * rows and writes one new row for every ten.
 */

import { type Cuecard, startCuecard } from "cuecard/testing"
import { type Page, readPage } from "./client.ts"
import { startFloor } from "./floor.ts"
import { cpuMs, formatMb, median, formatMs, peakBytes, rssBytes, sleep } from "./measure.ts"
import type { Row } from "./table.ts"

const RECORDS = 100_000
const SMALL = 1_000
/**
 * The number of records per turn: ten for a question and an answer with a tool call; two for the hardest case, a
 * question and an answer without a call.
 */
const LONG_TURN = 10
const SHORT_TURN = 2
const PAGE = 50
const RUNS = 21
/** Time between two progress requests, in milliseconds. The page uses the same interval. */
const POLL_MS = 500
/** Number of records per chunk. */
const SEND = 100

const WORDS = "Lorem ipsum dolor sit amet, consectetur adipiscing elit. ".repeat(6)

function recordOf(n: number, perTurn: number): object {
  const [turn, at] = [Math.floor(n / perTurn), n % perTurn]
  const timestamp = new Date(1_750_000_000_000 + n * 1_000).toISOString()
  const base = { timestamp, sessionId: "bench", turnId: `t${turn}`, responseId: at === 0 ? `t${turn}` : `r${turn}` }
  if (at === 0) return { type: "user_message", ...base, text: `${n} ${WORDS}` }
  if (at === perTurn - 1) return { type: "assistant_message", ...base, text: WORDS, status: "completed" }
  if (at === 3) return { type: "tool_call", ...base, callId: `c${turn}`, toolName: "read", arguments: "{}" }
  if (at === 4) return { type: "tool_result", ...base, callId: `c${turn}`, ok: true, result: WORDS }
  return { type: "text_delta", ...base, delta: `${n} ${WORDS}` }
}

function bodyOf(records: number, perTurn: number): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let n = 0
  return new ReadableStream(
    {
      pull(controller) {
        if (n >= records) return controller.close()
        const lines = Array.from({ length: Math.min(SEND, records - n) }, (_, i) => recordOf(n + i, perTurn))
        n += lines.length
        controller.enqueue(encoder.encode(lines.map((line) => `${JSON.stringify(line)}\n`).join("")))
      },
    },
    { highWaterMark: 0 },
  )
}

interface Cost {
  readonly wallMs: number
  readonly cpu: number
  readonly growthBytes: number
}

async function measureCost(pid: number, work: () => Promise<void>): Promise<Cost> {
  const [memory, cpu, started] = [rssBytes(pid), cpuMs(pid), performance.now()]
  await work()
  return { wallMs: performance.now() - started, cpu: cpuMs(pid) - cpu, growthBytes: peakBytes(pid) - memory }
}

async function postBody(url: string, token: string, body: ReadableStream<Uint8Array>): Promise<string> {
  const headers = { authorization: `Bearer ${token}` }
  const answer = await fetch(url, { method: "POST", body, headers, duplex: "half" } as RequestInit)
  if (!answer.ok) throw new Error(`not accepted: ${answer.status} ${await answer.text()}`)
  return await answer.text()
}

async function importInto(cuecard: Cuecard, records: number, perTurn: number): Promise<string> {
  const { id } = await cuecard.createSession()
  const url = `${cuecard.url}/v1/sessions/${id}/import`
  let progress: { state?: string; folded?: number } = JSON.parse(
    await postBody(url, cuecard.token, bodyOf(records, perTurn)),
  )
  while (progress.state !== "done") {
    // Poll rarely: each request leaves garbage in the runtime's front, which would be counted as memory of the import.
    await sleep(POLL_MS)
    progress = (await (
      await fetch(url, { headers: { authorization: `Bearer ${cuecard.token}` } })
    ).json()) as typeof progress
  }
  if (progress.folded !== records) throw new Error(`${progress.folded} of ${records} records`)
  return id
}

/** Measures an import in its own process, so that the growth starts from zero. */
async function measureImport(perTurn: number): Promise<{ readonly cost: Cost; readonly pages: readonly Page[][] }> {
  const cuecard = await startCuecard()
  const small = await importInto(cuecard, SMALL, perTurn)
  let large = ""
  const cost = await measureCost(cuecard.pid(), async () => {
    large = await importInto(cuecard, RECORDS, perTurn)
  })
  const pages: Page[][] = []
  for (const id of [small, large]) {
    const read: Page[] = []
    for (let run = 0; run < RUNS; run++) read.push(await readPage(cuecard, id, PAGE))
    pages.push(read)
  }
  await cuecard.close()
  return { cost, pages }
}

async function measureFloor(): Promise<Cost> {
  const floor = await startFloor()
  const url = new URL("import", floor.url).href
  await postBody(new URL("small", floor.url).href, "", bodyOf(SMALL, LONG_TURN))
  const cost = await measureCost(floor.pid, async () => void (await postBody(url, "", bodyOf(RECORDS, LONG_TURN))))
  await floor.close()
  return cost
}

function costOf({ wallMs, cpu, growthBytes }: Cost): string {
  return `+${formatMb(growthBytes)}, ${(wallMs / 1000).toFixed(1)} s (processor ${(cpu / 1000).toFixed(1)} s)`
}

export async function benchImport(): Promise<Row[]> {
  const floor = await measureFloor()
  const long = await measureImport(LONG_TURN)
  const short = await measureImport(SHORT_TURN)
  const createRow = (what: string, ours: string, goal: string, bare = ""): Row => ({
    what,
    ours,
    goal,
    floor: bare,
    peer: "",
  })
  const pageOf = (pages: readonly Page[] = []): string =>
    `${formatMs(median(pages.map((page) => page.ms)))}, ${pages[0]?.rows ?? 0} rows read`
  const count = RECORDS.toLocaleString("en")
  return [
    createRow(
      `import of ${count} records, 50 MB, ten a turn: workerd grows by`,
      costOf(long.cost),
      "< 64 MB",
      costOf(floor),
    ),
    createRow(`the same, two a turn (${count} messages)`, costOf(short.cost), ""),
    createRow(`page of ${PAGE} after an import of ${SMALL.toLocaleString("en")} records`, pageOf(long.pages[0]), ""),
    createRow(`page of ${PAGE} after an import of ${count} records`, pageOf(long.pages[1]), "flat"),
  ]
}
