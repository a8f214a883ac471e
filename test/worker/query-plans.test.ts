/**
 * query-plans.test.ts: tests that in user and tenant objects, no query during a request or a turn scans a table that
 * grows.
 */

import { env, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test"
import { afterAll, beforeAll, expect, test } from "vitest"
import { call, makeSession, openSocket, roleToken } from "./http.ts"
import { createKey, createTenant, tokenWith } from "./tenant-access.ts"
import { askQuestion } from "./tenant-transfer.ts"

/** Tables whose number of rows grows with use. Other tables have one row, or a bounded number of rows. */
const GROWING = {
  DIRECTORY: ["sessions", "search_entry", "shared", "holder", "session_bytes", "usage_session", "usage_total"],
  TENANT: [
    "users",
    "user_notices",
    "audit",
    "user_bytes",
    "usage_total",
    "usage_user",
    "usage_ledger",
    "api_key_users",
  ],
} as const

/**
 * Partial indexes that contain only a few rows: reports that are in no batch yet, and sessions and users that were
 * erased today.
 */
const SMALL_INDEXES = ["usage_unsent", "usage_ended", "usage_ledger_ended"]

interface Statement {
  readonly query: string
  readonly bindings: readonly SqlStorageValue[]
}

const statements = new Map<SqlStorage, Map<string, Statement>>()
let restore = (): void => {}

/** Records the statements of all objects of this isolate. */
beforeAll(async () => {
  await runInDurableObject(env.DIRECTORY.getByName("plans:any"), (_object, { storage }) => {
    const prototype = Object.getPrototypeOf(storage.sql) as SqlStorage
    const { exec } = prototype
    prototype.exec = function (this: SqlStorage, query: string, ...bindings: SqlStorageValue[]) {
      const known = statements.get(this) ?? new Map<string, Statement>()
      statements.set(this, known.set(query, { query, bindings }))
      return exec.call(this, query, ...bindings)
    } as SqlStorage["exec"]
    restore = () => {
      prototype.exec = exec
    }
  })
})

afterAll(() => restore())

/**
 * Returns the queries that an object has run since the last call, each with the steps of its plan that scan a growing
 * table.
 */
async function takeScans(
  stub: DurableObjectStub,
  growing: readonly string[],
): Promise<{ queries: number; scans: string[] }> {
  return await runInDurableObject(stub, (_object, { storage: { sql } }) => {
    const own = [...(statements.get(sql)?.values() ?? [])].filter(({ query }) =>
      /^\s*(?:SELECT|UPDATE|DELETE|INSERT)/.test(query),
    )
    statements.delete(sql)
    const scans = own.flatMap(({ query, bindings }) => {
      const plan = sql.exec<{ detail: string }>(`EXPLAIN QUERY PLAN ${query}`, ...bindings).toArray()
      const steps = plan.map(({ detail }) => detail)
      // A page that follows the order of a table or an index reads only the rows that it returns.
      const isPage = /\bLIMIT\b/.test(query) && !steps.some((step) => step.includes("TEMP B-TREE"))
      return isPage ? [] : steps.filter((step) => isScan(step, growing)).map((step) => `${step}: ${query}`)
    })
    statements.delete(sql)
    return { queries: own.length, scans }
  })
}

function isScan(step: string, growing: readonly string[]): boolean {
  const [, table = "", index = ""] = /^SCAN (\w+)(?: USING (?:COVERING )?INDEX (\w+))?/.exec(step) ?? []
  return growing.includes(table) && !SMALL_INDEXES.includes(index)
}

test("[DI4] no query during a request, a socket's life or a turn scans a growing table of the user or the tenant", async () => {
  const owner = await createTenant("plans")
  const boss = await roleToken("plans", "boss", "owner")
  const put = await call("/v1/budgets", { method: "PUT", token: boss, body: '{"tenant":{"tokens_per_day":1000000}}' })
  expect(put.status).toBe(200)
  const { key } = await createKey(owner, { roles: ["member"] })
  const token = await tokenWith(key, "ada")
  const directory = env.DIRECTORY.getByName("plans:ada")
  const session = await makeSession(token)
  const connection = await openSocket(session, token)
  await askQuestion(session, token, "/say one")
  await askQuestion(session, token, "/say two")
  for (const path of [
    "/v1/sessions",
    "/v1/sessions?archived=1",
    "/v1/search?q=one",
    "/v1/sessions/shared",
    "/v1/usage/me",
    "/v1/settings",
    "/v1/agents",
  ])
    expect((await call(path, { token })).status).toBe(200)
  expect((await call("/v1/users", { token: boss })).status).toBe(200)
  expect((await call("/v1/audit", { token: boss })).status).toBe(200)
  await directory.flushUsage()
  await directory.reportBytes({ session, bytes: 10_000_000, n: 1, isRequired: true })
  await runDurableObjectAlarm(directory)
  connection.socket.close()
  expect((await call(`/v1/sessions/${session}`, { method: "DELETE", token: await tokenWith(key, "ada") })).status).toBe(
    204,
  )
  const objects = [
    { stub: directory, growing: GROWING.DIRECTORY },
    { stub: env.TENANT.getByName("plans"), growing: GROWING.TENANT },
  ]
  for (const { stub, growing } of objects) {
    const { queries, scans } = await takeScans(stub, growing)
    expect(queries).toBeGreaterThan(20)
    expect(scans).toEqual([])
  }
})

test("[DI4] only a revocation reads all sessions that may have sockets, in order to notify them; later alarms don't", async () => {
  const token = await roleToken("plans", "bob", "member")
  const directory = env.DIRECTORY.getByName("plans:bob")
  const session = await makeSession(token)
  const connection = await openSocket(session, token)
  await takeScans(directory, GROWING.DIRECTORY)
  expect((await call("/v1/tokens/revoke", { method: "POST", token, body: "{}" })).status).toBe(200)
  await expect.poll(() => connection.closed).toBe(4401)
  expect((await takeScans(directory, GROWING.DIRECTORY)).scans).toHaveLength(1)
  await runDurableObjectAlarm(directory)
  await takeScans(directory, GROWING.DIRECTORY)
  const next = await roleToken("plans", "bob", "member")
  await openSocket(await makeSession(next), next)
  await askQuestion(session, next, "/say again")
  await directory.flushUsage()
  await runDurableObjectAlarm(directory)
  expect((await takeScans(directory, GROWING.DIRECTORY)).scans).toEqual([])
})
