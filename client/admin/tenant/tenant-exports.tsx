/** tenant-exports.tsx: starts exports of the tenant, shows their progress, and downloads their files. Source: SPEC AD7. */

import { useSignal } from "@preact/signals"
import type { VNode } from "preact"
import type { Tally, TenantExport } from "../../../shared/protocol/http-body.ts"
import { saveBlob } from "../../ui/save-file.ts"
import { tenantText } from "../../words/admin-text.ts"
import { formatSize } from "../../words/media-descriptions.ts"
import { type AdminApi, pathOf } from "../admin-api.ts"
import { notice, useAction, useLoaded, usePolling } from "../admin-state.ts"
import { ConfirmDialog } from "../confirm-dialog.tsx"
import { Detail, FaultText, Pending, Time } from "../form-fields.tsx"
import { parseExportList } from "./tenant-responses.ts"

const EXPORTS_PATH = "/v1/tenant/exports"

export function TenantExports({ api }: { readonly api: AdminApi }): VNode {
  const list = useLoaded(() => api.get(EXPORTS_PATH, parseExportList))
  const start = useAction()
  const removing = useSignal<TenantExport | null>(null)
  const isRunning = list.value?.exports.some(({ state }) => state === "running") ?? false
  usePolling(isRunning, list.reload)
  const startExport = (): void =>
    void start.run(async () => {
      await api.sendAction("POST", "/v1/tenant/export", {})
      notice.value = tenantText.exportStarted
      await list.reload()
    })
  return (
    <section>
      <h2>{tenantText.exports}</h2>
      <p>{tenantText.exportLead}</p>
      <p>
        <button type="button" class="firm" disabled={start.isRunning || isRunning} onClick={startExport}>
          {tenantText.start}
        </button>
      </p>
      <FaultText text={start.fault} />
      <Pending of={list} />
      {list.value?.exports.length === 0 && <p class="pending">{tenantText.noExports}</p>}
      <ul class="rows" aria-label={tenantText.exports}>
        {list.value?.exports.map((one) => (
          <ExportRow key={one.id} api={api} item={one} onRemove={() => (removing.value = one)} />
        ))}
      </ul>
      {removing.value !== null && (
        <ConfirmDialog
          title={tenantText.removeExportTitle}
          text={tenantText.removeExportText}
          confirm={tenantText.confirmRemoveExport}
          isGrave
          onClose={() => (removing.value = null)}
          onConfirm={async () => {
            await api.sendAction("DELETE", pathOf(EXPORTS_PATH, removing.peek()?.id ?? ""))
            notice.value = tenantText.exportRemoved
            await list.reload()
          }}
        />
      )}
    </section>
  )
}

interface ExportRowProps {
  readonly api: AdminApi
  readonly item: TenantExport
  readonly onRemove: () => void
}

function ExportRow({ api, item, onRemove }: ExportRowProps): VNode {
  const { id, state, created, expires, tally, fault, parts } = item
  const download = useAction()
  const savePart = (n: number): void =>
    void download.run(async () => {
      const blob = await api.download(pathOf(EXPORTS_PATH, id, `/files/${n}`))
      saveBlob(blob, n === 0 ? `${id}-manifest.json` : `${id}-${n}.cuecard`)
    })
  const files = state === "done" ? Array.from({ length: parts + 1 }, (_, n) => n) : []
  return (
    <li>
      <div class="row-main">
        <p class="row-title">
          <Time at={created} />
          <span class={state === "failed" ? "tag warn" : "tag"}>{tenantText.state[state]}</span>
        </p>
        <code>{id}</code>
        {state === "running" && <progress aria-label={tenantText.state.running} />}
        <p role={state === "running" ? "status" : undefined}>{formatTally(tally)}</p>
        {state === "done" && (
          <dl>
            <Detail label={tenantText.expires}>
              <Time at={expires} />
            </Detail>
          </dl>
        )}
        <FaultText text={fault?.text ?? download.fault} />
        {files.length > 0 && (
          <ul class="files">
            {files.map((n) => (
              <li key={n}>
                <button
                  type="button"
                  disabled={download.isRunning}
                  aria-label={tenantText.downloadPart(fileName(n))}
                  onClick={() => savePart(n)}
                >
                  {fileName(n)}
                </button>
              </li>
            ))}
          </ul>
        )}
      </div>
      <div class="row-actions">
        <button type="button" class="grave-text" onClick={onRemove}>
          {tenantText.removeExport}
        </button>
      </div>
    </li>
  )
}

/** Returns the name of file `n`. File 0 is the manifest. */
function fileName(n: number): string {
  return n === 0 ? tenantText.manifest : tenantText.part(n)
}

/** `shownUsers` is null for the erasure of a single user. */
export function formatTally({ sessions, files, bytes, users }: Tally, shownUsers: number | null = users): string {
  return `${tenantText.progress(sessions, shownUsers)} · ${tenantText.files(files, formatSize(bytes))}`
}
