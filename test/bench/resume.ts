/**
 * resume.ts: measures what happens if a socket is cut, or the process is killed, in the middle of 2,000 deltas.
 *
 * A second socket stays open, and counts what the first one missed. The reader's transcript is compared with history.
 */

import { type Cuecard, startCuecard } from "cuecard/testing"
import { toCanonicalJson } from "../../shared/json.ts"
import { DELTA_WINDOW_MS } from "../../shared/delta-window.ts"
import { answerTo, isEnd, nextId, openReader, type Reader, readPage, textShown } from "./client.ts"
import { askFloor, startFloor } from "./floor.ts"
import { formatKb, median, formatMs, sleep } from "./measure.ts"
import type { Row } from "./table.ts"

const RUNS = 5
const PROMPT = "/bench deltas=2000 chars=6 delay_ms=1"
const CHARS = 12_000
/** How long the reader is disconnected, in milliseconds. */
const AWAY_MS = 500

interface Cut {
  readonly cuecard: Cuecard
  readonly session: string
  readonly exchange: string
  /** The reader that was cut off after about half of the text. */
  readonly reader: Reader
  readonly watcher: Reader
  /** Resolves when the second socket has received the end. */
  readonly ended: Promise<unknown>
}

/**
 * Returns how long a run waits, in milliseconds, before it cuts the connection, once half of the text has arrived. Each
 * run cuts at a different point within a window.
 */
const momentMs = (run: number): number => (run * DELTA_WINDOW_MS) / RUNS

/** Runs a turn and cuts the reader off after half of it. */
async function cutInTheMiddle(cuecard: Cuecard, run: number): Promise<Cut> {
  const session = (await cuecard.createSession()).id
  const [reader, watcher] = [await openReader(cuecard, session), await openReader(cuecard, session)]
  const exchange = nextId()
  const half = reader.until(() => textShown(answerTo(reader, exchange)).length >= CHARS / 2)
  const ended = watcher.until(isEnd)
  reader.say({ type: "send", id: exchange, content: PROMPT })
  await half
  await sleep(momentMs(run))
  reader.socket.close()
  return { cuecard, session, exchange, reader, watcher, ended }
}

interface Resumed {
  /** Time from connecting until the last missed frame has arrived, in milliseconds. */
  readonly ms: number
  readonly missed: number
  /** Bytes sent in addition to the missed frames. */
  readonly again: number
  readonly isWhole: boolean
}

async function resumeReader(cut: Cut): Promise<Resumed> {
  const { cuecard, session, exchange, watcher, ended } = cut
  await sleep(AWAY_MS)
  const started = performance.now()
  const back = await openReader(cuecard, session, cut.reader)
  const end = back.until(isEnd)
  // The server's hello contains the newest seq. All frames up to that seq were missed.
  if (back.seq < back.welcome) await back.until(() => back.seq >= back.welcome)
  const done = performance.now() - started
  const { bytes, seq } = back
  await Promise.all([ended, end])
  const missed = Array.from(watcher.sizes).reduce(
    (sum, [at, size]) => (at > cut.reader.seq && at <= seq ? sum + size : sum),
    0,
  )
  const isWhole = await isAsStored(cuecard, session, back, exchange)
  for (const socket of [back.socket, watcher.socket]) socket.close()
  return { ms: done, missed, again: bytes - missed, isWhole }
}

/** Resumes the reader after the turn has ended. Returns whether the reader's transcript matches what is stored. */
async function resumeAfterEnd(cut: Cut): Promise<boolean> {
  await cut.ended
  const back = await openReader(cut.cuecard, cut.session, cut.reader)
  if (back.seq < back.welcome) await back.until(() => back.seq >= back.welcome)
  const isWhole = await isAsStored(cut.cuecard, cut.session, back, cut.exchange)
  for (const socket of [back.socket, cut.watcher.socket]) socket.close()
  return isWhole
}

/** Returns whether the reader's transcript is complete and equals history, byte for byte. */
async function isAsStored(cuecard: Cuecard, session: string, reader: Reader, exchange: string): Promise<boolean> {
  const { messages } = await readPage(cuecard, session, 10)
  const stored = messages.find((message) => message.exchange_id === exchange && message.role === "assistant")
  const held = answerTo(reader, exchange)
  const segments = held !== undefined && toCanonicalJson(held.segments) === toCanonicalJson(stored?.segments)
  return segments && held.status === "completed" && textShown(stored).length === textShown(held).length
}

