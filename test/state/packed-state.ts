/**
 * packed-state.ts: packs a state directory into one archive, unpacks it, and postpones its deadlines.
 */

import { execFileSync } from "node:child_process"
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"

/** The contents of a version's folder: the packed state directory, and the responses of the version that wrote it. */
export const ARCHIVE = "state.tar.gz"
export const ANSWERS = "answers"

const HOUR_MS = 60 * 60_000

/** Packs a directory that no server has open. The archive contains no user names, machine paths or file times. */
export function packState(folder: string, archive: string): void {
  // Merge each write-ahead log into its database, so that each object is a single file.
  for (const file of databasesIn(folder))
    withDatabase(file, (database) => database.exec("PRAGMA wal_checkpoint(TRUNCATE)"))
  const anonymous = ["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner", "--mode=u=rwX,go=rX"]
  execFileSync("tar", [...anonymous, "-C", folder, "-I", "gzip -9n", "-cf", archive, "."])
}

export function unpackState(archive: string, folder: string): void {
  execFileSync("tar", ["-xzf", archive, "-C", folder])
}

/**
 * Moves every deadline that had not passed to an hour from now, as though the server had only just stopped.
 *
 * Otherwise, all deadlines would have expired by the time the state is unpacked: the waiting approval would be denied
 * (after 7 days), the producer would be considered gone (50 s), the agent's answer would be missed (a day), and the
 * staged import would be dropped (5 min). Only these values differ from those that the earlier version stored. The
 * statements match the tables of the version that wrote the state, not those of the current one.
 */
export function postponeDeadlines(folder: string): void {
  const later = Date.now() + HOUR_MS
  for (const file of databasesIn(folder)) {
    withDatabase(file, (database) => {
      if (!hasTable(database, "transcript")) return
      database.prepare("UPDATE transcript SET deadline = ? WHERE status IN ('running', 'waiting')").run(later)
      database.prepare("UPDATE asked SET until = ? WHERE open = 1 AND until IS NOT NULL").run(later)
      const touched =
        "UPDATE session SET import = json_set(import, '$.touched', ?) WHERE import ->> '$.step' = 'staging'"
      database.prepare(touched).run(later)
    })
  }
}

function hasTable(database: DatabaseSync, name: string): boolean {
  return database.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").get(name) !== undefined
}

function withDatabase(file: string, work: (database: DatabaseSync) => void): void {
  const database = new DatabaseSync(file)
  try {
    work(database)
  } finally {
    database.close()
  }
}

function databasesIn(folder: string): string[] {
  const names = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: "utf8" }) : []
  return names.filter((name) => name.endsWith(".sqlite")).map((name) => join(folder, name))
}
