/** shortcut-handler.ts: runs the command whose keys are pressed. Source: SPEC KB1 to KB4. */

import { openSearchDialog } from "./open-dialog.ts"
import { type CommandContext, PAGE_COMMANDS } from "./page-commands.ts"
import { isComposing, isSingleKey, type KeyPress, matchesKeys } from "./shortcut-keys.ts"
import { areSingleKeysOn } from "./single-keys.ts"

/** Whether the modifier key for shortcuts is ⌘. */
export const isApple = /Mac|iPhone|iPad/.test(navigator.platform)

/**
 * Runs the command of a shortcut. Returns whether the key press was one; if so, the caller must prevent the browser's
 * default action.
 */
export function handleShortcut(press: KeyPress & Pick<Event, "target">, context: CommandContext): boolean {
  if (isComposing(press)) return false
  const command = PAGE_COMMANDS.find(({ keys }) => keys.some((one) => matchesKeys(press, one, isApple)))
  const keys = command?.keys.find((one) => matchesKeys(press, one, isApple))
  if (command === undefined || keys === undefined) return false
  if (isSingleKey(keys) && (!areSingleKeysOn.peek() || isTextField(press.target))) return false
  // While a dialog is open, it handles all keys, except that the shortcut for the palette also closes it.
  const isPaletteKey = command.id === "openPalette" && openSearchDialog.peek() === "palette"
  if (!isPaletteKey && document.querySelector("dialog[open], [popover]:popover-open") !== null) return false
  if (!command.isAvailable(context)) return false
  command.run(context)
  return true
}

function isTextField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches("textarea, input, select, [contenteditable]")
}
