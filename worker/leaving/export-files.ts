/** export-files.ts: deletes exports with their files. */

import { mediaBucket } from "../platform/media-bucket.ts"
import { archiveKey, deleteWholePrefix, stagedKey } from "./archive-files.ts"
import type { Job } from "./job-rows.ts"
import type { LeavingHost } from "./leaving-host.ts"

/** Maximum number of jobs of a kind that are listed. Each is removed after some days. */
export const MAX_LISTED_JOBS = 100

/** Deletes the files of an export or import, then its rows. Can be repeated. */
export async function deleteTransfer({ env, rows, storage }: LeavingHost, { id, kind, tenant }: Job): Promise<void> {
  const anyKey = kind === "export" ? archiveKey(tenant, id, 0) : stagedKey(tenant, id, 0)
  await deleteWholePrefix(mediaBucket(env, tenant), anyKey.slice(0, -1))
  storage.transactionSync(() => rows.remove(id))
}

/** Deletes all exports. Can be repeated. */
export async function deleteExports(host: LeavingHost, tenant: string): Promise<void> {
  for (const job of host.rows.list("export", MAX_LISTED_JOBS)) await deleteTransfer(host, job)
  await deleteWholePrefix(mediaBucket(host.env, tenant), `${tenant}/.exports/`)
}
