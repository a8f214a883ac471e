/**
 * search-index.test.ts: tests the search index of a user's directory when fetches fail or are superseded, and when the
 * index is full.
 */

import { env, evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test"
import { afterEach, describe, expect, test, vi } from "vitest"
import type { SearchPage } from "../../shared/protocol/http-body.ts"
import { createMessage, type ToolCall } from "../../shared/protocol/message.ts"
import type { SearchUpdate, TurnText } from "../../worker/platform/rpc/search-types.ts"
import { searchMessages } from "../../worker/search/message-search.ts"
import { SearchIndex } from "../../worker/search/search-index.ts"
import { Session } from "../../worker/session/session-object.ts"
import { call, makeSession, tokenOf } from "./http.ts"
import { askQuestion } from "./tenant-transfer.ts"

afterEach(() => {
  vi.restoreAllMocks()
})

const directoryOf = (tenant: string) => env.DIRECTORY.getByName(`${tenant}:ada`)

async function search(token: string, text: string): Promise<SearchPage> {
  return (await call(`/v1/search?q=${text}`, { token })).json
}

function createTurn(pos: number, text: string, at = pos): TurnText {
  return { pos, question: { id: `q${pos}`, role: "user", at, text }, answer: null }
}

function createCall(result: string): ToolCall {
  return {
    call_id: "c1",
    name: "probe",
    args: "{}",
    status: "ok",
    ordinal: null,
    channel: null,
    card: null,
    output: "",
    result,
    error: null,
    approval: null,
    outputSize: null,
    ephemeral: false,
    media: [],
  }
}

/** Runs `run` with the SQL storage of a directory that lists the given sessions. */
async function withSql<T>(name: string, sessions: readonly string[], run: (sql: SqlStorage) => T): Promise<T> {
  const directory = env.DIRECTORY.getByName(name)
  for (const session of sessions) await directory.addSession(session, `Title ${session}`, 0)
  return await runInDurableObject(directory, (_object, { storage: { sql } }) => run(sql))
}

/** Makes the fetch due, so that the next alarm performs it. */
function makeFetchDue(tenant: string) {
  return runInDurableObject(directoryOf(tenant), (_object, { storage: { sql } }) => {
    sql.exec("UPDATE text_fetch SET at = 1")
  })
}

describe("fetching a session's text", () => {
  async function unindex(tenant: string): Promise<void> {
    await runInDurableObject(directoryOf(tenant), (_object, { storage: { sql } }) => {
      sql.exec("DROP TABLE IF EXISTS search_words; DELETE FROM search_entry; UPDATE sessions SET indexed = 0")
    })
    await evictDurableObject(directoryOf(tenant))
  }

  /** Returns when the fetch is repeated, and when the alarm is due. */
  const readTimes = (tenant: string) =>
    runInDurableObject(directoryOf(tenant), async (_object, { storage }) => ({
      retry: storage.sql.exec<{ at: number }>("SELECT at FROM text_fetch").one().at,
      alarm: (await storage.getAlarm()) ?? Infinity,
    }))

  test("[FT30] a failed fetch is repeated, and succeeds once the session can be read", async () => {
    const token = await tokenOf("ft30", "ada")
    const id = await makeSession(token)
    await askQuestion(id, token, "/say feldspar")
    await unindex("ft30")
    const reading = vi.spyOn(Session.prototype, "readTurnTexts").mockRejectedValue(new Error("cut off"))
    expect((await search(token, "feldspar")).pending).toBe(true)
    await runDurableObjectAlarm(directoryOf("ft30"))
    const { retry, alarm } = await readTimes("ft30")
    expect(retry).toBeGreaterThan(Date.now())
    expect(retry).toBeLessThanOrEqual(Date.now() + 10_000)
    expect(alarm).toBeLessThanOrEqual(retry)
    reading.mockRestore()
    await makeFetchDue("ft30")
    await runDurableObjectAlarm(directoryOf("ft30"))
    expect(await search(token, "feldspar")).toMatchObject({ pending: false, hits: [{}, {}] })
  })

  test("[FT30] an unreadable session is abandoned after seven failures, and fetched again after its next turn", async () => {
    const token = await tokenOf("ft30b", "ada")
    const id = await makeSession(token)
    await askQuestion(id, token, "/say orthoclase")
    await unindex("ft30b")
    const reading = vi.spyOn(Session.prototype, "readTurnTexts").mockRejectedValue(new Error("unreadable"))
    expect((await search(token, "orthoclase")).pending).toBe(true)
    for (let n = 0; n < 7; n++) {
      expect(await runDurableObjectAlarm(directoryOf("ft30b"))).toBe(true)
      await makeFetchDue("ft30b")
    }
    expect(reading).toHaveBeenCalledTimes(7)
    expect(await search(token, "orthoclase")).toMatchObject({ pending: false, hits: [] })
    await runDurableObjectAlarm(directoryOf("ft30b"))
    expect(reading).toHaveBeenCalledTimes(7)
    reading.mockRestore()
    await askQuestion(id, token, "/say orthoclase again")
    await expect
      .poll(async () => {
        await runDurableObjectAlarm(directoryOf("ft30b"))
        return (await search(token, "orthoclase")).hits.length
      })
      .toBe(3)
  })

  test("[FT31] a fetch that a newer turn has superseded is ignored", async () => {
    const token = await tokenOf("ft31", "ada")
    const id = await makeSession(token)
    await askQuestion(id, token, "/say gabbro")
    await unindex("ft31")
    const { readTurnTexts } = Session.prototype
    vi.spyOn(Session.prototype, "readTurnTexts").mockImplementationOnce(async function (this: Session, ...args) {
      const read = await readTurnTexts.apply(this, args)
      const newer: SearchUpdate = { tip: 90, after: 0, turns: [createTurn(90, "newer gabbro")] }
      await directoryOf("ft31").setRunning(id, false, undefined, { search: newer })
      return read
    })
    await search(token, "gabbro")
    await runDurableObjectAlarm(directoryOf("ft31"))
    expect((await search(token, "newer")).hits).toHaveLength(1)
  })

  test("[FT31] a new session has no indexed text from a session with the same id that an earlier version removed", async () => {
    const token = await tokenOf("ft31b", "ada")
    const id = await makeSession(token)
    await askQuestion(id, token, "/say dunite")
    await expect.poll(async () => (await search(token, "dunite")).hits.length).toBe(2)
    // Remove the session in the same way as a Worker that predates the search.
    await env.SESSION.getByName(`ft31b:${id}`).erase({ tenant: "ft31b", user: "ada" })
    await runInDurableObject(directoryOf("ft31b"), (_object, { storage: { sql } }) => {
      sql.exec("DELETE FROM sessions WHERE id = ?", id)
    })
    const body = JSON.stringify({ id, title: "Another one" })
    expect((await call("/v1/sessions", { method: "POST", token, body })).status).toBe(201)
    expect((await search(token, "dunite")).hits).toEqual([])
    expect((await search(token, "another")).hits).toHaveLength(1)
  })
})

describe("a full index", () => {
  test("[FT32] drops its oldest text but no titles, and fetches nothing again", async () => {
    const found = await withSql("ft32:ada", ["old", "short", "new"], (sql) => {
      const index = new SearchIndex(sql, 0)
      const texts = (session: string, ...turns: TurnText[]) =>
        index.apply(session, { tip: turns.at(-1)?.pos ?? 0, after: index.findNewest(session), turns })
      // First replace the entries, which contain only the titles.
      sql.exec("DROP TABLE search_words; DELETE FROM search_entry")
      texts("old", createTurn(2, "granite one"), createTurn(4, "granite two"), createTurn(6, "granite three"))
      texts("short", createTurn(2, "granite four", 10))
      texts("new", createTurn(2, "granite five", 20), createTurn(4, "granite six", 30))
      const find = (text: string) =>
        index
          .find({ text, scope: "all", limit: 20, after: null })
          ?.hits.map(({ role, session }) => `${role} ${session}`)
      return {
        granite: find("granite"),
        titles: find("title"),
        newest: ["old", "short", "new"].map((session) => index.findNewest(session)),
        pending: index.hasUnindexed(),
        rows: sql.exec("SELECT count(*) AS n FROM search_entry").one()["n"],
      }
    })
    expect(found.titles).toEqual(["title new", "title short", "title old"])
    expect(found.granite).toEqual(["user new"])
    expect(found.newest).toEqual([6, 2, 4])
    expect(found.pending).toBe(false)
    expect(found.rows).toBeLessThanOrEqual(6)
  })

  test("[FT33] adding the 20,000th entry with the same time reads about as many rows as adding the 2,000th", async () => {
    const costs = await withSql("ft33:ada", ["s"], (sql) => {
      sql.exec(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 1999)
        INSERT INTO search_entry (n, session, pos) SELECT 7000 + i, 'x', i FROM n`)
      const measure = (pos: number): { readonly rows: number; readonly n: number } => {
        let rows = 0
        const counting = {
          databaseSize: 0,
          exec(query: string, ...bindings: unknown[]) {
            const cursor = sql.exec(query, ...bindings)
            const all = cursor.toArray()
            rows += cursor.rowsRead
            return { toArray: () => all }
          },
        } as unknown as SqlStorage
        const index = new SearchIndex(counting)
        index.apply("s", { tip: pos, after: index.findNewest("s"), turns: [createTurn(pos, "mica", 7)] })
        const [row] = sql
          .exec<{ n: number }>("SELECT n FROM search_entry WHERE session = 's' AND pos = ?", pos)
          .toArray()
        return { rows, n: row?.n ?? 0 }
      }
      const few = measure(2)
      sql.exec(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 17999)
        INSERT INTO search_entry (n, session, pos) SELECT 9001 + i, 'y', i FROM n`)
      return { few, many: measure(4) }
    })
    expect([costs.few.n, costs.many.n]).toEqual([9000, 27001])
    expect(costs.many.rows - costs.few.rows).toBeLessThanOrEqual(10)
  })
})

test("[FT8] a request stops at 2 MB of stored text, tool results included", () => {
  const read: number[] = []
  const store = {
    readTip: () => 100,
    isOnPath: () => true,
    findMessageAt(pos: number) {
      read.push(pos)
      const message = createMessage({
        id: `m${pos}`,
        role: "assistant",
        exchange_id: `q${pos}`,
        timestamp: "2026-01-01T00:00:00.000Z",
        parts: [{ type: "tool_call", step: 0, call: createCall("x".repeat(500_000)) }],
      })
      return { pos, parent: pos === 1 ? null : pos - 1, message }
    },
  }
  const found = searchMessages(store, { text: "word", limit: 10, before: null })
  expect(read.length).toBeLessThan(8)
  expect(found).toEqual({ hits: [], next: read.at(-1) })
})
