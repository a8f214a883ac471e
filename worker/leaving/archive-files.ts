/**
 * archive-files.ts: the files of archives in the bucket, as `<tenant>/.exports/<id>/<n>` and
 * `<tenant>/.imports/<id>/<n>`.
 *
 * No session key begins with a dot, so these files cannot be mistaken for assets.
 */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import { computeHash } from "../platform/crypto/sha256-hex.ts"
import { mediaBucket, type MediaEnv } from "../platform/media-bucket.ts"
import { readBounded } from "../platform/read-bounded.ts"
import { withTimeout } from "../platform/timeout.ts"
import type { ArchiveFile } from "../settings/leaving-rpc.ts"

/** Returns the key of file `n` of an export; file 0 is the manifest. */
export function archiveKey(tenant: string, id: string, n: number): string {
  return `${tenant}/.exports/${id}/${n}`
}

/** Returns the key of file `n` of an import. */
export function stagedKey(tenant: string, id: string, n: number): string {
  return `${tenant}/.imports/${id}/${n}`
}

/** Maximum time that uploading one file may take, in milliseconds: enough for the largest file at 1 Mbit/s. */
const MAX_FILE_UPLOAD_MS = 3 * 60_000

interface FileUpload {
  readonly tenant: string
  readonly id: string
  readonly expected: ArchiveFile
}

/**
 * Stores a file of an import if its bytes are exactly those that the manifest describes.
 *
 * Errors: `archive_refused` for any other bytes, which are not stored; `body_stalled`. Cost: memory for the file.
 */
export async function receiveArchiveFile(
  env: MediaEnv,
  { tenant, id, expected }: FileUpload,
  body: ReadableStream<Uint8Array> | null,
): Promise<Result<null>> {
  const refusal = fail({ reason: "archive_refused", because: "file" } as const)
  const stalled = new AbortController()
  const reading = readBounded(body, expected.bytes, stalled.signal)
  const bytes = await withTimeout(reading, MAX_FILE_UPLOAD_MS, () => new Error("stalled")).catch((error: unknown) => {
    stalled.abort(error)
    return "stalled" as const
  })
  if (bytes === "stalled") return fail({ reason: "body_stalled" })
  if (bytes === null || bytes.byteLength !== expected.bytes) return refusal
  if ((await computeHash(bytes)) !== expected.sha256) return refusal
  await mediaBucket(env, tenant).put(stagedKey(tenant, id, expected.n), bytes)
  return succeed(null)
}

/** R2's limit on keys per request. */
const MAX_KEYS_PER_REQUEST = 1_000

/**
 * Deletes up to MAX_KEYS_PER_REQUEST objects whose keys begin with a prefix. `isDone`: whether none are left. Can be
 * repeated.
 */
export async function deletePrefix(bucket: R2Bucket, prefix: string): Promise<{ readonly isDone: boolean }> {
  const { objects, truncated } = await bucket.list({ prefix, limit: MAX_KEYS_PER_REQUEST })
  if (objects.length > 0) await bucket.delete(objects.map(({ key }) => key))
  return { isDone: !truncated }
}

/** Returns the number and the total size of the objects whose keys begin with a prefix. */
export async function measurePrefix(
  bucket: R2Bucket,
  prefix: string,
): Promise<{ readonly objects: number; readonly bytes: number }> {
  let [count, bytes] = [0, 0]
  for (let cursor: string | undefined; ; ) {
    const page: R2Objects = await bucket.list(cursor === undefined ? { prefix } : { prefix, cursor })
    count += page.objects.length
    for (const { size } of page.objects) bytes += size
    if (!page.truncated) return { objects: count, bytes }
    ;({ cursor } = page)
  }
}

/** Deletes all objects whose keys begin with a prefix. Can be repeated. */
export async function deleteWholePrefix(bucket: R2Bucket, prefix: string): Promise<void> {
  while (!(await deletePrefix(bucket, prefix)).isDone);
}
