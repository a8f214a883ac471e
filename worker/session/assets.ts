/**
 * assets.ts: which files a session keeps; their bytes stand in the bucket.
 *
 * upload, tool, import → ASSETS → messages, parts, signatures
 * A row is there before its bytes are, and says so until they are: whatever dies between the two leaves a row that is
 * found, and so no bytes that nobody knows.
 */

import type { Asset } from "../../shared/event.ts"
import type { Sql } from "./erase.ts"
import { fromJson } from "./rows.ts"

export type AssetOrigin = "user" | "tool" | "import"

export interface AssetBook {
  /** One that is kept; null: it is not of this session, or not there yet. */
  find(id: string): Asset | null
  /** Announces bytes of this id. */
  reserve(id: string, origin: AssetOrigin, now: number): void
  /** Its bytes are in the bucket. `hash` is the SHA-256 of them, hexadecimal. */
  keep(asset: Asset, hash: string | null): void
  /** Gives up one that is not kept. */
  drop(id: string): void
}

export function createAssetBook(sql: Sql): AssetBook {
  return {
    find(id) {
      const [row] = sql.exec("SELECT about FROM asset WHERE id = ? AND state = 'kept'", id).toArray()
      return row === undefined ? null : fromJson<Asset>(row["about"])
    },
    reserve(id, origin, now) {
      sql.exec("INSERT INTO asset (id, state, origin, created) VALUES (?, 'pending', ?, ?)", id, origin, now)
    },
    keep(asset, hash) {
      const about = JSON.stringify(asset)
      sql.exec("UPDATE asset SET state = 'kept', about = ?, hash = ? WHERE id = ?", about, hash, asset.id)
    },
    drop(id) {
      sql.exec("DELETE FROM asset WHERE id = ? AND state = 'pending'", id)
    },
  }
}
