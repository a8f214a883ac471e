/**
 * backup-folder.ts: the folder of tenant backups. Each backup is an archive as written by `npm run tenant -- export`,
 * in `<folder>/<tenant>/<time>`. The name of an incomplete backup ends in `.partial`.
 */

import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs"
import { join } from "node:path"
import { MANIFEST_NAME } from "../tenant/tenant-archive.ts"
import { UsageError } from "../tenant/tenant-request.ts"

const PARTIAL = ".partial"
const REMOVE = { recursive: true, force: true } as const
/** `2026-11-22T14-05-09Z`: such names sort by time, and are valid on every file system. */
const BACKUP_NAME = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ$/

/** Returns the folder for the backup in progress: either the folder of an interrupted run or a new one. */
export function openPartialBackup(folder: string, tenant: string, now: Date): string {
  const parent = tenantFolder(folder, tenant)
  // A folder without a manifest contains nothing usable.
  for (const name of listNames(parent))
    if (name.endsWith(PARTIAL) && !existsSync(join(parent, name, MANIFEST_NAME))) rmSync(join(parent, name), REMOVE)
  const begun = listNames(parent).filter(
    (name) => name.endsWith(PARTIAL) && isBackupName(name.slice(0, -PARTIAL.length)),
  )
  const name = begun.at(-1) ?? `${now.toISOString().slice(0, 19).replaceAll(":", "-")}Z${PARTIAL}`
  mkdirSync(join(parent, name), { recursive: true, mode: 0o700 })
  return join(parent, name)
}

/** Marks a backup as complete, and returns its path. */
export function completeBackup(partial: string): string {
  const path = partial.slice(0, -PARTIAL.length)
  if (existsSync(path)) throw new UsageError(`${path} exists already.`)
  renameSync(partial, path)
  return path
}

/** Returns the complete backups of a tenant, oldest first. */
export function listBackups(folder: string, tenant: string): string[] {
  const parent = tenantFolder(folder, tenant)
  return listNames(parent)
    .filter(isBackupName)
    .map((name) => join(parent, name))
}

/** Deletes all but the newest `kept` backups of a tenant. Returns how many were deleted. */
export function deleteOldBackups(folder: string, tenant: string, kept: number): number {
  const old = listBackups(folder, tenant).slice(0, -kept)
  for (const path of old) rmSync(path, REMOVE)
  return old.length
}

/** Returns the newest backup, or with `before` the newest one before a time such as `2026-11-22` or `2026-11-22T14`. */
export function findBackup(folder: string, tenant: string, before: string | undefined): string {
  const backups = listBackups(folder, tenant)
  const found = before === undefined ? backups.at(-1) : backups.findLast((path) => nameOf(path) < before)
  if (found !== undefined) return found
  const when = before === undefined ? "" : ` from before ${before}`
  throw new UsageError(`There is no complete backup of ${tenant}${when} in ${folder}.`)
}

function isBackupName(name: string): boolean {
  return BACKUP_NAME.test(name)
}

function nameOf(path: string): string {
  return path.slice(-"2026-11-22T14-05-09Z".length)
}

/** A tenant's id becomes one component of a path. It must not point outside the folder. */
function tenantFolder(folder: string, tenant: string): string {
  if (!/^[a-z0-9][a-z0-9.-]*$/i.test(tenant) || tenant.includes(".."))
    throw new UsageError(`${tenant} is not a tenant id.`)
  return join(folder, tenant)
}

function listNames(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).sort() : []
}
