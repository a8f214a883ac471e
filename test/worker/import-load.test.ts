/**
 * import-load.test.ts: tests that the process serves other requests while it imports a file. The tests count work and
 * don't measure time.
 */

import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import { IMPORT_TOTAL_MS } from "../../shared/limits.ts"
import { BATCH_ROWS, createStagedRows } from "../../worker/transfer/staged-rows.ts"
import { stagePart, YIELD_EVERY_RECORDS } from "../../worker/transfer/stage-upload.ts"
import { IdFilter } from "../../worker/transfer/id-filter.ts"
import { FOLD_YIELD_BATCHES } from "../../worker/transfer/yielder.ts"
import { CLAIMS, pageOf, sessionOf } from "../support/socket.ts"
import { importFile, streamOf, toJsonl } from "./import-file.ts"
import { freshSession as fresh, rowsIn } from "./session-helpers.ts"

const freshSession = (): Promise<string> => fresh("load")

const FOLD_STEP_ROWS = BATCH_ROWS * FOLD_YIELD_BATCHES

/** Counts how often the event loop runs other work while `work` is in progress, which happens nearly once per step. */
async function countTurnsDuring(work: Promise<unknown>, onTurn: () => void = () => {}): Promise<number> {
  let turns = 0
  let isRunning = true
  const countTurn = (): void => {
    turns += 1
    onTurn()
    if (isRunning) setTimeout(countTurn)
  }
  setTimeout(countTurn)
  await work
  isRunning = false
  return turns
}

describe("an import of many small records", () => {
  test("[RE41] stages a bounded number of them before other work gets its turn", async () => {
    const id = await freshSession()
    const count = 6_000
    const largestStep = await runInDurableObject(sessionOf(id), async (_object, { storage }) => {
      const staging = createStagedRows(storage.sql)
      let [records, before, largest] = [0, 0, 0]
      const file = '{"type":"thinking_start"}\n'.repeat(count)
      const staged = stagePart(staging, (write) => storage.transactionSync(write), {
        part: 1,
        of: 1,
        body: streamOf(file),
        times: { idleMs: 60_000, totalMs: 600_000 },
        onRecords: (soFar) => {
          records = soFar
        },
      })
      await countTurnsDuring(staged, () => {
        largest = Math.max(largest, records - before)
        before = records
      })
      expect(await staged).toMatchObject({ ok: true, value: { records: count } })
      return largest
    })
    expect(largestStep).toBeGreaterThan(0)
    expect(largestStep).toBeLessThanOrEqual(3 * YIELD_EVERY_RECORDS)
  })

  test("[RE41] stages a bounded number of messages at a time even if all of them are in one list on a single line", async () => {
    const id = await freshSession()
    const count = 3_000
    const list = Array.from({ length: count }, (_, n) => ({ role: "user", content: `${n}` }))
    const turns = await countTurnsDuring(importFile(id, JSON.stringify(list)))
    expect(turns).toBeGreaterThan((count / YIELD_EVERY_RECORDS + count / FOLD_STEP_ROWS) / 3)
    expect(await rowsIn(id)).toMatchObject({ transcript: count })
  })

  test("[RE41] folds a bounded number of them before other work gets its turn", async () => {
    const id = await freshSession()
    const count = 2_000
    const file = toJsonl(...Array.from({ length: count }, (_, n) => ({ type: "user_message", text: `${n}` })))
    const turns = await countTurnsDuring(importFile(id, file))
    expect(turns).toBeGreaterThan(count / FOLD_STEP_ROWS / 3)
    expect(await rowsIn(id)).toMatchObject({ transcript: count })
  })
})

