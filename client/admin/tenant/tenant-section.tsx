/**
 * tenant-section.tsx: the tenant's exports, imports and backups, its erasure receipts, and its deletion. Source: SPEC
 * AD7.
 */

import { useSignal } from "@preact/signals"
import type { VNode } from "preact"
import type { Receipt, TenantSummary } from "../../../shared/protocol/http-body.ts"
import { tenantText } from "../../words/admin-text.ts"
import { type AdminContext, notice, useAction, useLoaded, usePolling } from "../admin-state.ts"
import { ConfirmDialog } from "../confirm-dialog.tsx"
import { Detail, FaultText, formatTime, Pending, Time } from "../form-fields.tsx"
import { TenantBackups } from "./tenant-backups.tsx"
import { formatTally, TenantExports } from "./tenant-exports.tsx"
import { TenantImports } from "./tenant-imports.tsx"
import { parseReceiptList, parseTenant } from "./tenant-responses.ts"

const TENANT_PATH = "/v1/tenant"

export function TenantSection({ api, identity }: AdminContext): VNode {
  const tenant = useLoaded(() => api.get(TENANT_PATH, parseTenant))
  if (identity.role !== "owner") return <p class="lead">{tenantText.ownersOnly}</p>
  return (
    <>
      <p class="lead">{tenantText.lead}</p>
      <Pending of={tenant} />
      {tenant.value !== null && (
        <>
          {tenant.value.status === "leaving" && <LeavingNote api={api} tenant={tenant.value} onChange={tenant.set} />}
          <dl class="facts">
            <Detail label={tenantText.id}>
              <code>{tenant.value.id}</code>
            </Detail>
            <Detail label={tenantText.region}>{tenant.value.region ?? tenantText.noRegion}</Detail>
          </dl>
          <TenantExports api={api} />
          <TenantImports api={api} isOpen={tenant.value.status === "open"} />
          <TenantBackups api={api} />
          <Receipts api={api} />
          {tenant.value.status === "open" && <Deletion api={api} tenant={tenant.value} onChange={tenant.set} />}
        </>
      )}
    </>
  )
}

interface StandingProps {
  readonly api: AdminContext["api"]
  readonly tenant: TenantSummary
  readonly onChange: (tenant: TenantSummary) => void
}

function LeavingNote({ api, tenant, onChange }: StandingProps): VNode {
  const action = useAction()
  const undoErasure = (): void =>
    void action.run(async () => {
      await api.sendAction("POST", `${TENANT_PATH}/restore`, {})
      onChange(await api.get(TENANT_PATH, parseTenant))
      notice.value = tenantText.undone
    })
  return (
    <section class="warning">
      <h2>{tenantText.leaving}</h2>
      <p>{tenantText.leavingText(formatTime(tenant.erases_at ?? 0))}</p>
      <FaultText text={action.fault} />
      <p>
        <button type="button" class="firm" disabled={action.isRunning} onClick={undoErasure}>
          {tenantText.undo}
        </button>
      </p>
    </section>
  )
}

function Receipts({ api }: { readonly api: AdminContext["api"] }): VNode {
  const list = useLoaded(() => api.get(`${TENANT_PATH}/receipts`, parseReceiptList))
  usePolling(list.value?.receipts.some(({ state }) => state === "running") ?? false, list.reload)
  return (
    <section>
      <h2>{tenantText.receipts}</h2>
      <Pending of={list} />
      {list.value?.receipts.length === 0 && <p class="pending">{tenantText.noReceipts}</p>}
      <ul class="rows" aria-label={tenantText.receipts}>
        {list.value?.receipts.map((receipt) => (
          <ReceiptRow key={receipt.id} receipt={receipt} />
        ))}
      </ul>
    </section>
  )
}

function ReceiptRow({ receipt }: { readonly receipt: Receipt }): VNode {
  const { id, kind, target, state, requested, finished, tally, unrecoverable_after } = receipt
  return (
    <li>
      <div class="row-main">
        <p class="row-title">
          {tenantText.receiptOf[kind](target)}
          <span class="tag">{tenantText.receiptState[state]}</span>
        </p>
        <code>{id}</code>
        <p>{formatTally(tally, kind === "user" ? null : tally.users)}</p>
        <dl>
          <Detail label={tenantText.requested}>
            <Time at={requested} />
          </Detail>
          {finished !== null && (
            <Detail label={tenantText.finished}>
              <Time at={finished} />
            </Detail>
          )}
          {unrecoverable_after !== null && (
            <Detail label={tenantText.recovery}>
              <Time at={unrecoverable_after} />
            </Detail>
          )}
        </dl>
      </div>
    </li>
  )
}

function Deletion({ api, tenant, onChange }: StandingProps): VNode {
  const isAsking = useSignal(false)
  return (
    <section class="danger">
      <h2>{tenantText.deletion}</h2>
      <p>
        {tenantText.deletionLead} {tenantText.deletionBackups}
      </p>
      <p>
        <button type="button" class="danger-text" onClick={() => (isAsking.value = true)}>
          {tenantText.delete}
        </button>
      </p>
      {isAsking.value && (
        <ConfirmDialog
          title={tenantText.deleteTitle}
          text={`${tenantText.deletionLead} ${tenantText.deletionBackups}`}
          typed={{ label: tenantText.typeId(tenant.id), value: tenant.id }}
          confirm={tenantText.confirmDelete}
          isDestructive
          onClose={() => (isAsking.value = false)}
          onConfirm={async () => {
            await api.sendAction("DELETE", TENANT_PATH, { confirm: tenant.id })
            onChange(await api.get(TENANT_PATH, parseTenant))
            notice.value = tenantText.begun
          }}
        />
      )}
    </section>
  )
}