/** Returns how long it takes to open a socket and receive one frame on the bare platform, in milliseconds. */
async function floorMs(): Promise<number> {
  const floor = await startFloor()
  const times: number[] = []
  for (let i = 0; i < 4 * RUNS; i++) {
    const started = performance.now()
    const socket = await floor.open()
    await askFloor(socket, { deltas: 1, chars: 6, every: 2 })
    times.push(performance.now() - started)
    socket.close()
  }
  await floor.close()
  return median(times)
}

interface Killed {
  /** Number of characters that the reader had seen. */
  readonly seen: number
  /** Number of those characters that history contains right after the restart. */
  readonly stillStored: number
  readonly status: string
  /** Time until the new process responds. */
  readonly ms: number
}

async function killDuringAnswer(run: number): Promise<Killed> {
  const cuecard = await startCuecard()
  const session = (await cuecard.createSession()).id
  const reader = await openReader(cuecard, session)
  const exchange = nextId()
  const half = reader.until(() => textShown(answerTo(reader, exchange)).length >= CHARS / 2)
  reader.say({ type: "send", id: exchange, content: PROMPT })
  await half
  await sleep(momentMs(run))
  await cuecard.kill()
  // Frames in flight at the kill were sent, so they count as seen.
  await sleep(100)
  const seen = textShown(answerTo(reader, exchange))
  const next = await startCuecard({ persist: cuecard.persist })
  const page = await readPage(next, session, 10)
  const stored = page.messages.find((message) => message.exchange_id === exchange && message.role === "assistant")
  const text = textShown(stored)
  let stillStored = 0
  while (stillStored < seen.length && text[stillStored] === seen[stillStored]) stillStored++
  await next.close()
  await cuecard.close()
  return { seen: seen.length, stillStored, status: stored?.status ?? "none", ms: page.ms }
}

async function repeatRun<T>(run: (i: number) => Promise<T>): Promise<T[]> {
  const runs: T[] = []
  for (let i = 0; i < RUNS; i++) runs.push(await run(i))
  return runs
}

const countRuns = (runs: readonly boolean[]): string => `${runs.filter(Boolean).length} of ${runs.length}`

export async function benchResume(): Promise<Row[]> {
  const floor = await floorMs()
  const cuecard = await startCuecard()
  const middle = await repeatRun(async (i) => resumeReader(await cutInTheMiddle(cuecard, i)))
  // These runs measure no times, so they can be concurrent.
  const late = await Promise.all(
    Array.from({ length: RUNS }, async (_, i) => resumeAfterEnd(await cutInTheMiddle(cuecard, i))),
  )
  await cuecard.close()
  const killed = await repeatRun(killDuringAnswer)
  const medianOf = (key: "ms" | "missed" | "again"): number => median(middle.map((run) => run[key]))
  const statuses = [...new Set(killed.map(({ status }) => status))].join(", ")
  return [
    {
      what: `reconnect in the middle of 2,000 deltas after ${AWAY_MS} ms: bytes sent besides the ${formatKb(medianOf("missed"))} missed`,
      ours: `${medianOf("again")} B`,
      goal: "≤ 1 KB",
      floor: "",
      peer: "164 KB",
    },
    {
      what: "the same: from connecting to caught up",
      ours: formatMs(medianOf("ms")),
      goal: "",
      floor: `${formatMs(floor)} (a socket and one frame)`,
      peer: "29 ms",
    },
    {
      what: "the same: the final text equals the stored text",
      ours: countRuns(middle.map((run) => run.isWhole)),
      goal: "all",
      floor: "",
      peer: "",
    },
    {
      what: "the turn ends while the client is away: the text is whole",
      ours: countRuns(late),
      goal: "all",
      floor: "",
      peer: "half the text is missing",
    },
    {
      what: "kill -9 in the middle: characters seen that a reload shows at once",
      ours: `${sumRuns(killed, "stillStored")} of ${sumRuns(killed, "seen")} (${statuses}, ${formatMs(median(killed.map((run) => run.ms)))})`,
      goal: "all",
      floor: "",
      peer: "no answer until it is generated again",
    },
  ]
}

function sumRuns(runs: readonly Killed[], key: "seen" | "stillStored"): number {
  return runs.reduce((total, run) => total + run[key], 0)
}
