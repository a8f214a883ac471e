/** directory.test.ts: tests a user's directory of sessions. */

import { env, evictDurableObject, runInDurableObject } from "cloudflare:test"
import { afterEach, expect, test, vi } from "vitest"
import type { SessionSummary } from "../../shared/protocol/http-body.ts"
import { MAX_SESSIONS_LISTED } from "../../shared/limits.ts"
import { LIST_AFTER_SQL, LIST_SQL } from "../../worker/directory/session-lists.ts"
import { call, makeSession, refusal, tablesOf, tokenOf } from "./http.ts"

afterEach(() => {
  vi.useRealTimers()
})

test("[DI1] lists a user's own sessions, most recently used first, titled by their first message", async () => {
  const token = await tokenOf("list", "ada")
  const [one, two] = [await makeSession(token), await makeSession(token, "Named")]
  // Wait for the next millisecond. Otherwise, both sessions would be equally recent.
  const created = Date.now()
  await expect.poll(() => Date.now()).toBeGreaterThan(created)
  await call(`/v1/sessions/${one}/messages`, { method: "POST", token, body: '{"content":"/say  first\\nwords"}' })
  const listSessions = async () => (await call("/v1/sessions", { token })).json.sessions
  await expect
    .poll(async () => (await listSessions()).map((session: { title: string }) => session.title))
    .toEqual(["/say first words", "Named"])
  const sessions = await listSessions()
  expect(sessions.map((session: { id: string }) => session.id)).toEqual([one, two])
  const { unread: _, ...session } = sessions[0]
  expect(Object.keys(session).sort()).toEqual(["active", "created", "id", "running", "title"])
  expect(sessions[0].active).toBeGreaterThanOrEqual(sessions[0].created)
})

test("[DI1] a user sees no sessions of other users, even in the same tenant or with the same name", async () => {
  await makeSession(await tokenOf("own", "ada"))
  for (const [tenant, user] of [
    ["own", "eve"],
    ["other", "ada"],
  ] as const) {
    const { json } = await call("/v1/sessions", { token: await tokenOf(tenant, user) })
    expect(json.sessions).toEqual([])
  }
})

test("[DI2] reading or touching an unknown user's directory writes nothing", async () => {
  const stub = env.DIRECTORY.getByName("nobody:nobody")
  expect(await stub.listSessions(5)).toEqual([])
  await stub.recordActivity("ghost", 1, "x")
  expect(await stub.getRevocationState()).toEqual({ n: 0, tokens: [], upTo: null })
  expect(await tablesOf(stub)).toEqual([])
})

test("[DI3] adding is idempotent; a touch only moves the time forward, keeps the title unless it gives a new one, and adds no session", async () => {
  const stub = env.DIRECTORY.getByName("acme:grace")
  await stub.addSession("s1", "One", 100)
  await stub.recordActivity("s1", 300)
  await stub.addSession("s1", "Other", 100)
  await stub.recordActivity("s1", 200, "Late")
  await stub.recordActivity("ghost", 400, "x")
  expect(await stub.listSessions(5)).toEqual([{ id: "s1", title: "Late", created: 100, active: 300, running: false }])
})

test("[DI3] after an eviction, the directory lists its sessions in the same order, up to the limit", async () => {
  const stub = env.DIRECTORY.getByName("acme:linus")
  for (let n = 1; n <= 4; n += 1) await stub.addSession(`s${n}`, "", n)
  await stub.recordActivity("s2", 9)
  await evictDurableObject(stub)
  expect((await stub.listSessions(3)).map(({ id }) => id)).toEqual(["s2", "s4", "s3"])
})

test("[DI3] a directory created before revocations existed keeps its sessions, and accepts revocations", async () => {
  const stub = env.DIRECTORY.getByName("acme:old")
  await runInDurableObject(stub, (_object, { storage: { sql } }) => {
    sql.exec(`CREATE TABLE schema_version (one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL);
      INSERT INTO schema_version VALUES (1, 1);
      CREATE TABLE sessions (
        id TEXT PRIMARY KEY, title TEXT NOT NULL,
        created INTEGER NOT NULL, active INTEGER NOT NULL) WITHOUT ROWID;
      CREATE INDEX sessions_active ON sessions (active, created);
      INSERT INTO sessions VALUES ('s1', 'One', 100, 200)`)
  })
  await evictDurableObject(stub)
  const claims = { tenant: "acme", user: "old", expires: 4_000_000_000, token: "t1", issued: 1 }
  expect(await stub.authorizeSocket(claims, "s1")).toMatchObject({ ok: true })
  expect(await stub.revokeTokens(claims, false)).toMatchObject({ ok: true })
  expect(await stub.getRevocationState()).toEqual({ n: 1, tokens: ["t1"], upTo: null })
  expect(await stub.authorizeSocket(claims, "s1")).toMatchObject({ ok: false, fault: { reason: "token_revoked" } })
  expect(await stub.listSessions(5)).toEqual([{ id: "s1", title: "One", created: 100, active: 200, running: false }])
})

