/**
 * disk-search.ts: searches everything that a server has stored for a string: the rows of all objects, and the keys and
 * bytes of the buckets.
 */

import { cp, mkdtemp, readdir, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import { DatabaseSync } from "node:sqlite"

const COPY_TRIES = 10

/** Returns the sorted locations of `text`: `do/cuecard-Session leaf`, or a file path. The server may be running. */
export async function findOnDisk(persist: string, text: string): Promise<string[]> {
  // Search a copy, because SQLite writes to the files that it opens.
  const copy = await mkdtemp(join(tmpdir(), "cuecard-disk-"))
  try {
    await copyState(persist, copy)
    const entries = await readdir(copy, { recursive: true, withFileTypes: true })
    // SQLite reads a write-ahead log together with its database.
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

/**
 * Copies the state, and retries if that fails. It can fail because a running server deletes an object's write-ahead log
 * when the object leaves memory.
 */
async function copyState(from: string, to: string, tries = COPY_TRIES): Promise<void> {
  try {
    await cp(from, to, { recursive: true })
  } catch (error) {
    if (tries <= 1 || (error as NodeJS.ErrnoException).code !== "ENOENT") throw error
    // Delete the partial copy, because a database must not be opened with a log from a different moment.
    await rm(to, { recursive: true, force: true })
    await copyState(from, to, tries - 1)
  }
}

/** Returns the tables of a database that contain `text`, including the platform's own tables. */
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
  // Some times that the platform stores are too large for a JavaScript number.
  statement.setReadBigInts(true)
  return statement.all()
}

function hasText(row: Record<string, unknown>, text: string): boolean {
  return Object.values(row).some((value) =>
    (value instanceof Uint8Array ? Buffer.from(value) : String(value)).includes(text),
  )
}
