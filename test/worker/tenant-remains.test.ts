/**
 * tenant-remains.test.ts: searches every row and every byte for remains of jobs that have ended, and of jobs that ran
 * during an erasure.
 */

import { env, listDurableObjectIds, runInDurableObject } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import { CLOCK_TOLERANCE_SECONDS } from "../../worker/auth/verify-token.ts"
import { call, makeSession, nowSeconds, refusal } from "./http.ts"
import { type Archive, askQuestion, downloadArchive, exportTenant, importTenant } from "./tenant-transfer.ts"
import { ownerToken, registerUser, roleToken, makeJobsDue, uploadFile } from "./tenant-transfer.ts"

const tenantStubOf = (tenant: string) => env.TENANT.getByName(tenant)

type Row = Record<string, SqlStorageValue>

const textOf = (row: Row): string =>
  Object.values(row)
    .map((value) => (value instanceof ArrayBuffer ? new TextDecoder().decode(value) : String(value)))
    .join("\n")

function findInRows(sql: SqlStorage, marker: string): string[] {
  const tables = sql.exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'").toArray()
  return tables.flatMap(({ name }) => {
    if (/^(?:sqlite_|_cf_)/.test(name)) return []
    const rows = sql.exec<Row>(`SELECT * FROM "${name}"`).toArray()
    return rows.some((row) => textOf(row).includes(marker)) ? [name] : []
  })
}

/** Returns the tables of all objects, and the keys of the bucket, that contain the marker. */
async function findMarker(marker: string): Promise<string[]> {
  const found: string[] = []
  for (const name of ["SESSION", "DIRECTORY", "TENANT", "REGISTRY"] as const) {
    const namespace = env[name] as unknown as DurableObjectNamespace
    for (const id of await listDurableObjectIds(namespace)) {
      const tables = await runInDurableObject(namespace.get(id), (_object, state) =>
        findInRows(state.storage.sql, marker),
      )
      found.push(...tables.map((table) => `${name} ${table}`))
    }
  }
  for (let cursor: string | undefined; ; ) {
    const page: R2Objects = await env.MEDIA.list(cursor === undefined ? {} : { cursor })
    for (const { key } of page.objects) {
      const bytes = await (await env.MEDIA.get(key))?.text()
      if (key.includes(marker) || bytes?.includes(marker) === true) found.push(key)
    }
    if (!page.truncated) return [...new Set(found)].sort()
    ;({ cursor } = page)
  }
}

/** The only tables that may still name an erased user: the audit log, and the job with the receipt. */
const REMAINS = ["TENANT audit", "TENANT job"]

const sqlOf = async (tenant: string, query: string, ...values: SqlStorageValue[]): Promise<Row[]> =>
  await runInDurableObject(tenantStubOf(tenant), (_object, { storage }) =>
    storage.sql.exec<Row>(query, ...values).toArray(),
  )

async function fillTenant(tenant: string, user: string): Promise<string> {
  await registerUser(tenant, "boss", "owner")
  await registerUser(tenant, user)
  const token = await roleToken(tenant, user, "member")
  await askQuestion(await makeSession(token, `Title ${user}`), token, `/say ${user}`)
  return token
}

async function archiveOf(tenant: string, user: string): Promise<Archive> {
  await fillTenant(tenant, user)
  const archive = await downloadArchive(tenant, await exportTenant(tenant))
  // Remove these exports, because the search would find the user in them.
  const token = await ownerToken(tenant)
  for (const { id } of (await call("/v1/tenant/exports", { token })).json.exports)
    await call(`/v1/tenant/exports/${id}`, { method: "DELETE", token })
  return archive
}

const postAsOwner = async (tenant: string, path: string, body = "") =>
  await call(path, { method: "POST", token: await ownerToken(tenant), ...(body === "" ? {} : { body }) })
const eraseUser = async (tenant: string, user: string) =>
  await call(`/v1/users/${user}`, { method: "DELETE", token: await ownerToken(tenant) })

async function untilErased(tenant: string, receipt: string): Promise<void> {
  const isDone = async () => {
    await makeJobsDue(tenant)
    return (await tenantStubOf(tenant).findReceipt(receipt))?.state === "done"
  }
  await expect.poll(isDone, { timeout: 40_000 }).toBe(true)
}

