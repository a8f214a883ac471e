/** sample-assets.ts: stores assets for tests as an upload does: a row, and bytes in the bucket. */

import { env, runInDurableObject } from "cloudflare:test"
import type { Asset } from "../../shared/protocol/event.ts"
import { createAssetRows } from "../../worker/asset/asset-rows.ts"
import { CLAIMS, sessionOf } from "../support/socket.ts"

/** The smallest PNG: one pixel. */
export const PNG = Uint8Array.from(
  atob("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="),
  (char) => char.charCodeAt(0),
)

export function assetOf(id: string, change: Partial<Asset> = {}): Asset {
  return { id, kind: "image", mime_type: "image/png", label: `${id}.png`, size: PNG.byteLength, ...change }
}

export const keyOf = (session: string, id: string): string => `${CLAIMS.tenant}/${session}/${id}`

/** Stores an asset in a session. If `bytes` is null, stores only the row. */
export async function putAsset(session: string, asset: Asset, bytes: Uint8Array | string | null = PNG): Promise<Asset> {
  if (bytes !== null) await env.MEDIA.put(keyOf(session, asset.id), bytes)
  await runInDurableObject(sessionOf(session), (_object, state) => {
    const book = createAssetRows(state.storage.sql)
    book.reserve(asset.id, "user", Date.now())
    book.commit(asset, null)
  })
  return asset
}

/** Reserves an asset whose bytes never arrive. */
export async function reserveAsset(session: string, id: string): Promise<void> {
  await runInDurableObject(sessionOf(session), (_object, state) => {
    createAssetRows(state.storage.sql).reserve(id, "user", Date.now())
  })
}
