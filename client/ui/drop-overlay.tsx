/** drop-overlay.tsx: the overlay shown while files are dragged over the conversation. Source: SPEC PG42. */

import type { VNode } from "preact"
import { attachmentChipText } from "../words/attachment-chip-text.ts"
import { useFileDrop } from "./file-drop.ts"

export function DropOverlay({ onFiles }: { readonly onFiles: (files: readonly File[]) => void }): VNode | null {
  const isOver = useFileDrop("conversation", onFiles)
  if (!isOver.value) return null
  return (
    <div class="drop-overlay" aria-hidden="true">
      <p>{attachmentChipText.dropFiles}</p>
    </div>
  )
}
