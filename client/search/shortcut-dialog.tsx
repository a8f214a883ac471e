/**
 * shortcut-dialog.tsx: the list of keyboard shortcuts, and the option to turn off single-key shortcuts. SPEC KB2, KB3.
 */

import type { VNode } from "preact"
import { Dialog } from "../ui/dialog.tsx"
import { appText } from "../words/page-text.ts"
import { searchText } from "../words/search/search-text.ts"
import { openSearchDialog } from "./open-dialog.ts"
import { PAGE_COMMANDS } from "./page-commands.ts"
import { type Keys, nameKeys } from "./shortcut-keys.ts"
import { isApple } from "./shortcut-handler.ts"
import { areSingleKeysOn, setSingleKeys } from "./single-keys.ts"

/** Keys that other parts of the page handle. */
const OTHER_KEYS = [
  { id: "send", keys: [{ key: "Enter" }] },
  { id: "newLine", keys: [{ key: "Enter", shift: true }] },
  { id: "stop", keys: [{ key: "Escape" }] },
] as const satisfies readonly { id: keyof typeof searchText.otherKeys; keys: readonly Keys[] }[]

export function ShortcutDialog(): VNode {
  const close = (): void => {
    openSearchDialog.value = null
  }
  const rows = [
    ...PAGE_COMMANDS.map(({ id, keys }) => ({ label: searchText.commands[id], keys })),
    ...OTHER_KEYS.map(({ id, keys }) => ({ label: searchText.otherKeys[id], keys })),
  ]
  return (
    <Dialog title={searchText.shortcuts} onCancel={close}>
      {/* Focusable, so that it can be scrolled with the keyboard on small screens. */}
      <dl class="shortcuts" tabIndex={0}>
        {rows.map(({ label, keys }) => keys.length > 0 && <ShortcutRow key={label} label={label} keys={keys} />)}
      </dl>
      <label class="single-keys">
        <input
          type="checkbox"
          checked={areSingleKeysOn.value}
          onChange={({ currentTarget }) => setSingleKeys(currentTarget.checked)}
        />
        {searchText.singleKeys}
      </label>
      <div class="ways">
        <button type="button" class="firm" data-first onClick={close}>
          {appText.done}
        </button>
      </div>
    </Dialog>
  )
}

function ShortcutRow({ label, keys }: { readonly label: string; readonly keys: readonly Keys[] }): VNode {
  return (
    <div>
      <dt>{label}</dt>
      <dd>
        {keys.map((one, at) => (
          <>
            {at > 0 && ` ${searchText.or} `}
            <ShortcutKeys key={at} keys={one} />
          </>
        ))}
      </dd>
    </div>
  )
}

/** The keys of a shortcut, always written from left to right. */
export function ShortcutKeys({ keys }: { readonly keys: Keys }): VNode {
  return (
    <span class="keys" dir="ltr">
      {nameKeys(keys, isApple).map((name) => (
        <kbd key={name}>{name}</kbd>
      ))}
    </span>
  )
}