async function actionsOf(tenant: string) {
  const { json } = await call("/v1/audit?limit=100", { token: await ownerToken(tenant) })
  return json.entries as { action: string; target: string; details: Record<string, unknown> }[]
}

describe("the erasure of a user", () => {
  test("[LV2] [LV10] [TX4] admits no export or import while it is running, and leaves nothing of the user", async () => {
    const user = "marker-export"
    const old = await fillTenant("rm-export", user)
    const { id: exported } = { id: await exportTenant("rm-export") }
    expect(await findMarker(user)).toContain("DIRECTORY sessions")
    const { json } = await eraseUser("rm-export", user)
    expect(await postAsOwner("rm-export", "/v1/tenant/export")).toEqual(refusal(409, "transfer_running"))
    const other = await archiveOf("rm-other", "somebody")
    // The server first checks whether the tenant is empty, so the import is refused for that reason as long as the
    // user's conversation is listed.
    const startImport = () => postAsOwner("rm-export", "/v1/tenant/import", other.manifest)
    await expect.poll(startImport).toEqual(refusal(409, "transfer_running"))
    await untilErased("rm-export", json.id)
    expect(await findMarker(user)).toEqual(REMAINS)
    const entries = await actionsOf("rm-export")
    expect(entries.find(({ action }) => action === "user.erased")?.details).toMatchObject({ users: 1, sessions: 1 })
    expect(entries.find(({ action }) => action === "tenant.export_removed")?.target).toBe(exported)
    // This request was admitted before the erasure, but is slow.
    const directory = env.DIRECTORY.getByName(`rm-export:${user}`)
    const issued = nowSeconds() - CLOCK_TOLERANCE_SECONDS - 60
    expect(await directory.addSession("late", "", 1, { role: "member", issued })).toMatchObject({ ok: false })
    expect((await call("/v1/sessions", { token: old })).status).toBe(401)
    expect(await findMarker(user)).toEqual(REMAINS)
    expect((await postAsOwner("rm-export", "/v1/tenant/export")).status).toBe(202)
  })

  test("[LV2] [TX4] cancels an import that was not started, and waits for one that was", async () => {
    const user = "marker-import"
    const archive = await archiveOf("rm-from", user)
    await untilErased("rm-from", (await eraseUser("rm-from", user)).json.id)
    expect(await findMarker(user)).toEqual(REMAINS)
    for (const name of ["boss", "second"]) await registerUser("rm-to", name, "owner")
    await registerUser("rm-to", user)
    const token = await ownerToken("rm-to")
    const { id } = (await postAsOwner("rm-to", "/v1/tenant/import", archive.manifest)).json
    // Store the first of two files.
    await sqlOf("rm-to", "INSERT INTO job_file VALUES (?, 2, 1, '', 0)", id)
    expect((await uploadFile(id, 1, archive.files[0] ?? new Uint8Array(), token)).json.missing).toEqual([2])
    await sqlOf("rm-to", "UPDATE job SET state = 'running', due = 9e15 WHERE id = ?", id)
    expect(await eraseUser("rm-to", user)).toEqual(refusal(409, "transfer_running"))
    await sqlOf("rm-to", "UPDATE job SET state = 'uploading' WHERE id = ?", id)
    const erased = await eraseUser("rm-to", user)
    expect(erased.status).toBe(202)
    expect(await uploadFile(id, 1, archive.files[0] ?? new Uint8Array(), token)).toMatchObject({ status: 404 })
    await untilErased("rm-to", erased.json.id)
    expect(await findMarker(user)).toEqual(REMAINS)
    expect((await actionsOf("rm-to")).map(({ action }) => action)).toContain("tenant.import_removed")
  })
})

