/**
 * disk-search.ts: finds a text in everything that a server has stored: the rows of all objects, and the keys and bytes of
 * the buckets.
 */

import { cp, mkdtemp, readdir, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import { DatabaseSync } from "node:sqlite"

/** The places that contain a text: `do/cuecard-Session leaf`, or the path of a file. Sorted, each place once. The server may be running. */
export async function findOnDisk(persist: string, text: string): Promise<string[]> {
  // SQLite writes to the files that it opens.
  const copy = await mkdtemp(join(tmpdir(), "cuecard-disk-"))
  try {
    await cp(persist, copy, { recursive: true })
    const entries = await readdir(copy, { recursive: true, withFileTypes: true })
    // A write-ahead log is read with its database.
    const files = entries.filter((entry) => entry.isFile() && !/-(?:wal|shm)$/.test(entry.name))
    const found = new Set<string>()
    for (const { parentPath, name } of files) {
      const path = join(parentPath, name)
      const folder = relative(copy, parentPath)
      if (name.endsWith(".sqlite")) for (const table of findInTables(path, text)) found.add(`${folder} ${table}`)
      else if (name.includes(text) || (await readFile(path)).includes(text)) found.add(join(folder, name))
    }
    return [...found].sort()
  } finally {
    await rm(copy, { recursive: true, force: true })
  }
}

/** The tables of a database that contain a text, including those of the platform. */
function findInTables(path: string, text: string): string[] {
  const database = new DatabaseSync(path)
  try {
    const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all()
    return tables
      .map(({ name }) => String(name))
      .filter((name) => readRows(database, name).some((row) => hasText(row, text)))
  } finally {
    database.close()
  }
}

function readRows(database: DatabaseSync, table: string): Record<string, unknown>[] {
  const statement = database.prepare(`SELECT * FROM "${table}"`)
  // The platform stores times that are too large for a number.
  statement.setReadBigInts(true)
  return statement.all()
}

function hasText(row: Record<string, unknown>, text: string): boolean {
  return Object.values(row).some((value) =>
    (value instanceof Uint8Array ? Buffer.from(value) : String(value)).includes(text),
  )
}
