/** tenant-backups.tsx: the tenant's scheduled backups. Source: SPEC AD13. */

import { useSignal } from "@preact/signals"
import type { VNode } from "preact"
import type { TenantBackup } from "../../../shared/protocol/http-body.ts"
import { adminText, tenantText } from "../../words/admin-text.ts"
import type { AdminApi } from "../admin-api.ts"
import { useLoaded } from "../admin-state.ts"
import { Detail, FaultText, Pending, Time } from "../form-fields.tsx"
import { formatTally } from "./tenant-exports.tsx"
import { parseBackupList } from "./tenant-responses.ts"

/** Number of backups that are shown at first, and added by each click on “Show more”. */
const SHOWN_BACKUPS = 5

export function TenantBackups({ api }: { readonly api: AdminApi }): VNode {
  const list = useLoaded(() => api.get("/v1/tenant/backups", parseBackupList))
  const shown = useSignal(SHOWN_BACKUPS)
  const { backups = [], kept_days: keptDays = null } = list.value ?? {}
  return (
    <section>
      <h2>{tenantText.backups}</h2>
      {list.value !== null && <p>{keptDays === null ? tenantText.noBackupsKept : tenantText.backupsLead(keptDays)}</p>}
      <Pending of={list} />
      {keptDays !== null && backups.length === 0 && <p class="pending">{tenantText.noBackups}</p>}
      {backups.length > 0 && (
        <ul class="rows" aria-label={tenantText.backups}>
          {backups.slice(0, shown.value).map((backup) => (
            <BackupRow key={backup.id} backup={backup} />
          ))}
        </ul>
      )}
      {backups.length > shown.value && (
        <button type="button" class="more-rows" onClick={() => (shown.value += SHOWN_BACKUPS)}>
          {adminText.more}
        </button>
      )}
    </section>
  )
}

function BackupRow({ backup }: { readonly backup: TenantBackup }): VNode {
  const { created, state, tally, fault, expires, folder } = backup
  return (
    <li>
      <div class="row-main">
        <p class="row-title">
          <Time at={created} />
          <span class={state === "failed" ? "tag warn" : "tag"}>{tenantText.backupState[state]}</span>
        </p>
        <p>{formatTally(tally)}</p>
        <FaultText text={fault?.text ?? null} />
        {state === "done" && (
          <dl>
            <Detail label={tenantText.backupExpires}>
              <Time at={expires} />
            </Detail>
            <Detail label={tenantText.folder}>
              <code>{folder}</code>
            </Detail>
          </dl>
        )}
      </div>
    </li>
  )
}