describe("an import that has ended", () => {
  test("[TX14] keeps neither its index nor its files, whether it succeeded or failed", async () => {
    const archive = await archiveOf("rm-index", "marker-index")
    expect(await importTenant("rm-index2", archive)).toMatchObject({ state: "done", parts: 1 })
    const counts = "SELECT (SELECT count(*) FROM archive_item) + (SELECT count(*) FROM job_file) AS n"
    expect(await sqlOf("rm-index2", counts)).toEqual([{ n: 0 }])
    const { id } = (await postAsOwner("rm-index3", "/v1/tenant/import", archive.manifest)).json
    await sqlOf("rm-index3", "INSERT INTO job_file VALUES (?, 2, 1, '', 0)", id)
    await uploadFile(id, 1, archive.files[0] ?? new Uint8Array(), await ownerToken("rm-index3"))
    await sqlOf("rm-index3", "UPDATE job SET state = 'running', due = 0 WHERE id = ?", id)
    await makeJobsDue("rm-index3")
    const readJob = async () => await tenantStubOf("rm-index3").findImport(id)
    await expect.poll(async () => (await readJob())?.state).toBe("failed")
    expect(await readJob()).toMatchObject({ fault: { reason: "archive_refused", because: "content" }, parts: 1 })
    expect(await sqlOf("rm-index3", counts)).toEqual([{ n: 0 }])
    expect((await env.MEDIA.list({ prefix: "rm-index3/" })).objects).toEqual([])
  })
})

describe("an erased tenant", () => {
  test("[LV8] stores nothing that a late request writes", async () => {
    await registerUser("rm-gone", "boss", "owner")
    expect((await postAsOwner("rm-gone", "/v1/tenant/export")).status).toBe(202)
    const body = JSON.stringify({ confirm: "rm-gone" })
    await call("/v1/tenant", { method: "DELETE", token: await ownerToken("rm-gone"), body })
    const isGone = async () => {
      await makeJobsDue("rm-gone")
      return (await tenantStubOf("rm-gone").getTenantReceipt())?.state === "done"
    }
    await expect.poll(isGone, { timeout: 40_000 }).toBe(true)
    const actor = { kind: "user", id: "late", address: null } as const
    const tenant = tenantStubOf("rm-gone")
    const erased = { ok: false, fault: { reason: "tenant_erased" } }
    const agent = { name: "late", description: "", prompt: "", tools: [], model: null, files: [] } as never
    expect(await tenant.putAgent(actor as never, agent)).toEqual(erased)
    expect(await tenant.startExport("rm-gone", actor as never)).toEqual(erased)
    expect(await tenant.startImport("rm-gone", actor as never, "{}")).toEqual(erased)
    expect(await tenant.rotateTokenKeys(actor as never, 0)).toEqual(erased)
    expect(await tenant.putIssuer({ actor, role: "owner" } as never, "late", {} as never)).toEqual(erased)
    await tenant.setSettings(actor as never, { embed_origins: ["https://late.com"], media_hosts: [] })
    await tenant.recordEvent(actor as never, { action: "late" } as never)
    await tenant.recordFailure(actor as never, { action: "late" } as never)
    const rows =
      "SELECT (SELECT count(*) FROM agents) + (SELECT count(*) FROM settings) + (SELECT count(*) FROM job) AS n"
    expect(await sqlOf("rm-gone", rows)).toEqual([{ n: 0 }])
    expect(await sqlOf("rm-gone", "SELECT count(*) AS n FROM audit")).toEqual([{ n: 0 }])
  })
})

