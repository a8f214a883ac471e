/**
 * scheduled-backup.test.ts: tests that ticks of the cron trigger back up tenants into a bucket, and that tenants can be
 * restored from it.
 */

import { createScheduledController, env, runInDurableObject } from "cloudflare:test"
import { afterAll, beforeEach, describe, expect, test } from "vitest"
import { backupFolder, listBackupRegions } from "../../worker/backup/backup-bucket.ts"
import { findBackupFaults, readBackupPlan } from "../../worker/backup/backup-plan.ts"
import { type BackupTickEnv, runBackupTick, TENANTS_PER_TICK } from "../../worker/backup/backup-tick.ts"
import { findDeploymentFault } from "../../worker/env.ts"
import worker from "../../worker/index.ts"
import { registryStub } from "../../worker/platform/rpc/object-stubs.ts"
import { TENANT_LIST_KEY } from "../../worker/platform/rpc/registry-rpc.ts"
import { png, postFile } from "./files.ts"
import { call, makeSession, refusal } from "./http.ts"
import {
  type Archive,
  askQuestion,
  exportSession,
  importTenant,
  ownerToken,
  registerUser,
  roleToken,
} from "./tenant-transfer.ts"

const HOUR_MS = 60 * 60_000
const DAY_MS = 24 * HOUR_MS
const bucket = env.BACKUP as R2Bucket

/** Empties the bucket and the list of tenants, so that each test begins without either. */
async function clearAll(): Promise<void> {
  const registry = registryStub(env, null, TENANT_LIST_KEY)
  for (const id of await registry.listTenants(10_000)) await registry.removeTenant(id)
  for (let isDone = false; !isDone; ) {
    const { objects, truncated } = await bucket.list()
    if (objects.length > 0) await bucket.delete(objects.map(({ key }) => key))
    isDone = !truncated
  }
}
beforeEach(clearAll)
afterAll(clearAll)

const listTenant = (id: string) => registryStub(env, null, TENANT_LIST_KEY).addTenant(id)

const backupsOf = async (tenant: string) =>
  (await call("/v1/tenant/backups", { token: await ownerToken(tenant) })).json.backups as {
    id: string
    state: string
    parts: number
    folder: string
  }[]

async function untilBackedUp(tenant: string): Promise<string> {
  await expect.poll(async () => (await backupsOf(tenant))[0]?.state, { timeout: 50_000 }).toBe("done")
  return (await backupsOf(tenant))[0]?.folder ?? ""
}

/** Copies a backup out of the bucket, as an operator does. */
async function readArchive(folder: string): Promise<Archive> {
  const readPart = async (n: number) =>
    new Uint8Array(await ((await bucket.get(`${folder}${n}`)) as R2ObjectBody).arrayBuffer())
  const manifest = new TextDecoder().decode(await readPart(0))
  const { files } = JSON.parse(manifest) as { files: { n: number }[] }
  return { manifest, files: await Promise.all(files.map(({ n }) => readPart(n))) }
}

