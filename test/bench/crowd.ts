/**
 * crowd.ts: measures one session with twenty sockets, and two hundred sessions at once, and compares them with bare
 * objects.
 */

import { type Cuecard, startCuecard } from "cuecard/testing"
import { nextId, openSession } from "./client.ts"
import { type Floor, isFloorEnd, startFloor } from "./floor.ts"
import { cpuMs, sendAndAwait, listenUntil, formatMb, median, formatMs, peakBytes } from "./measure.ts"
import type { Row } from "./table.ts"

const SOCKETS = 20
const RUNS = 3
const SESSIONS = 200

const isEnd = (text: string): boolean => text.includes('"op":"end"')
const isFirst = (): boolean => true

function prompt(deltas: number): string {
  return JSON.stringify({ type: "send", id: nextId(), content: `/bench deltas=${deltas} chars=6 yield_every=10` })
}

/** Returns the median time from the first frame until every socket has received the end. The first run is a warm-up. */
async function timeAll(sockets: readonly WebSocket[], ask: () => string, isLast: typeof isEnd): Promise<number> {
  const times: number[] = []
  for (let i = 0; i <= RUNS; i++) {
    const started = performance.now()
    const all = sockets.map((socket) => listenUntil(socket, isFirst, isLast))
    sockets[0]?.send(ask())
    await Promise.all(all)
    if (i > 0) times.push(performance.now() - started)
  }
  for (const socket of sockets) socket.close()
  return median(times)
}

async function floorOfSockets(floor: Floor, gather: boolean): Promise<number> {
  const name = `all-${gather}`
  const sockets = await Promise.all(Array.from({ length: SOCKETS }, () => floor.open(name)))
  const request = JSON.stringify({ deltas: 2000, chars: 6, every: 10, gather, all: true })
  return timeAll(sockets, () => request, isFloorEnd)
}

async function benchSockets(): Promise<Row> {
  const floor = await startFloor()
  const single = await floorOfSockets(floor, false)
  const gathered = await floorOfSockets(floor, true)
  await floor.close()
  const cuecard = await startCuecard()
  const { id } = await cuecard.createSession()
  const sockets = await Promise.all(Array.from({ length: SOCKETS }, () => openSession(cuecard, id)))
  const ours = await timeAll(sockets, () => prompt(2000), isEnd)
  await cuecard.close()
  return {
    what: `${SOCKETS} sockets of one session, 2,000 deltas: until all sockets have received the end`,
    ours: formatMs(ours),
    goal: "≤ 300 ms",
    peer: "1,613 ms",
    floor: `${formatMs(single)} single, ${formatMs(gathered)} gathered`,
  }
}

interface Crowd {
  readonly ms: number
  /** Processor time of workerd. */
  readonly cpuMs: number
  readonly errors: number
  /** Peak memory of workerd. */
  readonly peak: number
}

/** Makes all sockets send at once. A closed socket or an answer that did not complete counts as an error. */
async function measureCrowd(
  sockets: readonly WebSocket[],
  ask: () => string,
  isLast: (text: string) => boolean,
  isGood: (text: string) => boolean,
  pid: number,
): Promise<Crowd> {
  let errors = 0
  const [started, before] = [performance.now(), cpuMs(pid)]
  const turns = sockets.map(async (socket) => {
    let last = ""
    const isOver = (text: string): boolean => {
      last = text
      return isLast(text)
    }
    await sendAndAwait(socket, ask(), isFirst, isOver).catch(() => {
      last = ""
    })
    if (!isGood(last)) errors += 1
  })
  await Promise.all(turns)
  const done = { ms: performance.now() - started, cpuMs: cpuMs(pid) - before, errors, peak: peakBytes(pid) }
  for (const socket of sockets) socket.close()
  return done
}

async function createInTens<T>(count: number, make: (i: number) => Promise<T>): Promise<T[]> {
  const made: T[] = []
  for (let i = 0; i < count; i += 10)
    made.push(...(await Promise.all(Array.from({ length: 10 }, (_, n) => make(i + n)))))
  return made
}

async function crowdOfOurs(deltas: number): Promise<Crowd> {
  const cuecard: Cuecard = await startCuecard()
  const sockets = await createInTens(SESSIONS, () => openSession(cuecard))
  const isCompleted = (text: string): boolean => text.includes('"status":"completed"')
  const isOver = (text: string): boolean => isEnd(text) || text.startsWith('{"type":"error"')
  const done = await measureCrowd(sockets, () => prompt(deltas), isOver, isCompleted, cuecard.pid())
  await cuecard.close()
  return done
}

/** Measures the floor with batched frames, because single frames would measure the client instead of the server. */
async function crowdOfFloor(deltas: number): Promise<Crowd> {
  const floor = await startFloor()
  const sockets = await createInTens(SESSIONS, (i) => floor.open(`crowd-${i}`))
  const request = JSON.stringify({ deltas, chars: 6, every: 10, gather: true })
  const done = await measureCrowd(sockets, () => request, isFloorEnd, isFloorEnd, floor.pid)
  await floor.close()
  return done
}

function describeCrowd({ ms, cpuMs, peak }: Crowd): string {
  return `${(ms / 1000).toFixed(1)} s (processor ${(cpuMs / 1000).toFixed(1)} s), ${formatMb(peak)}`
}

async function benchSessions(deltas: number, goal: string, peer: string): Promise<Row> {
  const floor = await crowdOfFloor(deltas)
  const ours = await crowdOfOurs(deltas)
  return {
    what: `${SESSIONS} sessions at once, ${deltas.toLocaleString("en")} deltas each: all done; workerd at its largest`,
    ours: `${describeCrowd(ours)}, ${ours.errors} errors`,
    goal,
    floor: `${describeCrowd(floor)} gathered`,
    peer,
  }
}

export async function benchCrowd(): Promise<Row[]> {
  return [
    await benchSockets(),
    await benchSessions(200, "≤ 10 s, ≤ 600 MB, 0 errors", "25 s, 1.0 GB"),
    await benchSessions(2000, "≤ 10 s, ≤ 600 MB, 0 errors", "137–222 s, 1.5–2.2 GB"),
  ]
}
