/**
 * stored-bytes.test.ts: tests how the stored bytes of users and tenants are counted across uploads, deletions, kills
 * and lost reports.
 */

import { env, evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test"
import fc from "fast-check"
import { nanoid } from "nanoid"
import { describe, expect, test } from "vitest"
import { MAX_TENANT_STORED_BYTES, MAX_USER_STORED_BYTES, TENANT_STEP_BYTES } from "../../shared/user-limits.ts"
import { fail, type Result, succeed } from "../../shared/fault.ts"
import { SessionBytes } from "../../worker/limits/session-bytes.ts"
import type { BytesReport } from "../../worker/platform/rpc/directory-rpc.ts"
import type { Claims } from "../../worker/platform/rpc/claims.ts"
import { assertPropertyAsync } from "../support/seeded.ts"
import { file, png, postFile } from "./files.ts"
import { call, makeSession, refusal, tokenOf } from "./http.ts"

const createName = (): string => `n${nanoid(8)}`.toLowerCase().replaceAll(/[-_]/g, "x")
const claimsOf = (tenant: string, user: string): Claims => ({ tenant, user, expires: 4e9, token: null, issued: 0 })
const directoryOf = (tenant: string, user: string) => env.DIRECTORY.getByName(`${tenant}:${user}`)
const sessionOf = (tenant: string, id: string) => env.SESSION.getByName(`${tenant}:${id}`)

/** Returns the directory's count of the user's bytes, which must equal the sum of all sessions. */
const countUser = (tenant: string, user: string) =>
  runInDurableObject(directoryOf(tenant, user), (_object, { storage: { sql } }) => {
    const readCount = (query: string) => Number(sql.exec(query).one()["n"])
    const sum = readCount("SELECT coalesce(sum(bytes), 0) AS n FROM session_bytes")
    expect(readCount("SELECT coalesce(sum(bytes), 0) AS n FROM user_bytes")).toBe(sum)
    return sum
  })

const countTenant = (tenant: string) =>
  runInDurableObject(env.TENANT.getByName(tenant), (_object, { storage: { sql } }) => {
    const readCount = (query: string) => Number(sql.exec(query).one()["n"])
    const sum = readCount("SELECT coalesce(sum(bytes), 0) AS n FROM user_bytes")
    expect(readCount("SELECT coalesce(sum(bytes), 0) AS n FROM tenant_bytes")).toBe(sum)
    return sum
  })

/** Returns the bytes of a session's files according to its own rows. */
const countFiles = (tenant: string, id: string) =>
  runInDurableObject(sessionOf(tenant, id), (_object, { storage: { sql } }) => {
    const tables = sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'asset'").toArray()
    return tables.length === 0 ? 0 : Number(sql.exec("SELECT coalesce(sum(size), 0) AS n FROM asset").one()["n"])
  })

const reportFiller = (tenant: string, user: string, bytes: number, session = "filler") =>
  directoryOf(tenant, user).reportBytes({ session, bytes, n: Date.now(), isRequired: true })

describe("a user", () => {
  test("[LI10] an upload over the limit is refused and leaves nothing, until something is deleted", async () => {
    const [tenant, user] = [createName(), "ada"]
    const token = await tokenOf(tenant, user)
    const id = await makeSession(token)
    await reportFiller(tenant, user, MAX_USER_STORED_BYTES - 60_000)
    expect((await postFile(id, token, png(1, 50_000))).status).toBe(201)
    expect(await postFile(id, token, png(2, 50_000))).toEqual(refusal(409, "storage_full", "10 GB"))
    await expect.poll(() => countUser(tenant, user)).toBe(MAX_USER_STORED_BYTES - 10_000)
    // These bytes are already stored.
    expect((await call(`/v1/sessions/${id}`, { method: "DELETE", token })).status).toBe(204)
    expect(await countUser(tenant, user)).toBe(MAX_USER_STORED_BYTES - 60_000)
    const next = await makeSession(token)
    expect((await postFile(next, token, png(2, 50_000))).status).toBe(201)
  })

  test("[LI10] imports and producers are refused as well, but messages are not", async () => {
    const [tenant, user] = [createName(), "ada"]
    const token = await tokenOf(tenant, user)
    const id = await makeSession(token)
    const issued = await call(`/v1/sessions/${id}/external-token`, { method: "POST", token, body: "{}" })
    await reportFiller(tenant, user, MAX_USER_STORED_BYTES + 1)
    const imported = await call(`/v1/sessions/${id}/import`, { method: "POST", token, body: "{}" })
    expect(imported).toEqual(refusal(409, "storage_full"))
    const path = `/external/sessions/${id}/messages`
    const produced = await call(path, {
      method: "POST",
      token: issued.json.token,
      body: JSON.stringify({ text: "Hi." }),
    })
    expect(produced).toEqual(refusal(409, "storage_full"))
    const body = JSON.stringify({ content: "/say Hi." })
    expect((await call(`/v1/sessions/${id}/messages`, { method: "POST", token, body })).status).toBe(202)
  })

  const stepArbitrary = fc.record({
    what: fc.constantFrom("reserve", "reserve", "commit", "discard", "evict", "alarm", "erase" as const),
    session: fc.integer({ min: 0, max: 2 }),
    size: fc.integer({ min: 1, max: 3_000_000 }),
  })

  test("[LI14] the sum equals the files of all sessions after any changes, evictions and alarms", async () => {
    const property = fc.asyncProperty(fc.array(stepArbitrary, { maxLength: 14 }), async (steps) => {
      const [tenant, user] = [createName(), "ada"]
      const claims = claimsOf(tenant, user)
      const ids = ["s0", "s1", "s2"]
      const pending: string[][] = [[], [], []]
      const createSessionAt = async (at: number) => {
        const id = ids[at] ?? ""
        await directoryOf(tenant, user).addSession(id, "", 1)
        await sessionOf(tenant, id).create(claims, id, "")
      }
      for (const at of ids.keys()) await createSessionAt(at)
      for (const { what, session: at, size } of steps) {
        const stub = sessionOf(tenant, ids[at] ?? "")
        if (what === "reserve") {
          const reserved = await stub.reserveAsset(claims, size)
          if (reserved.ok) pending[at]?.push(`${reserved.value} ${size}`)
        } else if (what === "evict") await evictDurableObject(stub)
        else if (what === "alarm") await runDurableObjectAlarm(stub)
        else if (what === "erase") {
          await stub.erase(claims)
          await directoryOf(tenant, user).removeSession(ids[at] ?? "")
          pending[at] = []
          await createSessionAt(at)
        } else {
          const [id, bytes] = (pending[at]?.pop() ?? "").split(" ")
          if (id === undefined || id === "") continue
          if (what === "discard") await stub.discardAsset(claims, id)
          else {
            const asset = { id, kind: "file", mime_type: "text/plain", label: "a.txt", size: Number(bytes) } as const
            await stub.commitAsset(claims, asset, id)
          }
        }
      }
      const files = await Promise.all(ids.map((id) => countFiles(tenant, id)))
      const sum = files.reduce((total, size) => total + size, 0)
      await expect.poll(() => countUser(tenant, user)).toBe(sum)
      expect(Math.abs((await countTenant(tenant)) - sum)).toBeLessThan(TENANT_STEP_BYTES)
    })
    await assertPropertyAsync(property, 60)
  })

  test("[LI14] the alarm reports the bytes that a killed process did not report", async () => {
    const [tenant, user] = [createName(), "ada"]
    const token = await tokenOf(tenant, user)
    const id = await makeSession(token)
    expect((await postFile(id, token, file(5, "hello"))).status).toBe(201)
    await expect.poll(() => countUser(tenant, user)).toBe(5)
    await runInDurableObject(sessionOf(tenant, id), async (_object, { storage }) => {
      storage.sql.exec("DELETE FROM asset")
      await storage.setAlarm(Date.now() + 60_000)
    })
    await evictDurableObject(sessionOf(tenant, id))
    await runDurableObjectAlarm(sessionOf(tenant, id))
    await expect.poll(() => countUser(tenant, user)).toBe(0)
  })

  test("[LI14] keeps the newer count when an older report arrives", async () => {
    const [tenant, user] = [createName(), "ada"]
    const directory = directoryOf(tenant, user)
    const reportSize = (bytes: number, n: number) =>
      directory.reportBytes({ session: "s", bytes, n, isRequired: false })
    expect(await reportSize(10, 5)).toEqual(succeed(5))
    expect(await reportSize(99, 4)).toEqual(succeed(5))
    expect(await reportSize(99, 5)).toEqual(succeed(5))
    expect(await countUser(tenant, user)).toBe(10)
    await directory.removeBytes("s")
    await directory.removeBytes("s")
    expect(await countUser(tenant, user)).toBe(0)
  })
})

/**
 * Runs `run` with a byte counter on empty tables. `respond` answers the counter's reports. Returns the reports and the
 * result of `run`.
 */
function withSessionBytes<T>(
  respond: (report: Omit<BytesReport, "session">) => Result<number>,
  run: (bytes: SessionBytes, set: { databaseBytes: number; now: number; failing: boolean }) => Promise<T>,
) {
  return runInDurableObject(sessionOf("acme", createName()), async (_object, { storage: { sql } }) => {
    sql.exec("CREATE TABLE asset (size INTEGER)")
    sql.exec("CREATE TABLE reported_bytes (one INTEGER PRIMARY KEY, bytes INTEGER, n INTEGER)")
    const set = { databaseBytes: 0, now: 1_000, failing: false }
    const reports: number[][] = []
    const bytes = new SessionBytes({
      sql,
      readDatabaseBytes: () => set.databaseBytes,
      report: async (report) => {
        if (set.failing) throw new Error("away")
        reports.push([report.bytes, report.n])
        return respond(report)
      },
      waitUntil() {},
      armAlarm() {},
      now: () => set.now,
      isErased: () => false,
    })
    return { reports, outcome: await run(bytes, set) }
  })
}

const MB = 1024 * 1024

describe("a session", () => {
  test("[LI10] reports the size of its text in whole megabytes", async () => {
    const { reports } = await withSessionBytes(
      ({ n }) => succeed(n),
      async (bytes, set) => {
        for (const size of [0, MB - 1, MB, 2 * MB - 1, 5 * MB, 100]) {
          set.databaseBytes = size
          await bytes.sync()
        }
      },
    )
    expect(reports.map(([count]) => count)).toEqual([MB, 5 * MB, 0])
  })

  test("[LI14] a clock that was set back doesn't stop the reports", async () => {
    let newest = 50_000
    const { reports } = await withSessionBytes(
      ({ n }) => {
        newest = Math.max(newest, n)
        return succeed(newest)
      },
      async (bytes, set) => {
        set.databaseBytes = MB
        await bytes.sync()
        set.now = 10
        set.databaseBytes = 2 * MB
        await bytes.sync()
      },
    )
    expect(reports).toEqual([
      [MB, 1_000],
      [MB, 50_001],
      [2 * MB, 50_002],
    ])
  })

  test("[LI14] a failed report is repeated, and a refused one changes nothing", async () => {
    const { reports, outcome } = await withSessionBytes(
      ({ isRequired, n }) => (isRequired ? succeed(n) : fail({ reason: "storage_full", max: 1 })),
      async (bytes, set) => {
        set.databaseBytes = MB
        set.failing = true
        await bytes.sync()
        const afterFailure = bytes.nextAlarmAt()
        set.failing = false
        const refused = await bytes.claim()
        await bytes.sync()
        return { afterFailure, refused, afterSync: bytes.nextAlarmAt() }
      },
    )
    expect(outcome.afterFailure).toBeGreaterThan(1_000)
    expect(outcome.refused).toEqual(fail({ reason: "storage_full", max: 1 }))
    expect(outcome.afterSync).toBeNull()
    expect(reports.map(([count]) => count)).toEqual([MB, MB])
  })
})

describe("a tenant", () => {
  test("[LI11] has a total that lags behind by less than a step per user, and falls when the users' counts fall", async () => {
    const tenant = createName()
    await reportFiller(tenant, "ada", TENANT_STEP_BYTES - 1)
    expect(await countTenant(tenant).catch(() => 0)).toBe(0)
    await reportFiller(tenant, "ada", TENANT_STEP_BYTES, "other")
    expect(await countTenant(tenant)).toBe(2 * TENANT_STEP_BYTES - 1)
    await reportFiller(tenant, "eve", 3 * TENANT_STEP_BYTES)
    expect(await countTenant(tenant)).toBe(5 * TENANT_STEP_BYTES - 1)
    await directoryOf(tenant, "ada").removeBytes("other")
    expect(await countTenant(tenant)).toBe(4 * TENANT_STEP_BYTES - 1)
  })

  test("[LI11] growth over the tenant's limit is refused, and bytes that are already stored are counted", async () => {
    const tenant = createName()
    const owner = env.TENANT.getByName(tenant)
    const reportSizeOf = (user: string, bytes: number, n: number, isRequired: boolean) =>
      owner.tellUserBytes({ user, bytes, n, isRequired })
    expect(await reportSizeOf("a", MAX_TENANT_STORED_BYTES, 1, false)).toEqual(succeed(1))
    expect(await reportSizeOf("b", 1, 1, false)).toEqual(fail({ reason: "tenant_storage_full" }))
    expect(await reportSizeOf("b", 1, 1, true)).toEqual(succeed(1))
    // A decrease must always be accepted.
    expect(await reportSizeOf("a", 10, 2, false)).toEqual(succeed(2))
    expect(await countTenant(tenant)).toBe(11)
    const directory = directoryOf(tenant, "c")
    const more = { session: "s", bytes: TENANT_STEP_BYTES, n: 1, isRequired: false }
    await reportSizeOf("a", MAX_TENANT_STORED_BYTES, 3, true)
    expect(await directory.reportBytes(more)).toEqual(fail({ reason: "tenant_storage_full" }))
    expect(await countUser(tenant, "c")).toBe(0)
  })
})

test("[LI12] files of other hosts are counted, and a refusal states when to retry", async () => {
  const directory = directoryOf(createName(), "ada")
  expect(await directory.countRemoteFetch()).toEqual(succeed(null))
  await runInDurableObject(directory, (_object, { storage }) => {
    storage.sql.exec("UPDATE remote_fetches SET fetches = 1000")
  })
  const refused = await directory.countRemoteFetch()
  expect(refused).toMatchObject({ ok: false, fault: { reason: "remote_limited", max: 1_000 } })
  await runInDurableObject(directory, (_object, { storage }) => {
    storage.sql.exec("UPDATE remote_fetches SET since = since - 3600000")
  })
  expect(await directory.countRemoteFetch()).toEqual(succeed(null))
})
