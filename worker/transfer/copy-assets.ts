/**
 * copy-assets.ts: the files of a sealed import come along: their bytes are copied from the session that they were exported from.
 *
 * staged asset records → CARRY → bucket, asset rows
 * Ids are given by us and belong to one content for ever, so the session that a record names only says where to look.
 * A file that is there is passed over: whatever dies in the middle goes on where it was.
 */

import * as v from "valibot"
import { type Asset, idSchema } from "../../shared/protocol/event.ts"
import { type Fault, faultToWire } from "../../shared/fault.ts"
import type { BadLine } from "../../shared/protocol/http-body.ts"
import { parseJson } from "../../shared/json.ts"
import { MAX_BAD_LINES } from "../../shared/limits.ts"
import { parseRecord } from "../../shared/protocol/record.ts"
import type { AssetRows } from "../asset/asset-rows.ts"
import { assetObjectKey } from "../asset/bucket.ts"
import { pipeAndHash } from "../asset/asset-upload.ts"
import type { SessionRow } from "../store/row-codec.ts"
import { ROWS_PER_PART, type StagedFile, type StagedRow, type StagedRows } from "./staged-rows.ts"

export interface AssetCopier {
  readonly assets: AssetRows
  /** Copies the bytes of a file from another session of the tenant to this one; their SHA-256, or null: they are gone. */
  copy(from: string, asset: Asset): Promise<string | null>
}

export function createAssetCopier(
  bucket: R2Bucket,
  { tenant, id }: Pick<SessionRow, "tenant" | "id">,
  assets: AssetRows,
): AssetCopier {
  return {
    assets,
    async copy(from, asset) {
      const found = await bucket.get(assetObjectKey({ tenant, session: from }, asset.id))
      if (found === null) return null
      const { httpMetadata, customMetadata, size, body: bytes } = found
      const options = {
        ...(httpMetadata === undefined ? {} : { httpMetadata }),
        ...(customMetadata === undefined ? {} : { customMetadata }),
      }
      const key = assetObjectKey({ tenant, session: id }, asset.id)
      const { signal } = new AbortController()
      const piped = await pipeAndHash({ size, bytes, signal }, (copy) => bucket.put(key, copy, options))
      if (!piped.ok) throw new Error(`a file was not copied: ${piped.fault.reason}`)
      return piped.value
    },
  }
}

/**
 * Brings the files of a file that is sealed; of one that is not it brings none.
 *
 * Shapes  Staged → Staged, with what is gone among what was skipped.
 * Errors  what the bucket throws goes up: the alarm tries again.
 * Cost    one pass over the staged rows; the memory of one batch, and one file under way at a time.
 * Source  SPEC RE25.
 */
export async function copyStagedAssets(
  {
    staging,
    carrier,
    now,
  }: { readonly staging: StagedRows; readonly carrier: AssetCopier; readonly now: () => number },
  staged: StagedFile,
): Promise<StagedFile> {
  if (staged.isSealed !== true) return { ...staged, isCarried: true }
  const bad: BadLine[] = []
  let missing = 0
  for (let lines = staging.readNextAssets(0); lines.length > 0; lines = staging.readNextAssets(lines.at(-1)?.n ?? 0)) {
    for (const line of lines) {
      const fault = await copyStagedAsset(carrier, line, now())
      if (fault === null) continue
      missing += 1
      const { code, text } = faultToWire(fault)
      const part = staged.sources.length > 1 ? { part: Math.floor(line.n / ROWS_PER_PART) } : {}
      if (bad.length < MAX_BAD_LINES) bad.push({ ...part, line: line.n % ROWS_PER_PART, code, text })
    }
  }
  const all = [...staged.bad, ...bad].slice(0, MAX_BAD_LINES)
  return { ...staged, skipped: staged.skipped + missing, bad: all, isCarried: true }
}

/** Null: its bytes are here now. */
async function copyStagedAsset(
  { assets, copy }: AssetCopier,
  { line, home }: StagedRow,
  now: number,
): Promise<Fault | null> {
  const record = parseRecord(parseJson(line))
  if (!record.ok || record.value.type !== "asset") return null
  const { asset } = record.value
  if (assets.find(asset.id) !== null) return null
  const capacity = assets.checkCapacity(asset.size)
  if (!capacity.ok) return capacity.fault
  // One that a dead process announced may be on its way out, its bytes too: the next try finds it gone.
  const isRenewed = assets.renewReservation(asset.id, "import", now, asset.size)
  if (!isRenewed) throw new Error("a file of this import is being given up")
  const hash = v.is(idSchema, home) ? await copy(home, asset) : null
  if (hash === null) {
    assets.discard(asset.id)
    return { reason: "file_gone" }
  }
  if (!assets.commit(asset, hash)) throw new Error("a file of this import was given up")
  return null
}
