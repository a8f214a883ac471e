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
  if (openSearchDialog.value === null) return null
  return openSearchDialog.value === "palette" ? <PaletteDialog context={context} /> : <ShortcutDialog />
}

/** The search bar of the open conversation, or nothing. */
export function FindBarSlot({ router }: Pick<CommandContext, "router">): VNode | null {
  const controller = router.controller.value
  return isFindBarOpen.value && controller !== null ? <FindBar key={controller.id} controller={controller} /> : null
}
