/**
 * copy-assets.ts: copies the assets of a sealed import from the session that exported them, if that session belongs to
 * the same user.
 *
 * An asset id is assigned by the server and never reused, so the session in a record is only a hint of where the bytes
 * are. Assets that already exist are skipped, so that copying continues after a restart.
 */

import * as v from "valibot"
import { type Asset, idSchema } from "../../shared/protocol/event.ts"
import { type Fault, faultToWire } from "../../shared/fault.ts"
import type { BadLine } from "../../shared/protocol/http-body.ts"
import { parseJsonToDepth } from "../../shared/json-depth.ts"
import { MAX_BAD_LINES } from "../../shared/limits.ts"
import { parseRecord } from "../../shared/protocol/record.ts"
import type { Env } from "../env.ts"
import { FreshCache } from "../platform/fresh-cache.ts"
import { type MediaEnv, mediaBucket } from "../platform/media-bucket.ts"
import { sessionStub } from "../platform/rpc/object-stubs.ts"
import { createPrivateKey } from "../platform/session-key.ts"
import type { AssetRows } from "../asset/asset-rows.ts"
import { assetObjectKey } from "../asset/bucket.ts"
import { pipeAndHash } from "../asset/asset-upload.ts"
import type { SessionRow } from "../store/row-codec.ts"
import type { StagedFile } from "./import-state.ts"
import { ROWS_PER_PART, type StagedRow, type StagedRows } from "./staged-rows.ts"
import { createYielder } from "./yielder.ts"

export interface AssetCopier {
  readonly assets: AssetRows
  /**
   * Copies an asset from another session of the same user. Returns the SHA-256 of its bytes, or null if the session is
   * not the user's or no longer has the bytes (SPEC RE37).
   */
  copy(from: string, asset: Asset): Promise<string | null>
}

/**
 * How long the source sessions of a file are cached, in milliseconds, and how many are cached. Even a file joined from
 * several exports has few.
 */
const SOURCE_FRESH_MS = 10_000
const MAX_CACHED_SOURCES = 100

/** The other session objects of the tenant. */
type SessionsEnv = MediaEnv & Pick<Env, "SESSION">

export function createAssetCopier(
  env: SessionsEnv,
  { tenant, user, id }: Pick<SessionRow, "tenant" | "user" | "id">,
  assets: AssetRows,
): AssetCopier {
  const getBucket = (): R2Bucket => mediaBucket(env, tenant)
  const sources = new FreshCache<string | null>(SOURCE_FRESH_MS, MAX_CACHED_SOURCES)
  const findOwnSession = async (publicId: string): Promise<string | null> => {
    for (const key of [publicId, createPrivateKey(publicId, user)]) {
      if ((await sessionStub(env, tenant, key).checkOwner({ tenant, user })).ok) return key
    }
    return null
  }
  return {
    assets,
    async copy(from, asset) {
      // A file is sealed for its tenant, so any user of the tenant may have obtained it. Its assets are copied only for
      // their owner.
      const source = await sources.getOrFetch(from, Date.now(), () => findOwnSession(from))
      const found =
        source === null ? null : await getBucket().get(assetObjectKey({ tenant, session: source }, asset.id))
      if (found === null) return null
      const { httpMetadata, customMetadata, size, body: bytes } = found
      const options = {
        ...(httpMetadata === undefined ? {} : { httpMetadata }),
        ...(customMetadata === undefined ? {} : { customMetadata }),
      }
      const key = assetObjectKey({ tenant, session: id }, asset.id)
      const { signal } = new AbortController()
      const piped = await pipeAndHash({ size, bytes, signal }, (copy) => getBucket().put(key, copy, options))
      if (!piped.ok) throw new Error(`an asset could not be copied: ${piped.fault.reason}`)
      return piped.value
    },
  }
}

export interface CopyHost {
  readonly staging: StagedRows
  readonly assetCopier: AssetCopier
  readonly now: () => number
}

/** Number of assets between yields. Skipped assets involve no wait for the bucket, so they need their own yields. */
const YIELD_EVERY_ASSETS = 32

/**
 * Copies the assets of a sealed file. The assets of an unsealed file are not copied (SPEC RE25, RE26). Assets that no
 * longer exist are added to the skipped lines.
 *
 * Throws if the bucket fails, in which case the alarm retries. Cost: one pass over the asset rows, with one batch in
 * memory. Assets are copied one at a time.
 */
export async function copyStagedAssets(host: CopyHost, staged: StagedFile): Promise<StagedFile> {
  if (staged.isSealed !== true) return { ...staged, isCarried: true }
  const bad: BadLine[] = []
  let missing = 0
  const yieldIfDue = createYielder(YIELD_EVERY_ASSETS)
  for (const rows of host.staging.readAssetBatches()) {
    for (const row of rows) {
      await yieldIfDue()
      const fault = await copyStagedAsset(host, row)
      if (fault === null) continue
      missing += 1
      if (bad.length < MAX_BAD_LINES) bad.push(createBadLine(row, fault, staged.sources.length))
    }
  }
  const all = [...staged.bad, ...bad].slice(0, MAX_BAD_LINES)
  return { ...staged, skipped: staged.skipped + missing, bad: all, isCarried: true }
}

function createBadLine({ n }: StagedRow, fault: Fault, parts: number): BadLine {
  const { code, text } = faultToWire(fault)
  const part = parts > 1 ? { part: Math.floor(n / ROWS_PER_PART) } : {}
  return { ...part, line: n % ROWS_PER_PART, code, text }
}

/** Copies an asset. Returns the reason why it is missing; null if its bytes are stored now. */
async function copyStagedAsset({ assetCopier, now }: CopyHost, { line, home }: StagedRow): Promise<Fault | null> {
  const record = parseRecord(parseJsonToDepth(line))
  if (!record.ok || record.value.type !== "asset") return null
  const { asset } = record.value
  const { assets, copy } = assetCopier
  if (assets.find(asset.id) !== null) return null
  const capacity = assets.checkCapacity(asset.size)
  if (!capacity.ok) return capacity.fault
  // An earlier process's reservation may be expiring right now. It will be gone by the next attempt.
  const isRenewed = assets.renewReservation(asset.id, "import", now(), asset.size)
  if (!isRenewed) throw new Error("the reservation of an imported asset is expiring")
  const hash = v.is(idSchema, home) ? await copy(home, asset) : null
  if (hash === null) {
    assets.discard(asset.id)
    return { reason: "file_gone" }
  }
  if (!assets.commit(asset, hash)) throw new Error("the reservation of an imported asset expired")
  return null
}
