/**
 * budget-tenant.ts: the calls of the tenant object about budgets.
 */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import type { BudgetChange } from "../../shared/usage/budget-change.ts"
import type { BudgetTable } from "../../shared/usage/budget-limits.ts"
import { type Spending, sumSpending } from "../../shared/usage/budget-meter.ts"
import { toDay, toMonth } from "../../shared/usage/period.ts"
import type { UsageReport } from "../../shared/usage/usage-report.ts"
import type { TenantGrant } from "../../shared/usage/user-account.ts"
import type { Env } from "../env.ts"
import { hasSchema } from "../platform/migrate.ts"
import type { Administrator } from "../platform/rpc/actor.ts"
import { includesRole, type Role } from "../platform/rpc/claims.ts"
import type { AuditEvent } from "../settings/audit-event.ts"
import type { BudgetRpc } from "../settings/budget-rpc.ts"
import { BudgetRows, type ChangedSubject } from "../usage/budget-rows.ts"
import { UsageTenant } from "./usage-tenant.ts"
import { UserRows } from "./user-rows.ts"

export abstract class BudgetTenant extends UsageTenant implements BudgetRpc {
  readonly #budgetRows: BudgetRows
  readonly #userRows: UserRows

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.#budgetRows = new BudgetRows(ctx.storage.sql)
    this.#userRows = new UserRows(ctx.storage.sql)
  }

  /** Whether any budget is set. Cost: nothing after the first call. */
  protected hasBudgets(): boolean {
    return hasSchema(this.ctx.storage.sql) && this.#budgetRows.hasAny()
  }

  listBudgets(): BudgetTable {
    if (!hasSchema(this.ctx.storage.sql)) return { tenant: {}, roles: {}, users: {} }
    return this.#budgetRows.readTable()
  }

  changeBudgets(by: Administrator, change: BudgetChange): Result<BudgetTable> {
    if (this.getStanding().status === "erased") return fail({ reason: "tenant_erased" })
    this.migrate()
    if (!this.#mayChange(by.role, change)) return fail({ reason: "scope_denied" })
    if (!this.#budgetRows.hasRoomFor(change)) return fail({ reason: "field_invalid", field: "users" })
    this.ctx.storage.transactionSync(() => {
      for (const changed of this.#budgetRows.change(change)) this.recordEvent(by.actor, toAuditEvent(changed))
    })
    return succeed(this.listBudgets())
  }

  /** Nobody may set limits for a role above their own, or for a user with such a role. */
  #mayChange(role: Role, { roles = {}, users = {} }: BudgetChange): boolean {
    const named = [
      ...Object.keys(roles),
      ...Object.keys(users).map((user) => this.#userRows.find(user)?.role ?? "member"),
    ]
    // The names of roles were validated, and the roles of users are stored.
    return named.every((other) => includesRole(role, other as Role))
  }

  getBudgetGrant(user: string): TenantGrant | null {
    if (!this.hasBudgets()) return null
    const role = this.#userRows.find(user)?.role ?? "member"
    const limits = this.#budgetRows.readLimits(user, role)
    const at = Date.now()
    const [day, month] = [toDay(at), toMonth(at)]
    const sum = (from: string, to: string): Spending => sumSpending([this.sumUsage(from, to)])
    return { limits, spent: { day: sum(day, day), month: sum(`${month}-01`, `${month}-31`) }, at }
  }

  addUsage(user: string, batch: UsageReport): TenantGrant | null {
    this.addBatch(user, batch)
    return this.getBudgetGrant(user)
  }
}

function toAuditEvent({ scope, subject, limits }: ChangedSubject): AuditEvent {
  const set = Object.entries(limits).filter((entry): entry is [string, number] => entry[1] !== undefined)
  const target = scope === "tenant" ? scope : `${scope}:${subject}`
  return { action: "budget.changed", target, details: Object.fromEntries(set) }
}
