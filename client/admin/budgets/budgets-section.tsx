/** budgets-section.tsx: the limits of the tenant, of each role, and of users who have any. Source: SPEC BU15. */

import { useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { BUDGET_NAMES, type BudgetLimits } from "../../../shared/usage/budget-limits.ts"
import { ROLE_NAMES } from "../../account/identity.ts"
import { adminText } from "../../words/admin-text.ts"
import { budgetsText, formatAmount } from "../../words/budget-text.ts"
import { type AdminContext, useLoaded } from "../admin-state.ts"
import { Detail, Pending } from "../form-fields.tsx"
import { BudgetDialog, type BudgetSubject, BUDGETS_PATH } from "./budget-dialog.tsx"
import { parseBudgetTable } from "./budget-fields.ts"

export function BudgetsSection({ api, identity }: AdminContext): VNode {
  const table = useLoaded(() => api.get(BUDGETS_PATH, parseBudgetTable))
  const edited = useSignal<BudgetSubject | null>(null)
  const { tenant = {}, roles = {}, users = {} } = table.value ?? {}
  const openFor = (subject: BudgetSubject) => (): void => {
    edited.value = subject
  }
  return (
    <>
      <p class="lead">{budgetsText.lead}</p>
      <Pending of={table} />
      {table.value !== null && (
        <>
          <ul class="rows">
            <BudgetRow
              name={budgetsText.tenant}
              note={budgetsText.tenantHint}
              limits={tenant}
              onEdit={openFor({ scope: "tenant", id: "", name: budgetsText.tenant, limits: tenant })}
            />
            {ROLE_NAMES.map((role) => {
              const [name, limits] = [adminText.role[role], roles[role] ?? {}]
              const isAbove = role === "owner" && identity.role !== "owner"
              const onEdit = isAbove ? null : openFor({ scope: "role", id: role, name, limits })
              return (
                <BudgetRow
                  key={role}
                  name={name}
                  note={isAbove ? budgetsText.ownersOnly : null}
                  limits={limits}
                  onEdit={onEdit}
                />
              )
            })}
          </ul>
          <section>
            <h2>{budgetsText.users}</h2>
            {Object.keys(users).length === 0 && <p class="row-note">{budgetsText.noUsers}</p>}
            <ul class="rows">
              {Object.entries(users).map(([id, limits]) => {
                const onEdit = openFor({ scope: "user", id, name: id, limits })
                return <BudgetRow key={id} name={id} limits={limits} onEdit={onEdit} />
              })}
            </ul>
            <p class="tools">
              <button type="button" onClick={openFor({ scope: "user", id: "", name: "", limits: {} })}>
                {budgetsText.addUser}
              </button>
            </p>
          </section>
        </>
      )}
      {edited.value !== null && (
        <BudgetDialog api={api} subject={edited.value} onChange={table.set} onClose={() => (edited.value = null)} />
      )}
    </>
  )
}

interface BudgetRowProps {
  readonly name: string
  readonly note?: string | null
  readonly limits: BudgetLimits
  /** Null if the administrator isn't allowed to change these limits. */
  readonly onEdit: (() => void) | null
}

function BudgetRow({ name, note = null, limits, onEdit }: BudgetRowProps): VNode {
  const set = BUDGET_NAMES.flatMap((budget) => {
    const limit = limits[budget]
    return limit === undefined ? [] : [{ budget, limit }]
  })
  return (
    <li>
      <div class="row-main">
        <p class="row-title">
          <bdi>{name}</bdi>
        </p>
        {set.length === 0 ? (
          <p class="row-note">{budgetsText.none}</p>
        ) : (
          <dl>
            {set.map(({ budget, limit }) => (
              <Detail key={budget} label={budgetsText.limit[budget]}>
                {formatAmount(budget, limit)}
              </Detail>
            ))}
          </dl>
        )}
        {note !== null && <p class="row-note">{note}</p>}
      </div>
      {onEdit !== null && (
        <div class="row-actions">
          <button type="button" aria-label={budgetsText.editOf(name)} onClick={onEdit}>
            {budgetsText.edit}
          </button>
        </div>
      )}
    </li>
  )
}
