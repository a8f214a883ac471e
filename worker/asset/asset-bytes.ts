/**
 * asset-bytes.ts: the bytes of a session's files, for the model that is given them.
 *
 * bucket → LOAD → adapter
 */

import type { ModelRequest } from "../model/model-adapter.ts"
import { assetObjectKey } from "./bucket.ts"
import type { SessionRow } from "../store/row-codec.ts"

type Log = (event: string, detail: Record<string, unknown>) => void

/** What cannot be read is as good as gone: the model is told so, and the turn goes on. */
export function createAssetLoader(
  bucket: R2Bucket,
  { tenant, id: session }: Pick<SessionRow, "tenant" | "id">,
  log: Log,
): NonNullable<ModelRequest["load"]> {
  return async (id, length) => {
    try {
      const object = await bucket.get(assetObjectKey({ tenant, session }, id), { range: { offset: 0, length } })
      return object === null ? null : await object.bytes()
    } catch (error) {
      log("media_unread", { id, message: error instanceof Error ? error.message : "unknown" })
      return null
    }
  }
}