test("[DI4] a read costs only the rows that it returns, however many sessions there are", async () => {
  const stub = env.DIRECTORY.getByName("acme:many")
  for (let n = 0; n < 300; n += 1) await stub.addSession(`s${n}`, "", n)
  const rowsRead = await runInDurableObject(stub, (_object, state) => {
    const cursor = state.storage.sql.exec(LIST_SQL, 0, 20)
    cursor.toArray()
    return cursor.rowsRead
  })
  expect(rowsRead).toBeLessThanOrEqual(40)
})

test("[DI4] the first and the last page cost the same with 100,000 sessions as with 200", async () => {
  const rowsRead = async (sessions: number): Promise<number[]> => {
    const stub = env.DIRECTORY.getByName(`acme:full${sessions}`)
    await stub.addSession("s", "", 0)
    return await runInDurableObject(stub, (_object, { storage: { sql } }) => {
      sql.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${sessions})
        INSERT INTO sessions (id, title, created, active) SELECT printf('s%08d', i), '', i, i FROM n`)
      const cursors = [
        sql.exec(LIST_SQL, 0, MAX_SESSIONS_LISTED + 1),
        sql.exec(LIST_AFTER_SQL, 0, 0, 150, 150, "s00000150", MAX_SESSIONS_LISTED + 1),
      ]
      return cursors.map((cursor) => {
        expect(cursor.toArray()).toHaveLength(MAX_SESSIONS_LISTED + 1)
        return cursor.rowsRead
      })
    })
  }
  expect(await rowsRead(100_000)).toEqual(await rowsRead(200))
})

/** Adds `count` sessions with the same time of activity to a user's directory. Returns the user's token. */
async function fillDirectory(user: string, count: number): Promise<string> {
  const stub = env.DIRECTORY.getByName(`pages:${user}`)
  await runInDurableObject(stub, async (object) => {
    for (let n = 0; n < count; n += 1) await object.addSession(`s${String(n).padStart(3, "0")}`, "", 1_000 + (n % 7))
  })
  return await tokenOf("pages", user)
}

const isNewerFirst = (sessions: readonly SessionSummary[]): boolean =>
  sessions.every(({ active }, n) => n === 0 || active <= (sessions[n - 1]?.active ?? 0))

test("[DI6] pages return every session once, most recently active first, even if sessions were active at the same time", async () => {
  const token = await fillDirectory("ann", 2 * MAX_SESSIONS_LISTED + 40)
  const pages: SessionSummary[][] = []
  for (let query = ""; pages.length < 4; ) {
    const { json } = await call(`/v1/sessions${query}`, { token })
    pages.push(json.sessions)
    if (json.next === null) break
    query = `?after=${json.next}`
  }
  expect(pages.map((page) => page.length)).toEqual([MAX_SESSIONS_LISTED, MAX_SESSIONS_LISTED, 40])
  const all = pages.flat()
  expect(new Set(all.map(({ id }) => id)).size).toBe(all.length)
  expect(isNewerFirst(all)).toBe(true)
})

test("[DI6] a page that ends with the last session has no next page; neither does an empty directory", async () => {
  const token = await fillDirectory("ben", MAX_SESSIONS_LISTED)
  expect((await call("/v1/sessions", { token })).json).toMatchObject({ next: null })
  expect((await call("/v1/sessions", { token: await tokenOf("pages", "nobody") })).json).toEqual({
    sessions: [],
    next: null,
  })
})

test("[DI6] using, creating or erasing a session while paging moves no other session over a page boundary", async () => {
  const token = await fillDirectory("cleo", 2 * MAX_SESSIONS_LISTED)
  const stub = env.DIRECTORY.getByName("pages:cleo")
  const first = (await call("/v1/sessions", { token })).json
  const ids = first.sessions.map(({ id }: SessionSummary) => id)
  const isUnread = (n: number): boolean => !ids.includes(`s${String(n).padStart(3, "0")}`)
  const [used, erased] = Array.from({ length: 2 * MAX_SESSIONS_LISTED }, (_, n) => n).filter(isUnread)
  await stub.addSession("new", "", 5_000)
  await stub.recordActivity(`s${String(used).padStart(3, "0")}`, 6_000)
  await stub.recordActivity(ids.at(-1), 7_000)
  await stub.removeSession(`s${String(erased).padStart(3, "0")}`)
  const second = (await call(`/v1/sessions?after=${first.next}`, { token })).json
  const rest = second.sessions.map(({ id }: SessionSummary) => id)
  expect(rest).toHaveLength(MAX_SESSIONS_LISTED - 2)
  expect(rest.filter((id: string) => ids.includes(id) || id === "new")).toEqual([])
  expect(second.next).toBeNull()
})

test("[DI6] a cursor that no page returned is refused, and gives no access to another user's sessions", async () => {
  const token = await fillDirectory("dora", 3)
  for (const after of [
    "x",
    "1",
    "1.2",
    "1.2.",
    "-1.2.a",
    "1.2.a b",
    `1.2.${"a".repeat(65)}`,
    `${"9".repeat(16)}.1.a`,
  ]) {
    const refused = await call(`/v1/sessions?after=${encodeURIComponent(after)}`, { token })
    expect(refused).toEqual(refusal(400, "field_invalid", "after"))
  }
  const other = await tokenOf("pages", "eve")
  expect((await call("/v1/sessions?after=9999.9999.s999", { token: other })).json.sessions).toEqual([])
  expect((await call("/v1/sessions?after=9999.9999.s999", { token })).json.sessions).toHaveLength(3)
})

test("[DI6] a later page costs only the rows that it returns, however many sessions come before it or were active at the same time", async () => {
  const stub = env.DIRECTORY.getByName("pages:flat")
  const rowsRead = await runInDurableObject(stub, async (object, state) => {
    for (let n = 0; n < 600; n += 1) await object.addSession(`s${String(n).padStart(3, "0")}`, "", 1_000)
    const cursor = state.storage.sql.exec(LIST_AFTER_SQL, 0, 0, 1_000, 1_000, "s100", 20)
    expect(cursor.toArray().map(({ id }) => id)).toEqual(
      Array.from({ length: 20 }, (_, n) => `s${String(99 - n).padStart(3, "0")}`),
    )
    return cursor.rowsRead
  })
  expect(rowsRead).toBeLessThanOrEqual(40)
})

test("[AU8] a session is notified of revocations until its last token expires; once all are delivered, the directory sleeps", async () => {
  const stub = env.DIRECTORY.getByName("acme:held")
  const now = Date.now() / 1000
  const createClaims = (token: string, seconds: number) => ({
    tenant: "acme",
    user: "held",
    expires: now + seconds,
    token,
    issued: now,
  })
  const readHeld = () =>
    runInDurableObject(stub, async (_object, { storage }) => ({
      holders: storage.sql.exec("SELECT session, until - ? AS seconds, told FROM holder", now).toArray(),
      alarm: ((await storage.getAlarm()) ?? 0) / 1000 - now,
    }))
  for (const seconds of [60, 6000, 600]) await stub.authorizeSocket(createClaims("one", seconds), "s1")
  expect(await readHeld()).toMatchObject({ holders: [{ session: "s1", told: 0 }], alarm: -now })
  expect((await readHeld()).holders[0]?.["seconds"]).toBeCloseTo(6000)

  await stub.revokeTokens(createClaims("gone", 900), false)
  await expect.poll(async () => (await readHeld()).holders).toMatchObject([{ told: 1 }])
  expect((await readHeld()).alarm).toBeCloseTo(905, 0)
  await stub.authorizeSocket(createClaims("two", 60), "s2")
  expect((await readHeld()).holders).toMatchObject([{ told: 1 }, { session: "s2", told: 1 }])

  vi.useFakeTimers({ toFake: ["Date"], now: (now + 1000) * 1000 })
  await stub.authorizeSocket(createClaims("three", 6000), "s3")
  expect((await readHeld()).holders).toMatchObject([{ session: "s1" }, { session: "s3" }])
  await stub.revokeTokens(createClaims("four", 6000), false)
  // The numbers of revocations are never reused, so a deleted revocation can't hide a later one.
  await expect.poll(async () => (await readHeld()).holders).toMatchObject([{ told: 2 }, { told: 2 }])
})
