/** tenant-kills.test.ts: kills a tenant's jobs at every call to another object or to the bucket. */

import { env, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import { testInFull } from "../support/seeded.ts"
import type { Env } from "../../worker/env.ts"
import { REQUESTS_PER_SLICE, runExportSlice } from "../../worker/leaving/export-job.ts"
import { type Job, JobRows } from "../../worker/leaving/job-rows.ts"
import { TenantHost } from "../../worker/tenant/tenant-host.ts"
import { ObjectTables } from "../../worker/platform/migrate.ts"
import { createTenantContent } from "../../worker/tenant/tenant-content.ts"
import { watchCalls } from "../support/watch-calls.ts"
import { png, postFile } from "./files.ts"
import { call, makeSession } from "./http.ts"
import { call as asks, say, script } from "./session-helpers.ts"
import {
  askQuestion,
  downloadArchive,
  exportSession,
  ownerToken,
  registerUser,
  roleToken,
  makeJobsDue,
  uploadFile,
} from "./tenant-transfer.ts"

const tenantStubOf = (tenant: string) => env.TENANT.getByName(tenant)

/** Makes an object die at its n-th call to another object or the bucket. */
async function killAtCall(tenant: string, n: number): Promise<void> {
  await runInDurableObject(tenantStubOf(tenant), (object, state) => {
    let calls = 0
    const countCall = (): void => {
      calls += 1
      if (calls === n) state.abort(`killed at call ${n}`)
    }
    const watchTarget = <T extends object>(target: T): T => watchCalls(target, countCall)
    const own = object as unknown as { env: object }
    const namespaces = { SESSION: env.SESSION, DIRECTORY: env.DIRECTORY }
    const watched = Object.entries(namespaces).map(([name, namespace]) => [
      name,
      { getByName: (id: string) => watchTarget(namespace.getByName(id)) },
    ])
    const buckets = [
      ["MEDIA", watchTarget(env.MEDIA)],
      ["BACKUP", watchTarget(env.BACKUP as R2Bucket)],
    ]
    for (const [name, value] of [...watched, ...buckets]) Reflect.set(own.env, name as string, value)
    return undefined
  })
}

const ORIGINAL = { SESSION: env.SESSION, DIRECTORY: env.DIRECTORY, MEDIA: env.MEDIA, BACKUP: env.BACKUP }

/**
 * Runs a job to its end, and kills it first at its first call, then at its second call, and so on. Returns the number
 * of kills.
 */
async function runKilled(tenant: string, isDone: () => Promise<boolean>): Promise<number> {
  for (let n = 1; ; n += 1) {
    await killAtCall(tenant, n).catch(() => {})
    await makeJobsDue(tenant).catch(() => {})
    await runDurableObjectAlarm(tenantStubOf(tenant)).catch(() => {})
    // Restore the environment, because it belongs to the test's isolate and the next object uses it too.
    Object.assign(env, ORIGINAL)
    if (await isDone().catch(() => false)) return n
    if (n > 400) throw new Error("the job does not end")
  }
}

async function fillTenant(tenant: string): Promise<string[]> {
  await registerUser(tenant, "boss", "owner")
  await registerUser(tenant, "ada")
  const token = await roleToken(tenant, "ada", "member")
  const sessions = [await makeSession(token, "One"), await makeSession(token, "Two"), await makeSession(token)]
  const [first = ""] = sessions
  expect((await postFile(first, token, png(5))).status).toBe(201)
  await askQuestion(
    first,
    token,
    script([asks("agents_message", { agent: "weather", message: "Rain in Lima?" })], [say("ok")]),
  )
  await askQuestion(sessions[1] ?? "", token, "What is the weather in Oslo?")
  return sessions
}

/** Returns the number of calls that each slice of an export makes to other objects and to the bucket. */
async function countCalls(tenant: string): Promise<number[]> {
  return await runInDurableObject(tenantStubOf(tenant), async (_object, state) => {
    const { storage } = state
    let calls = 0
    const countCall = (): void => {
      calls += 1
    }
    const watchTarget = <T extends object>(target: T): T => watchCalls(target, countCall)
    const byName = (namespace: { getByName: (id: string) => object }) => ({
      getByName: (id: string) => watchTarget(namespace.getByName(id)),
    })
    const watched = {
      ...env,
      SESSION: byName(env.SESSION),
      DIRECTORY: byName(env.DIRECTORY),
      MEDIA: watchTarget(env.MEDIA),
    }
    const rows = new JobRows(storage.sql)
    const content = createTenantContent(new TenantHost(state, env, new ObjectTables(storage, []), () => {}))
    const host = { env: watched as unknown as Env, storage, rows, content, armAlarm: () => {}, now: Date.now }
    const times = { created: 0, expires: null, due: Number.MAX_SAFE_INTEGER }
    rows.add({ id: "counted", kind: "export", state: "running", tenant, target: tenant, ...times })
    const counts: number[] = []
    for (let isDone = false; !isDone; ) {
      calls = 0
      const result = await runExportSlice(host, rows.find("counted") as Job)
      if (!result.isDone) rows.saveProgress("counted", { ...result, updated: 0 })
      counts.push(calls)
      ;({ isDone } = result)
    }
    return counts
  })
}

testInFull("[TX2] an export of many small files makes few requests per event", async () => {
  await registerUser("kill-many", "ada")
  const token = await roleToken("kill-many", "ada", "member")
  const sessions = await Promise.all(Array.from({ length: 8 }, async (_, n) => await makeSession(token, `S${n}`)))
  const fillSession = async (id: string): Promise<void> => {
    for (let n = 0; n < 90; n += 1) expect((await postFile(id, token, png(n))).status).toBe(201)
  }
  await Promise.all(sessions.map(fillSession))
  const counts = await countCalls("kill-many")
  expect(counts).toHaveLength(2)
  // A slice ends at the session's next file, and then still has to complete its file of the archive.
  expect(Math.max(...counts)).toBeLessThan(REQUESTS_PER_SLICE + 10)
})

describe("a job that is killed at every step", () => {
  test("[TX2] [TX5] exports everything once, and imports everything once", async () => {
    const sessions = await fillTenant("kill-from")
    const boss = await ownerToken("kill-from")
    const { id } = (await call("/v1/tenant/export", { method: "POST", token: boss })).json
    const kills = await runKilled(
      "kill-from",
      async () => (await tenantStubOf("kill-from").findExport(id))?.state === "done",
    )
    // There may be fewer kills than calls, because on a busy machine an alarm may run before the object can be made to
    // die.
    expect(kills).toBeGreaterThan(2)
    const archive = await downloadArchive("kill-from", id)
    const tally = { users: 2, sessions: 3, agent_sessions: 1, files: 1, bytes: 200 }
    expect(JSON.parse(archive.manifest).tally).toEqual(tally)
    const token = await ownerToken("kill-to")
    const started = (await call("/v1/tenant/import", { method: "POST", token, body: archive.manifest })).json
    for (const [i, file] of archive.files.entries()) await uploadFile(started.id, i + 1, file, token)
    const readState = async () => (await tenantStubOf("kill-to").findImport(started.id))?.state
    expect(await runKilled("kill-to", async () => (await readState()) !== "running")).toBeGreaterThan(1)
    expect(await tenantStubOf("kill-to").findImport(started.id)).toMatchObject({ state: "done", tally, skipped: 0 })
    const [before, after] = [await roleToken("kill-from", "ada", "member"), await roleToken("kill-to", "ada", "member")]
    for (const session of sessions)
      expect(await exportSession(session, after)).toEqual(await exportSession(session, before))
    expect((await env.MEDIA.list({ prefix: "kill-to/.imports/" })).objects).toEqual([])
  })

  test("[BK3] writes a scheduled backup once, with its manifest last", async () => {
    await fillTenant("kill-backup")
    expect(await tenantStubOf("kill-backup").startBackup("kill-backup", 0)).toBe("started")
    const findBackup = async () => (await tenantStubOf("kill-backup").listBackups())[0]
    expect(await runKilled("kill-backup", async () => (await findBackup())?.state === "done")).toBeGreaterThan(2)
    const backup = await findBackup()
    const { objects } = await (env.BACKUP as R2Bucket).list({ prefix: backup?.folder ?? "none" })
    expect(objects.map(({ key }) => key.split("/").at(-1))).toEqual(["0", "1"])
    const manifest = await (await (env.BACKUP as R2Bucket).get(`${backup?.folder}0`))?.json<{ tally: object }>()
    expect(manifest?.tally).toEqual({ users: 2, sessions: 3, agent_sessions: 1, files: 1, bytes: 200 })
  })

  test("[LV2] [LV7] [LV11] erases a user, and then the whole tenant", async () => {
    const sessions = await fillTenant("kill-erase")
    const boss = await ownerToken("kill-erase")
    const { id } = (await call("/v1/users/ada", { method: "DELETE", token: boss })).json
    const isErased = async () => (await tenantStubOf("kill-erase").findReceipt(id))?.state === "done"
    expect(await runKilled("kill-erase", isErased)).toBeGreaterThan(2)
    for (const session of sessions)
      expect(
        (await env.SESSION.getByName(`kill-erase:${session}`).describe({ tenant: "kill-erase", user: "ada" })).ok,
      ).toBe(false)
    expect((await env.MEDIA.list({ prefix: "kill-erase/" })).objects).toEqual([])
    expect(await tenantStubOf("kill-erase").findUser("ada")).toBeNull()
    const body = JSON.stringify({ confirm: "kill-erase" })
    expect((await call("/v1/tenant", { method: "DELETE", token: boss, body })).status).toBe(202)
    const isGone = async () => (await tenantStubOf("kill-erase").getTenantReceipt())?.state === "done"
    expect(await runKilled("kill-erase", isGone)).toBeGreaterThan(1)
    expect((await tenantStubOf("kill-erase").getStanding()).status).toBe("erased")
    expect(await tenantStubOf("kill-erase").listUsers("", "", 9)).toEqual([])
  })
})
