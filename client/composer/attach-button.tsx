/** attach-button.tsx: the composer's file picker, and the handling of pasted files. Source: SPEC PG67. */

import type { VNode } from "preact"
import { useRef } from "preact/hooks"
import { MAX_ATTACHMENTS } from "../../shared/limits.ts"
import { attachmentText } from "../words/page-text.ts"

export type OnFiles = (files: readonly File[]) => void

export function AttachButton({ onFiles }: { readonly onFiles: OnFiles }): VNode {
  const picker = useRef<HTMLInputElement>(null)
  return (
    <>
      <button
        type="button"
        class="attach"
        aria-label={attachmentText.attach}
        title={attachmentText.attachTitle(MAX_ATTACHMENTS)}
        onClick={() => picker.current?.click()}
      >
        <svg viewBox="0 0 20 20" aria-hidden="true">
          <path d="M15.5 9.6l-5.4 5.3a3.4 3.4 0 0 1-4.8-4.8l5.7-5.6a2.2 2.2 0 0 1 3.2 3.2l-5.5 5.4a1.1 1.1 0 0 1-1.6-1.6l4.9-4.8" />
        </svg>
      </button>
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        onChange={(event) => {
          onFiles(Array.from(event.currentTarget.files ?? []))
          // Without this, choosing the same file again would not fire a change event.
          event.currentTarget.value = ""
        }}
      />
    </>
  )
}

/** Attaches pasted files. If the clipboard also has text, the text is pasted and the files are ignored. */
export function handlePaste(event: ClipboardEvent, onFiles: OnFiles | undefined): void {
  const { clipboardData } = event
  const files = Array.from(clipboardData?.files ?? [])
  if (onFiles === undefined || clipboardData === null || files.length === 0 || hasPastedText(clipboardData, files))
    return
  event.preventDefault()
  onFiles(files)
}

/** Whether the clipboard has text other than the names or paths of the copied files, which some systems add. */
function hasPastedText(data: DataTransfer, files: readonly File[]): boolean {
  if (!data.types.includes("text/plain")) return false
  const lines = data
    .getData("text/plain")
    .trim()
    .split(/[\r\n]+/)
  return !lines.every((line) => files.some(({ name }) => line.split(/[/\\]/).at(-1) === name))
}
