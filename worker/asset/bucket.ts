/** bucket.ts: the objects of a session in the R2 bucket, stored as `<tenant>/<session>/<asset id>`. */

import type { Asset } from "../../shared/protocol/event.ts"
import type { LinkClaims } from "../auth/link-signing.ts"
import { createPrivateKey } from "../platform/session-key.ts"

/** The session to which an object key belongs. */
export interface SessionRef {
  readonly tenant: string
  /** The key of the session (platform/session-key.ts). */
  readonly session: string
}

export function assetObjectKey({ tenant, session }: SessionRef, id: string): string {
  return `${tenant}/${session}/${id}`
}

/**
 * Returns the object keys that a link's asset may have: under the session's public id, or under the user's private key
 * (SPEC AU17).
 */
export function listLinkedKeys({ tenant, session, user, what }: LinkClaims): readonly string[] {
  const keys = user === undefined ? [session] : [session, createPrivateKey(session, user)]
  return keys.map((key) => assetObjectKey({ tenant, session: key }, what))
}

/**
 * Returns the options that store an asset's metadata with its object, so that the asset can be served without a call to
 * the session.
 */
export function assetToPutOptions({ kind, mime_type, label }: Asset): R2PutOptions {
  return { httpMetadata: { contentType: mime_type }, customMetadata: { kind, label: encodeURIComponent(label) } }
}

/** Reads what `assetToPutOptions` stored; null for an object with other metadata. */
export function readAssetMetadata(object: R2Object): Pick<Asset, "kind" | "mime_type" | "label"> | null {
  const { kind, label = "" } = object.customMetadata ?? {}
  const mime_type = object.httpMetadata?.contentType
  const isKind = kind === "image" || kind === "audio" || kind === "video" || kind === "file" || kind === "canvas"
  return isKind && mime_type !== undefined ? { kind, mime_type, label: decodeURIComponent(label) } : null
}

/** R2's limit on keys per request. */
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

/** Deletes all objects of a session. Can be repeated after a failure. */
export async function deleteSessionBytes(bucket: R2Bucket, sessionRef: SessionRef): Promise<void> {
  for (;;) {
    // Always lists the first page, because the objects of the previous page have been deleted.
    const { objects, truncated } = await bucket.list({
      prefix: assetObjectKey(sessionRef, ""),
      limit: MAX_KEYS_PER_REQUEST,
    })
    if (objects.length > 0) await bucket.delete(objects.map(({ key }) => key))
    if (!truncated) return
  }
}
