/**
 * asset-service.ts: how files come into a session and go again: announced, kept, given up, swept.
 *
 * route (by RPC), tool → FILES → assets, bucket
 */

import type { Asset } from "../../shared/protocol/event.ts"
import { fail, type Result, succeed } from "../../shared/fault.ts"
import { IMAGE_SIZE_BYTES, MAX_CANVAS_BYTES, FILE_TYPE_BYTES } from "../../shared/limits.ts"
import type { TimeLimits } from "../platform/time-limits.ts"
import type { SaveAsset, SaveOptions } from "../tool/tool.ts"
import type { AssetRows, AssetOrigin } from "./asset-rows.ts"
import { deleteAssetBytes, type SessionRef } from "./bucket.ts"
import { SessionErasedError } from "../store/storage-gate.ts"
import { readImageSize } from "./image-size.ts"
import { storeAsset } from "./asset-upload.ts"
import { titleToLabel } from "./file-name.ts"
import { detectFileType } from "./detect-file-type.ts"
import type { StoredAsset } from "../platform/rpc/session-types.ts"

export interface AssetService {
  /** An id for a file that comes. Errors: `assets_full`. */
  reserve(origin: AssetOrigin, size: number): Result<string>
  /** Its bytes are there; those of one that is kept already are not needed. Errors: `asset_store_failed`: it came too late. */
  commit(asset: Asset, hash: string): Result<StoredAsset>
  discard(id: string): null
  readonly save: SaveAsset
  /** When to look for what never came; null: nothing is awaited. */
  nextAlarmAt(): number | null
  /** Takes away what never came, first its bytes. */
  sweepPending(): Promise<void>
}

export interface AssetServiceDeps {
  readonly assets: AssetRows
  readonly sessionRef: SessionRef
  readonly bucket: () => R2Bucket
  readonly times: TimeLimits
  readonly now: () => number
  readonly nextId: () => string
  readonly armAlarm: () => void
}

export function createAssetService({
  assets,
  sessionRef,
  bucket,
  times,
  now,
  nextId,
  armAlarm,
}: AssetServiceDeps): AssetService {
  const service: Omit<AssetService, "save"> = {
    reserve(origin, size) {
      const capacity = assets.checkCapacity(size)
      if (!capacity.ok) return capacity
      const id = nextId()
      assets.reserve(id, origin, now(), size)
      armAlarm()
      return succeed(id)
    },
    commit(asset, hash) {
      // Asked again, because the answer got lost.
      const known = assets.find(asset.id)
      if (known !== null) return succeed({ asset: known, duplicate: false })
      const twin = assets.findDuplicate(asset, hash)
      if (twin !== null) return succeed({ asset: twin, duplicate: true })
      return assets.commit(asset, hash) ? succeed({ asset, duplicate: false }) : fail({ reason: "asset_store_failed" })
    },
    discard(id) {
      assets.discard(id)
      return null
    },
    nextAlarmAt() {
      const oldest = assets.findOldestPending()
      return oldest === null ? null : oldest + times.assetPendingMs
    },
    async sweepPending() {
      const ids = assets.expirePending(now() - times.assetPendingMs)
      if (ids.length === 0) return
      await deleteAssetBytes(bucket(), sessionRef, ids)
      for (const id of ids) assets.discard(id)
    },
  }
  return { ...service, save: createSave(service, bucket, sessionRef, times) }
}

/** What a tool made goes the way of an upload. */
function createSave(
  service: Omit<AssetService, "save">,
  bucket: () => R2Bucket,
  sessionRef: SessionRef,
  times: TimeLimits,
): SaveAsset {
  const target = {
    reserve: (size: number) => rejectIfErased(() => service.reserve("tool", size)),
    commit: (asset: Asset, hash: string) => rejectIfErased(() => service.commit(asset, hash)),
    discard: (id: string) => rejectIfErased(() => succeed(service.discard(id))),
  }
  return async (bytes, as) => {
    const described = describeAsset(bytes, as)
    if (!described.ok) return described
    const timeout = new AbortController()
    const timer = setTimeout(() => timeout.abort(new Error("the bucket takes too long")), times.toolMs)
    const upload = { about: described.value, size: bytes.byteLength, bytes, signal: timeout.signal }
    const stored = await storeAsset(bucket(), sessionRef, target, upload).finally(() => clearTimeout(timer))
    return stored.ok ? succeed(stored.value.asset) : stored
  }
}

/** A session that was erased meanwhile is one that there is not; what is thrown besides is our own mistake. */
async function rejectIfErased<T>(work: () => Result<T>): Promise<Result<T>> {
  try {
    return work()
  } catch (error) {
    if (error instanceof SessionErasedError) return fail({ reason: "session_unknown" })
    throw error
  }
}

function describeAsset(bytes: Uint8Array, { kind, label, voice }: SaveOptions): Result<Omit<Asset, "id" | "size">> {
  const type = detectFileType(bytes.subarray(0, FILE_TYPE_BYTES))
  if (type === null) return fail({ reason: "asset_type_refused" })
  if (kind === "canvas") {
    if (type.mime_type !== "text/plain") return fail({ reason: "asset_type_refused" })
    if (bytes.byteLength > MAX_CANVAS_BYTES) return fail({ reason: "asset_too_large", max: MAX_CANVAS_BYTES })
    return succeed({ kind, mime_type: "text/html", label: titleToLabel(label, "Canvas") })
  }
  if (bytes.byteLength > type.maxBytes) return fail({ reason: "asset_too_large", max: type.maxBytes })
  const metadata = {
    kind: type.kind,
    mime_type: type.mime_type,
    label: titleToLabel(label, `${type.kind}.${type.extension}`),
    ...readImageSize(type.mime_type, bytes.subarray(0, IMAGE_SIZE_BYTES)),
  }
  return succeed(voice === true && type.kind === "audio" ? { ...metadata, voice } : metadata)
}
