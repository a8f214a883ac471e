/**
 * tenant-leaving.ts: the tenant object's calls for export, import and erasure. They start, list and end jobs.
 */

import { nanoid } from "nanoid"
import { fail, type Result, succeed } from "../../shared/fault.ts"
import { SOCKET_REGISTER_MS, TOKEN_TRUST_MS } from "../../shared/limits.ts"
import type { Receipt, TenantStanding } from "../../shared/protocol/http-body.ts"
import type { Env } from "../env.ts"
import type { Actor } from "../platform/rpc/actor.ts"
import { directoryStub } from "../platform/rpc/object-stubs.ts"
import type { ArchiveFile, BackupStart, BackupView, ExportView, ImportView } from "../settings/leaving-rpc.ts"
import { backupFolder, findBackupBucket } from "../backup/backup-bucket.ts"
import { MAX_ARCHIVE_FILES, MAX_EXPORTED_BYTES, readManifest } from "./archive-manifest.ts"
import { deleteTransfer, MAX_LISTED_JOBS, removeTransferRows, TRANSFER_KEPT_MS } from "./export-files.ts"
import { hasNoSessions, type ImportProgress } from "./import-job.ts"
import { jobToExport, jobToImport, jobToReceipt } from "./job-views.ts"
import type { Job } from "./job-rows.ts"
import type { LeavingHost } from "./leaving-host.ts"

const DAY_MS = 24 * 60 * 60_000

/** Time between the decision to erase a tenant and its erasure, in milliseconds. SPEC LV5. */
export const GRACE_MS = 7 * DAY_MS

/** Maximum number of missing files that are listed for an import. */
const MAX_LISTED_MISSING = 100

/**
 * Jobs during which no transfer may start. While a user is being erased, no archive that contains the user may be
 * written or read.
 */
const EXCLUDES_TRANSFER = ["export", "import", "erase_user"] as const

/** Returns the grace period. Only tests shorten it. */
function readGraceMs({ TENANT_GRACE_MS }: Env): number {
  const ms = Number(TENANT_GRACE_MS ?? GRACE_MS)
  return ms > 0 && ms < GRACE_MS ? ms : GRACE_MS
}

/** The fault for an export or backup if the tenant stores more than fits in an archive. */
const TOO_LARGE = { reason: "export_too_large", max: MAX_ARCHIVE_FILES } as const

export class TenantLeaving {
  readonly #host: LeavingHost

  constructor(host: LeavingHost) {
    this.#host = host
  }

  getStanding(): TenantStanding {
    const { status, erases } = this.#host.rows.readStanding()
    return { status, erases_at: erases }
  }

  leave(tenant: string, actor: Actor): Result<TenantStanding> {
    const { env, storage, rows, content, now } = this.#host
    const { status } = rows.readStanding()
    if (status === "erased") return fail({ reason: "tenant_erased" })
    if (status === "leaving") return succeed(this.getStanding())
    const erases = now() + readGraceMs(env)
    storage.transactionSync(() => {
      rows.setStanding({ status: "leaving", erases, receipt: null })
      this.#addJob("erase_tenant", { tenant, target: tenant, due: erases })
      this.#reconnectSockets(tenant)
      content.record(actor, "tenant.leaving", tenant, { erases })
    })
    return succeed(this.getStanding())
  }

  restore(actor: Actor): Result<TenantStanding> {
    const { storage, rows, content } = this.#host
    const { status } = rows.readStanding()
    if (status === "erased") return fail({ reason: "tenant_erased" })
    const job = rows.findRunning(["erase_tenant"])
    if (status === "open" || job === null) return succeed(this.getStanding())
    storage.transactionSync(() => {
      rows.setStanding({ status: "open", erases: null, receipt: null })
      rows.remove(job.id)
      this.#reconnectSockets(job.tenant)
      content.record(actor, "tenant.restored", job.tenant)
    })
    return succeed(this.getStanding())
  }

