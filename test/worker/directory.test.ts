/** directory.test.ts: a user's directory of sessions. */

import { env, evictDurableObject, runInDurableObject } from "cloudflare:test"
import { afterEach, expect, test, vi } from "vitest"
import { LIST_SQL } from "../../worker/auth/user-directory.ts"
import { call, makeSession, tablesOf, tokenOf } from "./http.ts"

afterEach(() => {
  vi.useRealTimers()
})

test("[DI1] lists a user's own sessions, last used first, titled by their first message", async () => {
  const token = await tokenOf("list", "ada")
  const [one, two] = [await makeSession(token), await makeSession(token, "Named")]
  await call(`/v1/sessions/${one}/messages`, { method: "POST", token, body: '{"content":"/say  first\\nwords"}' })
  const list = async () => (await call("/v1/sessions", { token })).json.sessions
  await expect
    .poll(async () => (await list()).map((session: { title: string }) => session.title))
    .toEqual(["/say first words", "Named"])
  const sessions = await list()
  expect(sessions.map((session: { id: string }) => session.id)).toEqual([one, two])
  expect(Object.keys(sessions[0]).sort()).toEqual(["active", "created", "id", "running", "title"])
  expect(sessions[0].active).toBeGreaterThanOrEqual(sessions[0].created)
})

test("[DI1] a user sees no other user's sessions, of the same tenant or the same name", async () => {
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

test("[DI3] adding is idempotent; a touch only moves forward, keeps a title it doesn't name, and adds nothing", async () => {
  const stub = env.DIRECTORY.getByName("acme:grace")
  await stub.addSession("s1", "One", 100)
  await stub.recordActivity("s1", 300)
  await stub.addSession("s1", "Other", 100)
  await stub.recordActivity("s1", 200, "Late")
  await stub.recordActivity("ghost", 400, "x")
  expect(await stub.listSessions(5)).toEqual([{ id: "s1", title: "Late", created: 100, active: 300, running: false }])
})

test("[DI3] the directory survives eviction, in the same order, cut at its limit", async () => {
  const stub = env.DIRECTORY.getByName("acme:linus")
  for (let n = 1; n <= 4; n += 1) await stub.addSession(`s${n}`, "", n)
  await stub.recordActivity("s2", 9)
  await evictDurableObject(stub)
  expect((await stub.listSessions(3)).map(({ id }) => id)).toEqual(["s2", "s4", "s3"])
})

test("[DI3] a directory created before revocations existed is kept, and accepts them", async () => {
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

test("[DI4] a read costs the rows it returns, however many there are", async () => {
  const stub = env.DIRECTORY.getByName("acme:many")
  for (let n = 0; n < 300; n += 1) await stub.addSession(`s${n}`, "", n)
  const rowsRead = await runInDurableObject(stub, (_object, state) => {
    const cursor = state.storage.sql.exec(LIST_SQL, 20)
    cursor.toArray()
    return cursor.rowsRead
  })
  expect(rowsRead).toBeLessThanOrEqual(40)
})

test("[AU8] a session is notified of revocations until its longest token expires; once all are delivered, it sleeps", async () => {
  const stub = env.DIRECTORY.getByName("acme:held")
  const now = Date.now() / 1000
  const claims = (token: string, seconds: number) => ({
    tenant: "acme",
    user: "held",
    expires: now + seconds,
    token,
    issued: now,
  })
  const held = () =>
    runInDurableObject(stub, async (_object, { storage }) => ({
      holders: storage.sql.exec("SELECT session, until - ? AS seconds, told FROM holder", now).toArray(),
      alarm: ((await storage.getAlarm()) ?? 0) / 1000 - now,
    }))
  for (const seconds of [60, 6000, 600]) await stub.authorizeSocket(claims("one", seconds), "s1")
  expect(await held()).toMatchObject({ holders: [{ session: "s1", told: 0 }], alarm: -now })
  expect((await held()).holders[0]?.["seconds"]).toBeCloseTo(6000)

  await stub.revokeTokens(claims("gone", 900), false)
  await expect.poll(async () => (await held()).holders).toMatchObject([{ told: 1 }])
  expect((await held()).alarm).toBeCloseTo(905, 0)
  await stub.authorizeSocket(claims("two", 60), "s2")
  expect((await held()).holders).toMatchObject([{ told: 1 }, { session: "s2", told: 1 }])

  vi.useFakeTimers({ toFake: ["Date"], now: (now + 1000) * 1000 })
  await stub.authorizeSocket(claims("three", 6000), "s3")
  expect((await held()).holders).toMatchObject([{ session: "s1" }, { session: "s3" }])
  await stub.revokeTokens(claims("four", 6000), false)
  // Numbers are never reused, so a deleted revocation can't hide a later one.
  await expect.poll(async () => (await held()).holders).toMatchObject([{ told: 2 }, { told: 2 }])
})
