/** job-views.ts: converts jobs to the form that clients receive. Pure. */

import type { Receipt } from "../../shared/protocol/http-body.ts"
import type { ExportView, ImportView } from "../settings/leaving-rpc.ts"
import type { ImportProgress } from "./import-job.ts"
import type { Job } from "./job-rows.ts"

/** How far back the platform can restore an object's storage, in milliseconds. */
export const RECOVERY_MS = 30 * 24 * 60 * 60_000

/** Converts an export. `parts`: number of files written so far. */
export function jobToExport({ id, state, created, updated, expires, tally, fault }: Job, parts: number): ExportView {
  const shown = state === "uploading" ? "running" : state
  return { id, state: shown, created, updated, expires: expires ?? 0, tally, fault, parts }
}

export function jobToImport(
  { id, state, created, updated, tally, fault, progress }: Job,
  missing: readonly number[],
): ImportView {
  const { from, skipped, parts } = progress as ImportProgress
  return { id, state, created, updated, tally, fault, from, parts, missing, skipped }
}

export function jobToReceipt({ id, kind, state, target, created, updated, tally }: Job): Receipt {
  const isDone = state === "done"
  return {
    id,
    kind: kind === "erase_tenant" ? "tenant" : "user",
    target,
    state: isDone ? "done" : "running",
    requested: created,
    finished: isDone ? updated : null,
    tally,
    unrecoverable_after: isDone ? updated + RECOVERY_MS : null,
  }
}
