/**
 * leaving-rpc.ts: the tenant object's calls for export, import and erasure, and the types of their results.
 */

import type { Fault, Result } from "../../shared/fault.ts"
import type { Receipt, TenantExport, TenantImport, TenantStanding } from "../../shared/protocol/http-body.ts"
import type { Actor } from "../platform/rpc/actor.ts"

/** A file of an archive. Number 0 is the manifest. */
export interface ArchiveFile {
  readonly n: number
  readonly bytes: number
  /** In hexadecimal. */
  readonly sha256: string
}

/**
 * Whether a backup was started. `recent`: the last backup is not old enough. `busy`: a job that excludes a backup is
 * running. `none`: there is nothing to back up, or there is no bucket. `too_large`: the tenant stores more than fits in
 * an archive.
 */
export type BackupStart = "started" | "recent" | "busy" | "none" | "too_large"

/** A job as the tenant object reports it. Routes convert its fault to text. */
export type ExportView = TenantExport<Fault>
/** `folder`: the backup's folder in the backup bucket. */
export type BackupView = ExportView & { readonly folder: string }
export type ImportView = TenantImport<Fault>

/** Calls that start a job get the tenant's id as a parameter and store it with the job. */
export interface LeavingRpc {
  getStanding(): TenantStanding
  /** Starts the grace period before the tenant is erased. Repeating the call has no effect. Errors: `tenant_erased`. */
  leave(tenant: string, actor: Actor): Promise<Result<TenantStanding>>
  /** Ends the grace period. Errors: `tenant_erased`. */
  restoreTenant(actor: Actor): Promise<Result<TenantStanding>>

  /**
   * Starts an export. Errors: `transfer_running` if an export, an import or the erasure of a user is running;
   * `export_too_large`; `tenant_erased`.
   */
  startExport(tenant: string, actor: Actor): Promise<Result<ExportView>>
  listExports(): Promise<ExportView[]>
  findExport(id: string): Promise<ExportView | null>
  /** Stops an export and deletes its files. Returns false if there is no such export. */
  removeExport(id: string, actor: Actor): Promise<boolean>

  /** Starts a scheduled backup if the last backup is at least `dueMs` old. */
  startBackup(tenant: string, dueMs: number): Promise<BackupStart>
  /** Lists the backups, newest first. */
  listBackups(): Promise<BackupView[]>

  /**
   * Starts an import. `manifest` is the text of file 0. Errors: `archive_refused`, `tenant_not_empty`,
   * `transfer_running`, `tenant_erased`.
   */
  startImport(tenant: string, actor: Actor, manifest: string): Promise<Result<ImportView>>
  listImports(): Promise<ImportView[]>
  findImport(id: string): Promise<ImportView | null>
  /** Returns the file that an upload must match; null if the import does not expect it. */
  findImportFile(id: string, n: number): Promise<ArchiveFile | null>
  /** Records an uploaded file. The last one starts the import. */
  addImportFile(id: string, n: number): Promise<ImportView | null>
  /** Cancels an import that has not started. Returns false if there is no such import. */
  removeImport(id: string, actor: Actor): Promise<boolean>

  /**
   * Erases a user. Also removes the tenant's exports and the imports that have not started. Errors: `user_unknown`;
   * `scope_denied` if an admin erases an owner; `last_owner`; `transfer_running` if an import is running;
   * `tenant_erased`.
   */
  eraseUser(tenant: string, actor: Actor, user: string, isOwner: boolean): Promise<Result<Receipt>>
  /** Lists the receipts, newest first. */
  listReceipts(): Promise<Receipt[]>
  findReceipt(id: string): Promise<Receipt | null>
  /** Returns the receipt for the whole tenant; null unless it was erased. */
  getTenantReceipt(): Promise<Receipt | null>
}
