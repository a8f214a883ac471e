/**
 * bucket.ts: the bytes of a session's files, under `<tenant>/<session>/<id>`.
 *
 * keeping, erasing → BUCKET → R2
 */

import type { Asset } from "../../shared/protocol/event.ts"

/** A session, as keys name it. */
export interface SessionRef {
  readonly tenant: string
  readonly session: string
}

export function assetObjectKey({ tenant, session }: SessionRef, id: string): string {
  return `${tenant}/${session}/${id}`
}

/** What is stored beside the bytes, so that they can be served without asking the session. */
export function assetToPutOptions({ kind, mime_type, label }: Asset): R2PutOptions {
  return { httpMetadata: { contentType: mime_type }, customMetadata: { kind, label: encodeURIComponent(label) } }
}

/** What `putOptions` stored; null: it was not stored by us. */
export function readAssetMetadata(object: R2Object): Pick<Asset, "kind" | "mime_type" | "label"> | null {
  const { kind, label = "" } = object.customMetadata ?? {}
  const mime_type = object.httpMetadata?.contentType
  const isKind = kind === "image" || kind === "audio" || kind === "video" || kind === "file" || kind === "canvas"
  return isKind && mime_type !== undefined ? { kind, mime_type, label: decodeURIComponent(label) } : null
}

/** Keys that one request takes at most, in R2's own words. */
const MAX_KEYS_PER_REQUEST = 1_000

export async function deleteAssetBytes(
  bucket: R2Bucket,
  sessionRef: SessionRef,
  ids: readonly string[],
): Promise<void> {
  for (let start = 0; start < ids.length; start += MAX_KEYS_PER_REQUEST) {
    await bucket.delete(ids.slice(start, start + MAX_KEYS_PER_REQUEST).map((id) => assetObjectKey(sessionRef, id)))
  }
}

/** All bytes of a session, known or not. Where it fails half-way, asking again goes on. */
export async function deleteSessionBytes(bucket: R2Bucket, sessionRef: SessionRef): Promise<void> {
  for (;;) {
    // Always the first page: what was listed before is gone.
    const { objects, truncated } = await bucket.list({
      prefix: assetObjectKey(sessionRef, ""),
      limit: MAX_KEYS_PER_REQUEST,
    })
    if (objects.length > 0) await bucket.delete(objects.map(({ key }) => key))
    if (!truncated) return
  }
}