describe("a transfer", () => {
  const age = 8 * 24 * 60 * 60_000

  test("[TX12] [TX13] is retried until it makes no progress for days, and its end is recorded", async () => {
    const archive = await archiveOf("rm-retry", "somebody")
    const { id } = (await postAsOwner("rm-retry2", "/v1/tenant/import", archive.manifest)).json
    // The job's file is missing, as after an outage.
    const days = "UPDATE job SET state = 'running', tries = 12, expires = 1, updated = ?, due = 0 WHERE id = ?"
    const bad = 'UPDATE job SET progress = \'{"step":"nothing","from":"x","at":0,"skipped":0,"parts":1}\' WHERE id = ?'
    await sqlOf("rm-retry2", bad, id)
    await sqlOf("rm-retry2", days, Date.now(), id)
    const readJob = async () => await sqlOf("rm-retry2", "SELECT state, tries FROM job WHERE id = ?", id)
    await makeJobsDue("rm-retry2")
    await expect.poll(readJob).toEqual([{ state: "running", tries: 13 }])
    await sqlOf("rm-retry2", days, Date.now() - age, id)
    await makeJobsDue("rm-retry2")
    await expect.poll(async () => (await readJob())[0]?.["state"]).toBe("failed")
    await sqlOf("rm-retry2", "UPDATE job SET expires = 1 WHERE id = ?", id)
    await makeJobsDue("rm-retry2")
    await expect.poll(readJob).toEqual([])
    const actions = (await actionsOf("rm-retry2")).map(({ action }) => action)
    expect(actions).toContain("tenant.import_failed")
    expect(actions).toContain("tenant.import_expired")
  })

  test("[TX10] into a tenant that has meanwhile got a conversation fails, and changes nothing", async () => {
    const archive = await archiveOf("rm-meanwhile", "somebody")
    const { id } = (await postAsOwner("rm-meanwhile2", "/v1/tenant/import", archive.manifest)).json
    await makeSession(await roleToken("rm-meanwhile2", "early", "member"))
    await uploadFile(id, 1, archive.files[0] ?? new Uint8Array(), await ownerToken("rm-meanwhile2"))
    const readJob = async () => await tenantStubOf("rm-meanwhile2").findImport(id)
    await expect.poll(async () => (await readJob())?.state, { timeout: 20_000 }).toBe("failed")
    expect((await readJob())?.fault).toEqual({ reason: "tenant_not_empty" })
    expect(await tenantStubOf("rm-meanwhile2").findUser("somebody")).toBeNull()
  })

  test("[TX5] notifies the directory of a suspended user at once", async () => {
    await fillTenant("rm-suspended", "eve")
    expect((await postAsOwner("rm-suspended", "/v1/users/eve/suspend")).status).toBe(200)
    const archive = await downloadArchive("rm-suspended", await exportTenant("rm-suspended"))
    expect(await importTenant("rm-suspended2", archive)).toMatchObject({ state: "done" })
    expect(await sqlOf("rm-suspended2", "SELECT * FROM user_notices WHERE retry > ?", Date.now())).toEqual([])
  })

  test("[TX11] that certainly needs more files than an archive may have is refused", async () => {
    await registerUser("rm-huge", "boss", "owner")
    const store = "INSERT OR REPLACE INTO tenant_bytes VALUES (1, ?)"
    await sqlOf("rm-huge", store, 63 * 1024 ** 3)
    expect((await postAsOwner("rm-huge", "/v1/tenant/export")).status).toBe(409)
    expect(await tenantStubOf("rm-huge").listExports()).toEqual([])
    await sqlOf("rm-huge", store, 62.5 * 1024 ** 3)
    expect((await postAsOwner("rm-huge", "/v1/tenant/export")).status).toBe(202)
  })

  test("[TX11] that needs more files than an archive may have fails at once", async () => {
    await fillTenant("rm-large", "somebody")
    await runInDurableObject(tenantStubOf("rm-large"), async (object, { storage }) => {
      const started = await object.startExport("rm-large", { kind: "user", id: "boss", address: null } as never)
      const id = started.ok ? started.value.id : ""
      storage.sql.exec(
        `INSERT INTO job_file WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000)
         SELECT ?, i, 1, '', 1 FROM n`,
        id,
      )
      storage.sql.exec('UPDATE job SET progress = \'{"hasConfig":true,"parts":4000}\' WHERE id = ?', id)
    })
    const readJob = async () => (await tenantStubOf("rm-large").listExports())[0]
    await expect.poll(async () => (await readJob())?.state, { timeout: 20_000 }).toBe("failed")
    expect((await readJob())?.fault).toEqual({ reason: "export_too_large", max: 4_000 })
  })
})

describe("a tenant that is leaving", () => {
  test("[LV5] gets no new user through an API key", async () => {
    const operator = String(env.OPERATOR_SECRET)
    const made = await call("/v1/tenants", { method: "POST", token: operator, body: '{"id":"rm-leaving"}' })
    const issueToken = async (user: string) =>
      await call("/v1/tokens", { method: "POST", token: made.json.key, body: JSON.stringify({ user }) })
    expect((await issueToken("ada")).status).toBe(200)
    const body = JSON.stringify({ confirm: "rm-leaving" })
    await call("/v1/tenant", { method: "DELETE", token: await ownerToken("rm-leaving"), body })
    expect((await issueToken("ada")).status).toBe(200)
    expect(await issueToken("bob")).toEqual(refusal(403, "tenant_leaving"))
    expect(await tenantStubOf("rm-leaving").findUser("bob")).toBeNull()
  })
})
