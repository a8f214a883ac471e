/**
 * import-dialog.tsx: a file is chosen or dropped, and how far it is on its way in. Fetched when somebody wants it.
 */

import { useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { useRef } from "preact/hooks"
import { Dialog } from "../ui/dialog.tsx"
import { type BadLine, Importer, type ImporterDeps, type ImportStage } from "../files/import-file.ts"
import { sendFile } from "../files/send-file.ts"

export function createImporter(deps: Omit<ImporterDeps, "sendFile">): Importer {
  return new Importer({ ...deps, sendFile })
}

interface ImportDialogProps {
  readonly importer: Importer
  readonly onFile: (file: File) => void
  readonly onClose: () => void
}

export function ImportDialog({ importer, onFile, onClose }: ImportDialogProps): VNode {
  const stage = importer.stage.value
  return (
    <Dialog title={stage.at === "done" ? "Imported" : "Import a conversation"} onCancel={onClose}>
      {stage.at === "choose" && <ChooseFileStep error={stage.error} onFile={onFile} onClose={onClose} />}
      {(stage.at === "sending" || stage.at === "folding") && (
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
  const isOver = useSignal(false)
  const setDragOver = (event: DragEvent, now: boolean): void => {
    event.preventDefault()
    isOver.value = now
  }
  const onDrop = (event: DragEvent): void => {
    setDragOver(event, false)
    // Heard here, it is not the window's.
    event.stopPropagation()
    const file = event.dataTransfer?.files[0]
    if (file !== undefined) onFile(file)
  }
  return (
    <>
      <p>
        An export of Cuecard, or the records of another chat: JSON lines, plain or gzip. It becomes a new conversation.
      </p>
      {error !== null && (
        <p class="fault" role="alert">
          {error}
        </p>
      )}
      <button
        type="button"
        class="drop"
        data-first=""
        data-over={isOver.value ? "" : undefined}
        onClick={() => field.current?.click()}
        onDragOver={(event) => setDragOver(event, true)}
        onDragLeave={(event) => setDragOver(event, false)}
        onDrop={onDrop}
      >
        <svg viewBox="0 0 20 20" aria-hidden="true">
          <path d="M10 13V4.5M6.5 8L10 4.5 13.5 8M4 13.5v2h12v-2" />
        </svg>
        <span>
          <b>Choose a file</b> or drop it here
        </span>
      </button>
      <input
        type="file"
        class="unseen"
        tabIndex={-1}
        aria-label="File to import"
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
          Cancel
        </button>
      </p>
    </>
  )
}

interface ProgressStepProps {
  readonly name: string
  readonly rejectedFileName: string
  readonly stage: Extract<ImportStage, { at: "sending" | "folding" }>
  readonly onCancel: () => void
}

function ProgressStep({ name, rejectedFileName: turnedAway, stage, onCancel }: ProgressStepProps): VNode {
  const [value, max] = stage.at === "sending" ? [stage.sent, stage.size] : [stage.folded, stage.of]
  const progressText =
    stage.at === "sending" ? `${formatMegabytes(value)} of ${formatMegabytes(max)}` : formatRecordProgress(value, max)
  const activity = stage.at === "sending" && value < max ? "Sending" : "Reading"
  return (
    <>
      <p class="file">{name}</p>
      {/* Without a value it says that it does not know. */}
      <progress
        {...(max > 0 && !(stage.at === "sending" && value >= max) ? { value, max } : {})}
        aria-label={activity}
      />
      <p class="note" role="status">
        {activity}… {stage.at === "sending" && value >= max ? "" : progressText}
      </p>
      {/* Always there, so that what comes into it is heard. */}
      <p class="note" role="status">
        {turnedAway === "" ? "" : `“${turnedAway}” was not taken: one file at a time.`}
      </p>
      <p class="ways">
        <button type="button" data-first="" onClick={onCancel}>
          Cancel
        </button>
      </p>
    </>
  )
}

function formatRecordProgress(folded: number, of: number): string {
  return of === 0 ? "" : `${folded.toLocaleString("en")} of ${of.toLocaleString("en")} records`
}

/** 900 → "1 KB", 2_500_000 → "2.4 MB". */
export function formatMegabytes(bytes: number): string {
  const mb = bytes / (1024 * 1024)
  return mb < 0.1 ? `${Math.ceil(bytes / 1024)} KB` : `${mb.toFixed(1)} MB`
}

/** Lines that are told one by one; the others are counted. */
const MAX_SHOWN_LINES = 20

interface ImportSummaryProps {
  readonly records: number
  readonly skipped: number
  readonly bad: readonly BadLine[]
  readonly onClose: () => void
}

function ImportSummary({ records, skipped, bad, onClose }: ImportSummaryProps): VNode {
  const shown = bad.slice(0, MAX_SHOWN_LINES)
  return (
    <>
      <p role="status">
        {formatCount(records, "record")} came in. {formatCount(skipped, "line")} could not be used and{" "}
        {skipped === 1 ? "was" : "were"} skipped:
      </p>
      <ul class="lines">
        {shown.map(({ line, text }) => (
          <li key={line}>
            <b>Line {line}</b> {text}
          </li>
        ))}
        {skipped > shown.length && <li>… and {(skipped - shown.length).toLocaleString("en")} more.</li>}
      </ul>
      <p class="ways">
        <button type="button" class="firm" data-first="" onClick={onClose}>
          Done
        </button>
      </p>
    </>
  )
}

export function formatCount(count: number, what: string): string {
  return `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`
}
