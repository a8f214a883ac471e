/**
 * backup-tick.ts: handles one tick of the cron trigger. Starts the backups of the next tenants in the deployment's
 * list, and deletes expired backups.
 *
 * list of tenants (registry) ▶ at most TENANTS_PER_TICK of them ▶ each tenant's object starts a job, if one is due
 *
 * The work of a tick does not depend on the number of tenants. The position in the list is stored in the bucket.
 */

import { describeError, log, logError } from "../platform/log.ts"
import { registryStub, tenantStub } from "../platform/rpc/object-stubs.ts"
import { type RegistryRpc, TENANT_LIST_KEY } from "../platform/rpc/registry-rpc.ts"
import type { Region } from "../platform/tenant-id.ts"
import { isJsonObject, parseJson } from "../../shared/json.ts"
import type { BackupStart } from "../settings/leaving-rpc.ts"
import type { TenantRpc } from "../settings/tenant-rpc.ts"
import { type BackupBuckets, formatDay, listBackupRegions } from "./backup-bucket.ts"
import { type BackupPlan, type BackupVars, findBackupFaults, readBackupPlan } from "./backup-plan.ts"

/**
 * Maximum number of tenants per tick. Each tenant takes a request to an object, and the platform allows 1,000 requests
 * per event.
 */
export const TENANTS_PER_TICK = 400

/** Maximum number of concurrent requests to tenants. */
const PARALLEL_STARTS = 20

/**
 * Maximum number of pages of expired keys that a tick deletes. A page is one listing and one deletion, with as many
 * keys as R2 allows.
 */
const MAX_DELETED_PAGES = 10
const MAX_KEYS_PER_PAGE = 1_000

/**
 * Number of rounds through the list between two backups of a tenant. There are several, so that a tenant that was busy
 * gets another attempt. A tenant whose last backup is almost old enough is backed up too. Otherwise, the backup time
 * would drift.
 */
const ROUNDS_PER_INTERVAL = 4
const EARLY_SHARE = 1 / 8

/** The key of the stored position. It sorts after all days. */
const CURSOR_KEY = "state/cursor.json"

export interface BackupTickEnv extends BackupBuckets, BackupVars {
  readonly ENVIRONMENT: string
  readonly TENANT: DurableObjectNamespace<TenantRpc>
  readonly REGISTRY: DurableObjectNamespace<RegistryRpc>
}

/** The number of tenants for each result of `startBackup`, and the number of deleted files. */
export type TickReport = Record<BackupStart | "failed" | "deleted", number>

/** The position in the list. `after`: the last tenant that was called; null if the round is over. */
interface Cursor {
  readonly after: string | null
  /** When the round began, in milliseconds since 1970. */
  readonly began: number
}

/** Runs one tick. Does nothing without a bucket. Does not reject, and a region that fails does not stop the others. */
export async function runBackupTick(env: BackupTickEnv, now: number): Promise<TickReport> {
  const report: TickReport = { started: 0, recent: 0, busy: 0, none: 0, too_large: 0, failed: 0, deleted: 0 }
  const faults = findBackupFaults(env)
  if (faults.length > 0) {
    logError("backup_not_configured", { faults: faults.length })
    return report
  }
  const plan = readBackupPlan(env)
  for (const { region, bucket } of listBackupRegions(env)) {
    try {
      await startBackups(env, region, bucket, plan, now, report)
      report.deleted += await deleteExpired(bucket, now - plan.keptMs)
    } catch (error) {
      report.failed += 1
      logError("backup_tick_failed", { region, error: describeError(error) })
    }
  }
  if (report.started + report.failed + report.too_large + report.deleted > 0) log("backup_tick", { ...report })
  return report
}

async function startBackups(
  env: BackupTickEnv,
  region: Region | null,
  bucket: R2Bucket,
  { intervalMs }: BackupPlan,
  now: number,
  report: TickReport,
): Promise<void> {
  // Locally, one bucket serves all regions.
  const key = region === null ? CURSOR_KEY : `${CURSOR_KEY}.${region}`
  let cursor = parseCursor(await (await bucket.get(key))?.text())
  if (cursor.after === null) {
    if (now < cursor.began + intervalMs / ROUNDS_PER_INTERVAL) return
    cursor = { after: "", began: now }
  }
  const registry = registryStub(env, region, TENANT_LIST_KEY)
  const tenants = await registry.listTenants(TENANTS_PER_TICK, cursor.after ?? "")
  const dueMs = intervalMs * (1 - EARLY_SHARE)
  for (let from = 0; from < tenants.length; from += PARALLEL_STARTS) {
    const some = tenants.slice(from, from + PARALLEL_STARTS)
    for (const start of await Promise.all(some.map((tenant) => startBackup(env, tenant, dueMs)))) report[start] += 1
  }
  // The position is stored after the work, so that the next tick repeats a tick that was killed. Calling a tenant again
  // has no effect.
  const after = tenants.length < TENANTS_PER_TICK ? null : (tenants.at(-1) ?? null)
  await bucket.put(key, JSON.stringify({ after, began: cursor.began }))
}

/** Starts the backup of a tenant, if one is due. A tenant that fails is called again in the next round. */
async function startBackup(env: BackupTickEnv, tenant: string, dueMs: number): Promise<BackupStart | "failed"> {
  try {
    const start = await tenantStub(env, tenant).startBackup(tenant, dueMs)
    if (start === "too_large") logError("backup_too_large", { tenant })
    return start
  } catch (error) {
    logError("backup_not_started", { tenant, error: describeError(error) })
    return "failed"
  }
}

/** Parses the stored position. An unreadable position begins a new round. */
function parseCursor(text: string | undefined): Cursor {
  const json = text === undefined ? null : parseJson(text)
  if (!isJsonObject(json)) return { after: null, began: 0 }
  const { after, began } = json
  return { after: typeof after === "string" ? after : null, began: typeof began === "number" ? began : 0 }
}

/** Deletes the files of backups made before a time, oldest first. Returns the number of files. */
async function deleteExpired(bucket: R2Bucket, before: number): Promise<number> {
  const lastDay = formatDay(before)
  let deleted = 0
  for (let page = 0; page < MAX_DELETED_PAGES; page += 1) {
    const { objects } = await bucket.list({ limit: MAX_KEYS_PER_PAGE })
    const expired = objects.map(({ key }) => key).filter((key) => /^\d{4}-\d\d-\d\d\//.test(key) && key < lastDay)
    if (expired.length > 0) await bucket.delete(expired)
    deleted += expired.length
    if (expired.length < objects.length || objects.length < MAX_KEYS_PER_PAGE) break
  }
  return deleted
}
