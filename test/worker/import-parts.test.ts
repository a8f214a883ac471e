/** import-parts.test.ts: tests imports in numbered parts, their progress, and parts that never arrive. */

import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import { IMPORT_STAGING_MS, MAX_IMPORT_PARTS } from "../../shared/limits.ts"
import { createStagedRows } from "../../worker/transfer/staged-rows.ts"
import { CLAIMS, connect, pageOf, sessionOf } from "../support/socket.ts"
import { call as callRoute, makeSession, refusal, tokenOf } from "./http.ts"
import { exportOf, fillSession } from "./export-sample.ts"
import { freshSession as fresh, rowsIn, withoutTraces } from "./session-helpers.ts"
import { importFile, toJsonl } from "./import-file.ts"

const freshSession = (): Promise<string> => fresh("part")

async function progressOf(id: string) {
  const progress = await sessionOf(id).importProgress(CLAIMS)
  if (!progress.ok) throw new Error(progress.fault.reason)
  return progress.value
}

function untilDone(id: string): Promise<void> {
  return expect.poll(async () => (await progressOf(id)).state).toBe("done")
}

/** Splits a file at line ends into `of` parts. */
function splitFile(file: string, of: number): string[] {
  const all = file.trimEnd().split("\n")
  const size = Math.ceil(all.length / of)
  return Array.from({ length: of }, (_, i) => `${all.slice(i * size, (i + 1) * size).join("\n")}\n`)
}

const userRecord = (n: number): object => ({ type: "user_message", text: `words ${n}` })

