/** tenant-imports.tsx: imports an archive into the tenant, and shows and cancels imports. Source: SPEC AD9. */

import { useComputed, useSignal, useSignalEffect } from "@preact/signals"
import type { VNode } from "preact"
import { useRef } from "preact/hooks"
import type { TenantImport } from "../../../shared/protocol/http-body.ts"
import { importsText } from "../../words/admin-text.ts"
import { type AdminApi, pathOf } from "../admin-api.ts"
import { notice, useLoaded, usePolling } from "../admin-state.ts"
import { AnnouncedStatus, describeQuarter, useStateChange } from "../announced-status.tsx"
import { ConfirmDialog } from "../confirm-dialog.tsx"
import { FaultText, Pending, Time } from "../form-fields.tsx"
import { ArchiveUpload, IMPORTS_PATH, type UploadStage } from "./archive-upload.ts"
import { warnBeforeLeaving } from "./leave-warning.ts"
import { formatTally } from "./tenant-exports.tsx"
import { parseImportList } from "./tenant-responses.ts"
import { TransferProgress } from "./transfer-progress.tsx"

/** Kept outside the component, so that the upload continues while another section of the page is shown. */
const upload = new ArchiveUpload()
warnBeforeLeaving(() => upload.stage.value !== null)

interface TenantImportsProps {
  readonly api: AdminApi
  /** False if the tenant is leaving, so that nothing can be imported. */
  readonly isOpen: boolean
}

export function TenantImports({ api, isOpen }: TenantImportsProps): VNode {
  const list = useLoaded(() => api.get(IMPORTS_PATH, parseImportList))
  const canceling = useSignal<TenantImport | null>(null)
  const imports = list.value?.imports ?? []
  const isUploading = useComputed(() => upload.stage.value !== null).value
  usePolling(imports.some(isUnfinished), list.reload)
  const change = useStateChange(imports, importsText.announced)
  const stage = upload.stage.value
  useSignalEffect(() => {
    // A new import is listed as soon as the server has created it.
    if (upload.importId.value !== null) void list.reload()
  })
  const sendArchive = async (files: readonly File[], unfinished: string | null): Promise<void> => {
    const sleep = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms))
    await upload.start({ api, random: Math.random, wait: sleep }, files, unfinished)
    await list.reload()
  }
  return (
    <section>
      <h2>{importsText.title}</h2>
      <AnnouncedStatus text={stage === null ? change : announceUpload(stage)} />
      <p>{importsText.lead}</p>
      {imports.some(isUnfinished) && <p>{importsText.running}</p>}
      {isOpen && !imports.some(isUnfinished) && (
        <FileChooser
          text={importsText.choose}
          isDisabled={isUploading}
          isMain
          onFiles={(files) => void sendArchive(files, null)}
        />
      )}
      <UploadProgress of={null} />
      <Pending of={list} />
      <ul class="rows" aria-label={importsText.title}>
        {imports.map((item) => (
          <ImportRow
            key={item.id}
            item={item}
            isUploading={isUploading}
            onFiles={(files) => void sendArchive(files, item.id)}
            onCancel={() => (canceling.value = item)}
          />
        ))}
      </ul>
      {canceling.value !== null && (
        <CancelDialog api={api} item={canceling.value} onDone={list.reload} onClose={() => (canceling.value = null)} />
      )}
    </section>
  )
}

interface FileChooserProps {
  readonly text: string
  readonly isDisabled: boolean
  readonly isMain?: boolean
  readonly onFiles: (files: readonly File[]) => void
}

function FileChooser({ text, isDisabled, isMain, onFiles }: FileChooserProps): VNode {
  const field = useRef<HTMLInputElement>(null)
  return (
    <p>
      <button
        type="button"
        class={isMain === true ? "firm" : undefined}
        disabled={isDisabled}
        onClick={() => field.current?.click()}
      >
        {text}
      </button>
      {isMain === true && <small> {importsText.chooseHint}</small>}
      <input
        type="file"
        multiple
        class="visually-hidden"
        tabIndex={-1}
        aria-label={importsText.fileInput}
        ref={field}
        onChange={({ currentTarget }) => {
          const files = [...(currentTarget.files ?? [])]
          currentTarget.value = ""
          if (files.length > 0) onFiles(files)
        }}
      />
    </p>
  )
}

/**
 * Shows the stage or the fault of the upload if it belongs to the import with the id `of`; null stands for the import
 * that the server hasn't created yet.
 */
function UploadProgress({ of }: { readonly of: string | null }): VNode | null {
  const stage = upload.stage.value
  if (upload.importId.value !== of) return null
  return (
    <>
      {stage !== null && <TransferProgress label={importsText[stage.at]} {...stage} onStop={() => upload.stop()} />}
      <FaultText text={upload.fault.value} />
    </>
  )
}

function announceUpload({ at, doneBytes, ofBytes }: UploadStage): string {
  return describeQuarter(importsText[at], doneBytes, ofBytes)
}

interface ImportRowProps {
  readonly item: TenantImport
  readonly isUploading: boolean
  readonly onFiles: (files: readonly File[]) => void
  readonly onCancel: () => void
}

function ImportRow({ item, isUploading, onFiles, onCancel }: ImportRowProps): VNode {
  const { id, state, created, from, tally, fault, missing, parts, skipped } = item
  // The server reports only that no files have arrived; this tab may already be sending them.
  const stage = upload.importId.value === id ? upload.stage.value : null
  return (
    <li>
      <div class="row-main">
        <p class="row-title">
          <Time at={created} />
          <span class={state === "failed" ? "tag warn" : "tag"}>
            {state === "uploading" && stage !== null ? importsText[stage.at] : importsText.state[state]}
          </span>
        </p>
        <code>{id}</code>
        <p>
          <bdi>{importsText.from(from)}</bdi>
        </p>
        {state === "running" && <progress aria-label={importsText.state.running} />}
        {state !== "uploading" && <p>{formatTally(tally)}</p>}
        {skipped > 0 && <p>{importsText.skipped(skipped)}</p>}
        <FaultText text={fault?.text ?? null} />
        <UploadProgress of={id} />
        {state === "uploading" && !isUploading && (
          <>
            {/* Parts are uploaded in order, so all parts from the first missing one on remain to be uploaded. */}
            <p>{importsText.remaining(parts + 1 - (missing[0] ?? 1), parts)}</p>
            <FileChooser text={importsText.chooseAgain} isDisabled={false} onFiles={onFiles} />
          </>
        )}
      </div>
      {state === "uploading" && (
        <div class="row-actions">
          <button type="button" class="danger-text" onClick={onCancel}>
            {importsText.cancel}
          </button>
        </div>
      )}
    </li>
  )
}

interface CancelDialogProps {
  readonly api: AdminApi
  readonly item: TenantImport
  readonly onDone: () => Promise<void>
  readonly onClose: () => void
}

function CancelDialog({ api, item: { id }, onDone, onClose }: CancelDialogProps): VNode {
  return (
    <ConfirmDialog
      title={importsText.cancelTitle}
      text={importsText.cancelText}
      cancel={importsText.keep}
      confirm={importsText.confirmCancel}
      isDestructive
      onClose={onClose}
      onConfirm={async () => {
        if (upload.importId.peek() === id) upload.stop()
        await api.sendAction("DELETE", pathOf(IMPORTS_PATH, id))
        notice.value = importsText.canceled
        await onDone()
      }}
    />
  )
}

function isUnfinished({ state }: TenantImport): boolean {
  return state === "uploading" || state === "running"
}
