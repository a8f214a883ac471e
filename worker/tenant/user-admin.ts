/**
 * user-admin.ts: changes of a tenant's users by its administrators: who may change whom, the rows, and the audit log.
 */

import type { Administrator } from "../platform/rpc/actor.ts"
import { fail, type Result, succeed } from "../../shared/fault.ts"
import { includesRole } from "../platform/rpc/claims.ts"
import type { AuditEvent } from "../settings/audit-event.ts"
import type { TenantUser } from "../settings/tenant-rpc.ts"
import type { UserChange } from "../settings/user-change.ts"
import type { AuditRows } from "./audit-rows.ts"
import type { IssuerRows } from "./issuer-rows.ts"
import type { UserNotices } from "./user-notices.ts"
import type { UserRows } from "./user-rows.ts"

export class UserAdmin {
  readonly #users: UserRows
  readonly #audit: AuditRows
  readonly #notices: UserNotices
  readonly #issuers: IssuerRows

  constructor(users: UserRows, audit: AuditRows, notices: UserNotices, issuers: IssuerRows) {
    this.#issuers = issuers
    this.#users = users
    this.#audit = audit
    this.#notices = notices
  }

  /**
   * Changes the name or role. A change of the role ends the user's tokens, so that no token has the old one.
   *
   * Errors: `user_unknown`, `scope_denied`, `last_owner`; `role_from_issuer` if the role would change, but comes from the role claim of an
   * issuer.
   */
  changeUser(by: Administrator, id: string, { role, name }: UserChange, now: number): Result<TenantUser> {
    const found = this.#findChangeable(by, id)
    if (!found.ok) return found
    const before = found.value
    const after = { ...before, role: role ?? before.role, name: name === undefined ? before.name : name }
    if (!includesRole(by.role, after.role)) return fail({ reason: "scope_denied" })
    const isNewRole = after.role !== before.role
    if (isNewRole && this.#hasClaimedRole(before)) return fail({ reason: "role_from_issuer" })
    if (isNewRole && this.#users.isLastOwner(before)) return fail({ reason: "last_owner" })
    if (!isNewRole && after.name === before.name) return succeed(before)
    const roles = isNewRole ? { role: after.role, before: before.role } : {}
    // The name itself is personal data, and would outlive the erasure of the user.
    const details = after.name === before.name ? roles : { ...roles, name_changed: true }
    this.#write(by, after, { action: "user.changed", target: id, details }, isNewRole, now)
    return succeed(after)
  }

  /** Suspends or restores a user. Repeating it has no effect. Errors: `user_unknown`, `scope_denied`, `last_owner`. */
  setStatus(by: Administrator, id: string, status: "active" | "suspended", now: number): Result<TenantUser> {
    const found = this.#findChangeable(by, id)
    if (!found.ok || found.value.status === status) return found
    if (this.#users.isLastOwner(found.value)) return fail({ reason: "last_owner" })
    const after = { ...found.value, status }
    const action = status === "suspended" ? "user.suspended" : "user.restored"
    this.#write(by, after, { action, target: id }, true, now)
    return succeed(after)
  }

  #hasClaimedRole({ issuer }: TenantUser): boolean {
    return issuer !== null && this.#issuers.find(issuer)?.config.role_claim !== undefined
  }

  #findChangeable(by: Administrator, id: string): Result<TenantUser> {
    const user = this.#users.find(id)
    // An erasure that has begun cannot be stopped.
    if (user === null || user.status === "erasing") return fail({ reason: "user_unknown" })
    return includesRole(by.role, user.role) ? succeed(user) : fail({ reason: "scope_denied" })
  }

  #write(by: Administrator, user: TenantUser, event: AuditEvent, endsTokens: boolean, now: number): void {
    this.#users.update(user)
    const version = this.#audit.append(by.actor, event, now)
    if (endsTokens) this.#notices.add(user.id, version, now)
  }
}
