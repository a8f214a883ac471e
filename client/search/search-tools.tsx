/**
 * search-tools.tsx: the parts of search that are loaded after the initial render: the palette, the shortcut list, the
 * find bar and the shortcut handler.
 */

import type { VNode } from "preact"
import { isFindBarOpen, openSearchDialog } from "./open-dialog.ts"
import { FindBar } from "./find-bar.tsx"
import type { CommandContext } from "./page-commands.ts"
import { PaletteDialog } from "./palette-dialog.tsx"
import { ShortcutDialog } from "./shortcut-dialog.tsx"

export { handleShortcut } from "./shortcut-handler.ts"

/** The open search dialog; renders nothing if none is open. */
export function SearchDialogs({ context }: { readonly context: CommandContext }): VNode | null {
  const open = openSearchDialog.value
  if (open === null) return null
  if (open === "palette") return <PaletteDialog context={context} />
  return open === "shortcuts" ? <ShortcutDialog /> : <MoveSlot context={context} />
}

/**
 * The dialog that moves the open conversation to a folder. Renders nothing if no conversation is open: with an empty
 * list, the dialog would only create a folder.
 */
function MoveSlot({ context: { router, getSidebar } }: { readonly context: CommandContext }): VNode | null {
  const id = router.controller.value?.id
  const MoveDialog = getSidebar()?.MoveDialog
  if (id === undefined || MoveDialog === undefined) return null
  return <MoveDialog router={router} ids={[id]} onClose={() => (openSearchDialog.value = null)} />
}

/** The find bar for the open conversation. Renders nothing while it is closed. */
export function FindBarSlot({ router }: Pick<CommandContext, "router">): VNode | null {
  const controller = router.controller.value
  return isFindBarOpen.value && controller !== null ? <FindBar key={controller.id} controller={controller} /> : null
}
