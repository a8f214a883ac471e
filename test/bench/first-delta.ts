/**
 * first-delta.ts: measures the time from a message to the first delta of its answer, and how much budgets and spans add
 * to that time.
 *
 * The scripted model yields its first delta in the same task, so the measured time includes no model time. The frame
 * with the stored question arrives first. By then, the message has been received, checked and stored. After that, the
 * turn begins and the first delta is written. There are two floors: a bare object that writes a row and sends it, and
 * one that also moves its alarm. All kinds alternate, with a pause after each, so that other load on the machine
 * affects them equally.
 */

import { type Cuecard, startCuecard } from "cuecard/testing"
import { openSession, runTurn } from "./client.ts"
import { askFloor, startFloor } from "./floor.ts"
import { type Exchange, median, formatMs, sleep } from "./measure.ts"
import type { Row } from "./table.ts"

const WARM_UP = 5
const RUNS = 15
/**
 * Pause in milliseconds. It is long enough for the previous turn to finish all its work: its usage, its log lines and
 * its rows in the directory.
 */
const PAUSE_MS = 50
const PROMPT = "/bench deltas=20 chars=6 tools=0 delay_ms=2"

/** One budget of each kind that a turn is checked against. None of them is used up in this benchmark. */
const BUDGETS = {
  tenant: { tokens_per_day: 1e12, cost_per_month: 1e15 },
  roles: { owner: { tokens_per_day: 1e12 }, member: { tokens_per_day: 1e12 } },
  users: { you: { tokens_per_month: 1e12, concurrent_turns: 4 } },
}
/** Variables that make the server log the spans of every turn. */
const SPANS = { SPANS: "log", SPAN_SAMPLING: "1" }

async function startWithLimits(): Promise<Cuecard> {
  const cuecard = await startCuecard({ port: 0, vars: SPANS })
  const token = await cuecard.tokenFor({ role: "owner" })
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
  const answer = await fetch(`${cuecard.url}/v1/budgets`, { method: "PUT", headers, body: JSON.stringify(BUDGETS) })
  if (!answer.ok) throw new Error(`no budgets: ${answer.status} ${await answer.text()}`)
  return cuecard
}

interface Times {
  /** Time until the frame with the stored question, in milliseconds. */
  readonly stored: number[]
  /** Time until the first delta, in milliseconds. */
  readonly first: number[]
}

async function timeTurn(socket: WebSocket, { stored, first }: Times): Promise<void> {
  const started = performance.now()
  let storedMs = Number.NaN
  socket.addEventListener("message", () => (storedMs = performance.now() - started), { once: true })
  first.push((await runTurn(socket, PROMPT)).firstMs)
  stored.push(storedMs)
}

async function timeFloor(run: Promise<Exchange>, times: number[]): Promise<void> {
  times.push((await run).firstMs)
}

const dropWarmUp = (times: readonly number[]): number[] => times.slice(WARM_UP)

export async function benchFirstDelta(): Promise<Row[]> {
  const floor = await startFloor()
  const bare = await floor.open()
  const servers = [await startCuecard(), await startWithLimits()]
  const [plain, limited] = await Promise.all(servers.map((cuecard) => openSession(cuecard)))
  if (plain === undefined || limited === undefined) throw new Error("no sockets")
  const [ours, withLimits]: [Times, Times] = [
    { stored: [], first: [] },
    { stored: [], first: [] },
  ]
  const [row, alarm]: [number[], number[]] = [[], []]
  for (let run = 0; run < WARM_UP + RUNS; run++) {
    const steps = [
      () => timeTurn(plain, ours),
      () => timeTurn(limited, withLimits),
      () => timeFloor(askFloor(bare, { write: true }), row),
      () => timeFloor(askFloor(bare, { write: true, alarm: true }), alarm),
    ]
    // The order is reversed each time, so that no kind benefits from its position.
    for (const step of run % 2 === 0 ? steps : steps.reverse()) {
      await step()
      await sleep(PAUSE_MS)
    }
  }
  for (const socket of [plain, limited, bare]) socket.close()
  await Promise.all([floor.close(), ...servers.map((cuecard) => cuecard.close())])
  const added = dropWarmUp(withLimits.first).map((time, run) => time - (dropWarmUp(ours.first)[run] ?? Number.NaN))
  const medianOf = (times: readonly number[]): string => formatMs(median(dropWarmUp(times)))
  return [
    {
      what: "first delta of a turn that is not the first; of that, until the question is stored",
      ours: `${medianOf(ours.first)}; ${medianOf(ours.stored)}`,
      goal: "≤ 5 ms",
      floor: `${medianOf(row)} a row, ${medianOf(alarm)} a row and an alarm`,
      peer: "12 ms",
    },
    {
      what: "the same with budgets and spans: added (median of the differences)",
      ours: `${formatMs(median(added))} (${medianOf(withLimits.first)})`,
      goal: "≤ 1 ms",
      floor: "",
      peer: "",
    },
  ]
}
