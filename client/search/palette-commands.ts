/**
 * palette-commands.ts: the commands that the palette lists: those of the page, those that organise the open
 * conversation, and the one that starts a temporary chat. Source: SPEC LB4, LB28.
 */

import { focusRequests } from "../ui/focus.ts"
import { appText } from "../words/page-text.ts"
import { searchText } from "../words/search/search-text.ts"
import { openSearchDialog } from "./open-dialog.ts"
import { type CommandContext, openHash, PAGE_COMMANDS } from "./page-commands.ts"
import type { Keys } from "./shortcut-keys.ts"

export interface PaletteCommand {
  readonly label: string
  readonly keys: readonly Keys[]
  /** Whether the command shows the conversation list, which on phones is a drawer. */
  readonly opensList?: boolean
  readonly run: () => void
}

/** Returns the commands that make sense now. A read-only page can't change conversations. SPEC SH13. */
export function listPaletteCommands(context: CommandContext): readonly PaletteCommand[] {
  const commands = PAGE_COMMANDS.filter(({ isInPalette, isAvailable }) => isInPalette && isAvailable(context))
  const listed = commands.map(({ id, keys, run }) => ({
    label: searchText.commands[id],
    keys,
    opensList: id === "focusList",
    run: () => run(context),
  }))
  return context.router.isReadOnly.peek() ? listed : [...listed, ...listOrganizingCommands(context)]
}

function listOrganizingCommands({ router, getSidebar }: CommandContext): readonly PaletteCommand[] {
  const id = router.controller.peek()?.id
  const openMove = (): void => {
    openSearchDialog.value = "move"
  }
  const items = id === undefined ? [] : (getSidebar()?.listOrganizing(router, id, openMove) ?? [])
  const startTemporary = (): void => {
    router.nextOptions.value = { ...router.nextOptions.peek(), temporary: true }
    openHash(router, "#/")
    focusRequests.value++
  }
  return [
    { label: appText.temporaryChat, keys: [], run: startTemporary },
    ...items.map(({ label, onSelect }) => ({ label, keys: [], run: onSelect })),
  ]
}
