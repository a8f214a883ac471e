/** import-dialog.tsx: the dialog for choosing a file, which then shows the import's progress. Loaded on first use. */

import { useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { useRef } from "preact/hooks"
import { MAX_TITLE_CHARS } from "../../shared/limits.ts"
import { cutText } from "../../shared/text/cut-text.ts"
import { Importer, type ImporterDeps, type ImportStage } from "../files/import-file.ts"
import { formatTitle } from "../session/session-list.ts"
import type { SessionRouter } from "../session/session-router.ts"
import { Dialog } from "../ui/dialog.tsx"
import { formatSize } from "../words/format/file-size.ts"
import { describeImportKind, importText } from "../words/import-text.ts"
import { appText } from "../words/page-text.ts"

/** Created here, so that the importer is loaded together with the dialog. */
export function createImporter(deps: ImporterDeps): Importer {
  return new Importer(deps)
}

/** Opens the imported session. Returns true if there is nothing left to show in the dialog. */
export async function openImported(router: SessionRouter, importer: Importer, file: File): Promise<boolean> {
  const stage = importer.stage.peek()
  if (stage.at !== "done") return false
  await openSession(router, stage.session, file.name.replace(/\.(jsonl|ndjson|json|gz|txt)$/gi, ""))
  if (importer.hasSummary()) return false
  const { sessionList } = router
  sessionList.showNotice(importText.imported(formatTitle(sessionList.findSession(stage.session)?.title)))
  return true
}

/** Opens an imported session. If the file contained no title, the session is named after the file. */
async function openSession(router: SessionRouter, id: string, fileTitle: string): Promise<void> {
  const { sessionList } = router
  await sessionList.refresh()
  if (sessionList.findSession(id)?.title === "" && fileTitle.trim() !== "") {
    await sessionList.renameSession(id, cutText(fileTitle.trim(), MAX_TITLE_CHARS))
  }
  router.showSession(id)
}

interface ImportDialogProps {
  readonly importer: Importer
  readonly onFile: (file: File) => void
  readonly onClose: () => void
}

export function ImportDialog({ importer, onFile, onClose }: ImportDialogProps): VNode {
  const stage = importer.stage.value
  return (
    <Dialog title={stage.at === "done" ? importText.doneTitle : importText.title} onCancel={onClose}>
      {stage.at === "choose" && <ChooseFileStep error={stage.error} onFile={onFile} onClose={onClose} />}
      {(stage.at === "sending" || stage.at === "several" || stage.at === "folding") && (
        <ProgressStep
          name={importer.fileName.value}
          rejectedFileName={importer.rejectedFileName.value}
          stage={stage}
          onCancel={() => importer.cancelImport()}
        />
      )}
      {stage.at === "done" && <ImportSummary {...stage} onClose={onClose} />}
    </Dialog>
  )
}

interface ChooseFileStepProps {
  readonly error: string | null
  readonly onFile: (file: File) => void
  readonly onClose: () => void
}

function ChooseFileStep({ error, onFile, onClose }: ChooseFileStepProps): VNode {
  const field = useRef<HTMLInputElement>(null)
  return (
    <>
      <p>{importText.hint}</p>
      {error !== null && (
        <p class="fault" role="alert">
          {error}
        </p>
      )}
      <FileDropZone onFile={onFile} onPick={() => field.current?.click()} />
      <input
        type="file"
        class="visually-hidden"
        tabIndex={-1}
        aria-label={importText.fileInput}
        ref={field}
        accept=".jsonl,.ndjson,.json,.gz,application/jsonl,application/json,application/gzip"
        onChange={(event) => {
          const file = event.currentTarget.files?.[0]
          event.currentTarget.value = ""
          if (file !== undefined) onFile(file)
        }}
      />
      <p class="ways">
        <button type="button" onClick={onClose}>
          {appText.cancel}
        </button>
      </p>
    </>
  )
}

interface FileDropZoneProps {
  readonly onFile: (file: File) => void
  readonly onPick: () => void
}

function FileDropZone({ onFile, onPick }: FileDropZoneProps): VNode {
  const isOver = useSignal(false)
  const setDragOver = (event: DragEvent, isNowOver: boolean): void => {
    event.preventDefault()
    isOver.value = isNowOver
  }
  const onDrop = (event: DragEvent): void => {
    setDragOver(event, false)
    // Otherwise the window's handler would import the file a second time.
    event.stopPropagation()
    const file = event.dataTransfer?.files[0]
    if (file !== undefined) onFile(file)
  }
  return (
    <button
      type="button"
      class="drop-zone"
      data-first=""
      data-over={isOver.value ? "" : undefined}
      onClick={onPick}
      onDragOver={(event) => setDragOver(event, true)}
      onDragLeave={(event) => setDragOver(event, false)}
      onDrop={onDrop}
    >
      <svg viewBox="0 0 20 20" aria-hidden="true">
        <path d="M10 13V4.5M6.5 8L10 4.5 13.5 8M4 13.5v2h12v-2" />
      </svg>
      <span>
        <b>{importText.chooseFile}</b>
        {importText.orDrop}
      </span>
    </button>
  )
}

interface ProgressStepProps {
  readonly name: string
  readonly rejectedFileName: string
  readonly stage: Extract<ImportStage, { at: "sending" | "several" | "folding" }>
  readonly onCancel: () => void
}

function ProgressStep({ name, rejectedFileName, stage, onCancel }: ProgressStepProps): VNode {
  const { value, max, label, detail } = describeProgress(stage)
  return (
    <>
      <p class="file">{name}</p>
      {/* Without a value, the bar is indeterminate. */}
      <progress {...(max > 0 ? { value, max } : {})} aria-label={label} />
      <p class="note" role="status">
        {label}… {detail}
      </p>
      {/* Always rendered, because screen readers announce only changes to an existing element. */}
      <p class="note" role="status">
        {rejectedFileName === "" ? "" : importText.skippedFile(rejectedFileName)}
      </p>
      <p class="ways">
        <button type="button" data-first="" onClick={onCancel}>
          {appText.cancel}
        </button>
      </p>
    </>
  )
}

interface Progress {
  readonly value: number
  /** 0 if the total is unknown. */
  readonly max: number
  readonly label: string
  readonly detail: string
}

function describeProgress(stage: ProgressStepProps["stage"]): Progress {
  if (stage.at === "folding") {
    const detail = stage.of === 0 ? "" : importText.recordsOf(stage.folded, stage.of)
    return { value: stage.folded, max: stage.of, label: importText.reading, detail }
  }
  if (stage.at === "several") {
    const detail = importText.severalOf(stage.done, stage.of)
    return { value: stage.done, max: stage.of, label: importText.several, detail }
  }
  const { sent, size } = stage
  // Everything has been sent, but the server has not reported its own progress yet.
  if (sent >= size) return { value: 0, max: 0, label: importText.reading, detail: "" }
  const detail = importText.bytesOf(formatSize(sent), formatSize(size))
  return { value: sent, max: size, label: importText.uploading, detail }
}

/** Maximum number of skipped lines that are listed individually. The rest are only counted. */
const MAX_SHOWN_LINES = 20

type ImportSummaryProps = Extract<ImportStage, { at: "done" }> & { readonly onClose: () => void }

/** The summary of an import: imported messages, content that could not be imported unchanged, and skipped lines. */
function ImportSummary({ onClose, ...stage }: ImportSummaryProps): VNode {
  const { skipped, skippedLines, kinds } = stage
  const shown = skippedLines.slice(0, MAX_SHOWN_LINES)
  return (
    <>
      <p role="status">{describeSummary(stage)}</p>
      {Object.keys(kinds).length > 0 && (
        <ul class="lines">
          {Object.entries(kinds).map(([kind, count]) => (
            <li key={kind}>{describeImportKind(kind, count)}</li>
          ))}
        </ul>
      )}
      {skipped > 0 && <p>{importText.skippedLines(skipped)}</p>}
      {shown.length > 0 && (
        <ul class="lines">
          {shown.map(({ line, text }) => (
            <li key={line}>
              <b>{importText.line(line)}</b> {text}
            </li>
          ))}
          {skipped > shown.length && <li>{importText.moreLines(skipped - shown.length)}</li>}
        </ul>
      )}
      <p class="ways">
        <button type="button" class="firm" data-first="" onClick={onClose}>
          {appText.done}
        </button>
      </p>
    </>
  )
}

function describeSummary({ records, messages, export: counts }: Extract<ImportStage, { at: "done" }>): string {
  if (counts === null) return importText.summary(messages, records)
  return importText.exportSummary(counts.imported, counts.empty, counts.leftOut, messages)
}