describe("a tick of the cron trigger", () => {
  test("[BK3] [BK2] backs up the listed tenants; the archive in the bucket restores one, card by card and file by file", async () => {
    for (const tenant of ["bk-acme", "bk-other"]) {
      await registerUser(tenant, "boss", "owner")
      await listTenant(tenant)
    }
    const ada = await roleToken("bk-acme", "ada", "member")
    await registerUser("bk-acme", "ada")
    const id = await makeSession(ada)
    await askQuestion(id, ada, "What is the weather in Oslo?")
    const uploaded = await postFile(id, ada, png(7))
    await askQuestion(id, ada, "/say nice", { attachments: [uploaded.json.id] })
    await worker.scheduled(createScheduledController({ scheduledTime: new Date() }), env)
    const folder = await untilBackedUp("bk-acme")
    expect(folder).toMatch(/^\d{4}-\d\d-\d\d\/bk-acme\/[\w-]+\/$/)
    expect(await untilBackedUp("bk-other")).toContain("/bk-other/")
    // The backup must not be listed as an owner's export, and the bucket of the tenant's files must contain no part of
    // it.
    expect((await call("/v1/tenant/exports", { token: await ownerToken("bk-acme") })).json.exports).toEqual([])
    expect((await env.MEDIA.list({ prefix: "bk-acme/." })).objects).toEqual([])

    await registerUser("bk-again", "boss", "owner")
    const imported = await importTenant("bk-again", await readArchive(folder))
    expect(imported).toMatchObject({ state: "done", from: "bk-acme", tally: { sessions: 1, files: 1 } })
    const again = await roleToken("bk-again", "ada", "member")
    expect(await exportSession(id, again)).toEqual(await exportSession(id, ada))
  })

  test("[BK3] a tenant is backed up again when its last backup is old enough, but not while a job excludes it", async () => {
    await registerUser("bk-due", "boss", "owner")
    await registerUser("bk-due", "eve")
    const tenant = env.TENANT.getByName("bk-due")
    expect(await tenant.startBackup("bk-due", DAY_MS)).toBe("started")
    await untilBackedUp("bk-due")
    expect(await tenant.startBackup("bk-due", DAY_MS)).toBe("recent")
    expect(await tenant.startBackup("bk-due", 0)).toBe("started")
    await expect.poll(async () => (await backupsOf("bk-due")).map(({ state }) => state)).toEqual(["done", "done"])
    const boss = await ownerToken("bk-due")
    expect((await call("/v1/users/eve", { method: "DELETE", token: boss })).status).toBe(202)
    expect(await tenant.startBackup("bk-due", 0)).toBe("busy")
    // Nothing must be stored for a tenant that nobody has used.
    expect(await env.TENANT.getByName("bk-unused").startBackup("bk-unused", 0)).toBe("none")
  })

  test("[TX7] a tenant that stores more than an archive can hold is refused at once, and its owners see the reason", async () => {
    await registerUser("huge", "boss", "owner")
    await listTenant("huge")
    const storeSize = async (bytes: number) =>
      await runInDurableObject(env.TENANT.getByName("huge"), (_object, { storage }) => {
        storage.sql.exec("INSERT OR REPLACE INTO tenant_bytes VALUES (1, ?)", bytes)
      })
    await storeSize(63 * 1024 ** 3)
    const now = Date.now()
    expect(await runBackupTick(env, now)).toMatchObject({ too_large: 1, started: 0 })
    const failed = { state: "failed", parts: 0, fault: { code: "export_too_large" } }
    expect(await backupsOf("huge")).toMatchObject([failed])
    // The next rounds must add no further entries until a backup is due again.
    expect(await runBackupTick(env, now + 7 * HOUR_MS)).toMatchObject({ too_large: 1, started: 0 })
    expect(await backupsOf("huge")).toHaveLength(1)
    await storeSize(62.5 * 1024 ** 3)
    expect(await runBackupTick(env, now + 14 * HOUR_MS)).toMatchObject({ too_large: 0, started: 1 })
    await untilBackedUp("huge")
  })

  test("[BK5] the erasure of a user ends a backup that is being made", async () => {
    await registerUser("bk-erase", "boss", "owner")
    await registerUser("bk-erase", "eve")
    const tenant = env.TENANT.getByName("bk-erase")
    expect(await tenant.startBackup("bk-erase", 0)).toBe("started")
    expect((await call("/v1/users/eve", { method: "DELETE", token: await ownerToken("bk-erase") })).status).toBe(202)
    expect((await backupsOf("bk-erase")).filter(({ state }) => state === "running")).toEqual([])
  })

  test("[BK4] calls a bounded number of tenants, each once per round, however many there are", async () => {
    const registry = registryStub(env, null, TENANT_LIST_KEY)
    const ids = Array.from({ length: TENANTS_PER_TICK + 5 }, (_, n) => `bk-many-${n}`)
    await Promise.all(ids.map((id) => registry.addTenant(id)))
    const asked: number[] = []
    const now = Date.now()
    for (let tick = 0; tick < 4; tick += 1) asked.push((await runBackupTick(env, now + tick * 60_000)).none)
    // The third and the fourth tick find that the round is over.
    expect(asked).toEqual([TENANTS_PER_TICK, 5, 0, 0])
    await Promise.all(ids.slice(3).map((id) => registry.removeTenant(id)))
    expect((await runBackupTick(env, now + 7 * HOUR_MS)).none).toBe(3)
  })

  test("[BK4] continues after a tenant or a bucket has failed, and retries it", async () => {
    for (const id of ["bk-fails", "bk-works"]) {
      await listTenant(id)
      await registerUser(id, "boss", "owner")
    }
    const getByName = (name: string) => {
      if (name === "bk-fails") return { startBackup: () => Promise.reject(new Error("overloaded")) }
      return env.TENANT.getByName(name)
    }
    const odd = { ...env, TENANT: { getByName } } as unknown as BackupTickEnv
    expect(await runBackupTick(odd, Date.now())).toMatchObject({ started: 1, failed: 1 })
    const broken = { list: () => Promise.reject(new Error("down")), get: () => Promise.reject(new Error("down")) }
    const two = { ...env, BACKUP_EU: broken } as unknown as BackupTickEnv
    const report = await runBackupTick(two, Date.now() + 7 * HOUR_MS)
    expect(report).toMatchObject({ started: 1, failed: 1 })
    expect(report.recent + report.busy).toBe(1)
  })

  test("[BK3] does nothing without a bucket, and an unreadable cursor begins a new round", async () => {
    await listTenant("bk-idle")
    await registerUser("bk-idle", "boss", "owner")
    const nothing = { started: 0, recent: 0, busy: 0, none: 0, too_large: 0, failed: 0, deleted: 0 }
    const { BACKUP: _, ...without } = env
    expect(await runBackupTick(without as BackupTickEnv, Date.now())).toEqual(nothing)
    expect(await backupsOf("bk-idle")).toEqual([])
    await bucket.put("state/cursor.json", "{{{")
    expect(await runBackupTick(env, Date.now())).toMatchObject({ started: 1 })
  })
})

