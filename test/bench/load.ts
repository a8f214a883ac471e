/**
 * load.ts: measures 500 sessions, each with one socket, that are in use for three minutes. Also measures 20,000 sockets
 * that are opened and closed.
 *
 * This group runs only when it is named explicitly (`npm run bench -- load`), because it takes several minutes. The
 * floor of the second part is a bare object whose sockets are opened and closed in the same way. The bare object runs
 * behind the same Workers of the local runtime as the server, because the memory of these Workers grows too.
 */

import { type Cuecard, startCuecard } from "cuecard/testing"
import { connectSocket, nextId, openSession } from "./client.ts"
import { startFloor } from "./floor.ts"
import { sendAndAwait, formatMb, formatMs, percentile, rssBytes, sleep } from "./measure.ts"
import type { Row } from "./table.ts"

const SESSIONS = 500
const LOAD_MS = 3 * 60_000
/** Mean time between two questions in a session. */
const PAUSE_MS = 20_000
const PROMPT = "/bench deltas=40 chars=12 tools=1 delay_ms=25"
/** The number of sessions that are opened at a time. */
const BATCH = 20

const SOCKETS = 20_000
const SOCKETS_AT_A_TIME = 50

interface Load {
  readonly firstMs: number[]
  errors: number
}

async function useSession(cuecard: Cuecard, until: number, load: Load): Promise<void> {
  const socket = await openSession(cuecard).catch(() => null)
  if (socket === null) {
    load.errors += 1
    return
  }
  for (;;) {
    await sleep(Math.random() * 2 * PAUSE_MS)
    if (performance.now() > until) break
    const frame = JSON.stringify({ type: "send", id: nextId(), content: PROMPT })
    let last = ""
    const isLast = (text: string): boolean => {
      last = text
      return text.includes('"op":"end"') || text.startsWith('{"type":"error"')
    }
    const turn = await sendAndAwait(socket, frame, (text) => text.startsWith('{"type":"ops"'), isLast).catch(() => null)
    if (turn === null || !last.includes('"status":"completed"')) load.errors += 1
    else load.firstMs.push(turn.firstMs)
    if (turn === null) return
  }
  socket.close()
}

async function benchSessions(): Promise<Row> {
  const cuecard = await startCuecard()
  const load: Load = { firstMs: [], errors: 0 }
  const until = performance.now() + LOAD_MS
  const sessions: Promise<void>[] = []
  for (let i = 0; i < SESSIONS; i += BATCH) {
    for (let n = 0; n < BATCH; n++) sessions.push(useSession(cuecard, until, load))
    await sleep(200)
  }
  const memory: number[] = []
  while (performance.now() < until) {
    await sleep(Math.min(60_000, Math.max(until - performance.now(), 0)))
    memory.push(rssBytes(cuecard.pid()))
  }
  await Promise.all(sessions)
  await cuecard.close()
  const [p50, p99] = [50, 99].map((p) => formatMs(percentile(load.firstMs, p)))
  return {
    what: `${SESSIONS} sockets of ${SESSIONS} sessions for ${LOAD_MS / 60_000} minutes: turns, errors, first delta, workerd each minute`,
    ours: `${load.firstMs.length}, ${load.errors}, p50 ${p50}, p99 ${p99}, ${memory.map(formatMb).join(" → ")}`,
    goal: "0 errors, flat memory",
    floor: "",
    peer: "",
  }
}

/** Opens and closes sockets. Returns the memory afterwards, in bytes. */
async function comeAndGo(pid: number, open: () => Promise<WebSocket>): Promise<number> {
  for (let n = 0; n < SOCKETS; n += SOCKETS_AT_A_TIME) {
    const sockets = await Promise.all(Array.from({ length: SOCKETS_AT_A_TIME }, open))
    const closing = sockets.map(async (socket) => {
      const closed = new Promise((resolve) => socket.addEventListener("close", resolve, { once: true }))
      socket.close(1000)
      await closed
    })
    await Promise.all(closing)
  }
  await sleep(5_000)
  return rssBytes(pid)
}

async function benchSockets(): Promise<Row> {
  const floor = await startFloor()
  const bare = await comeAndGo(floor.pid, () => floor.open("one"))
  await floor.close()
  const cuecard = await startCuecard()
  const { id } = await cuecard.createSession()
  const ours = await comeAndGo(cuecard.pid(), () => connectSocket(cuecard, id))
  await cuecard.close()
  return {
    what: `${SOCKETS.toLocaleString("en")} sockets that come and go: workerd afterwards`,
    ours: `${formatMb(ours)} (${(ours / bare).toFixed(2)} ×)`,
    goal: "≤ 1.3 ×",
    floor: formatMb(bare),
    peer: "",
  }
}

export async function benchLoad(): Promise<Row[]> {
  return [await benchSessions(), await benchSockets()]
}
