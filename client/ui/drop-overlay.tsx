/** drop.tsx: what is shown while files are over the conversation. Source: SPEC PG42. */

import type { VNode } from "preact"
import { useFileDrop } from "./file-drop.ts"

export function DropOverlay({ onFiles }: { readonly onFiles: (files: readonly File[]) => void }): VNode | null {
  const isOver = useFileDrop("conversation", onFiles)
  if (!isOver.value) return null
  return (
    <div class="drop" aria-hidden="true">
      <p>Drop files to send them with your message</p>
    </div>
  )
}