describe("a file in parts", () => {
  test("[RE20] [RE30] produces the same bytes, cards and seal as one file, in any order, with repeated parts and across restarts", async () => {
    const here = await freshSession()
    await fillSession(here)
    const file = await exportOf(here)
    const parts = splitFile(file, 5)
    const there = await freshSession()
    for (const [i, part] of [3, 1, 3, 5, 2].entries()) {
      expect(await importFile(there, parts[part - 1] ?? "", part, 5)).toMatchObject({
        ok: true,
        value: { state: "staging" },
      })
      if (i % 2 === 1) await evictDurableObject(sessionOf(there))
    }
    expect(await progressOf(there)).toMatchObject({ state: "staging", parts: { of: 5, missing: [4] }, folded: 0 })
    expect((await pageOf(there)).messages).toEqual([])
    expect(await importFile(there, parts[3] ?? "", 4, 5)).toMatchObject({ ok: true, value: { duplicate: false } })
    await untilDone(there)
    const records = file.trimEnd().split("\n").length - 1
    expect(await progressOf(there)).toEqual({
      state: "done",
      records,
      folded: records,
      messages: 6,
      skipped: 0,
      bad: [],
      isSealed: true,
    })
    expect((await exportOf(there)).replaceAll(there, here).split("\n")).toEqual(file.split("\n"))
    expect(withoutTraces((await pageOf(there)).messages)).toBe(withoutTraces((await pageOf(here)).messages))
    expect(await rowsIn(there)).toMatchObject({ staged: 0, staged_part: 0, folding: 0 })
    // Sending a part or the whole file again adds nothing. Another file, or other parts of the same file, are refused.
    expect(await importFile(there, parts[1] ?? "", 2, 5)).toMatchObject({ ok: true, value: { duplicate: true } })
    expect(await importFile(there, file)).toMatchObject({ ok: true, value: { duplicate: true } })
    expect(await importFile(there, toJsonl(userRecord(9)), 2, 5)).toEqual({
      ok: false,
      fault: { reason: "session_begun" },
    })
    expect(await importFile(there, parts[1] ?? "", 2, 4)).toEqual({ ok: false, fault: { reason: "session_begun" } })
  })

  test("[RE20] a part that is sent again replaces the earlier one", async () => {
    const id = await freshSession()
    await importFile(id, toJsonl(userRecord(1), userRecord(2), userRecord(3)), 1, 2)
    await importFile(id, toJsonl(userRecord(4)), 1, 2)
    await importFile(id, toJsonl(userRecord(5)), 2, 2)
    await untilDone(id)
    expect((await pageOf(id)).messages.map((message) => message.content)).toEqual(["words 4", "words 5"])
  })

  test("[RE30] [RE28] is ordered by time across all parts; a record without a timestamp stays with the one before it", async () => {
    const id = await freshSession()
    const T = (second: number): string => `2025-06-01T10:00:0${second}.000Z`
    await importFile(
      id,
      toJsonl({ type: "text_delta", delta: " and more" }, { ...userRecord(3), timestamp: T(5) }),
      2,
      3,
    )
    await importFile(
      id,
      toJsonl({ ...userRecord(2), timestamp: T(4) }, { type: "text_delta", timestamp: T(1), delta: "first" }),
      3,
      3,
    )
    await importFile(
      id,
      toJsonl({ ...userRecord(1), timestamp: T(0) }, { type: "text_delta", delta: "zero", timestamp: T(2) }),
      1,
      3,
    )
    await untilDone(id)
    expect((await pageOf(id)).messages.map((message) => message.content)).toEqual([
      "words 1",
      "firstzero and more",
      "words 2",
      "words 3",
    ])
  })

  test("[RE20] a part with a different count or a bad number is refused, and so is a whole file while parts are staged", async () => {
    const id = await freshSession()
    await importFile(id, toJsonl(userRecord(1)), 1, 3)
    expect(await importFile(id, toJsonl(userRecord(2)), 2, 4)).toEqual({
      ok: false,
      fault: { reason: "import_running" },
    })
    expect(await importFile(id, toJsonl(userRecord(2)))).toEqual({ ok: false, fault: { reason: "import_running" } })
    const token = await tokenOf("acme", "ada")
    const route = await makeSession(token)
    const postImport = (query: string) =>
      callRoute(`/v1/sessions/${route}/import?${query}`, { method: "POST", token, body: toJsonl(userRecord(1)) })
    for (const query of ["part=0&of=2", "part=3&of=2", "part=x&of=2", "part=2", `part=1&of=${MAX_IMPORT_PARTS + 1}`]) {
      expect(await postImport(query)).toEqual(refusal(400, "field_invalid"))
    }
    expect(await postImport("part=2&of=2")).toMatchObject({
      status: 202,
      json: { part: 2, of: 2, state: "staging", records: 1, parts: { of: 2, missing: [1] } },
    })
  })

  test("[RE30] without any usable line is refused with `import_empty`, and leaves the session unchanged", async () => {
    const id = await freshSession()
    await importFile(id, "nonsense\n", 1, 2)
    expect(await importFile(id, "{}\n", 2, 2)).toEqual({ ok: false, fault: { reason: "import_empty" } })
    expect(await progressOf(id)).toMatchObject({ state: "none" })
    expect(await importFile(id, toJsonl(userRecord(1)))).toMatchObject({ ok: true, value: { records: 1 } })
  })

  test("[RE31] makes messages wait until all parts have arrived; if some never arrive, it is dropped and the messages are answered", async () => {
    const id = await freshSession()
    await importFile(id, toJsonl(userRecord(1)), 1, 2)
    const client = await connect(id)
    client.say({ type: "send", id: "q1", content: "/say at last" })
    await client.untilTrue((frame) => frame.type === "ack" && frame.id === "q1")
    await runDurableObjectAlarm(sessionOf(id))
    expect((await progressOf(id)).state).toBe("staging")
    await runInDurableObject(sessionOf(id), (_object, { storage }) => {
      const staging = createStagedRows(storage.sql)
      staging.setState({ step: "staging", of: 2, touched: Date.now() - IMPORT_STAGING_MS - 1 })
    })
    await evictDurableObject(sessionOf(id))
    await expect
      .poll(async () => (await pageOf(id)).messages.map((message) => message.content))
      .toEqual(["/say at last", "at last"])
    expect(await progressOf(id)).toMatchObject({ state: "none" })
    expect(await rowsIn(id)).toMatchObject({ staged: 0, staged_part: 0 })
    expect(await importFile(id, toJsonl(userRecord(1)), 1, 2)).toEqual({
      ok: false,
      fault: { reason: "session_begun" },
    })
  })

  test("[RE31] is dropped by its own alarm if the remaining parts don't arrive", async () => {
    const id = await freshSession()
    await importFile(id, toJsonl(userRecord(1)), 1, 2)
    await runDurableObjectAlarm(sessionOf(id))
    await runInDurableObject(sessionOf(id), async (_object, { storage }) => {
      const due = (await storage.getAlarm()) ?? 0
      expect(due - Date.now()).toBeGreaterThan(IMPORT_STAGING_MS - 60_000)
      expect(due - Date.now()).toBeLessThan(IMPORT_STAGING_MS + 60_000)
      const staging = createStagedRows(storage.sql)
      staging.setState({ step: "staging", of: 2, touched: Date.now() - IMPORT_STAGING_MS - 1 })
    })
    await runDurableObjectAlarm(sessionOf(id))
    expect(await progressOf(id)).toMatchObject({ state: "none" })
  })
})

