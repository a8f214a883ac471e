/**
 * asset-rows.ts: which files a session keeps; their bytes stand in the bucket.
 *
 * upload, tool, import → ASSETS → messages, parts, signatures
 * A row is there before its bytes are, and goes after them: whatever dies in between leaves a row that is found, and so no
 * bytes that nobody knows.
 */

import type { Asset } from "../../shared/protocol/event.ts"
import { fail, type Result, succeed } from "../../shared/fault.ts"
import { MAX_SESSION_ASSET_BYTES, MAX_SESSION_ASSETS } from "../../shared/limits.ts"
import type { SqlExecutor } from "../store/storage-gate.ts"
import { parseJsonColumn } from "../store/row-codec.ts"

export type AssetOrigin = "user" | "tool" | "import"

export interface AssetRows {
  /** One that is kept; null: it is not of this session, or not there yet. */
  find(id: string): Asset | null
  /** Whether one more of so many bytes has room. Errors: `assets_full`. */
  checkCapacity(size: number): Result<null>
  /** Announces bytes of this id. */
  reserve(id: string, origin: AssetOrigin, now: number, size?: number): void
  /** Announces bytes of an id that may have been announced before; false: that one is just being given up. */
  renewReservation(id: string, origin: AssetOrigin, now: number, size: number): boolean
  /** Its bytes are in the bucket. `hash` is the SHA-256 of them, hexadecimal. False: nobody waits for them any more. */
  commit(asset: Asset, hash: string | null): boolean
  /** One that is kept already, from the same bytes and of the same kind. */
  findDuplicate(asset: Asset, hash: string): Asset | null
  /** Gives up one that is not kept. Its bytes have gone by then. */
  discard(id: string): void
  /** Gives up those that were announced before that time and never came: they cannot be kept any more. Tells their ids. */
  expirePending(beforeMs: number): readonly string[]
  /** When the oldest was announced that is not kept; null: there is none. */
  findOldestPending(): number | null
}

export function createAssetRows(sql: SqlExecutor): AssetRows {
  const queryRows = (query: string, ...bindings: (string | number | null)[]) => sql.exec(query, ...bindings).toArray()
  return {
    find(id) {
      const [row] = queryRows("SELECT about FROM asset WHERE id = ? AND state = 'kept'", id)
      return row === undefined ? null : parseJsonColumn<Asset>(row["about"])
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
          .find((one) => one !== null && isSameAssetType(one, asset)) ?? null
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

/** The same bytes may stand for a text in one place and for a canvas in another. */
function isSameAssetType(one: Asset, other: Asset): boolean {
  return one.kind === other.kind && one.mime_type === other.mime_type && one.voice === other.voice
}
