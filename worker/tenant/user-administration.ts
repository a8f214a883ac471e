/**
 * user-administration.ts: administrators' searches for users and changes to them, in the tenant object. A change checks
 * permissions, writes the row and the audit log, and notifies the user's directory. Loaded on demand.
 */

import type { Administrator } from "../platform/rpc/actor.ts"
import { fail, type Result, succeed } from "../../shared/fault.ts"
import { includesRole } from "../platform/rpc/claims.ts"
import type { AuditEvent } from "../settings/audit-event.ts"
import type { FoundUsers, TenantUser } from "../settings/tenant-rpc.ts"
import type { UserChange } from "../settings/user-change.ts"
import type { TenantHost } from "./tenant-host.ts"
import { searchUsers } from "./rows/user-search.ts"

export class UserAdministration {
  readonly #host: TenantHost

  constructor(host: TenantHost) {
    this.#host = host
  }

  /** See `searchUsers`. Errors: `field_invalid` for an `after` that no search returned. */
  search(text: string, after: string, limit: number): Result<FoundUsers> {
    if (!this.#host.tables.exist()) return succeed({ users: [], next: null })
    const found = searchUsers(this.#host.sql, text, after, limit)
    return found.ok && this.#host.users.lacksKeys() ? succeed({ ...found.value, incomplete: true }) : found
  }

  /**
   * Changes the name or role. A new role revokes the user's tokens, so that no token keeps the old role.
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
    // The name is personal data, which would remain in the log after the user's erasure.
    const details = after.name === before.name ? roles : { ...roles, name_changed: true }
    // A new name leaves tokens valid. The next token that is issued for each sign-in contains the new name.
    this.#write(by, after, { action: "user.changed", target: id, details }, isNewRole ? null : 0)
    return succeed(after)
  }

  /**
   * Suspends or restores a user. Repeating the call has no effect. Errors: `user_unknown`, `scope_denied`,
   * `last_owner`.
   */
  async setStatus(by: Administrator, id: string, status: "active" | "suspended"): Promise<Result<TenantUser>> {
    return await this.#notifyAfter(id, () => this.#setStatus(by, id, status))
  }

  #setStatus(by: Administrator, id: string, status: "active" | "suspended"): Result<TenantUser> {
    const found = this.#findChangeable(by, id)
    if (!found.ok || found.value.status === status) return found
    if (this.#host.users.isLastOwner(found.value)) return fail({ reason: "last_owner" })
    const after = { ...found.value, status }
    const action = status === "suspended" ? "user.suspended" : "user.restored"
    this.#write(by, after, { action, target: id }, null)
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

  /** `upTo`: see `UserNotices.add`. */
  #write(by: Administrator, user: TenantUser, event: AuditEvent, upTo: number | null): void {
    const now = Date.now()
    this.#host.users.update(user)
    const version = this.#host.audit.append(by.actor, event, now)
    this.#host.notices.add(user.id, version, now, upTo)
  }
}
