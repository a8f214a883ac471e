/**
 * tenant-host.ts: the shared base of the parts of a tenant object. It contains the tables, the rows that several parts
 * use, and the method that runs every change.
 */

import { fail, type Result } from "../../shared/fault.ts"
import type { TenantStanding } from "../../shared/protocol/http-body.ts"
import type { Env } from "../env.ts"
import { JobRows } from "../leaving/job-rows.ts"
import { TenantBytes } from "../limits/tenant-bytes.ts"
import type { ObjectTables } from "../platform/migrate.ts"
import type { Actor } from "../platform/rpc/actor.ts"
import type { AuditEvent } from "../settings/audit-event.ts"
import type { NewUser, TenantUser } from "../settings/tenant-rpc.ts"
import { BudgetRows } from "../usage/budget-rows.ts"
import { TenantUsage } from "../usage/tenant-usage.ts"
import { ApiKeyRows } from "./rows/api-key-rows.ts"
import { AuditRows } from "./rows/audit-rows.ts"
import { IssuerRows } from "./rows/issuer-rows.ts"
import { createUser, UserRows } from "./rows/user-rows.ts"
import { UserNotices } from "./user-notices.ts"

export class TenantHost {
  readonly env: Env
  readonly storage: DurableObjectStorage
  readonly sql: SqlStorage
  readonly tenant: string
  readonly tables: ObjectTables
  readonly users: UserRows
  readonly notices: UserNotices
  readonly audit: AuditRows
  readonly jobs: JobRows
  readonly apiKeys: ApiKeyRows
  readonly issuers: IssuerRows
  readonly budgets: BudgetRows
  readonly storedBytes: TenantBytes
  readonly usage: TenantUsage
  /** Sets the alarm to the earliest time that a part requests. */
  readonly scheduleAlarm: () => void

  constructor({ id, storage }: DurableObjectState, env: Env, tables: ObjectTables, scheduleAlarm: () => void) {
    const { sql } = storage
    this.env = env
    this.storage = storage
    this.sql = sql
    // Every stub of this object is created from its name.
    this.tenant = id.name ?? ""
    this.tables = tables
    this.users = new UserRows(sql)
    this.notices = new UserNotices(sql, env, this.tenant, this.users)
    this.audit = new AuditRows(sql, this.tenant)
    this.jobs = new JobRows(sql)
    this.apiKeys = new ApiKeyRows(sql)
    this.issuers = new IssuerRows(sql)
    this.budgets = new BudgetRows(sql)
    this.storedBytes = new TenantBytes(sql)
    this.usage = new TenantUsage(sql)
    this.scheduleAlarm = scheduleAlarm
  }

  getStanding(): TenantStanding {
    if (!this.tables.exist()) return { status: "open", erases_at: null }
    const { status, erases } = this.jobs.readStanding()
    return { status, erases_at: erases }
  }

  /** Whether the tenant was erased. If so, nothing may be written. Late requests can still arrive. */
  isErased(): boolean {
    return this.getStanding().status === "erased"
  }

  /**
   * If the tenant is leaving and does not have this user, returns the user as suspended; otherwise returns null. Stores
   * nothing.
   */
  refuseNewUser(user: NewUser): TenantUser | null {
    if (this.getStanding().status !== "leaving" || this.users.find(user.id) !== null) return null
    return { ...createUser(user, Date.now()), status: "suspended" }
  }

  /** Adds an entry to the audit log. */
  record(actor: Actor, event: AuditEvent): void {
    if (this.isErased()) return
    this.tables.create()
    this.audit.append(actor, event, Date.now())
  }

  /** Runs a change and writes its audit entry in one transaction. Errors: `tenant_erased`. */
  change<T>(run: () => Result<T>): Result<T> {
    if (this.isErased()) return fail({ reason: "tenant_erased" })
    this.tables.create()
    return this.storage.transactionSync(run)
  }
}
