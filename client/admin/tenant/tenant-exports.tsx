/**
 * tenant-exports.tsx: starts exports of the tenant, shows their progress, and downloads their files. Source: SPEC AD7,
 * AD12.
 */

import { useSignal } from "@preact/signals"
import type { VNode } from "preact"
import type { Tally, TenantExport } from "../../../shared/protocol/http-body.ts"
import { saveBlob } from "../../ui/save-file.ts"
import { tenantText } from "../../words/admin-text.ts"
import { formatSize } from "../../words/format/file-size.ts"
import { type AdminApi, pathOf } from "../admin-api.ts"
import { notice, useAction, useLoaded, usePolling } from "../admin-state.ts"
import { AnnouncedStatus, describeQuarter, useStateChange } from "../announced-status.tsx"
import { ConfirmDialog } from "../confirm-dialog.tsx"
import { Detail, FaultText, Pending, Time } from "../form-fields.tsx"
import { ArchiveDownload, type DownloadStage, EXPORTS_PATH, nameFile } from "./archive-download.ts"
import { warnBeforeLeaving } from "./leave-warning.ts"
import { parseExportList } from "./tenant-responses.ts"
import { TransferProgress } from "./transfer-progress.tsx"

/** Kept outside the component, so that the download continues while another section of the page is shown. */
const archive = new ArchiveDownload()
warnBeforeLeaving(() => archive.stage.value !== null)

export function TenantExports({ api }: { readonly api: AdminApi }): VNode {
  const list = useLoaded(() => api.get(EXPORTS_PATH, parseExportList))
  const start = useAction()
  const removing = useSignal<TenantExport | null>(null)
  const isRunning = list.value?.exports.some(({ state }) => state === "running") ?? false
  usePolling(isRunning, list.reload)
  const change = useStateChange(list.value?.exports ?? [], tenantText.announced)
  const stage = archive.stage.value
  const startExport = (): void =>
    void start.run(async () => {
      await api.sendAction("POST", "/v1/tenant/export", {})
      notice.value = tenantText.exportStarted
      await list.reload()
    })
  return (
    <section>
      <h2>{tenantText.exports}</h2>
      <AnnouncedStatus text={stage === null ? change : announceDownload(stage)} />
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
        {list.value?.exports.map((item) => (
          <ExportRow key={item.id} api={api} item={item} onRemove={() => (removing.value = item)} />
        ))}
      </ul>
      {removing.value !== null && (
        <ConfirmDialog
          title={tenantText.removeExportTitle}
          text={tenantText.removeExportText}
          confirm={tenantText.confirmRemoveExport}
          isDestructive
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
  const { id, state, created, expires, tally, fault } = item
  return (
    <li>
      <div class="row-main">
        <p class="row-title">
          <Time at={created} />
          <span class={state === "failed" ? "tag warn" : "tag"}>{tenantText.state[state]}</span>
        </p>
        <code>{id}</code>
        {state === "running" && <progress aria-label={tenantText.state.running} />}
        <p>{formatTally(tally)}</p>
        {state === "done" && (
          <dl>
            <Detail label={tenantText.expires}>
              <Time at={expires} />
            </Detail>
          </dl>
        )}
        <FaultText text={fault?.text ?? null} />
        {state === "done" && <Downloads api={api} item={item} />}
      </div>
      <div class="row-actions">
        <button type="button" class="danger-text" onClick={onRemove}>
          {tenantText.removeExport}
        </button>
      </div>
    </li>
  )
}

function announceDownload({ doneBytes, ofBytes }: DownloadStage): string {
  return describeQuarter(tenantText.downloading, doneBytes, ofBytes)
}

/** Downloads all files of an export, or a single one. */
function Downloads({ api, item }: Pick<ExportRowProps, "api" | "item">): VNode {
  const { id, parts } = item
  const isListed = useSignal(false)
  const single = useAction()
  const stage = archive.stage.value
  const isOwn = archive.exportId.value === id
  const left = parts + 1 - (isOwn ? archive.saved.value : 0)
  const saveAll = async (): Promise<void> => {
    const sleep = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms))
    notice.value = ""
    if (await archive.start({ api, random: Math.random, wait: sleep, save: saveBlob }, item))
      notice.value = tenantText.allSaved(parts + 1)
  }
  const saveOne = (n: number): void =>
    void single.run(async () => saveBlob(await api.download(pathOf(EXPORTS_PATH, id, `/files/${n}`)), nameFile(id, n)))
  return (
    <>
      {isOwn && stage !== null ? (
        <TransferProgress label={tenantText.downloading} {...stage} onStop={() => archive.stop()} />
      ) : (
        <p>
          <button type="button" class="firm" disabled={stage !== null} onClick={() => void saveAll()}>
            {left <= parts ? tenantText.downloadRest(left) : tenantText.downloadAll(parts + 1)}
          </button>{" "}
          <small>{tenantText.downloadHint}</small>
        </p>
      )}
      <FaultText text={(isOwn ? archive.fault.value : null) ?? single.fault} />
      <details onToggle={({ currentTarget }) => (isListed.value = currentTarget.open)}>
        <summary>{tenantText.singleFiles}</summary>
        {/* An archive can have thousands of files. */}
        {isListed.value && (
          <ul class="files">
            {Array.from({ length: parts + 1 }, (_, n) => (
              <li key={n}>
                <button
                  type="button"
                  disabled={single.isRunning}
                  aria-label={tenantText.downloadPart(fileName(n))}
                  onClick={() => saveOne(n)}
                >
                  {fileName(n)}
                </button>
              </li>
            ))}
          </ul>
        )}
      </details>
    </>
  )
}

/** Returns the name of file `n`. File 0 is the manifest. */
function fileName(n: number): string {
  return n === 0 ? tenantText.manifest : tenantText.part(n)
}

/** Formats the counts of an export or an erasure. `shownUsers` is null for the erasure of a single user. */
export function formatTally({ sessions, files, bytes, users }: Tally, shownUsers: number | null = users): string {
  return `${tenantText.progress(sessions, shownUsers)} · ${tenantText.files(files, formatSize(bytes))}`
}
