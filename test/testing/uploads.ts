/** uploads.ts: helpers for the upload tests: bytes, slow connections, and leftovers in the rows and the bucket. */

import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs"
import { connect, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import type { Cuecard } from "cuecard/testing"

const PNG = [0x89, 0x50, 0x4e, 0x47, 13, 10, 0x1a, 10, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52]

/** Returns bytes that are detected as a PNG file. `mark` makes them unique. */
export function createPng(size: number, mark = 0): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size)
  bytes.set(PNG)
  new DataView(bytes.buffer).setUint32(PNG.length, mark)
  return bytes
}

/** Sends the headers of an upload and some of its bytes, and leaves the connection open. */
export function beginUpload({ url, token }: Cuecard, session: string, declaredBytes: number, sent: Uint8Array): Socket {
  const { hostname, port } = new URL(url)
  const line = connect(Number(port), hostname)
  line.on("error", () => {})
  line.write(`POST /v1/sessions/${session}/assets?name=a HTTP/1.1\r\nhost: ${hostname}\r\n`)
  line.write(`authorization: Bearer ${token}\r\ncontent-length: ${declaredBytes}\r\n\r\n`)
  line.write(sent)
  return line
}

export interface Row {
  readonly id: string
  readonly state: string
}

type All = (table: string, columns: string) => Record<string, unknown>[]

/**
 * Reads a copy of a database, because another process may be writing to the original. A killed server leaves a log that
 * SQLite has to recover, which requires write access, and a connection to the original would hold locks.
 */
function readCopy(file: string, read: (all: All) => void): void {
  const folder = mkdtempSync(join(tmpdir(), "cuecard-copy-"))
  const copy = join(folder, "copy.sqlite")
  try {
    // Copy the log first. The database may already contain the same frames when it is copied, but applying them again
    // changes nothing.
    if (existsSync(`${file}-wal`)) copyFileSync(`${file}-wal`, `${copy}-wal`)
    copyFileSync(file, copy)
    const database = new DatabaseSync(copy)
    try {
      read((table, columns) =>
        database.prepare("SELECT 1 FROM sqlite_master WHERE name = ?").get(table) === undefined
          ? []
          : database.prepare(`SELECT ${columns} FROM ${table}`).all(),
      )
    } finally {
      database.close()
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/**
 * Returns all asset rows and all keys in the bucket. Throws if the server changes the files meanwhile; callers should
 * then retry.
 */
export function readAll(persist: string): { readonly rows: readonly Row[]; readonly keys: readonly string[] } {
  const files = readdirSync(persist, { recursive: true, encoding: "utf8" }).map((name) => join(persist, name))
  const rows: Row[] = []
  const keys: string[] = []
  for (const file of files.filter((name) => name.endsWith(".sqlite") && statSync(name).isFile())) {
    readCopy(file, (all) => {
      for (const { id, state } of all("asset", "id, state")) rows.push({ id: String(id), state: String(state) })
      for (const { key } of all("_mf_objects", "key")) keys.push(String(key))
    })
  }
  return { rows, keys }
}

/** Returns the number of rows by state, and the number of objects in the bucket. */
export function readLeftovers(persist: string): {
  readonly rows: Readonly<Record<string, number>>
  readonly objects: number
} {
  const { rows, keys } = readAll(persist)
  const counts: Record<string, number> = {}
  for (const { state } of rows) counts[state] = (counts[state] ?? 0) + 1
  return { rows: counts, objects: keys.length }
}
