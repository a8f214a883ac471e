/** uploads.ts: shared by the upload tests: bytes, slow connections, and what remains in rows and bucket. */

import { readdirSync, statSync } from "node:fs"
import { connect, type Socket } from "node:net"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import type { Cuecard } from "cuecard/testing"

const PNG = [0x89, 0x50, 0x4e, 0x47, 13, 10, 0x1a, 10, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52]

/** Passes for a PNG; `mark` tells it from others. */
export function png(size: number, mark = 0): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size)
  bytes.set(PNG)
  new DataView(bytes.buffer).setUint32(PNG.length, mark)
  return bytes
}

/** Sends the head of an upload and some of its bytes, and leaves the line open. */
export function begin({ url, token }: Cuecard, session: string, told: number, sent: Uint8Array): Socket {
  const { hostname, port } = new URL(url)
  const line = connect(Number(port), hostname)
  line.on("error", () => {})
  line.write(`POST /v1/sessions/${session}/assets?name=a HTTP/1.1\r\nhost: ${hostname}\r\n`)
  line.write(`authorization: Bearer ${token}\r\ncontent-length: ${told}\r\n\r\n`)
  line.write(sent)
  return line
}

export interface Row {
  readonly id: string
  readonly state: string
}

/** All rows of assets, and all keys of the bucket. Another process may be writing. */
export function readAll(persist: string): { readonly rows: readonly Row[]; readonly keys: readonly string[] } {
  const files = readdirSync(persist, { recursive: true, encoding: "utf8" }).map((name) => join(persist, name))
  const rows: Row[] = []
  const keys: string[] = []
  for (const file of files.filter((name) => name.endsWith(".sqlite") && statSync(name).isFile())) {
    const database = new DatabaseSync(file, { readOnly: true, timeout: 5_000 })
    const all = (table: string, columns: string) =>
      database.prepare("SELECT 1 FROM sqlite_master WHERE name = ?").get(table) === undefined
        ? []
        : database.prepare(`SELECT ${columns} FROM ${table}`).all()
    for (const { id, state } of all("asset", "id, state")) rows.push({ id: String(id), state: String(state) })
    for (const { key } of all("_mf_objects", "key")) keys.push(String(key))
    database.close()
  }
  return { rows, keys }
}

/** Rows by their state, and how many objects the bucket has. */
export function left(persist: string): { readonly rows: Readonly<Record<string, number>>; readonly objects: number } {
  const { rows, keys } = readAll(persist)
  const counts: Record<string, number> = {}
  for (const { state } of rows) counts[state] = (counts[state] ?? 0) + 1
  return { rows: counts, objects: keys.length }
}
