/**
 * tenant-budgets.ts: the budgets of a tenant object.
 */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import type { BudgetChange } from "../../shared/usage/budget-change.ts"
import type { BudgetTable } from "../../shared/usage/budget-limits.ts"
import { type Spending, sumSpending } from "../../shared/usage/budget-meter.ts"
import { toDay, toMonth } from "../../shared/usage/period.ts"
import type { TenantGrant } from "../../shared/usage/user-account.ts"
import type { Administrator } from "../platform/rpc/actor.ts"
import { includesRole, type Role } from "../platform/rpc/claims.ts"
import type { AuditEvent } from "../settings/audit-event.ts"
import type { ChangedSubject } from "../usage/budget-rows.ts"
import type { TenantHost } from "./tenant-host.ts"
import type { TenantMetering } from "./tenant-metering.ts"

export class TenantBudgets {
  readonly #host: TenantHost
  readonly #metering: TenantMetering

  constructor(host: TenantHost, metering: TenantMetering) {
    this.#host = host
    this.#metering = metering
  }

  /** Whether any budget is set. Cost: one row read. */
  hasAny(): boolean {
    return this.#host.tables.exist() && this.#host.budgets.hasAny()
  }

  list(): BudgetTable {
    if (!this.#host.tables.exist()) return { tenant: {}, roles: {}, users: {} }
    return this.#host.budgets.readTable()
  }

  change(by: Administrator, change: BudgetChange): Result<BudgetTable> {
    return this.#host.change(() => {
      if (!this.#mayChange(by.role, change)) return fail({ reason: "scope_denied" })
      if (!this.#host.budgets.hasRoomFor(change)) return fail({ reason: "field_invalid", field: "users" })
      for (const changed of this.#host.budgets.change(change)) this.#host.record(by.actor, toAuditEvent(changed))
      return succeed(this.list())
    })
  }

  /**
   * Whether somebody with this role may make the change. Nobody may set limits for a role above their own, or for a
   * user with such a role.
   */
  #mayChange(role: Role, { roles = {}, users = {} }: BudgetChange): boolean {
    const named = [
      ...Object.keys(roles),
      ...Object.keys(users).map((user) => this.#host.users.find(user)?.role ?? "member"),
    ]
    // Role names in the request were validated, and users' roles come from the stored rows.
    return named.every((other) => includesRole(role, other as Role))
  }

  /** Returns the budgets that a user's directory needs; null if the tenant has none. */
  getGrant(user: string): TenantGrant | null {
    if (!this.hasAny()) return null
    const role = this.#host.users.find(user)?.role ?? "member"
    const limits = this.#host.budgets.readLimits(user, role)
    const at = Date.now()
    const [day, month] = [toDay(at), toMonth(at)]
    const sumRange = (from: string, to: string): Spending => sumSpending([this.#metering.sumRange(from, to)])
    return { limits, spent: { day: sumRange(day, day), month: sumRange(`${month}-01`, `${month}-31`) }, at }
  }
}

function toAuditEvent({ scope, subject, limits }: ChangedSubject): AuditEvent {
  const set = Object.entries(limits).filter((entry): entry is [string, number] => entry[1] !== undefined)
  const target = scope === "tenant" ? scope : `${scope}:${subject}`
  return { action: "budget.changed", target, details: Object.fromEntries(set) }
}
