/**
 * import-button.tsx: starts an import, from a button or by dropping a file on the sidebar.
 *
 * Loaded after the initial render. The import code is loaded on first use. Source: SPEC PG35.
 */

import { type Signal, useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { useRef } from "preact/hooks"
import type { Importer } from "../files/import-file.ts"
import type { SessionRouter } from "../session/session-router.ts"
import { useFileDrop } from "../ui/file-drop.ts"
import { appText } from "../words/page-text.ts"
import { sessionActionText } from "../words/session-action-text.ts"

type ImportModule = typeof import("./import-dialog.tsx")

interface ImportButtonProps {
  readonly router: SessionRouter
  /** Called when the dialog opens, so that the drawer can close. */
  readonly onOpen: () => void
}

export function ImportButton({ router, onOpen }: ImportButtonProps): VNode {
  const { importModule, isOpen, importer, openDialog, closeDialog, importFile } = useImport(router, onOpen)
  const isOver = useFileDrop("list", ([file]) => {
    if (file !== undefined) void importFile(file)
  })
  const LoadedDialog = importModule.value?.ImportDialog
  const current = importer()
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
        {isOver.value ? sessionActionText.dropFile : sessionActionText.importFile}
      </button>
      {isOpen.value && LoadedDialog !== undefined && current !== null && (
        <LoadedDialog importer={current} onFile={(file) => void importFile(file)} onClose={closeDialog} />
      )}
    </>
  )
}

interface ImportControls {
  readonly importModule: Signal<ImportModule | null>
  readonly isOpen: Signal<boolean>
  /** Null until the code has been loaded. */
  importer(): Importer | null
  openDialog(): Promise<void>
  closeDialog(): void
  importFile(file: File): Promise<void>
}

function useImport(router: SessionRouter, onOpen: () => void): ImportControls {
  const importModule = useSignal<ImportModule | null>(null)
  const isOpen = useSignal(false)
  const importer = useRef<Importer | null>(null)
  const openDialog = async (): Promise<void> => {
    onOpen()
    try {
      importModule.value ??= await import("./import-dialog.tsx")
      importer.current ??= importModule.value.createImporter(router.importerDeps)
      isOpen.value = true
    } catch {
      router.sessionList.showNotice(appText.codeMissing, true)
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
    // If another import was running, this file was rejected, and the call that started the other import reports its
    // result.
    if (isStarted && (await importModule.peek()?.openImported(router, current, file)) === true) closeDialog()
  }
  return { importModule, isOpen, importer: () => importer.current, openDialog, closeDialog, importFile }
}
