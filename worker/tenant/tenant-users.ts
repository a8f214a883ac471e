/**
 * tenant-users.ts: registers the users of a tenant on first contact, and applies administrators' changes, in the tenant
 * object. A change checks permissions, writes the row and the audit log, and notifies the user's directory.
 */

import type { Administrator } from "../platform/rpc/actor.ts"
import { fail, type Result, succeed } from "../../shared/fault.ts"
import { includesRole } from "../platform/rpc/claims.ts"
import type { AuditEvent } from "../settings/audit-event.ts"
import type { NewUser, TenantUser } from "../settings/tenant-rpc.ts"
import type { UserChange } from "../settings/user-change.ts"
import { createUser } from "./rows/user-rows.ts"
import type { TenantHost } from "./tenant-host.ts"

export class TenantUsers {
  readonly #host: TenantHost

  constructor(host: TenantHost) {
    this.#host = host
  }

  register(user: NewUser): TenantUser {
    // A request that was admitted before the tenant was erased must not leave a row behind.
    if (this.#host.isErased()) return createUser(user, Date.now())
    this.#host.tables.create()
    return this.#host.users.register(user, Date.now())
  }

  find(id: string): TenantUser | null {
    return this.#host.tables.exist() ? this.#host.users.find(id) : null
  }

  list(after: string, prefix: string, limit: number): TenantUser[] {
    return this.#host.tables.exist() ? this.#host.users.list(after, prefix, limit) : []
  }

  /**
   * Changes the name or role. A new role ends the user's tokens, so that no token keeps the old one.
   *
   * Errors: `user_unknown`, `scope_denied`, `last_owner`; `role_from_issuer` if the role would change but comes from an
   * issuer's role claim.
   */
  async change(by: Administrator, id: string, change: UserChange): Promise<Result<TenantUser>> {
    return await this.#notifyAfter(id, () => this.#change(by, id, change))
  }

  #change(by: Administrator, id: string, { role, name }: UserChange): Result<TenantUser> {
    const found = this.#findChangeable(by, id)
    if (!found.ok) return found
    const before = found.value
    const after = { ...before, role: role ?? before.role, name: name === undefined ? before.name : name }
    if (!includesRole(by.role, after.role)) return fail({ reason: "scope_denied" })
    const isNewRole = after.role !== before.role
    if (isNewRole && this.#hasClaimedRole(before)) return fail({ reason: "role_from_issuer" })
    if (isNewRole && this.#host.users.isLastOwner(before)) return fail({ reason: "last_owner" })
    if (!isNewRole && after.name === before.name) return succeed(before)
    const roles = isNewRole ? { role: after.role, before: before.role } : {}
    // The name is personal data, and in the log it would outlive the erasure of the user.
    const details = after.name === before.name ? roles : { ...roles, name_changed: true }
    this.#write(by, after, { action: "user.changed", target: id, details }, isNewRole)
    return succeed(after)
  }

  /** Suspends or restores a user. Repeating it has no effect. Errors: `user_unknown`, `scope_denied`, `last_owner`. */
  async setStatus(by: Administrator, id: string, status: "active" | "suspended"): Promise<Result<TenantUser>> {
    return await this.#notifyAfter(id, () => this.#setStatus(by, id, status))
  }

  #setStatus(by: Administrator, id: string, status: "active" | "suspended"): Result<TenantUser> {
    const found = this.#findChangeable(by, id)
    if (!found.ok || found.value.status === status) return found
    if (this.#host.users.isLastOwner(found.value)) return fail({ reason: "last_owner" })
    const after = { ...found.value, status }
    const action = status === "suspended" ? "user.suspended" : "user.restored"
    this.#write(by, after, { action, target: id }, true)
    return succeed(after)
  }

  /** Changes a user, and sends the notice that the change added, if any. The alarm retries a failed notice. */
  async #notifyAfter(id: string, change: () => Result<TenantUser>): Promise<Result<TenantUser>> {
    if (!this.#host.tables.exist()) return fail({ reason: "user_unknown" })
    const changed = change()
    if (!changed.ok) return changed
    this.#host.scheduleAlarm()
    await this.#host.notices.send(id, Date.now())
    this.#host.scheduleAlarm()
    return changed
  }

  #hasClaimedRole({ issuer }: TenantUser): boolean {
    return issuer !== null && this.#host.issuers.find(issuer)?.config.role_claim !== undefined
  }

  #findChangeable(by: Administrator, id: string): Result<TenantUser> {
    const user = this.#host.users.find(id)
    // An erasure that has begun cannot be stopped.
    if (user === null || user.status === "erasing") return fail({ reason: "user_unknown" })
    return includesRole(by.role, user.role) ? succeed(user) : fail({ reason: "scope_denied" })
  }

  #write(by: Administrator, user: TenantUser, event: AuditEvent, endsTokens: boolean): void {
    const now = Date.now()
    this.#host.users.update(user)
    const version = this.#host.audit.append(by.actor, event, now)
    if (endsTokens) this.#host.notices.add(user.id, version, now)
  }
}
