/** budget-dialog.tsx: the dialog that changes the limits of a tenant, a role or a user. */

import { useSignal } from "@preact/signals"
import type { VNode } from "preact"
import type { BudgetName } from "../../../shared/fault.ts"
import { BUDGET_NAMES, type BudgetLimits, type BudgetTable } from "../../../shared/usage/budget-limits.ts"
import { Dialog } from "../../ui/dialog.tsx"
import { adminText } from "../../words/admin-text.ts"
import { budgetsText } from "../../words/budget-text.ts"
import type { AdminApi } from "../admin-api.ts"
import { notice, useAction } from "../admin-state.ts"
import { FaultText, TextField } from "../form-fields.tsx"
import { type BudgetFields, fieldsToLimits, limitsToFields, parseBudgetTable } from "./budget-fields.ts"

export const BUDGETS_PATH = "/v1/budgets"

/** Whom the limits apply to. If the scope is `user` and the id is empty, the dialog asks for the user's id. */
export interface BudgetSubject {
  readonly scope: "tenant" | "role" | "user"
  readonly id: string
  readonly name: string
  readonly limits: BudgetLimits
}

interface BudgetDialogProps {
  readonly api: AdminApi
  readonly subject: BudgetSubject
  readonly onChange: (table: BudgetTable) => void
  readonly onClose: () => void
}

export function BudgetDialog({ api, subject, onChange, onClose }: BudgetDialogProps): VNode {
  const form = useBudgetForm({ api, subject, onChange, onClose })
  const { isNew, id, fields, isRunning } = form
  return (
    <Dialog title={isNew ? budgetsText.newTitle : budgetsText.title(subject.name)} onCancel={onClose}>
      <form
        class="budget"
        onSubmit={(event) => {
          event.preventDefault()
          form.submit()
        }}
      >
        <p>{budgetsText.emptyField}</p>
        {subject.scope === "tenant" && <p>{budgetsText.tenantDayHint}</p>}
        {isNew && <TextField label={budgetsText.userId} value={id} onChange={form.setId} isRequired isFirst />}
        {BUDGET_NAMES.map((name, at) => (
          <TextField
            key={name}
            label={budgetsText.field[name]}
            value={fields[name]}
            onChange={(value) => form.setField(name, value)}
            isFirst={!isNew && at === 0}
          />
        ))}
        <FaultText text={form.fault} />
        <p class="ways">
          <button type="button" onClick={onClose}>
            {adminText.cancel}
          </button>
          {!isNew && (
            <button type="button" class="danger-text" disabled={isRunning} onClick={form.removeAll}>
              {budgetsText.removeAll}
            </button>
          )}
          <button type="submit" class="firm" disabled={isRunning}>
            {isRunning ? adminText.saving : adminText.save}
          </button>
        </p>
      </form>
    </Dialog>
  )
}

interface BudgetForm {
  readonly isNew: boolean
  readonly id: string
  readonly fields: BudgetFields
  readonly isRunning: boolean
  readonly fault: string | null
  setId(id: string): void
  setField(name: BudgetName, text: string): void
  submit(): void
  removeAll(): void
}

function useBudgetForm({ api, subject, onChange, onClose }: BudgetDialogProps): BudgetForm {
  const isNew = subject.scope === "user" && subject.id === ""
  const id = useSignal(subject.id)
  const fields = useSignal(limitsToFields(subject.limits))
  const bad = useSignal<string | null>(null)
  const action = useAction()
  const putLimits = async (limits: BudgetLimits | null): Promise<void> => {
    const chosen = id.peek().trim()
    const isSaved = await action.run(async () => {
      onChange(await api.send("PUT", BUDGETS_PATH, createChange(subject.scope, chosen, limits), parseBudgetTable))
      notice.value = budgetsText.saved(isNew ? chosen : subject.name)
    })
    if (isSaved) onClose()
  }
  return {
    isNew,
    id: id.value,
    fields: fields.value,
    isRunning: action.isRunning,
    fault: bad.value ?? action.fault,
    setId(next) {
      id.value = next
    },
    setField(name, text) {
      fields.value = { ...fields.value, [name]: text }
    },
    submit() {
      const limits = fieldsToLimits(fields.peek())
      bad.value = "bad" in limits ? budgetsText.invalid(budgetsText.field[limits.bad]) : null
      if (!("bad" in limits)) void putLimits(limits)
    },
    removeAll: () => void putLimits(null),
  }
}

/** Returns the request body that sets or, with null, removes the limits. */
function createChange(scope: BudgetSubject["scope"], id: string, limits: BudgetLimits | null): object {
  if (scope === "tenant") return { tenant: limits }
  return scope === "role" ? { roles: { [id]: limits } } : { users: { [id]: limits } }
}
