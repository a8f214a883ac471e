/**
 * upload-random.test.ts: at seeded random moments, cuts off uploads, erases sessions during uploads and imports that
 * copy files, and kills the server. In the end, every row must have its bytes, and all bytes must have their row.
 */

import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Cuecard, startCuecard } from "cuecard/testing"
import { expect, test } from "vitest"
import { everyNth } from "../support/seeded.ts"
import { type Chance, createChance } from "../faults/chance.ts"
import { beginUpload, readLeftovers, createPng, readAll } from "./uploads.ts"

const ROUNDS = 4
/** Variables that shorten half an hour to 3.6 s. */
const VARS = { TIME_SCALE: "0.002" }

const sleep = (ms: number) => new Promise((done) => setTimeout(done, ms))

/**
 * Timeout of a request, in milliseconds. It is longer than any request takes on a busy machine. Every request must end,
 * even if its session is erased meanwhile.
 */
const HUNG_MS = 60_000
/** The requests that did not end in time. */
const hung: string[] = []

/** Sends a request. Returns null if the request was refused or cut off, or if the server was killed. */
async function sendRequest(
  { url, token }: Cuecard,
  method: string,
  path: string,
  body?: BodyInit,
): Promise<string | null> {
  const signal = AbortSignal.timeout(HUNG_MS)
  try {
    const headers = { authorization: `Bearer ${token}` }
    const answer = await fetch(`${url}/v1/sessions/${path}`, {
      method,
      headers,
      signal,
      ...(body === undefined ? {} : { body }),
    })
    const text = await answer.text()
    return answer.ok ? text : null
  } catch {
    if (signal.aborted) hung.push(`${method} ${path}`)
    return null
  }
}

/** Uploads a file over a slow connection, which is sometimes cut. */
async function dripUpload(cuecard: Cuecard, session: string, chance: Chance): Promise<void> {
  const bytes = createPng(chance.between(20_000, 400_000), chance.int(2 ** 31))
  const step = Math.ceil(bytes.length / 8)
  const connection = beginUpload(cuecard, session, bytes.length, bytes.subarray(0, step))
  connection.resume()
  const sent = chance.odds(0.3) ? bytes.length / 2 : bytes.length
  for (let at = step; at < sent; at += step) {
    await sleep(chance.int(60))
    connection.write(bytes.subarray(at, at + step))
  }
  await sleep(chance.int(500))
  connection.destroy()
}

async function useSession(cuecard: Cuecard, chance: Chance, erased: Set<string>): Promise<void> {
  const { id } = await cuecard.createSession()
  const eraseSession = async (session: string, ms: number): Promise<void> => {
    await sleep(ms)
    if ((await sendRequest(cuecard, "DELETE", session)) !== null) erased.add(session)
  }
  const jobs: Promise<unknown>[] = [dripUpload(cuecard, id, chance), dripUpload(cuecard, id, chance)]
  const files = [1, 2, 3].map(() => createPng(chance.between(1_000, 2_000_000), chance.int(2 ** 31)))
  const [eraseAt, copiedAt] = [chance.odds(0.6) ? chance.int(900) : null, [chance.int(600), chance.int(600)]]
  if (eraseAt !== null) jobs.push(eraseSession(id, eraseAt))
  const kept = await Promise.all(files.map((file) => sendRequest(cuecard, "POST", `${id}/assets`, file)))
  const attachments = kept.flatMap((answer) => (answer === null ? [] : [JSON.parse(answer).id]))
  await sendRequest(cuecard, "POST", `${id}/messages`, JSON.stringify({ content: "Paint a sunset", attachments }))
  const events = await sendRequest(cuecard, "GET", `${id}/events`)
  for (const ms of events === null ? [] : copiedAt) {
    const copy = await cuecard.createSession()
    jobs.push(sendRequest(cuecard, "POST", `${copy.id}/import`, events ?? ""), eraseSession(copy.id, ms))
  }
  await Promise.all(jobs)
}

test.each(everyNth([1, 6], 2))(
  "[AS7] [AS9] whatever is cut off, erased or killed, no rows or bytes are orphaned: seed %i",
  async (seed) => {
    const chance = createChance(seed)
    const persist = await mkdtemp(join(tmpdir(), "uploads-"))
    const erased = new Set<string>()
    let cuecard = await startCuecard({ persist, vars: VARS })
    try {
      for (let round = 0; round < ROUNDS; round++) {
        const lives = Array.from({ length: 4 }, () => useSession(cuecard, chance, erased).catch(() => {}))
        if (chance.odds(0.5)) {
          await sleep(chance.int(500))
          await cuecard.kill()
          cuecard = await startCuecard({ persist, vars: VARS })
        }
        await Promise.all(lives)
        expect(hung).toEqual([])
      }
      const isAtRest = (): boolean => {
        const { rows, objects } = readLeftovers(persist)
        return (rows["kept"] ?? 0) === objects && Object.keys(rows).every((state) => state === "kept")
      }
      await expect.poll(isAtRest, { timeout: 40_000, interval: 250 }).toBe(true)
      const { rows, keys } = readAll(persist)
      const ids = keys.map((key) => key.split("/")[2])
      expect(ids.sort()).toEqual(rows.map(({ id }) => id).sort())
      expect(keys.filter((key) => erased.has(key.split("/")[1] ?? ""))).toEqual([])
    } finally {
      await cuecard.close()
      await rm(persist, { recursive: true })
    }
  },
)
