/**
 * library-buttons.tsx: the buttons below the list that open the archive and create a folder. Source: SPEC LB23, LB30.
 */

import { useSignal } from "@preact/signals"
import type { VNode } from "preact"
import type { SessionRouter } from "../../session/session-router.ts"
import { ImportButton as PlainImportButton } from "../../import/import-button.tsx"
import { organizingText } from "../../words/parts/organizing-text.ts"
import { ArchiveDialog } from "./archive-dialog.tsx"
import { MoveDialog } from "./move-dialog.tsx"
import { SelectionBar } from "./selection.tsx"

interface ImportButtonProps {
  readonly router: SessionRouter
  readonly onOpen: () => void
}

/** The import button, below the archive and folder buttons. */
export function ImportButton(props: ImportButtonProps): VNode {
  return (
    <>
      <div class="library-slot">
        <LibraryButtons router={props.router} />
      </div>
      <PlainImportButton {...props} />
    </>
  )
}

function LibraryButtons({ router }: { readonly router: SessionRouter }): VNode | null {
  const open = useSignal<"archive" | "folder" | null>(null)
  if (router.isReadOnly.value) return null
  const close = (): void => {
    open.value = null
  }
  return (
    <>
      <SelectionBar router={router} />
      <button type="button" onClick={() => (open.value = "archive")}>
        <svg viewBox="0 0 20 20" aria-hidden="true">
          <path d="M3 4.5h14v3H3zM4.2 7.5v8h11.6v-8M8 10.5h4" />
        </svg>
        {organizingText.archiveList}
      </button>
      <button type="button" onClick={() => (open.value = "folder")}>
        <svg viewBox="0 0 20 20" aria-hidden="true">
          <path d="M3 6.2c0-.9.6-1.5 1.5-1.5h3.3l1.7 2h6c.9 0 1.5.6 1.5 1.5v5.6c0 .9-.6 1.5-1.5 1.5h-11c-.9 0-1.5-.6-1.5-1.5zM10 9v4M8 11h4" />
        </svg>
        {organizingText.newFolder}
      </button>
      {open.value === "archive" && <ArchiveDialog router={router} onClose={close} />}
      {open.value === "folder" && <MoveDialog router={router} ids={[]} onClose={close} />}
    </>
  )
}
