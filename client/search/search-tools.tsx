/** search-tools.tsx: what is loaded after the first view: the palette, the list of shortcuts, the search bar, the keys. */

import type { VNode } from "preact"
import { isFindBarOpen, openSearchDialog } from "./open-dialog.ts"
import { FindBar } from "./find-bar.tsx"
import type { CommandContext } from "./page-commands.ts"
import { PaletteDialog } from "./palette-dialog.tsx"
import { ShortcutDialog } from "./shortcut-dialog.tsx"

export { handleShortcut } from "./shortcut-handler.ts"

/** The open dialog, or nothing. */
export function SearchDialogs({ context }: { readonly context: CommandContext }): VNode | null {
  const open = openSearchDialog.value
  if (open === null) return null
  if (open === "palette") return <PaletteDialog context={context} />
  return open === "shortcuts" ? <ShortcutDialog /> : <MoveSlot context={context} />
}

/**
 * Moves the open conversation to a folder. Does nothing without an open one: with an empty list, the dialog would only
 * create a folder.
 */
function MoveSlot({ context: { router, getSidebar } }: { readonly context: CommandContext }): VNode | null {
  const id = router.controller.value?.id
  const MoveDialog = getSidebar()?.MoveDialog
  if (id === undefined || MoveDialog === undefined) return null
  return <MoveDialog router={router} ids={[id]} onClose={() => (openSearchDialog.value = null)} />
}

/** The search bar of the open conversation, or nothing. */
export function FindBarSlot({ router }: Pick<CommandContext, "router">): VNode | null {
  const controller = router.controller.value
  return isFindBarOpen.value && controller !== null ? <FindBar key={controller.id} controller={controller} /> : null
}
