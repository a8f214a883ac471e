/**
 * upload-random.test.ts: uploads that are cut, sessions that are erased under them and under imports that copy files, and
 * a server that is killed, at seeded random moments: in the end there are bytes for all rows, and a row for all bytes.
 */

import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Cuecard, startCuecard } from "cuecard/testing"
import { expect, test } from "vitest"
import { type Chance, createChance } from "../faults/chance.ts"
import { begin, left, png, readAll } from "./uploads.ts"

const ROUNDS = 4
/** Half an hour becomes 3.6 s. */
const VARS = { TIME_SCALE: "0.002" }

const pend = new Map<number, string>()
let pn = 0
function track<T>(what: string, p: Promise<T>): Promise<T> {
  const n = ++pn
  pend.set(n, `${what} @${new Date().toISOString()}`)
  return p.finally(() => pend.delete(n))
}
import { writeFileSync as wf } from "node:fs"
import { execSync as ex } from "node:child_process"
const later = (ms: number) => new Promise((done) => setTimeout(done, ms))

/** A killed server answers nothing: null. */
async function ask({ url, token }: Cuecard, method: string, path: string, body?: BodyInit): Promise<string | null> {
  try {
    const options = { method, headers: { authorization: `Bearer ${token}` }, ...(body === undefined ? {} : { body }) }
    const answer = await track(`fetch ${method} ${url} ${path.slice(0,80)} body ${typeof body === "string" ? body.length : "bytes"}`, fetch(`${url}/v1/sessions/${path}`, options))
    const text = await track(`text ${method} ${path.slice(0,80)}`, answer.text())
    return answer.ok ? text : null
  } catch {
    return null
  }
}

/** An upload whose line is slow, and cut now and then. */
async function drip(cuecard: Cuecard, session: string, chance: Chance): Promise<void> {
  const bytes = png(chance.between(20_000, 400_000), chance.int(2 ** 31))
  const step = Math.ceil(bytes.length / 8)
  const line = begin(cuecard, session, bytes.length, bytes.subarray(0, step))
  line.resume()
  const sent = chance.odds(0.3) ? bytes.length / 2 : bytes.length
  for (let at = step; at < sent; at += step) {
    await later(chance.int(60))
    line.write(bytes.subarray(at, at + step))
  }
  await later(chance.int(500))
  line.destroy()
}

async function live(cuecard: Cuecard, chance: Chance, gone: Set<string>): Promise<void> {
  const { id } = await track("create", cuecard.createSession())
  const erase = async (session: string, ms: number): Promise<void> => {
    await later(ms)
    if ((await ask(cuecard, "DELETE", session)) !== null) gone.add(session)
  }
  const jobs: Promise<unknown>[] = [drip(cuecard, id, chance), drip(cuecard, id, chance)]
  const files = [1, 2, 3].map(() => png(chance.between(1_000, 2_000_000), chance.int(2 ** 31)))
  const [eraseAt, copiedAt] = [chance.odds(0.6) ? chance.int(900) : null, [chance.int(600), chance.int(600)]]
  if (eraseAt !== null) jobs.push(erase(id, eraseAt))
  const kept = await Promise.all(files.map((file) => ask(cuecard, "POST", `${id}/assets`, file)))
  const attachments = kept.flatMap((answer) => (answer === null ? [] : [JSON.parse(answer).id]))
  await ask(cuecard, "POST", `${id}/messages`, JSON.stringify({ content: "Paint a sunset", attachments }))
  const told = await ask(cuecard, "GET", `${id}/events`)
  for (const ms of told === null ? [] : copiedAt) {
    const copy = await track("create copy", cuecard.createSession())
    jobs.push(ask(cuecard, "POST", `${copy.id}/import`, told ?? ""), erase(copy.id, ms))
  }
  await Promise.all(jobs)
}

test.each([1, 6])("[AS7] [AS9] whatever is cut, erased and killed, nothing is orphaned: seed %i", async (seed) => {
  const chance = createChance(seed)
  const dump = setInterval(() => { if (pend.size) wf(`/tmp/t11/pend-${process.pid}-${seed}.txt`, new Date().toISOString() + "\n" + [...pend.values()].join("\n") + "\n") }, 5000)
  dump.unref()
  const persist = await mkdtemp(join(tmpdir(), "uploads-"))
  const gone = new Set<string>()
  let cuecard = await startCuecard({ persist, vars: VARS })
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const lives = Array.from({ length: 4 }, () => track("live", live(cuecard, chance, gone)).catch(() => {}))
      if (chance.odds(0.5)) {
        await later(chance.int(500))
        await track("kill", cuecard.kill())
        cuecard = await track("start", startCuecard({ persist, vars: VARS }))
      }
      await track("lives", Promise.all(lives))
    }
    const isAtRest = (): boolean => {
      const { rows, objects } = left(persist)
      return (rows["kept"] ?? 0) === objects && Object.keys(rows).every((state) => state === "kept")
    }
    await track("poll", expect.poll(isAtRest, { timeout: 40_000, interval: 250 }).toBe(true) as Promise<unknown>)
    const { rows, keys } = readAll(persist)
    const ids = keys.map((key) => key.split("/")[2])
    expect(ids.sort()).toEqual(rows.map(({ id }) => id).sort())
    expect(keys.filter((key) => gone.has(key.split("/")[1] ?? ""))).toEqual([])
  } finally {
    await track("close", cuecard.close())
    await rm(persist, { recursive: true })
  }
})
