/**
 * upload.test.ts: tests uploads over real connections that are refused while they are being sent, cut off, or ended by
 * a killed server.
 */

import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Cuecard, startCuecard } from "cuecard/testing"
import { afterEach, expect, test } from "vitest"
import { beginUpload, readLeftovers, createPng } from "./uploads.ts"

const running: Cuecard[] = []
const folders: string[] = []
afterEach(async () => {
  for (const cuecard of running.splice(0)) await cuecard.close()
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true })
})

async function startServer(options: Parameters<typeof startCuecard>[0] = {}): Promise<Cuecard> {
  const cuecard = await startCuecard(options)
  running.push(cuecard)
  return cuecard
}

async function createFolder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), "upload-"))
  folders.push(made)
  return made
}

async function uploadFile({ url, token }: Cuecard, session: string, body: Uint8Array<ArrayBuffer>) {
  const headers = { authorization: `Bearer ${token}` }
  const response = await fetch(`${url}/v1/sessions/${session}/assets?name=a.png`, { method: "POST", headers, body })
  return { status: response.status, json: (await response.json()) as { readonly code?: string } }
}

test("[AS3] a client that sends too much, or the wrong type, receives the error", async () => {
  const cuecard = await startServer()
  const { id } = await cuecard.createSession()
  expect(await uploadFile(cuecard, id, createPng(30_000_000))).toMatchObject({
    status: 413,
    json: { code: "asset_too_large" },
  })
  const zip = new Uint8Array(20_000_000)
  zip.set([0x50, 0x4b, 3, 4])
  expect(await uploadFile(cuecard, id, zip)).toMatchObject({ status: 415, json: { code: "asset_type_refused" } })
  expect((await uploadFile(cuecard, id, createPng(10_000_000))).status).toBe(201)
  expect(readLeftovers(cuecard.persist)).toEqual({ rows: { kept: 1 }, objects: 1 })
})

test("[AS7] a cut connection stores nothing", async () => {
  const cuecard = await startServer()
  const { id } = await cuecard.createSession()
  const connection = beginUpload(cuecard, id, 1_000_000, createPng(400_000))
  await expect.poll(() => readLeftovers(cuecard.persist).rows, { timeout: 5_000 }).toEqual({ pending: 1 })
  connection.destroy()
  await expect.poll(() => readLeftovers(cuecard.persist), { timeout: 5_000 }).toEqual({ rows: {}, objects: 0 })
})

test("[AS7] if the server is killed during an upload, it removes the upload after its restart", async () => {
  const persist = await createFolder()
  // Shorten half an hour to two seconds.
  const vars = { TIME_SCALE: "0.001" }
  const first = await startServer({ persist, vars })
  const { id } = await first.createSession()
  expect((await uploadFile(first, id, createPng(5_000))).status).toBe(201)
  const connection = beginUpload(first, id, 1_000_000, createPng(400_000))
  await expect.poll(() => readLeftovers(persist).rows, { timeout: 5_000 }).toEqual({ kept: 1, pending: 1 })
  await first.kill()
  connection.destroy()
  expect(readLeftovers(persist).rows).toEqual({ kept: 1, pending: 1 })
  await startServer({ persist, vars })
  await expect.poll(() => readLeftovers(persist), { timeout: 20_000 }).toEqual({ rows: { kept: 1 }, objects: 1 })
})
