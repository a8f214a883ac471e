/**
 * cost.ts: measures the bytes, processor time and duration of a paced turn and of a reload, and how soon a session's
 * object leaves memory. It writes the results into docs/cost.md. Tests check the other tables on that page.
 */

import { readFileSync, writeFileSync } from "node:fs"
import { type Cuecard, startCuecard } from "cuecard/testing"
import { createTable, putTable } from "../support/doc-table.ts"
import { isEnd, nextId, openReader, openSession, readPage, runTurn, type Turn } from "./client.ts"
import { cpuMs, formatKb, median, formatMs, sleep } from "./measure.ts"
import type { Row } from "./table.ts"

const PAGE = new URL("../../docs/cost.md", import.meta.url)
const PROMPT = "/bench deltas=400 tools=2 delay_ms=10"
const TURNS = 4
const RELOADS = 50

interface Measured {
  readonly up: number
  readonly down: number
  readonly cpuMs: number
  readonly wallMs: number
}

async function measureTurns(cuecard: Cuecard, session: string): Promise<Measured> {
  const socket = await openSession(cuecard, session)
  await runTurn(socket, PROMPT)
  const before = cpuMs(cuecard.pid())
  const turns: Turn[] = []
  for (let i = 1; i < TURNS; i++) turns.push(await runTurn(socket, PROMPT))
  const each = (cpuMs(cuecard.pid()) - before) / turns.length
  socket.close()
  const medianOf = (key: "up" | "bytes" | "wholeMs"): number => median(turns.map((turn) => turn[key]))
  return { up: medianOf("up"), down: medianOf("bytes"), cpuMs: each, wallMs: medianOf("wholeMs") }
}

/** Measures the requests that the page makes for a reload: the session list, the history and a socket. */
async function measureReloads(cuecard: Cuecard, session: string): Promise<Measured> {
  const headers = { authorization: `Bearer ${cuecard.token}` }
  const reloadPage = async (): Promise<{ readonly bytes: number; readonly ms: number }> => {
    const started = performance.now()
    const list = await (await fetch(`${cuecard.url}/v1/sessions`, { headers })).text()
    const page = await readPage(cuecard, session, 50)
    const reader = await openReader(cuecard, session)
    reader.socket.close()
    return { bytes: Buffer.byteLength(list) + page.bytes + reader.bytes, ms: performance.now() - started }
  }
  for (let i = 0; i < 5; i++) await reloadPage()
  const before = cpuMs(cuecard.pid())
  const reloads = []
  for (let i = 0; i < RELOADS; i++) reloads.push(await reloadPage())
  const each = (cpuMs(cuecard.pid()) - before) / RELOADS
  const down = median(reloads.map(({ bytes }) => bytes))
  return { up: 0, down, cpuMs: each, wallMs: median(reloads.map((reload) => reload.ms)) }
}

/** Times after the end of a turn, in seconds, when the benchmark checks whether the object is still in memory. */
const CHECKED_SECONDS = [8, 9.5, 10.5, 11, 12, 14]

/**
 * Returns the first of CHECKED_SECONDS by which the object has left memory. After that, a resume returns the whole
 * message instead of its ops.
 */
async function measureIdle(cuecard: Cuecard): Promise<number | null> {
  const left = await Promise.all(
    CHECKED_SECONDS.map(async (seconds) => {
      const { id } = await cuecard.createSession()
      const reader = await openReader(cuecard, id)
      const place = { epoch: reader.epoch, after: reader.seq }
      const ended = reader.until(isEnd)
      reader.say({ type: "send", id: nextId(), content: "/bench deltas=20 tools=1" })
      await ended
      await sleep(seconds * 1000)
      const texts: string[] = []
      reader.socket.addEventListener("message", ({ data }) => void texts.push(String(data)))
      reader.say({ type: "hello", protocol: 4, live: true, ...place })
      await sleep(500)
      reader.socket.close()
      return texts.every((text) => !text.startsWith('{"type":"ops"'))
    }),
  )
  return CHECKED_SECONDS.find((_, i) => left[i]) ?? null
}

export async function benchCost(): Promise<Row[]> {
  const cuecard = await startCuecard()
  const { id } = await cuecard.createSession()
  const turn = await measureTurns(cuecard, id)
  const reload = await measureReloads(cuecard, id)
  const seconds = await measureIdle(cuecard)
  await cuecard.close()
  const idle = seconds === null ? "longer than 14 s" : `within ${seconds} s`
  const rows = [
    [
      "a turn of 400 deltas over 4 s with two tools: bytes up, bytes down",
      `${turn.up} B, ${formatKb(turn.down)}`,
      "grows with history",
    ],
    ["the same: processor time of workerd, duration", `${formatMs(turn.cpuMs)}, ${formatMs(turn.wallMs)}`, ""],
    ["rows written by that turn; by a turn of 2,000 deltas at full speed", "29; 14", "45; 230"],
    [`a reload after ${TURNS} turns: bytes down`, formatKb(reload.down), "1.4 MB after 100 turns"],
    ["the same: processor time of workerd, duration", `${formatMs(reload.cpuMs)}, ${formatMs(reload.wallMs)}`, ""],
    ["time after a turn until its object leaves memory", idle, ""],
  ]
  const table = createTable(["", "Cuecard", "Cloudflare's agents SDK"], rows)
  writeFileSync(PAGE, putTable(readFileSync(PAGE, "utf8"), "measured", table))
  return rows.map(([what = "", ours = "", peer = ""]) => ({ what, ours, peer, goal: "", floor: "" }))
}