  startExport(tenant: string, actor: Actor): Result<ExportView> {
    const { storage, rows, content, now } = this.#host
    if (this.#isErased()) return fail({ reason: "tenant_erased" })
    if (rows.findRunning(EXCLUDES_TRANSFER) !== null) return fail({ reason: "transfer_running" })
    if (content.countStoredBytes() > MAX_EXPORTED_BYTES) return fail(TOO_LARGE)
    const id = storage.transactionSync(() => {
      const added = this.#addJob("export", { tenant, target: tenant, due: now(), expires: now() + TRANSFER_KEPT_MS })
      content.record(actor, "tenant.export_started", added)
      return added
    })
    return succeed(this.#showExport(rows.find(id) as Job))
  }

  listExports(): ExportView[] {
    return this.#host.rows.list("export", MAX_LISTED_JOBS).map((job) => this.#showExport(job))
  }

  findExport(id: string): ExportView | null {
    const job = this.#find(id, "export")
    return job === null ? null : this.#showExport(job)
  }

  async removeExport(id: string, actor: Actor): Promise<boolean> {
    return await this.#removeTransfer(this.#find(id, "export"), actor)
  }

  startBackup(tenant: string, dueMs: number): BackupStart {
    const { env, rows, content, now } = this.#host
    if (this.#isErased() || findBackupBucket(env, tenant) === null) return "none"
    const [last] = rows.list("backup", 1)
    if (last?.state === "running") return "busy"
    // After a failed backup, the next backup is due at once.
    if (last?.state === "done" && now() < last.created + dueMs) return "recent"
    if (rows.findRunning(EXCLUDES_TRANSFER) !== null) return "busy"
    if (content.countStoredBytes() > MAX_EXPORTED_BYTES) return this.#addLargeBackup(tenant, last, dueMs)
    this.#addJob("backup", { tenant, target: tenant, due: now(), expires: now() + TRANSFER_KEPT_MS })
    return "started"
  }

  /**
   * Adds a failed backup that shows the owners the reason, unless the newest backup is recent and failed for the same
   * reason.
   */
  #addLargeBackup(tenant: string, last: Job | undefined, dueMs: number): BackupStart {
    const { storage, rows, now } = this.#host
    const isListed = last?.fault?.reason === TOO_LARGE.reason && now() < last.created + dueMs
    if (!isListed)
      storage.transactionSync(() => {
        const times = { due: now(), expires: now() + TRANSFER_KEPT_MS }
        const id = this.#addJob("backup", { tenant, target: tenant, ...times })
        rows.setState(id, "failed", now(), TOO_LARGE)
      })
    return "too_large"
  }

  listBackups(): BackupView[] {
    return this.#host.rows.list("backup", MAX_LISTED_JOBS).map((job) => {
      const folder = backupFolder(job.tenant, job.id, job.created)
      return { ...this.#showExport(job), folder }
    })
  }

  /** Checks the manifest, and creates a job that waits for its files. */
  async startImport(tenant: string, actor: Actor, manifest: string): Promise<Result<ImportView>> {
    const { env, storage, rows, content, now } = this.#host
    if (this.#isErased()) return fail({ reason: "tenant_erased" })
    const read = await readManifest(env.JWT_SECRET ?? "", manifest)
    if (!read.ok) return read
    if (!(await hasNoSessions(this.#host, tenant))) return fail({ reason: "tenant_not_empty" })
    if (rows.findRunning(EXCLUDES_TRANSFER) !== null) return fail({ reason: "transfer_running" })
    const { files, tenant: from } = read.value
    const progress: ImportProgress = { step: "index", from, at: 0, skipped: 0, parts: files.length }
    const id = storage.transactionSync(() => {
      const times = { due: now(), expires: now() + TRANSFER_KEPT_MS }
      const added = this.#addJob("import", { tenant, target: from, state: "uploading", progress, ...times })
      for (const file of files) rows.putFile(added, file, false)
      content.record(actor, "tenant.import_started", added, { from })
      return added
    })
    return succeed(this.#showImport(rows.find(id) as Job))
  }

  listImports(): ImportView[] {
    return this.#host.rows.list("import", MAX_LISTED_JOBS).map((job) => this.#showImport(job))
  }

  findImport(id: string): ImportView | null {
    const job = this.#find(id, "import")
    return job === null ? null : this.#showImport(job)
  }

  findImportFile(id: string, n: number): ArchiveFile | null {
    const isUploading = this.#find(id, "import")?.state === "uploading"
    return isUploading ? this.#host.rows.findFile(id, n) : null
  }

  addImportFile(id: string, n: number): ImportView | null {
    const { storage, rows, now } = this.#host
    if (this.#find(id, "import")?.state !== "uploading") return this.findImport(id)
    storage.transactionSync(() => {
      rows.markStored(id, n)
      rows.setExpiry(id, now() + TRANSFER_KEPT_MS)
      if (rows.listMissing(id, 1).length > 0) return
      rows.setState(id, "running", now())
      this.#host.armAlarm()
    })
    return this.findImport(id)
  }

  async removeImport(id: string, actor: Actor): Promise<boolean> {
    const job = this.#find(id, "import")
    return job?.state !== "running" && (await this.#removeTransfer(job, actor))
  }

  async eraseUser(tenant: string, actor: Actor, user: string, isOwner: boolean): Promise<Result<Receipt>> {
    const { env, storage, rows, content, now } = this.#host
    if (this.#isErased()) return fail({ reason: "tenant_erased" })
    const running = rows.findRunning(["erase_user"], user)
    if (running !== null) return succeed(jobToReceipt(running))
    const known = content.findUser(user)
    if (known === null) return fail({ reason: "user_unknown" })
    if (known.role === "owner" && !isOwner) return fail({ reason: "scope_denied" })
    if (content.isLastOwner(known)) return fail({ reason: "last_owner" })
    // A running import would bring the user back, and stopping it would leave the tenant half imported.
    if (rows.findRunning(["import"])?.state === "running") return fail({ reason: "transfer_running" })
    const id = storage.transactionSync(() => {
      content.markErasing(known)
      content.record(actor, "user.erasure_started", user)
      removeTransferRows(this.#host, actor)
      // A running backup is abandoned, and the next one is made without the user. Complete backups are kept until they
      // expire, which is before the date in the receipt.
      const backup = rows.findRunning(["backup"])
      if (backup !== null) rows.remove(backup.id)
      return this.#addJob("erase_user", { tenant, target: user, due: now() })
    })
    // The job repeats this call. Making the call here too lets it take effect before the response.
    await Promise.resolve(directoryStub(env, { tenant, user }).beginErasure()).catch(() => {})
    return succeed(jobToReceipt(rows.find(id) as Job))
  }

  listReceipts(): Receipt[] {
    return this.#host.rows.list("erase_user", MAX_LISTED_JOBS).map(jobToReceipt)
  }

  findReceipt(id: string): Receipt | null {
    const job = this.#find(id, "erase_user")
    return job === null ? null : jobToReceipt(job)
  }

  getTenantReceipt(): Receipt | null {
    const { status, receipt } = this.#host.rows.readStanding()
    if (receipt !== null || status !== "erased") return receipt
    const job = this.#host.rows.findRunning(["erase_tenant"])
    return job === null ? null : jobToReceipt(job)
  }

  #isErased(): boolean {
    return this.getStanding().status === "erased"
  }

  #find(id: string, kind: Job["kind"]): Job | null {
    const job = this.#host.rows.find(id)
    return job?.kind === kind ? job : null
  }

  #addJob(kind: Job["kind"], job: NewTenantJob): string {
    const id = nanoid()
    this.#host.rows.add({ id, kind, state: "running", created: this.#host.now(), expires: null, ...job })
    this.#host.armAlarm()
    return id
  }

  /**
   * Adds the job that makes sockets reconnect. Isolates cache the standing, so a socket that reconnects too early can
   * get the old rights.
   */
  #reconnectSockets(tenant: string): void {
    this.#addJob("standing", { tenant, target: tenant, due: this.#host.now() + TOKEN_TRUST_MS + SOCKET_REGISTER_MS })
  }

  #showExport(job: Job): ExportView {
    return jobToExport(job, this.#host.rows.countFiles(job.id))
  }

  #showImport(job: Job): ImportView {
    const { rows } = this.#host
    return jobToImport(job, rows.listMissing(job.id, MAX_LISTED_MISSING))
  }

  async #removeTransfer(job: Job | null, actor: Actor): Promise<boolean> {
    if (job === null) return false
    await deleteTransfer(this.#host, job)
    this.#host.content.record(actor, `tenant.${job.kind}_removed`, job.id)
    return true
  }
}

type NewTenantJob = Pick<Job, "tenant" | "target" | "due"> & Partial<Pick<Job, "state" | "expires" | "progress">>
