/** export-files.ts: deletes exports and imports with their files. */

import type { Actor } from "../platform/rpc/actor.ts"
import { backupFolder, findBackupBucket } from "../backup/backup-bucket.ts"
import { mediaBucket } from "../platform/media-bucket.ts"
import { archiveKey, deleteWholePrefix, stagedKey } from "./archive-files.ts"
import type { Job } from "./job-rows.ts"
import type { LeavingHost } from "./leaving-host.ts"

/** Maximum number of jobs of each kind that are listed. Each job is removed after some days. */
export const MAX_LISTED_JOBS = 100

/** How long the files of an export, and those uploaded for an import, are kept, in milliseconds. SPEC TX13. */
export const TRANSFER_KEPT_MS = 7 * 24 * 60 * 60_000

/** Deletes the files of an export or import, then its rows. Can be repeated. */
export async function deleteTransfer(host: LeavingHost, job: Job): Promise<void> {
  await deleteTransferFiles(host, job)
  host.storage.transactionSync(() => host.rows.remove(job.id))
}

/** Deletes the files of an export, import or backup in the bucket. Can be repeated. */
export async function deleteTransferFiles({ env }: LeavingHost, job: Job): Promise<void> {
  const { bucket, folder } = findArchiveLocation(env, job)
  await deleteWholePrefix(bucket, folder)
}

/** Returns the bucket and prefix of an export's, import's or backup's files. Throws if no bucket is bound for them. */
export function findArchiveLocation(
  env: LeavingHost["env"],
  { id, kind, tenant, created }: Pick<Job, "id" | "kind" | "tenant" | "created">,
): { readonly bucket: R2Bucket; readonly folder: string } {
  if (kind === "backup") {
    const bucket = findBackupBucket(env, tenant)
    if (bucket === null) throw new Error(`no bucket is bound for backups of ${tenant}`)
    return { bucket, folder: backupFolder(tenant, id, created) }
  }
  const anyKey = kind === "export" ? archiveKey(tenant, id, 0) : stagedKey(tenant, id, 0)
  return { bucket: mediaBucket(env, tenant), folder: anyKey.slice(0, -1) }
}

/**
 * Removes the rows of all exports and imports, and adds an entry to the audit log for each. Call this in a transaction.
 */
export function removeTransferRows({ rows, content }: LeavingHost, actor: Actor): void {
  for (const kind of ["export", "import"] as const) {
    for (let jobs = rows.list(kind, MAX_LISTED_JOBS); jobs.length > 0; jobs = rows.list(kind, MAX_LISTED_JOBS)) {
      for (const { id } of jobs) {
        rows.remove(id)
        content.record(actor, `tenant.${kind}_removed`, id, { because: "erasure" })
      }
    }
  }
}

/** Deletes the files of all exports and imports, even of those whose rows are gone. Can be repeated. */
export async function deleteAllTransferFiles({ env }: LeavingHost, tenant: string): Promise<void> {
  for (const folder of [".exports", ".imports"])
    await deleteWholePrefix(mediaBucket(env, tenant), `${tenant}/${folder}/`)
}
