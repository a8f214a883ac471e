/** version-rows.ts: the `version` table, which lists the versions of messages that have more than one. */

import { columnToNumberOrNull } from "./columns.ts"
import type { Database } from "./database.ts"
import { rowToRole, versionGroupKey } from "./row-codec.ts"

/** Returns the number of versions under a parent; 1 if there is only the original. */
export function countVersions({ queryFirst }: Database, parent: number | null): number {
  return Number(queryFirst("SELECT n FROM version WHERE parent = ? ORDER BY n DESC LIMIT 1", parent ?? 0)?.["n"] ?? 1)
}

export function createVersionRows(database: Database) {
  const { queryAll, queryFirst, streamRows } = database
  return {
    countVersions: (parent: number | null): number => countVersions(database, parent),

    /**
     * Makes the message at `pos` version `n` of the message at `firstPos`, which may have been the only version so far.
     */
    addVersion(parent: number | null, firstPos: number, n: number, pos: number): void {
      if (n === 2) queryAll("INSERT OR IGNORE INTO version (parent, n, pos) VALUES (?, 1, ?)", parent ?? 0, firstPos)
      queryAll("INSERT INTO version (parent, n, pos) VALUES (?, ?, ?)", parent ?? 0, n, pos)
      queryAll("UPDATE transcript SET has_versions = 1 WHERE pos IN (?, ?) AND has_versions = 0", firstPos, pos)
    },

    /**
     * Returns the positions of all first versions, keyed by `versionGroupKey`. Used only for imports, because it reads
     * every message once.
     */
    readFirstVersions(): Map<number, number> {
      const firsts = new Map<number, number>()
      for (const row of streamRows("SELECT pos, parent, role FROM transcript WHERE version = 1 ORDER BY pos DESC")) {
        firsts.set(versionGroupKey(columnToNumberOrNull(row["parent"]), rowToRole(row)), Number(row["pos"]))
      }
      return firsts
    },

    /** Returns the newest version under a parent; null if there is only one. */
    findNewestVersion(parent: number): number | null {
      const row = queryFirst("SELECT pos FROM version WHERE parent = ? ORDER BY n DESC LIMIT 1", parent)
      return columnToNumberOrNull(row?.["pos"])
    },

    /**
     * Returns the end of the path below a version: the stored tip, or the version itself. Null if there is no such
     * version.
     */
    findVersionTip(parent: number | null, n: number): number | null {
      const row = queryFirst(
        `SELECT t.pos, (SELECT e.pos FROM transcript e WHERE e.pos = t.tip) AS tip
         FROM version v JOIN transcript t ON t.pos = v.pos WHERE v.parent = ? AND v.n = ?`,
        parent ?? 0,
        n,
      )
      return row === null ? null : (columnToNumberOrNull(row["tip"]) ?? Number(row["pos"]))
    },

    /** Stores where the path below a version ended when another version became active. */
    setVersionTip(pos: number, tip: number | null): void {
      queryAll("UPDATE transcript SET tip = ? WHERE pos = ?", tip, pos)
    },
  }
}
