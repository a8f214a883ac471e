/**
 * asset-rows.ts: the `asset` table. The bytes of assets are in the bucket.
 *
 * A row is inserted before the asset's bytes are written and deleted after the bytes are deleted, so that bytes never
 * exist without a row, even if the process is killed (SPEC AS7).
 */

import type { Asset } from "../../shared/protocol/event.ts"
import type { AssetEntry } from "../platform/rpc/session-types.ts"
import { fail, type Result, succeed } from "../../shared/fault.ts"
import { MAX_SESSION_ASSET_BYTES, MAX_SESSION_ASSETS } from "../../shared/asset-limits.ts"
import type { SqlExecutor } from "../store/storage-gate.ts"
import { columnToTextOrNull, parseJsonColumn } from "../store/columns.ts"

export type AssetOrigin = "user" | "tool" | "import"

export interface AssetRows {
  /** Returns a committed asset; null if there is none with this id. */
  find(id: string): Asset | null
  /** Returns committed assets in the order of their ids, from the beginning or after an id. */
  listAfter(after: string | null, limit: number): AssetEntry[]
  /** Checks whether one more asset of this size fits within the limits of a session. Errors: `assets_full`. */
  checkCapacity(size: number): Result<null>
  /** Adds a pending asset. `size` counts against the limits; `now` is in milliseconds since 1970. */
  reserve(id: string, origin: AssetOrigin, now: number, size?: number): void
  /**
   * Like `reserve`, for an id that may already be pending. Returns false if the existing reservation is being removed.
   */
  renewReservation(id: string, origin: AssetOrigin, now: number, size: number): boolean
  /**
   * Completes a pending asset whose bytes are in the bucket. `hash` is the SHA-256 of the bytes in hexadecimal. Returns
   * false if the reservation has expired.
   */
  commit(asset: Asset, hash: string | null): boolean
  /** Returns a committed asset with the same bytes and type; null if there is none. */
  findDuplicate(asset: Asset, hash: string): Asset | null
  /** Deletes a pending asset. Its bytes must already be deleted. */
  discard(id: string): void
  /**
   * Expires assets that have been pending since before this time, so that they can no longer be committed. Returns
   * their ids.
   */
  expirePending(beforeMs: number): readonly string[]
  /** Returns when the oldest pending asset was reserved, in milliseconds since 1970; null if none is pending. */
  findOldestPending(): number | null
}

export function createAssetRows(sql: SqlExecutor): AssetRows {
  const queryRows = (query: string, ...bindings: (string | number | null)[]) => sql.exec(query, ...bindings).toArray()
  return {
    find(id) {
      const [row] = queryRows("SELECT about FROM asset WHERE id = ? AND state = 'kept'", id)
      return row === undefined ? null : parseJsonColumn<Asset>(row["about"])
    },
    listAfter(after, limit) {
      const query = "SELECT about, hash, origin FROM asset WHERE state = 'kept' AND id > ? ORDER BY id LIMIT ?"
      return queryRows(query, after ?? "", limit).flatMap(({ about, hash, origin }) => {
        const asset = parseJsonColumn<Asset>(about)
        return asset === null ? [] : [{ asset, hash: columnToTextOrNull(hash), origin: origin as AssetOrigin }]
      })
    },
    checkCapacity(size) {
      const [row] = queryRows("SELECT count(*) AS n, coalesce(sum(size), 0) AS bytes FROM asset")
      const isFull = Number(row?.["n"]) >= MAX_SESSION_ASSETS || Number(row?.["bytes"]) + size > MAX_SESSION_ASSET_BYTES
      return isFull ? fail({ reason: "assets_full", max: MAX_SESSION_ASSETS }) : succeed(null)
    },
    reserve(id, origin, now, size = 0) {
      queryRows(
        "INSERT INTO asset (id, state, origin, size, created) VALUES (?, 'pending', ?, ?, ?)",
        id,
        origin,
        size,
        now,
      )
    },
    renewReservation(id, origin, now, size) {
      const insert = "INSERT INTO asset (id, state, origin, size, created) VALUES (?, 'pending', ?, ?, ?)"
      const onConflict =
        "ON CONFLICT (id) DO UPDATE SET created = excluded.created WHERE state = 'pending' RETURNING id"
      return queryRows(`${insert} ${onConflict}`, id, origin, size, now).length > 0
    },
    commit(asset, hash) {
      const about = JSON.stringify(asset)
      const update = "UPDATE asset SET state = 'kept', about = ?, hash = ?, size = ? WHERE id = ? AND state != 'doomed'"
      return queryRows(`${update} RETURNING id`, about, hash, asset.size, asset.id).length > 0
    },
    findDuplicate(asset, hash) {
      const found = queryRows("SELECT about FROM asset WHERE hash = ? AND state = 'kept'", hash)
      return (
        found
          .map((row) => parseJsonColumn<Asset>(row["about"]))
          .find((known) => known !== null && isSameAssetType(known, asset)) ?? null
      )
    },
    discard(id) {
      queryRows("DELETE FROM asset WHERE id = ? AND state != 'kept'", id)
    },
    expirePending(beforeMs) {
      const update = "UPDATE asset SET state = 'doomed' WHERE state != 'kept' AND created <= ? RETURNING id"
      return queryRows(update, beforeMs).map((row) => String(row["id"]))
    },
    findOldestPending() {
      const at = queryRows("SELECT min(created) AS at FROM asset WHERE state != 'kept'")[0]?.["at"] ?? null
      return at === null ? null : Number(at)
    },
  }
}

/** Whether two assets have the same type. The same bytes can be both a text file and a canvas. */
function isSameAssetType(asset: Asset, other: Asset): boolean {
  return asset.kind === other.kind && asset.mime_type === other.mime_type && asset.voice === other.voice
}
