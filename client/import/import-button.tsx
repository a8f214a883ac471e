/**
 * import-button.tsx: where an import begins: a button, and any file that is dropped on the list.
 *
 * Its code is fetched when it is wanted. Source: SPEC PG35.
 */

import { useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { useRef } from "preact/hooks"
import type { Chat } from "../session/session-router.ts"
import { useDrop } from "../ui/file-drop.ts"
import { nameOf } from "../session/session-list.ts"
import type { Importer } from "../files/import-file.ts"

type ImportCode = typeof import("./import-dialog.tsx")

interface ImportPlaceProps {
  readonly chat: Chat
  /** Something takes the drawer's place. */
  readonly onOpen: () => void
}

export function ImportPlace({ chat, onOpen }: ImportPlaceProps): VNode {
  const code = useSignal<ImportCode | null>(null)
  const isOpen = useSignal(false)
  const importer = useRef<Importer | null>(null)

  const open = async (): Promise<void> => {
    onOpen()
    try {
      code.value ??= await import("./import-dialog.tsx")
      importer.current ??= code.value.createImporter(chat.importing)
      isOpen.value = true
    } catch {
      chat.sessions.tell("The import could not be loaded. Try again in a moment.", true)
    }
  }
  const close = (): void => {
    isOpen.value = false
    const stage = importer.current?.stage.peek().at
    if (stage === "sending" || stage === "folding") importer.current?.cancel()
    else importer.current?.reset()
  }
  const take = async (file: File): Promise<void> => {
    await open()
    const { current } = importer
    if (current === null) return
    const isNext = !current.isBusy
    await current.start(file)
    // Turned away: the one that is under way says how that ends.
    if (!isNext) return
    const stage = current.stage.peek()
    if (stage.at !== "done") return
    await chat.openImported(stage.session, file.name.replace(/\.(jsonl|ndjson|json|gz|txt)$/gi, ""))
    if (stage.skipped > 0) return
    close()
    chat.sessions.tell(`“${nameOf(chat.sessions.find(stage.session)?.title)}” was imported.`)
  }
  const isOver = useDrop("list", ([file]) => {
    if (file !== undefined) void take(file)
  })
  const Box = code.value?.ImportDialog
  return (
    <>
      <button
        type="button"
        class="import"
        aria-haspopup="dialog"
        data-over={isOver.value ? "" : undefined}
        onClick={() => void open()}
      >
        <svg viewBox="0 0 20 20" aria-hidden="true">
          <path d="M10 13V4.5M6.5 8L10 4.5 13.5 8M4 13.5v2h12v-2" />
        </svg>
        {isOver.value ? "Drop it to import it" : "Import a conversation"}
      </button>
      {isOpen.value && Box !== undefined && importer.current !== null && (
        <Box importer={importer.current} onFile={(file) => void take(file)} onClose={close} />
      )}
    </>
  )
}
