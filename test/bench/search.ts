/**
 * search.ts: measures how long a page of search results takes if a user has 50,000 messages. The queries are rare and
 * frequent words, beginnings of words, and phrases. The floor is a request for the session list.
 *
 * The messages are imported as 50 conversations and indexed in the background, as after an update.
 */

import { type Cuecard, startCuecard } from "cuecard/testing"
import { formatMs, percentile, sleep } from "./measure.ts"
import type { Row } from "./table.ts"

const CONVERSATIONS = 50
const MESSAGES = 1_000
const RUNS = 60
const POLL_MS = 500
const MAX_INDEXING_MS = 10 * 60_000

const QUERIES = {
  "a rare word": "needle7",
  "a word in every message": "about",
  "two frequent words": "about number",
  "the beginning of words": "wo",
  "a phrase": '"word about number"',
  nothing: "nowhere",
} as const

/** Returns a text of about 400 characters. */
function textOf(n: number): string {
  const filler = Array.from({ length: 55 }, (_, i) => `word${(n * 31 + i * 17) % 5_000}`).join(" ")
  return `word about number ${n} ${n % 5_000 === 0 ? "needle7" : ""} ${filler}`
}

async function importConversation({ url, token, createSession }: Cuecard, first: number): Promise<void> {
  const { id } = await createSession()
  const lines = Array.from({ length: MESSAGES }, (_, i) => ({
    type: "message",
    role: i % 2 === 0 ? "user" : "assistant",
    content: textOf(first + i),
  }))
  const headers = { authorization: `Bearer ${token}` }
  const body = lines.map((line) => `${JSON.stringify(line)}\n`).join("")
  const answer = await fetch(new URL(`/v1/sessions/${id}/import`, url), { method: "POST", headers, body })
  if (!answer.ok) throw new Error(`not imported: ${answer.status} ${await answer.text()}`)
}

async function timeRequest(cuecard: Cuecard, path: string): Promise<{ readonly ms: number; readonly text: string }> {
  const started = performance.now()
  const answer = await fetch(new URL(path, cuecard.url), { headers: { authorization: `Bearer ${cuecard.token}` } })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${path}: ${text}`)
  return { ms: performance.now() - started, text }
}

const describeTimes = (times: readonly number[]): string =>
  `${formatMs(percentile(times, 50))}, p95 ${formatMs(percentile(times, 95))}`

async function untilIndexed(cuecard: Cuecard): Promise<void> {
  const until = performance.now() + MAX_INDEXING_MS
  while (performance.now() < until) {
    const { text } = await timeRequest(cuecard, "/v1/search?q=nowhere")
    if (JSON.parse(text).pending === false) return
    await sleep(POLL_MS)
  }
  throw new Error("the conversations were not indexed in time")
}

export async function benchSearch(): Promise<Row[]> {
  const cuecard = await startCuecard()
  try {
    for (let i = 0; i < CONVERSATIONS; i++) await importConversation(cuecard, i * MESSAGES)
    await untilIndexed(cuecard)
    const rows: Row[] = []
    for (const [what, query] of Object.entries(QUERIES)) {
      const times: number[] = []
      const floors: number[] = []
      for (let run = -5; run < RUNS; run++) {
        const found = await timeRequest(cuecard, `/v1/search?q=${encodeURIComponent(query)}`)
        const floor = await timeRequest(cuecard, "/v1/sessions")
        if (run < 0) continue
        times.push(found.ms)
        floors.push(floor.ms)
      }
      rows.push({
        what: `search for ${what} in ${(CONVERSATIONS * MESSAGES).toLocaleString("en")} messages`,
        ours: describeTimes(times),
        goal: "p95 ≤ 20 ms",
        floor: describeTimes(floors),
        peer: "",
      })
    }
    return rows
  } finally {
    await cuecard.close()
  }
}
