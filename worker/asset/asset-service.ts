/**
 * asset-service.ts: manages the life cycle of a session's assets, which are reserved and then committed, discarded or
 * swept.
 */

import { nanoid } from "nanoid"
import { fail, type Result, succeed } from "../../shared/fault.ts"
import type { Asset } from "../../shared/protocol/event.ts"
import type { SessionBytes } from "../limits/session-bytes.ts"
import type { TimeLimits } from "../platform/time-limits.ts"
import { SessionErasedError } from "../store/storage-gate.ts"
import type { AssetOrigin, AssetRows } from "./asset-rows.ts"
import type { StoredAsset } from "../platform/rpc/session-types.ts"
import type { UploadTarget } from "./asset-upload.ts"
import { deleteAssetBytes, type SessionRef } from "./bucket.ts"
import type { SaveAsset } from "./save-options.ts"

export interface AssetService {
  /**
   * Reserves an id for a new asset and returns it. Errors: `assets_full`, `storage_full`, `tenant_storage_full`, and
   * budget errors.
   */
  reserve(origin: AssetOrigin, size: number): Promise<Result<string>>
  /**
   * Stores an asset whose bytes are in the bucket. If the session already has the same bytes, returns the existing
   * asset instead. Errors: `asset_store_failed` if the reservation expired.
   */
  commit(asset: Asset, hash: string): Result<StoredAsset>
  discard(id: string): null
  /** Stores an asset that a tool created. */
  readonly save: SaveAsset
  /** Makes sure that a reservation is swept if it is not committed in time. */
  armSweep(): void
  /** Returns the time of the next sweep, in milliseconds since 1970; null if nothing is pending. */
  nextAlarmAt(): number | null
  /** Reports in the background that the stored bytes have changed. */
  reportBytes(): void
  /** Reports the number of stored bytes to the user's directory, if it has changed. Never rejects. */
  syncBytes(): Promise<void>
  /** Removes assets that were not committed in time: their bytes first, then their rows. */
  sweepPending(): Promise<void>
}

export interface AssetServiceDeps {
  readonly assets: AssetRows
  readonly sessionRef: SessionRef
  readonly bucket: () => R2Bucket
  readonly times: Pick<TimeLimits, "assetPendingMs" | "toolMs">
  readonly armAlarm: () => void
  /** Counts and reports the bytes that the session stores. */
  readonly bytes: SessionBytes
}

export function createAssetService(deps: AssetServiceDeps): AssetService {
  const { bucket, sessionRef, times } = deps
  const service = { ...createUploads(deps), ...createSweep(deps) }
  const target = createToolTarget(service)
  const save: SaveAsset = async (bytes, as) => {
    // Loaded on demand, because few sessions have tools that make files.
    const { createSaveAsset } = await import("./save-asset.ts")
    return await createSaveAsset({ target, bucket, sessionRef, timeoutMs: times.toolMs })(bytes, as)
  }
  return { ...service, save }
}

type Uploads = Pick<AssetService, "reserve" | "commit" | "discard">

function createUploads({ assets, armAlarm, bytes }: AssetServiceDeps): Uploads {
  return {
    async reserve(origin, size) {
      const capacity = assets.checkCapacity(size)
      if (!capacity.ok) return capacity
      const id = nanoid()
      assets.reserve(id, origin, Date.now(), size)
      armAlarm()
      const claimed = await bytes.claim()
      if (claimed.ok) return succeed(id)
      assets.discard(id)
      bytes.noteChange()
      return claimed
    },

    commit(asset, hash) {
      // The caller retries a commit whose response was lost.
      const known = assets.find(asset.id)
      if (known !== null) return succeed({ asset: known, duplicate: false })
      const twin = assets.findDuplicate(asset, hash)
      if (twin !== null) return succeed({ asset: twin, duplicate: true })
      return assets.commit(asset, hash) ? succeed({ asset, duplicate: false }) : fail({ reason: "asset_store_failed" })
    },

    discard(id) {
      assets.discard(id)
      bytes.noteChange()
      return null
    },
  }
}

function createSweep({
  assets,
  sessionRef,
  bucket,
  times,
  armAlarm,
  bytes,
}: AssetServiceDeps): Pick<AssetService, "armSweep" | "nextAlarmAt" | "sweepPending" | "syncBytes" | "reportBytes"> {
  return {
    armSweep: armAlarm,

    nextAlarmAt() {
      const oldest = assets.findOldestPending()
      const sweepAt = oldest === null ? null : oldest + times.assetPendingMs
      const reportAt = bytes.nextAlarmAt()
      return sweepAt === null || reportAt === null ? (sweepAt ?? reportAt) : Math.min(sweepAt, reportAt)
    },

    syncBytes: () => bytes.sync(),
    reportBytes: () => bytes.noteChange(),

    async sweepPending() {
      const ids = assets.expirePending(Date.now() - times.assetPendingMs)
      if (ids.length > 0) await deleteAssetBytes(bucket(), sessionRef, ids)
      for (const id of ids) assets.discard(id)
      // Includes bytes that a killed process did not report.
      await bytes.sync()
    },
  }
}

function createToolTarget(uploads: Uploads): UploadTarget {
  return {
    reserve: (size) => rejectIfErased(() => uploads.reserve("tool", size)),
    commit: (asset, hash) => rejectIfErased(() => uploads.commit(asset, hash)),
    discard: (id) => rejectIfErased(() => succeed(uploads.discard(id))),
  }
}

/** Reports an erased session as `session_unknown`. Any other exception is a bug and is rethrown. */
async function rejectIfErased<T>(work: () => Result<T> | Promise<Result<T>>): Promise<Result<T>> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof SessionErasedError) return fail({ reason: "session_unknown" })
    throw error
  }
}
