/** paste-files.ts: attaches pasted files. Loaded with the attachment chips. Source: SPEC PG67. */

import type { OnFiles } from "./attach-button.tsx"

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
