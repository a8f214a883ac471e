/** save-asset.ts: stores the bytes that a tool made as an asset of its session, with the same steps as an upload. */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import { FILE_TYPE_BYTES, IMAGE_SIZE_BYTES, MAX_CANVAS_BYTES } from "../../shared/asset-limits.ts"
import type { Asset } from "../../shared/protocol/event.ts"
import { titleToLabel } from "./asset-label.ts"
import { storeAsset, type UploadTarget } from "./asset-upload.ts"
import type { SessionRef } from "./bucket.ts"
import { detectFileType } from "./detect-file-type.ts"
import { readImageSize } from "./image-size.ts"
import type { SaveAsset, SaveOptions } from "./save-options.ts"

export interface SaveAssetDeps {
  readonly target: UploadTarget
  readonly bucket: () => R2Bucket
  readonly sessionRef: SessionRef
  readonly timeoutMs: number
}

export function createSaveAsset({ target, bucket, sessionRef, timeoutMs }: SaveAssetDeps): SaveAsset {
  return async (bytes, as) => {
    const described = describeAsset(bytes, as)
    if (!described.ok) return described
    const timeout = new AbortController()
    const timer = setTimeout(() => timeout.abort(new Error("the bucket takes too long")), timeoutMs)
    const upload = { about: described.value, size: bytes.byteLength, bytes, signal: timeout.signal }
    const stored = await storeAsset(bucket(), sessionRef, target, upload).finally(() => clearTimeout(timer))
    return stored.ok ? succeed(stored.value.asset) : stored
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
