/** import-failures.test.ts: tests imports that cannot be folded, and repeated imports. */

import { env, evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import { MAX_ARGS_CHARS, MAX_IMPORT_LINE_BYTES, MAX_IMPORTED_CALLS, MAX_RESULT_BYTES } from "../../shared/limits.ts"
import { MAX_FOLDING_TRIES } from "../../worker/transfer/import-steps.ts"
import type { Env } from "../../worker/env.ts"
import { openLiveSession } from "../../worker/session/live-session.ts"
import { createUncountedBytes } from "./uncounted-bytes.ts"
import { NO_HOOKS } from "../../worker/session/session-hooks.ts"
import type { Sockets } from "../../worker/socket/sockets.ts"
import { createStagedRows, ROWS_PER_PART } from "../../worker/transfer/staged-rows.ts"
import { CLAIMS, connect, pageOf, sessionOf } from "../support/socket.ts"
import { freshSession as fresh, rowsIn, toolsIn } from "./session-helpers.ts"
import { importFile, streamOf, toJsonl } from "./import-file.ts"

const freshSession = (): Promise<string> => fresh("fail")

const createUserRecord = (more: object): object => ({
  type: "user_message",
  timestamp: "2026-01-01T00:00:00.000Z",
  ...more,
})
const createAnswerRecord = (more: object): object => ({
  type: "assistant_message",
  timestamp: "2026-01-01T00:00:00.000Z",
  ...more,
})

describe("records that can't be folded", () => {
  test("[RE10] a record with an invalid position is reported as a bad line, and blocks nothing", async () => {
    for (const pos of [1.5, 1e300, 2 ** 53, 0, -1]) {
      const id = await freshSession()
      const file = toJsonl(
        createUserRecord({ text: "x", responseId: "u", pos, parent: null }),
        createAnswerRecord({ text: "y", responseId: "a" }),
      )
      expect(await importFile(id, file)).toMatchObject({
        ok: true,
        value: { state: "done", skipped: 1, bad: [{ line: 1, code: "field_invalid" }] },
      })
      expect((await pageOf(id)).messages.map((message) => message.id)).toEqual(["a"])
    }
  })

  test("[VE2] two versions with the same number remain two versions", async () => {
    const id = await freshSession()
    const file = toJsonl(
      createUserRecord({ text: "x", responseId: "u", pos: 1, parent: null }),
      createAnswerRecord({ text: "1", responseId: "a1", pos: 2, parent: 1 }),
      createAnswerRecord({ text: "2", responseId: "a2", pos: 3, parent: 1, version: 2 }),
      createAnswerRecord({ text: "3", responseId: "a3", pos: 4, parent: 1, version: 2 }),
    )
    expect(await importFile(id, file)).toMatchObject({ ok: true, value: { state: "done" } })
    expect((await pageOf(id)).messages.at(-1)).toMatchObject({ id: "a3", version: 3, versions: 3 })
  })

  test("[RE32] an import with a turn that can never be folded is abandoned: nothing is stored, the failure is reported, and waiting messages are answered", async () => {
    const id = await freshSession()
    await runInDurableObject(sessionOf(id), (_object, { storage }) => {
      storage.sql.exec(`CREATE TRIGGER poison BEFORE INSERT ON transcript WHEN NEW.words = 'poison'
        BEGIN SELECT RAISE(ABORT, 'poison'); END`)
      const staging = createStagedRows(storage.sql)
      for (const [n, text] of ["fine", "poison"].entries())
        staging.addRows(1, [{ i: n + 1, at: n, line: JSON.stringify(createUserRecord({ text })), home: null }])
      const summary = { records: 2, skipped: 0, bad: [], sources: ["x"], tip: null, title: "", isPlaced: false }
      staging.setState({ step: "folding", ...summary, isSealed: false })
    })
    await evictDurableObject(sessionOf(id))
    const readState = async () => {
      const progress = await sessionOf(id).importProgress(CLAIMS)
      return progress.ok ? progress.value.state : progress.fault.reason
    }
    await expect.poll(async () => (await pageOf(id)).messages.length).toBe(1)
    const client = await connect(id)
    client.say({ type: "send", id: "q1", content: "/say at last" })
    await client.untilTrue((frame) => frame.type === "ack" && frame.id === "q1")
    for (let i = 0; i < MAX_FOLDING_TRIES && (await readState()) === "folding"; i++) {
      await runDurableObjectAlarm(sessionOf(id))
    }
    expect(await readState()).toBe("failed")
    await expect
      .poll(async () => (await pageOf(id)).messages.map((message) => message.content))
      .toEqual(["/say at last", "at last"])
    expect(await rowsIn(id)).toMatchObject({ staged: 0, staged_part: 0, folding: 0, version: 0 })
  })

  test("[RE6] folding ends without waiting for an unavailable directory", async () => {
    const id = await freshSession()
    const seal = { type: "signature", tip: null, title: "T", records: 2, algorithm: "HMAC-SHA256", value: "x" }
    await runInDurableObject(sessionOf(id), async (_object, { storage }) => {
      const background: Promise<unknown>[] = []
      const createDirectory = () => ({ recordActivity: () => Promise.reject(new Error("away")), setRunning: () => {} })
      const session = openLiveSession({
        storage,
        env: { ...env, DIRECTORY: { getByName: createDirectory } } as unknown as Env,
        hooks: NO_HOOKS,
        sockets: { announceEpoch() {} } as unknown as Sockets,
        armAlarm() {},
        openBytes: createUncountedBytes,
        waitUntil: (work) => void background.push(work),
      })
      const file = toJsonl(createUserRecord({ text: "hi" }), createAnswerRecord({ text: "one", responseId: "a" }), seal)
      expect(await session?.importer.importPart({ part: 1, of: 1 }, streamOf(file))).toMatchObject({
        value: { state: "done" },
      })
      expect(background).toHaveLength(1)
      await Promise.all(background)
      expect(session?.turns.isActive()).toBe(false)
    })
  })
})

describe("importing the same file again", () => {
  test("[RE7] adds nothing; a file that only begins in the same way is a different file", async () => {
    const id = await freshSession()
    const file = toJsonl(createUserRecord({ text: "hi" }), createAnswerRecord({ text: "one" }))
    await importFile(id, file)
    expect(await importFile(id, file)).toMatchObject({ ok: true, value: { duplicate: true } })
    const other = toJsonl(
      createUserRecord({ text: "hi" }),
      createAnswerRecord({ text: "two" }),
      createUserRecord({ text: "more" }),
    )
    expect(await importFile(id, other)).toEqual({ ok: false, fault: { reason: "session_begun" } })
    expect(await importFile(id, toJsonl(createUserRecord({ text: "hi" })))).toEqual({
      ok: false,
      fault: { reason: "session_begun" },
    })
  })

  test("[RE30] adds nothing if the file is in parts, even if it is message-shaped history", async () => {
    const id = await freshSession()
    const [one, two] = [
      ["a", "x"],
      ["b", "c"],
    ].map(([q, a]) => toJsonl({ role: "user", content: q }, { role: "assistant", content: a }))
    await importFile(id, one ?? "", 1, 2)
    await importFile(id, two ?? "", 2, 2)
    for (const [part, text] of [one ?? "", two ?? ""].entries()) {
      expect(await importFile(id, text, part + 1, 2)).toMatchObject({ ok: true, value: { duplicate: true } })
    }
  })
})

describe("oversized content", () => {
  const base = { responseId: "a", turnId: "u", timestamp: "2026-01-01T00:00:00.000Z" }

  test("[RE36] text, results and arguments that don't fit in a row are reported or cut", async () => {
    const id = await freshSession()
    const file = toJsonl(
      createUserRecord({ text: "x", responseId: "u" }),
      { type: "tool_call", ...base, callId: "c1", toolName: "t", arguments: "y".repeat(MAX_ARGS_CHARS + 9) },
      { type: "tool_result", ...base, callId: "c1", ok: true, result: "y".repeat(MAX_RESULT_BYTES + 1) },
      { type: "tool_call", ...base, callId: "c2", toolName: "t" },
      { type: "tool_result", ...base, callId: "c2", ok: true, result: "y".repeat(MAX_IMPORT_LINE_BYTES) },
    )
    expect(await importFile(id, file)).toMatchObject({
      ok: true,
      value: {
        skipped: 1,
        bad: [{ line: 5, code: "body_too_large" }],
      },
    })
    expect(toolsIn((await pageOf(id)).messages[1])).toMatchObject([
      { status: "failed", error: { code: "tool_result_too_large" } },
      { status: "interrupted" },
    ])
    const [call] = await callsIn(id)
    expect(String(call?.["args"])).toHaveLength(MAX_ARGS_CHARS)
    expect(String(call?.["result"]).length).toBeLessThan(1_000)
  })

  test("[RE36] a turn's calls are imported only up to the number that can be folded at once", async () => {
    const id = await freshSession()
    const ids = Array.from({ length: MAX_IMPORTED_CALLS + 500 }, (_, n) => `c${n}`)
    const file = toJsonl(
      createUserRecord({ text: "x", responseId: "u" }),
      ...ids.flatMap((callId) => [
        { type: "tool_call", ...base, callId, toolName: "t" },
        { type: "tool_call_start", ...base, callId },
      ]),
      ...ids.map((callId) => ({ type: "tool_result", ...base, callId, ok: true, result: "y" })),
      createUserRecord({ text: "next", responseId: "u2" }),
    )
    expect(await importFile(id, file)).toMatchObject({ ok: true, value: { state: "done", skipped: 0 } })
    expect(await callsIn(id)).toHaveLength(MAX_IMPORTED_CALLS)
    expect((await pageOf(id)).messages.at(-1)).toMatchObject({ id: "u2" })
  })

  test("[RE12] a waiting call is completed by its callback, even with a restart in between", async () => {
    const id = await freshSession()
    const queued = { mode: "async", status: "queued", responseId: "far" }
    const records = [
      createUserRecord({ text: "ask", responseId: "u" }),
      { type: "tool_call", ...base, callId: "c", toolName: "agents_message" },
      { type: "tool_result", ...base, callId: "c", ok: true, result: queued },
      createUserRecord({ text: "between", responseId: "u2" }),
    ]
    await importFile(id, toJsonl(...records))
    // Recreate the state of a process that ended after it had folded the first turn.
    await runInDurableObject(sessionOf(id), (_object, { storage }) => {
      storage.sql.exec("UPDATE tool_calls SET status = 'waiting', error = NULL")
      const staging = createStagedRows(storage.sql)
      const callback = { type: "agent_callback", text: "the answer", from: "far", responseId: "far" }
      staging.addRows(1, [{ i: 5, at: 9, line: JSON.stringify(callback), home: null }])
      staging.setFoldingProgress({ at: 8, n: ROWS_PER_PART + 4, folded: 4 })
      const summary = { records: 5, skipped: 0, bad: [], sources: ["x"], tip: null, title: "", isPlaced: false }
      staging.setState({ step: "folding", ...summary, isSealed: false })
    })
    await evictDurableObject(sessionOf(id))
    await expect
      .poll(async () => toolsIn((await pageOf(id)).messages[1]))
      .toMatchObject([{ status: "ok", result: "the answer" }])
  })
})

async function callsIn(id: string): Promise<Record<string, SqlStorageValue>[]> {
  return await runInDurableObject(sessionOf(id), (_object, { storage }) =>
    storage.sql.exec("SELECT call_id, args, result FROM tool_calls ORDER BY pos, part").toArray(),
  )
}
