/**
 * leaving-rpc.ts: the calls of a tenant object about export, import and erasure, and the types of their answers.
 */

import type { Fault, Result } from "../../shared/fault.ts"
import type { Actor } from "../platform/rpc/actor.ts"

/** `leaving`: the tenant can be read but not written until it is erased. */
export type TenantStatus = "open" | "leaving" | "erased"

export interface TenantStanding {
  readonly status: TenantStatus
  /** When the data is erased, in milliseconds since 1970; null unless `leaving`. */
  readonly erases_at: number | null
}

/** What an export contains, an import has created, or an erasure has removed. */
export interface Tally {
  readonly users: number
  /** Conversations of users. */
  readonly sessions: number
  /** Conversations of agents that were asked in them. */
  readonly agent_sessions: number
  /** Stored files, and their bytes. */
  readonly files: number
  readonly bytes: number
}

/** A file of an archive. Number 0 is the manifest. */
export interface ArchiveFile {
  readonly n: number
  readonly bytes: number
  /** In hexadecimal. */
  readonly sha256: string
}

interface JobView {
  readonly id: string
  /** Times in milliseconds since 1970. */
  readonly created: number
  readonly updated: number
  readonly tally: Tally
  /** Why it failed. */
  readonly fault: Fault | null
}

export interface ExportView extends JobView {
  readonly state: "running" | "done" | "failed"
  /** When its files are deleted. */
  readonly expires: number
  /** Number of files besides the manifest. */
  readonly parts: number
}

export interface ImportView extends JobView {
  readonly state: "uploading" | "running" | "done" | "failed"
  /** The tenant that was exported. */
  readonly from: string
  readonly parts: number
  /** The first numbers of the files that were not uploaded yet. */
  readonly missing: readonly number[]
  /** Conversations that could not be imported. */
  readonly skipped: number
}

/** What an erasure has removed. */
export interface Receipt {
  readonly id: string
  readonly kind: "user" | "tenant"
  /** The id of what was erased. */
  readonly target: string
  readonly state: "running" | "done"
  readonly requested: number
  /** Null while it is running. */
  readonly finished: number | null
  /** What is gone. */
  readonly tally: Tally
  /**
   * When the platform's point-in-time recovery of storage ends, in milliseconds since 1970; null while it is running. Until
   * then, whoever operates the platform's account could restore the data.
   */
  readonly unrecoverable_after: number | null
}

/** The tenant's id is a parameter where a job begins, and is stored with the job. */
export interface LeavingRpc {
  getStanding(): TenantStanding
  /** Errors: `tenant_erased`. Repeating it changes nothing. */
  leave(tenant: string, actor: Actor): Promise<Result<TenantStanding>>
  /** Ends the grace period. Errors: `tenant_erased`. */
  restoreTenant(actor: Actor): Promise<Result<TenantStanding>>

  /** Errors: `transfer_running` if an export, import or erasure of a user is running. */
  startExport(tenant: string, actor: Actor): Promise<Result<ExportView>>
  listExports(): Promise<ExportView[]>
  findExport(id: string): Promise<ExportView | null>
  /** Stops an export and deletes its files. False if there is none. */
  removeExport(id: string, actor: Actor): Promise<boolean>

  /** `manifest` is the text of file 0. Errors: `archive_refused`, `tenant_not_empty`, `transfer_running`. */
  startImport(tenant: string, actor: Actor, manifest: string): Promise<Result<ImportView>>
  listImports(): Promise<ImportView[]>
  findImport(id: string): Promise<ImportView | null>
  /** The file that an upload must match; null if the import does not expect it. */
  findImportFile(id: string, n: number): Promise<ArchiveFile | null>
  /** Records an uploaded file. The last one starts the import. */
  addImportFile(id: string, n: number): Promise<ImportView | null>
  /** Cancels an import that was not started. False if there is none. */
  removeImport(id: string, actor: Actor): Promise<boolean>

  /**
   * Removes the tenant's exports and the imports that were not started, too. Errors: `user_unknown`, `scope_denied` if an
   * admin erases an owner, `last_owner`, `transfer_running` if an import is running.
   */
  eraseUser(tenant: string, actor: Actor, user: string, isOwner: boolean): Promise<Result<Receipt>>
  /** The newest receipts first. */
  listReceipts(): Promise<Receipt[]>
  findReceipt(id: string): Promise<Receipt | null>
  /** The receipt of the whole tenant; null unless it was erased. */
  getTenantReceipt(): Promise<Receipt | null>
}
