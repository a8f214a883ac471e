/**
 * budget-rows.ts: the SQL rows of a tenant's budgets: one row each for the tenant, and for every role and user with
 * limits.
 */

import { parseJson } from "../../shared/json.ts"
import type { BudgetChange } from "../../shared/usage/budget-change.ts"
import {
  type BudgetLimits,
  type BudgetTable,
  isEmptyLimits,
  MAX_USER_BUDGETS,
  type UserLimits,
} from "../../shared/usage/budget-limits.ts"

export const BUDGET_TABLE = `
  CREATE TABLE budgets (
    scope TEXT NOT NULL,             -- tenant, role or user
    subject TEXT NOT NULL,           -- the role or the user's id; empty for the tenant
    limits TEXT NOT NULL,            -- JSON: shared/usage/budget-limits.ts
    PRIMARY KEY (scope, subject)) WITHOUT ROWID`

/** One subject whose limits were replaced. */
export interface ChangedSubject {
  readonly scope: "tenant" | "role" | "user"
  readonly subject: string
  readonly limits: BudgetLimits
}

type BudgetRow = { scope: string; subject: string; limits: string }

export class BudgetRows {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  /**
   * Whether any limits are set. Not cached, because imports and erasures write these rows through instances of their
   * own. Cost: one row read.
   */
  hasAny(): boolean {
    return this.#sql.exec("SELECT 1 FROM budgets LIMIT 1").toArray().length > 0
  }

  readTable(): BudgetTable {
    const rows = this.#sql.exec<BudgetRow>("SELECT * FROM budgets ORDER BY scope, subject").toArray()
    const listScope = (scope: string): Record<string, BudgetLimits> =>
      Object.fromEntries(rows.filter((row) => row.scope === scope).map((row) => [row.subject, toLimits(row)]))
    return { tenant: listScope("tenant")[""] ?? {}, roles: listScope("role"), users: listScope("user") }
  }

  /** Reads the limits that apply to a user with a role. */
  readLimits(user: string, role: string): UserLimits {
    return { tenant: this.#read("tenant", ""), role: this.#read("role", role), user: this.#read("user", user) }
  }

  /** Whether the change leaves at most MAX_USER_BUDGETS users with limits. */
  hasRoomFor({ users = {} }: BudgetChange): boolean {
    const all = new Set(Object.keys(this.readTable().users))
    for (const [user, limits] of Object.entries(users)) {
      if (limits === null || isEmptyLimits(limits)) all.delete(user)
      else all.add(user)
    }
    return all.size <= MAX_USER_BUDGETS
  }

  /** Replaces limits. Returns the subjects whose limits have changed. */
  change(change: BudgetChange): ChangedSubject[] {
    return listSubjects(change).filter(({ scope, subject, limits }) => {
      const before = JSON.stringify(this.#read(scope, subject))
      if (before === JSON.stringify(limits)) return false
      this.#write(scope, subject, limits)
      return true
    })
  }

  /** Replaces all limits with an archive's, unless the archive has none. */
  restore({ tenant, roles, users }: BudgetTable): void {
    const subjects = listSubjects({ tenant, roles, users }).filter(({ limits }) => !isEmptyLimits(limits))
    if (subjects.length === 0) return
    this.#sql.exec("DELETE FROM budgets")
    for (const { scope, subject, limits } of subjects) this.#write(scope, subject, limits)
  }

  /** Removes the limits of a user who is being erased. */
  removeUser(user: string): void {
    this.#write("user", user, {})
  }

  #read(scope: string, subject: string): BudgetLimits {
    const query = "SELECT * FROM budgets WHERE scope = ? AND subject = ?"
    const [row] = this.#sql.exec<BudgetRow>(query, scope, subject).toArray()
    return row === undefined ? {} : toLimits(row)
  }

  #write(scope: string, subject: string, limits: BudgetLimits): void {
    if (isEmptyLimits(limits)) {
      this.#sql.exec("DELETE FROM budgets WHERE scope = ? AND subject = ?", scope, subject)
      return
    }
    const put = "INSERT OR REPLACE INTO budgets (scope, subject, limits) VALUES (?, ?, ?)"
    this.#sql.exec(put, scope, subject, JSON.stringify(limits))
  }
}

function listSubjects({ tenant, roles = {}, users = {} }: BudgetChange): ChangedSubject[] {
  const toSubjects = (scope: "role" | "user", limits: Readonly<Record<string, BudgetLimits | null | undefined>>) =>
    Object.entries(limits).map(([subject, own]) => ({ scope, subject, limits: own ?? {} }))
  return [
    ...(tenant === undefined ? [] : [{ scope: "tenant", subject: "", limits: tenant ?? {} } as const]),
    ...toSubjects("role", roles),
    ...toSubjects("user", users),
  ]
}

/** Parses the limits. `change` wrote them after `budgetChangeSchema` had parsed them. */
function toLimits({ limits }: BudgetRow): BudgetLimits {
  return parseJson(limits) as unknown as BudgetLimits
}
