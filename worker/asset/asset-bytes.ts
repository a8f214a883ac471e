/** asset-bytes.ts: reads the bytes of a session's assets for model requests. */

import { describeError, type Log } from "../platform/log.ts"
import type { SessionRow } from "../store/row-codec.ts"
import { assetObjectKey } from "./bucket.ts"

/** Reads at most `maxBytes` of an asset; null if it cannot be read. */
export type LoadAsset = (id: string, maxBytes: number) => Promise<Uint8Array | null>

/** Returns a loader. A failure to read is logged and treated like a missing asset, so that the turn continues. */
export function createAssetLoader(
  bucket: R2Bucket,
  { tenant, id: session }: Pick<SessionRow, "tenant" | "id">,
  log: Log,
): LoadAsset {
  return async (id, maxBytes) => {
    try {
      const object = await bucket.get(assetObjectKey({ tenant, session }, id), {
        range: { offset: 0, length: maxBytes },
      })
      return object === null ? null : await object.bytes()
    } catch (error) {
      log("media_unread", { id, error: describeError(error) })
      return null
    }
  }
}