test("[RE41] an import runs few statements per record, because each statement leaves garbage behind and memory grows", async () => {
  const id = await freshSession()
  const count = 2_000
  const records = Array.from({ length: count }, (_, n) => {
    const head = { turnId: `t${n >> 1}`, responseId: n % 2 === 0 ? `t${n >> 1}` : `r${n}` }
    return { type: n % 2 === 0 ? "user_message" : "assistant_message", ...head, text: `${n}` }
  })
  let statements = 0
  await runInDurableObject(sessionOf(id), (_object, { storage: { sql } }) => {
    const { exec } = Object.getPrototypeOf(sql) as SqlStorage
    const countAndRun = (query: string, ...bindings: SqlStorageValue[]) => {
      statements += 1
      return exec.call(sql, query, ...bindings)
    }
    Object.defineProperty(sql, "exec", { configurable: true, value: countAndRun })
  })
  await importFile(id, toJsonl(...records))
  expect(await rowsIn(id)).toMatchObject({ transcript: count })
  // A turn with two messages writes one row per message, one for the answer's text, and one for the progress.
  expect(statements / count).toBeLessThan(2.5)
})

test("[RE6] a record gets another id if a message has taken its id in the meantime", async () => {
  const id = await freshSession()
  const count = 1_000
  const lines = Array.from({ length: count }, (_, n) => ({ type: "user_message", turnId: `t${n}`, text: `${n}` }))
  let sent: Promise<unknown> | null = null
  const imported = importFile(id, toJsonl(...lines))
  await countTurnsDuring(imported, () => {
    sent ??= Promise.resolve(sessionOf(id).send(CLAIMS, { id: `t${count - 1}`, content: "/say Done." }))
  })
  expect(await sent).toMatchObject({ ok: true, value: { duplicate: false } })
  // The question and its answer follow the imported messages.
  await expect.poll(async () => (await rowsIn(id))["transcript"], { timeout: 5_000 }).toBe(count + 2)
  const { messages } = await pageOf(id)
  expect(messages.slice(-3, -1).map((message) => message.id)).toEqual([`imported-${count}`, `t${count - 1}`])
})

test("[RE41] every folded id is recognised as used", () => {
  const filter = new IdFilter()
  const ids = Array.from({ length: 20_000 }, (_, n) => `t${n}`)
  for (const one of ids) filter.add(one)
  expect(ids.filter((id) => !filter.mayHave(id))).toEqual([])
  const others = ids.map((id) => `r${id}`)
  expect(others.filter((id) => filter.mayHave(id)).length).toBeLessThan(20)
})

test("[RE40] a file is dropped if its parts take too long in total, even if a part has just arrived", async () => {
  const id = await freshSession()
  await importFile(id, toJsonl({ type: "user_message", text: "one" }), 1, 3)
  const began = await runInDurableObject(sessionOf(id), (_object, { storage }) => {
    const staging = createStagedRows(storage.sql)
    const state = staging.readState()
    if (state?.step !== "staging") throw new Error("not staging")
    staging.setState({ ...state, began: Date.now() - IMPORT_TOTAL_MS })
    return state.began ?? 0
  })
  expect(began).toBeGreaterThan(0)
  await runDurableObjectAlarm(sessionOf(id))
  expect(await sessionOf(id).importProgress(CLAIMS)).toMatchObject({ value: { state: "none" } })
  expect(await rowsIn(id)).toMatchObject({ staged: 0, staged_part: 0 })
  expect((await pageOf(id)).messages).toEqual([])
})

test("[RE40] a part that is sent again does not extend the time limit", async () => {
  const id = await freshSession()
  const readStartTime = async () =>
    await runInDurableObject(sessionOf(id), (_object, { storage }) => {
      const state = createStagedRows(storage.sql).readState()
      return state?.step === "staging" ? state.began : null
    })
  await importFile(id, toJsonl({ type: "user_message", text: "one" }), 1, 3)
  const first = await readStartTime()
  await new Promise((resolve) => setTimeout(resolve, 5))
  await importFile(id, toJsonl({ type: "user_message", text: "two" }), 1, 3)
  expect(await readStartTime()).toBe(first)
})
