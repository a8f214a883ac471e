/** tenant-transfer.ts: exports, imports and erases whole tenants through the routes, for tests. */

import { env, runInDurableObject } from "cloudflare:test"
import { nanoid } from "nanoid"
import { expect } from "vitest"
import { issueToken } from "../../worker/auth/verify-token.ts"
import type { Role } from "../../worker/platform/rpc/claims.ts"
import { call, HOST, nowSeconds, SECRET } from "./http.ts"
import { SELF } from "cloudflare:test"

export async function roleToken(tenant: string, user: string, role: Role): Promise<string> {
  const [expires, issued] = [nowSeconds() + 3_600, Date.now() / 1000]
  return await issueToken({ tenant, user, role, expires, token: nanoid(), issued }, SECRET)
}

export const ownerToken = (tenant: string): Promise<string> => roleToken(tenant, "boss", "owner")

export async function registerUser(tenant: string, user: string, role: Role = "member"): Promise<void> {
  await env.TENANT.getByName(tenant).registerUser({ id: user, name: user.toUpperCase(), role })
}

/** Sends a message and waits until its answer has ended. */
export async function askQuestion(session: string, token: string, content: string, more: object = {}): Promise<void> {
  const id = nanoid()
  const body = JSON.stringify({ id, content, ...more })
  const sent = await call(`/v1/sessions/${session}/messages`, { method: "POST", token, body })
  expect(sent.status).toBe(202)
  const hasEnded = async (): Promise<boolean> => {
    const page = await call(`/v1/sessions/${session}/conversation/recent?limit=10`, { token })
    const answer = page.json.messages.findLast((one: { role: string }) => one.role === "assistant")
    return answer?.exchange_id === id && answer.status !== "running" && answer.status !== "pending"
  }
  await expect.poll(hasEnded).toBe(true)
}

export interface Archive {
  readonly manifest: string
  readonly files: readonly Uint8Array[]
}

export async function downloadFile(path: string, token: string): Promise<Uint8Array> {
  const response = await SELF.fetch(HOST + path, { headers: { authorization: `Bearer ${token}` } })
  expect(response.status).toBe(200)
  return new Uint8Array(await response.arrayBuffer())
}

/** Starts an export, and waits until it is done. Returns the export's id. */
export async function exportTenant(tenant: string): Promise<string> {
  const token = await ownerToken(tenant)
  const started = await call("/v1/tenant/export", { method: "POST", token })
  expect(started).toMatchObject({ status: 202, json: { state: "running" } })
  const { id } = started.json
  const readState = async () => (await call(`/v1/tenant/exports/${id}`, { token })).json.state
  await expect.poll(readState, { timeout: 50_000 }).not.toBe("running")
  expect(await readState()).toBe("done")
  return id
}

export async function downloadArchive(tenant: string, id: string): Promise<Archive> {
  const token = await ownerToken(tenant)
  const path = `/v1/tenant/exports/${id}/files`
  const manifest = new TextDecoder().decode(await downloadFile(`${path}/0`, token))
  const files: Uint8Array[] = []
  for (const { n } of JSON.parse(manifest).files) files.push(await downloadFile(`${path}/${n}`, token))
  return { manifest, files }
}

export async function uploadFile(id: string, n: number, body: Uint8Array, token: string) {
  return await call(`/v1/tenant/imports/${id}/files/${n}`, { method: "PUT", token, body: new Uint8Array(body) })
}

/** Imports an archive. Returns the import once it has ended. */
export async function importTenant(tenant: string, { manifest, files }: Archive) {
  const token = await ownerToken(tenant)
  const started = await call("/v1/tenant/import", { method: "POST", token, body: manifest })
  expect(started).toMatchObject({ status: 202, json: { state: "uploading" } })
  const { id } = started.json
  for (const [i, file] of files.entries()) expect((await uploadFile(id, i + 1, file, token)).status).toBe(202)
  const readImport = async () => (await call(`/v1/tenant/imports/${id}`, { token })).json
  await expect.poll(async () => (await readImport()).state, { timeout: 50_000 }).not.toBe("running")
  return await readImport()
}

/** Returns the lines of a session's export, without the value of the seal, which depends on the tenant. */
export async function exportSession(session: string, token: string): Promise<string[]> {
  const text = new TextDecoder().decode(await downloadFile(`/v1/sessions/${session}/events`, token))
  return text.split("\n").map((line) => line.replace(/,"value":"[^"]*"}$/, "}"))
}

/**
 * Makes a tenant's waiting jobs due now (all of them, or those of one kind), and sets the tenant's alarm to the current
 * time.
 */
export async function makeJobsDue(tenant: string, kind = "%"): Promise<void> {
  const stub = env.TENANT.getByName(tenant)
  await runInDurableObject(stub, async (_object, { storage }) => {
    storage.sql.exec("UPDATE job SET due = 0 WHERE state = 'running' AND kind LIKE ?", kind)
    storage.sql.exec("UPDATE job SET progress = json_set(progress, '$.refusedAt', 0) WHERE progress LIKE '%refusedAt%'")
    await storage.setAlarm(Date.now())
  })
}
