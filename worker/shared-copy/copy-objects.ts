/**
 * copy-objects.ts: the objects of shared copies in the bucket, as `<tenant>/.shares/<id>/<n>` and `…/manifest`.
 *
 * No session key begins with a dot, so these objects cannot be mistaken for assets.
 */

import * as v from "valibot"
import { assetSchema, idSchema } from "../../shared/protocol/event.ts"
import { MAX_TITLE_CHARS } from "../../shared/limits.ts"
import { parseJson } from "../../shared/json.ts"

/** Maximum number of objects deleted in one request, which is R2's limit. A copy has fewer objects. */
const MAX_KEYS_PER_REQUEST = 1_000

const manifestSchema = v.object({
  /** The key of the session, which stores the files. */
  session: v.string(),
  /** The owner. Never sent to readers. */
  user: idSchema,
  title: v.pipe(v.string(), v.maxLength(MAX_TITLE_CHARS)),
  /** The owner's name, if the readers may see it. */
  author: v.nullable(v.string()),
  /** Milliseconds since 1970. `expires` is null if the copy does not expire. */
  created: v.number(),
  expires: v.nullable(v.number()),
  pages: v.number(),
  /** The kinds of the files that the messages contain, keyed by file id. */
  assets: v.record(v.string(), assetSchema.entries.kind),
})

export type CopyManifest = v.InferOutput<typeof manifestSchema>

export function manifestKey(tenant: string, id: string): string {
  return `${copyPrefix(tenant, id)}manifest`
}

/** Returns the key of page `n` of a copy, counted from 1. A page is a JSON array of messages. */
export function copyPageKey(tenant: string, id: string, n: number): string {
  return `${copyPrefix(tenant, id)}${n}`
}

function copyPrefix(tenant: string, id: string): string {
  return `${tenant}/.shares/${id}/`
}

/** Returns the manifest of a copy; null if there is none, or it has expired. */
export async function readManifest(
  bucket: R2Bucket,
  tenant: string,
  id: string,
  now: number,
): Promise<CopyManifest | null> {
  const object = await bucket.get(manifestKey(tenant, id))
  const parsed = v.safeParse(manifestSchema, object === null ? null : parseJson(await object.text()))
  if (!parsed.success) return null
  const { expires } = parsed.output
  return expires !== null && expires <= now ? null : parsed.output
}

/** Deletes copies: the manifest first, so that nobody reads part of a copy. Can be repeated after a failure. */
export async function deleteCopies(bucket: R2Bucket, tenant: string, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    await bucket.delete(manifestKey(tenant, id))
    for (;;) {
      const { objects, truncated } = await bucket.list({ prefix: copyPrefix(tenant, id), limit: MAX_KEYS_PER_REQUEST })
      if (objects.length > 0) await bucket.delete(objects.map(({ key }) => key))
      if (!truncated) break
    }
  }
}
