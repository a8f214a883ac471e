/**
 * tenant-export.ts: measures the export of a tenant with 100 and with 1,000 sessions: the memory growth of workerd, and
 * the duration.
 *
 * The floor exports one session after another through the route for a single session. Every measurement runs in its own
 * process, on the same state.
 */

import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Cuecard, startCuecard } from "cuecard/testing"
import { SignJWT } from "jose"
import { cpuMs, formatMb, peakBytes, rssBytes, sleep } from "./measure.ts"
import type { Row } from "./table.ts"

const SIZES = [100, 1_000] as const
const TURNS = 25
const WORDS = "Lorem ipsum dolor sit amet, consectetur adipiscing elit. ".repeat(12)
const SECRET = "a-secret-of-the-bench-that-is-long-enough"
const POLL_MS = 100

interface Cost {
  readonly wallMs: number
  readonly cpu: number
  readonly growthBytes: number
}

async function tokenOf(tenant: string, role: string): Promise<string> {
  const now = Date.now() / 1000
  const token = new SignJWT({ tenant, role }).setProtectedHeader({ alg: "HS256" }).setSubject("ada")
  const dated = token
    .setJti(crypto.randomUUID())
    .setIssuedAt(now)
    .setExpirationTime(Math.floor(now) + 3_600)
  return await dated.sign(new TextEncoder().encode(SECRET))
}

/** Creates a transcript of about 35 KB. */
function createTranscript(): string {
  const records = Array.from({ length: TURNS }, (_, turn) => {
    const timestamp = new Date(1_750_000_000_000 + turn * 1_000).toISOString()
    const base = { timestamp, sessionId: "bench", turnId: `t${turn}` }
    const answer = { ...base, responseId: `r${turn}`, text: WORDS, status: "completed" }
    return [
      { type: "user_message", ...base, responseId: `t${turn}`, text: WORDS },
      { type: "assistant_message", ...answer },
    ]
  })
  return records
    .flat()
    .map((record) => `${JSON.stringify(record)}\n`)
    .join("")
}

async function sendRequest(url: string, token: string, init: RequestInit = {}): Promise<Response> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
  const response = await fetch(url, { ...init, headers })
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
  return response
}

async function fillTenant(cuecard: Cuecard, tenant: string, sessions: number): Promise<string[]> {
  const token = await tokenOf(tenant, "owner")
  const body = createTranscript()
  const ids: string[] = []
  for (let n = 0; n < sessions; n++) {
    const created = await sendRequest(`${cuecard.url}/v1/sessions`, token, { method: "POST", body: "{}" })
    const { id } = (await created.json()) as { id: string }
    await (await sendRequest(`${cuecard.url}/v1/sessions/${id}/import`, token, { method: "POST", body })).text()
    ids.push(id)
  }
  return ids
}

async function readEach({ url }: Cuecard, tenant: string, ids: readonly string[]): Promise<void> {
  const token = await tokenOf(tenant, "owner")
  for (const id of ids) await (await sendRequest(`${url}/v1/sessions/${id}/events`, token)).arrayBuffer()
}

async function exportAll({ url }: Cuecard, tenant: string, sessions: number): Promise<void> {
  const token = await tokenOf(tenant, "owner")
  type Export = { id: string; state: string; tally: { sessions: number } }
  const started = await sendRequest(`${url}/v1/tenant/export`, token, { method: "POST" })
  let job = (await started.json()) as Export
  for (; job.state === "running"; await sleep(POLL_MS))
    job = (await (await sendRequest(`${url}/v1/tenant/exports/${job.id}`, token)).json()) as Export
  if (job.state !== "done" || job.tally.sessions !== sessions) throw new Error(JSON.stringify(job))
}

async function measureCost(persist: string, work: (cuecard: Cuecard) => Promise<void>): Promise<Cost> {
  const cuecard = await startCuecard({ persist, vars: { JWT_SECRET: SECRET } })
  await sendRequest(`${cuecard.url}/v1/sessions`, await tokenOf("warm", "owner"), { method: "POST", body: "{}" })
  const pid = cuecard.pid()
  const [memory, cpu, started] = [rssBytes(pid), cpuMs(pid), performance.now()]
  await work(cuecard)
  const cost = { wallMs: performance.now() - started, cpu: cpuMs(pid) - cpu, growthBytes: peakBytes(pid) - memory }
  await cuecard.close()
  return cost
}

function costToText({ wallMs, cpu, growthBytes }: Cost): string {
  return `+${formatMb(growthBytes)}, ${(wallMs / 1000).toFixed(1)} s (processor ${(cpu / 1000).toFixed(1)} s)`
}

export async function benchTenantExport(): Promise<Row[]> {
  const persist = await mkdtemp(join(tmpdir(), "cuecard-bench-"))
  const rows: Row[] = []
  for (const sessions of SIZES) {
    const tenant = `bench${sessions}`
    let ids: string[] = []
    await measureCost(persist, async (cuecard) => {
      ids = await fillTenant(cuecard, tenant, sessions)
    })
    const floor = await measureCost(persist, (cuecard) => readEach(cuecard, tenant, ids))
    const ours = await measureCost(persist, (cuecard) => exportAll(cuecard, tenant, sessions))
    const what = `export of a tenant with ${sessions.toLocaleString("en")} sessions of 50 messages: workerd grows by`
    rows.push({
      what,
      ours: costToText(ours),
      goal: "the same excess over the floor at both sizes",
      floor: `${costToText(floor)}, each through its route`,
      peer: "",
    })
  }
  await rm(persist, { recursive: true, force: true })
  return rows
}