describe("retention", () => {
  test("[BK5] old backups are deleted, oldest first, including those of erased tenants, and no others", async () => {
    const now = Date.now()
    const keyOf = (daysAgo: number, n: number) => `${backupFolder("bk-gone", "id", now - daysAgo * DAY_MS)}${n}`
    for (const days of [0, 13, 14, 16, 40]) for (const n of [0, 1]) await bucket.put(keyOf(days, n), "x")
    expect(await runBackupTick(env, now)).toMatchObject({ deleted: 4 })
    const keys = (await bucket.list()).objects.map(({ key }) => key).filter((key) => !key.startsWith("state/"))
    expect(keys).toEqual([14, 13, 0].flatMap((days) => [0, 1].map((n) => keyOf(days, n))))
    // A tick after the clock was set back must delete nothing.
    expect(await runBackupTick(env, now - 20 * DAY_MS)).toMatchObject({ deleted: 0 })
  })

  test("[BK5] the retention time of backups is limited, and a deployment with other settings refuses to serve", async () => {
    expect(readBackupPlan({})).toEqual({ intervalMs: DAY_MS, keptMs: 14 * DAY_MS })
    expect(readBackupPlan({ BACKUP_HOURS: "6", BACKUP_KEPT_DAYS: "29" })).toEqual({
      intervalMs: 6 * HOUR_MS,
      keptMs: 29 * DAY_MS,
    })
    for (const value of ["0", "-1", "", "1e3", "NaN", "30", "999999999999", "1.5"]) {
      const vars = { BACKUP_KEPT_DAYS: value }
      expect(findBackupFaults(vars), value).toHaveLength(1)
      expect(findDeploymentFault({ ...env, ...vars }, new URL("http://127.0.0.1/"))).toContain("BACKUP_KEPT_DAYS")
      expect(await runBackupTick({ ...env, ...vars } as BackupTickEnv, Date.now())).toMatchObject({ deleted: 0 })
    }
  })
})

test("[BK6] a backup stays in the region of its tenant", () => {
  const production = { ENVIRONMENT: "production", BACKUP: bucket }
  expect(listBackupRegions(production).map(({ region }) => region)).toEqual([null])
  expect(listBackupRegions({ ...production, BACKUP_EU: bucket }).map(({ region }) => region)).toEqual([null, "eu"])
  // On a developer's machine, one bucket serves all regions.
  expect(listBackupRegions(env)).toHaveLength(5)
})

test("[BK6] only owners can see the backups of their tenant", async () => {
  await registerUser("bk-roles", "boss", "owner")
  const admin = await roleToken("bk-roles", "adam", "admin")
  expect(await call("/v1/tenant/backups", { token: admin })).toEqual(refusal(403, "scope_denied"))
})

test("[BK6] the list contains the number of days for which the server keeps backups of the tenant, or null if it makes none", async () => {
  const token = await ownerToken("bk-kept")
  const keptDays = async (vars: object) =>
    (await call("/v1/tenant/backups", { token, env: vars as Record<string, string> })).json.kept_days
  expect(await keptDays({})).toBe(14)
  expect(await keptDays({ BACKUP_KEPT_DAYS: "3" })).toBe(3)
  expect(await keptDays({ BACKUP: undefined })).toBeNull()
})