describe("progress", () => {
  test("[RE21] [RE33] is reported during the upload and while folding, and no client has to wait for it", async () => {
    const id = await freshSession()
    const { readable, writable } = new IdentityTransformStream()
    const writer = writable.getWriter()
    const importing = sessionOf(id).import(CLAIMS, readable, { part: 1, of: 1 })
    const count = 4_000
    const records = Array.from({ length: count }, (_, n) => userRecord(n))
    await writer.write(new TextEncoder().encode(toJsonl(...records.slice(0, 100))))
    await expect.poll(async () => await progressOf(id)).toMatchObject({ state: "staging", records: 100, folded: 0 })
    const seen = new Set<number>()
    const watchImport = async (): Promise<void> => {
      for (let state = ""; state !== "done"; ) {
        const progress = await progressOf(id)
        state = progress.state
        if (state === "folding" && progress.records === count) seen.add(progress.folded)
        // Pause, because the object runs in the same process and would be starved otherwise.
        await new Promise((resolve) => setTimeout(resolve, 1))
      }
    }
    const watching = watchImport()
    await writer.write(new TextEncoder().encode(toJsonl(...records.slice(100))))
    await writer.close()
    expect(await importing).toMatchObject({ ok: true, value: { state: "done", records: count, folded: count } })
    await watching
    expect(seen.size).toBeGreaterThan(2)
    expect([...seen]).toEqual([...seen].sort((a, b) => a - b))
  })

  test("[RE21] can be read over HTTP, only for the user's own sessions", async () => {
    const token = await tokenOf("acme", "ada")
    const id = await makeSession(token)
    const path = `/v1/sessions/${id}/import`
    expect(await callRoute(path, { token })).toMatchObject({
      status: 200,
      json: { state: "none", records: 0, folded: 0 },
    })
    await callRoute(path, { method: "POST", token, body: toJsonl(userRecord(1), userRecord(2)) })
    expect((await callRoute(path, { token })).json).toEqual({
      state: "done",
      records: 2,
      folded: 2,
      messages: 2,
      skipped: 0,
      bad: [],
      isSealed: false,
    })
    const eve = await tokenOf("acme", "eve")
    expect(await callRoute(path, { token: eve })).toEqual(refusal(404, "session_unknown"))
    expect(await callRoute("/v1/sessions/nowhere/import", { token })).toEqual(refusal(404, "session_unknown"))
  })

  test("[RE6] continues where a restart interrupted folding, and nothing is duplicated or lost", async () => {
    const id = await freshSession()
    const count = 300
    await runInDurableObject(sessionOf(id), (_object, { storage }) => {
      const staging = createStagedRows(storage.sql)
      for (let n = 1; n <= count; n++)
        staging.addRows(1, [{ i: n, at: n, line: JSON.stringify(userRecord(n)), home: null }])
      const summary = { records: count, skipped: 0, bad: [], sources: ["x"], tip: null, title: "", isPlaced: false }
      staging.setState({ step: "folding", ...summary, isSealed: false })
    })
    // Evict the object repeatedly while it folds.
    for (let i = 0; i < 6; i++) {
      await evictDurableObject(sessionOf(id))
      await progressOf(id)
    }
    await untilDone(id)
    const { messages } = await pageOf(id, { limit: 400 })
    expect(messages.map((message) => message.content)).toEqual(
      Array.from({ length: count }, (_, n) => `words ${n + 1}`),
    )
  })
})
