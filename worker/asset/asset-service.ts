/**
 * asset-service.ts: how files come into a session and go again: announced, kept, given up, swept.
 *
 * route (by RPC), tool → FILES → assets, bucket
 */

import type { Asset } from "../../shared/protocol/event.ts"
import { fail, type Result, succeed } from "../../shared/fault.ts"
import { EXTENT_BYTES, MAX_CANVAS_BYTES, SNIFF_BYTES } from "../../shared/limits.ts"
import type { Times } from "../platform/time-limits.ts"
import type { Save, SavedAs } from "../tool/tool.ts"
import type { AssetBook, AssetOrigin, Kept } from "./asset-rows.ts"
import { deleteBytes, type Place } from "./bucket.ts"
import { Erased } from "../store/storage-gate.ts"
import { extentOf } from "./image-size.ts"
import { storeAsset } from "./asset-upload.ts"
import { labelOfTitle } from "./file-name.ts"
import { sniff } from "./detect-file-type.ts"

export interface Files {
  /** An id for a file that comes. Errors: `assets_full`. */
  reserve(origin: AssetOrigin, size: number): Result<string>
  /** Its bytes are there; those of one that is kept already are not needed. Errors: `asset_store_failed`: it came too late. */
  keep(asset: Asset, hash: string): Result<Kept>
  drop(id: string): null
  readonly save: Save
  /** When to look for what never came; null: nothing is awaited. */
  nextAlarm(): number | null
  /** Takes away what never came, first its bytes. */
  sweep(): Promise<void>
}

export interface FilesParts {
  readonly assets: AssetBook
  readonly place: Place
  readonly bucket: () => R2Bucket
  readonly times: Times
  readonly now: () => number
  readonly nextId: () => string
  readonly armAlarm: () => void
}

export function createFiles({ assets, place, bucket, times, now, nextId, armAlarm }: FilesParts): Files {
  const files: Omit<Files, "save"> = {
    reserve(origin, size) {
      const room = assets.hasRoom(size)
      if (!room.ok) return room
      const id = nextId()
      assets.reserve(id, origin, now(), size)
      armAlarm()
      return succeed(id)
    },
    keep(asset, hash) {
      // Asked again, because the answer got lost.
      const known = assets.find(asset.id)
      if (known !== null) return succeed({ asset: known, duplicate: false })
      const alike = assets.alike(asset, hash)
      if (alike !== null) return succeed({ asset: alike, duplicate: true })
      return assets.keep(asset, hash) ? succeed({ asset, duplicate: false }) : fail({ reason: "asset_store_failed" })
    },
    drop(id) {
      assets.drop(id)
      return null
    },
    nextAlarm() {
      const oldest = assets.oldestPending()
      return oldest === null ? null : oldest + times.assetPendingMs
    },
    async sweep() {
      const ids = assets.doom(now() - times.assetPendingMs)
      if (ids.length === 0) return
      await deleteBytes(bucket(), place, ids)
      for (const id of ids) assets.drop(id)
    },
  }
  return { ...files, save: saveInto(files, bucket, place, times) }
}

/** What a tool made goes the way of an upload. */
function saveInto(files: Omit<Files, "save">, bucket: () => R2Bucket, place: Place, times: Times): Save {
  const shelf = {
    reserve: (size: number) => orErased(() => files.reserve("tool", size)),
    keep: (asset: Asset, hash: string) => orErased(() => files.keep(asset, hash)),
    drop: (id: string) => orErased(() => succeed(files.drop(id))),
  }
  return async (bytes, as) => {
    const judged = judge(bytes, as)
    if (!judged.ok) return judged
    const over = new AbortController()
    const timer = setTimeout(() => over.abort(new Error("the bucket takes too long")), times.toolMs)
    const incoming = { about: judged.value, size: bytes.byteLength, bytes, signal: over.signal }
    const kept = await storeAsset(bucket(), place, shelf, incoming).finally(() => clearTimeout(timer))
    return kept.ok ? succeed(kept.value.asset) : kept
  }
}

/** A session that was erased meanwhile is one that there is not; what is thrown besides is our own mistake. */
async function orErased<T>(work: () => Result<T>): Promise<Result<T>> {
  try {
    return work()
  } catch (error) {
    if (error instanceof Erased) return fail({ reason: "session_unknown" })
    throw error
  }
}

function judge(bytes: Uint8Array, { kind, label, voice }: SavedAs): Result<Omit<Asset, "id" | "size">> {
  const type = sniff(bytes.subarray(0, SNIFF_BYTES))
  if (type === null) return fail({ reason: "asset_type_refused" })
  if (kind === "canvas") {
    if (type.mime_type !== "text/plain") return fail({ reason: "asset_type_refused" })
    if (bytes.byteLength > MAX_CANVAS_BYTES) return fail({ reason: "asset_too_large", max: MAX_CANVAS_BYTES })
    return succeed({ kind, mime_type: "text/html", label: labelOfTitle(label, "Canvas") })
  }
  if (bytes.byteLength > type.max) return fail({ reason: "asset_too_large", max: type.max })
  const about = {
    kind: type.kind,
    mime_type: type.mime_type,
    label: labelOfTitle(label, `${type.kind}.${type.extension}`),
    ...extentOf(type.mime_type, bytes.subarray(0, EXTENT_BYTES)),
  }
  return succeed(voice === true && type.kind === "audio" ? { ...about, voice } : about)
}
