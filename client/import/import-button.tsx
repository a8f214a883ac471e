/**
 * import-button.tsx: where an import begins: a button, and any file that is dropped on the list.
 *
 * Its code is fetched when it is wanted. Source: SPEC PG35.
 */

import { useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { useRef } from "preact/hooks"
import type { SessionRouter } from "../session/session-router.ts"
import { useFileDrop } from "../ui/file-drop.ts"
import { formatTitle } from "../session/session-list.ts"
import type { Importer } from "../files/import-file.ts"

type ImportModule = typeof import("./import-dialog.tsx")

interface ImportButtonProps {
  readonly router: SessionRouter
  /** Something takes the drawer's place. */
  readonly onOpen: () => void
}

export function ImportButton({ router: chat, onOpen }: ImportButtonProps): VNode {
  const importModule = useSignal<ImportModule | null>(null)
  const isOpen = useSignal(false)
  const importer = useRef<Importer | null>(null)

  const openDialog = async (): Promise<void> => {
    onOpen()
    try {
      importModule.value ??= await import("./import-dialog.tsx")
      importer.current ??= importModule.value.createImporter(chat.importerDeps)
      isOpen.value = true
    } catch {
      chat.sessionList.showNotice("The import could not be loaded. Try again in a moment.", true)
    }
  }
  const closeDialog = (): void => {
    isOpen.value = false
    const stage = importer.current?.stage.peek().at
    if (stage === "sending" || stage === "folding") importer.current?.cancelImport()
    else importer.current?.resetStage()
  }
  const importFile = async (file: File): Promise<void> => {
    await openDialog()
    const { current } = importer
    if (current === null) return
    const isStarted = !current.isBusy
    await current.startImport(file)
    // Turned away: the one that is under way says how that ends.
    if (!isStarted) return
    const stage = current.stage.peek()
    if (stage.at !== "done") return
    await chat.openImportedSession(stage.session, file.name.replace(/\.(jsonl|ndjson|json|gz|txt)$/gi, ""))
    if (stage.skipped > 0) return
    closeDialog()
    chat.sessionList.showNotice(`“${formatTitle(chat.sessionList.findSession(stage.session)?.title)}” was imported.`)
  }
  const isOver = useFileDrop("list", ([file]) => {
    if (file !== undefined) void importFile(file)
  })
  const LoadedDialog = importModule.value?.ImportDialog
  return (
    <>
      <button
        type="button"
        class="import"
        aria-haspopup="dialog"
        data-over={isOver.value ? "" : undefined}
        onClick={() => void openDialog()}
      >
        <svg viewBox="0 0 20 20" aria-hidden="true">
          <path d="M10 13V4.5M6.5 8L10 4.5 13.5 8M4 13.5v2h12v-2" />
        </svg>
        {isOver.value ? "Drop it to import it" : "Import a conversation"}
      </button>
      {isOpen.value && LoadedDialog !== undefined && importer.current !== null && (
        <LoadedDialog importer={importer.current} onFile={(file) => void importFile(file)} onClose={closeDialog} />
      )}
    </>
  )
}
