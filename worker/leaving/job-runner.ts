/**
 * job-runner.ts: runs the due jobs of a tenant object, slice by slice, from its alarm.
 *
 * The next alarm is set before a slice runs, so a job continues even if its process is killed.
 */

import { readBackupPlan } from "../backup/backup-plan.ts"
import { describeError, logError } from "../platform/log.ts"
import { SYSTEM_ACTOR } from "../platform/rpc/actor.ts"
import { deleteTransferFiles, TRANSFER_KEPT_MS } from "./export-files.ts"
import { runEraseTenantSlice } from "./erase-tenant-job.ts"
import { runEraseUserSlice } from "./erase-user-job.ts"
import { runExportSlice } from "./export-job.ts"
import { runImportSlice } from "./import-job.ts"
import type { Job, JobKind } from "./job-rows.ts"
import { LastingError, type LeavingHost, type RunSlice } from "./leaving-host.ts"
import { runStandingSlice } from "./standing-job.ts"

const SLICES: Readonly<Record<JobKind, RunSlice>> = {
  export: runExportSlice,
  backup: runExportSlice,
  import: runImportSlice,
  erase_user: runEraseUserSlice,
  erase_tenant: runEraseTenantSlice,
  standing: runStandingSlice,
}

/**
 * Time without progress after which an export or import fails, in milliseconds. This is longer than any usual outage,
 * because a half-finished import cannot be undone. An erasure is retried until it succeeds.
 */
const MAX_STALL_MS = TRANSFER_KEPT_MS

/** The corresponding time for a scheduled backup. It is shorter, because the next backup replaces a failed one. */
const MAX_BACKUP_STALL_MS = 24 * 60 * 60_000

/** Delay before the first retry, and maximum delay, in milliseconds. The delay doubles with each retry. */
const RETRY_MS = 1_000
const MAX_RETRY_MS = 30 * 60_000

/** Runs one slice of each due job. */
export async function runDueJobs(host: LeavingHost): Promise<void> {
  for (const job of host.rows.listDue(host.now())) {
    // An earlier job of this loop may have removed this job: erasing a user removes exports, and erasing the tenant
    // removes everything.
    if (host.rows.find(job.id) === null) continue
    if (job.state === "running") await runSlice(host, job)
    else await expireJob(host, job)
  }
}

/** Removes an expired job and its files. If the files cannot be deleted now, the next alarm retries. */
async function expireJob(host: LeavingHost, job: Job): Promise<void> {
  if (!(await tryDeleteFiles(host, job))) return host.rows.setExpiry(job.id, host.now() + MAX_RETRY_MS)
  host.storage.transactionSync(() => {
    if (host.rows.find(job.id) === null) return
    host.rows.remove(job.id)
    // The expiry of a backup is not recorded, because backups expire regularly.
    if (job.kind !== "backup") host.content.record(SYSTEM_ACTOR, `tenant.${job.kind}_expired`, job.id)
  })
}

async function runSlice(host: LeavingHost, job: Job): Promise<void> {
  const { storage, rows, now } = host
  try {
    const result = await SLICES[job.kind](host, job)
    storage.transactionSync(() => {
      // The job may have been removed in the meantime.
      if (rows.find(job.id) === null) return
      if (result.isDone) finishJob(host, job)
      else rows.saveProgress(job.id, { ...result, updated: now() })
    })
  } catch (error) {
    logError("job_failed", { job: job.id, kind: job.kind, tries: job.tries + 1, error: describeError(error) })
    await handleFailure(host, job, error)
  }
}

function finishJob({ env, rows, content, now }: LeavingHost, { id, kind, created }: Job): void {
  if (kind === "standing") return rows.remove(id)
  rows.setState(id, "done", now())
  if (kind === "backup") {
    rows.setExpiry(id, created + readBackupPlan(env).keptMs)
    return content.record(SYSTEM_ACTOR, "tenant.backed_up", id)
  }
  if (kind === "export" || kind === "import") rows.setExpiry(id, now() + TRANSFER_KEPT_MS)
  if (kind === "import") rows.removeIndex(id)
  if (kind === "export" || kind === "import") content.record(SYSTEM_ACTOR, `tenant.${kind}ed`, id)
}

async function handleFailure(host: LeavingHost, job: Job, error: unknown): Promise<void> {
  const { storage, rows, content, now } = host
  const { id, kind, tries } = job
  const isTransfer = kind === "export" || kind === "import" || kind === "backup"
  const stallMs = kind === "backup" ? MAX_BACKUP_STALL_MS : MAX_STALL_MS
  const isLasting = error instanceof LastingError
  // `updated` is the time of the last progress.
  const updated = rows.find(id)?.updated ?? job.updated
  const hasEnded = isTransfer && (isLasting || now() >= updated + stallMs)
  // Nobody can use the files any more, so they are deleted. If that fails, the job does not end yet.
  if (!hasEnded || !(await tryDeleteFiles(host, job)))
    return rows.postpone(id, now() + Math.min(RETRY_MS * 2 ** tries, MAX_RETRY_MS))
  const fault = isLasting ? error.fault : ({ reason: "internal" } as const)
  storage.transactionSync(() => {
    // The job may have been removed in the meantime.
    if (rows.find(id) === null) return
    rows.setState(id, "failed", now(), fault)
    rows.setExpiry(id, now() + TRANSFER_KEPT_MS)
    rows.removeIndex(id)
    content.record(SYSTEM_ACTOR, `tenant.${kind}_failed`, id)
  })
}

async function tryDeleteFiles(host: LeavingHost, job: Job): Promise<boolean> {
  try {
    await deleteTransferFiles(host, job)
    return true
  } catch (error) {
    logError("files_not_deleted", { job: job.id, error: describeError(error) })
    return false
  }
}
