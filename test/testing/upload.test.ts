/** upload.test.ts: uploads over real lines: refused while they are sent, cut off, and a server that is killed under them. */

import { readdirSync, statSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { type Cuecard, startCuecard } from "cuecard/testing"
import { afterEach, expect, test } from "vitest"

const PNG = [0x89, 0x50, 0x4e, 0x47, 13, 10, 0x1a, 10, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52]
const png = (size: number): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(size)
  bytes.set(PNG)
  return bytes
}

const running: Cuecard[] = []
const folders: string[] = []
afterEach(async () => {
  for (const cuecard of running.splice(0)) await cuecard.close()
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true })
})

async function start(options: Parameters<typeof startCuecard>[0] = {}): Promise<Cuecard> {
  const cuecard = await startCuecard(options)
  running.push(cuecard)
  return cuecard
}

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), "upload-"))
  folders.push(made)
  return made
}

async function upload({ url, token }: Cuecard, session: string, body: Uint8Array<ArrayBuffer>) {
  const headers = { authorization: `Bearer ${token}` }
  const told = await fetch(`${url}/v1/sessions/${session}/assets?name=a.png`, { method: "POST", headers, body })
  return { status: told.status, json: (await told.json()) as { readonly code?: string } }
}

/** Sends the head of an upload and some of its bytes, and leaves the line open. */
function begin({ url, token }: Cuecard, session: string, told: number, sent: number) {
  const { hostname, port } = new URL(url)
  const line = connect(Number(port), hostname)
  line.on("error", () => {})
  line.write(`POST /v1/sessions/${session}/assets?name=a HTTP/1.1\r\nhost: ${hostname}\r\n`)
  line.write(`authorization: Bearer ${token}\r\ncontent-length: ${told}\r\n\r\n`)
  line.write(png(sent))
  return line
}

/** Rows of assets by their state, and how many objects the bucket has. Another process may be writing. */
function left(persist: string): { readonly rows: Readonly<Record<string, number>>; readonly objects: number } {
  const rows: Record<string, number> = {}
  let objects = 0
  const files = readdirSync(persist, { recursive: true, encoding: "utf8" }).map((name) => join(persist, name))
  for (const file of files.filter((name) => name.endsWith(".sqlite") && statSync(name).isFile())) {
    const database = new DatabaseSync(file, { readOnly: true })
    const has = (table: string) =>
      database.prepare("SELECT 1 FROM sqlite_master WHERE name = ?").get(table) !== undefined
    if (has("asset")) {
      for (const row of database.prepare("SELECT state, count(*) AS n FROM asset GROUP BY state").all()) {
        rows[String(row["state"])] = (rows[String(row["state"])] ?? 0) + Number(row["n"])
      }
    }
    if (has("_mf_objects")) objects += Number(database.prepare("SELECT count(*) AS n FROM _mf_objects").get()?.["n"])
    database.close()
  }
  return { rows, objects }
}

test("[AS3] whoever sends too much, or the wrong thing, hears why", async () => {
  const cuecard = await start()
  const { id } = await cuecard.createSession()
  expect(await upload(cuecard, id, png(30_000_000))).toMatchObject({ status: 413, json: { code: "asset_too_large" } })
  const zip = new Uint8Array(20_000_000)
  zip.set([0x50, 0x4b, 3, 4])
  expect(await upload(cuecard, id, zip)).toMatchObject({ status: 415, json: { code: "asset_type_refused" } })
  expect((await upload(cuecard, id, png(10_000_000))).status).toBe(201)
  expect(left(cuecard.persist)).toEqual({ rows: { kept: 1 }, objects: 1 })
})

test("[AS7] a line that is cut leaves nothing", async () => {
  const cuecard = await start()
  const { id } = await cuecard.createSession()
  const line = begin(cuecard, id, 1_000_000, 400_000)
  await expect.poll(() => left(cuecard.persist).rows, { timeout: 5_000 }).toEqual({ pending: 1 })
  line.destroy()
  await expect.poll(() => left(cuecard.persist), { timeout: 5_000 }).toEqual({ rows: {}, objects: 0 })
})

test("[AS7] a server that is killed under an upload takes it away when it is there again", async () => {
  const persist = await folder()
  // Half an hour becomes two seconds.
  const vars = { TIME_SCALE: "0.001" }
  const first = await start({ persist, vars })
  const { id } = await first.createSession()
  expect((await upload(first, id, png(5_000))).status).toBe(201)
  const line = begin(first, id, 1_000_000, 400_000)
  await expect.poll(() => left(persist).rows, { timeout: 5_000 }).toEqual({ kept: 1, pending: 1 })
  await first.kill()
  line.destroy()
  expect(left(persist).rows).toEqual({ kept: 1, pending: 1 })
  await start({ persist, vars })
  await expect.poll(() => left(persist), { timeout: 20_000 }).toEqual({ rows: { kept: 1 }, objects: 1 })
})
