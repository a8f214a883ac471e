/**
 * page-commands.ts: the commands of the palette and of the shortcuts, in one table: keys, availability and effect.
 *
 * The labels are in words/search/search-text.ts. Source: SPEC KB1, KB4.
 */

import type { Signal } from "@preact/signals"
import type { VNode } from "preact"
import type { SessionRouter } from "../session/session-router.ts"
import { focusRequests } from "../ui/focus.ts"
import { cycleTheme } from "../ui/preferences/theme.ts"
import type { searchText } from "../words/search/search-text.ts"
import { isFindBarOpen, openSearchDialog } from "./open-dialog.ts"
import { focusNeighbourMessage } from "./focus-message.ts"
import type { Keys } from "./shortcut-keys.ts"

export type CommandId = keyof typeof searchText.commands

export interface CommandContext {
  readonly router: SessionRouter
  readonly isDrawerOpen: Signal<boolean>
  /** Returns the code for the conversation list; null while it is loading. */
  getSidebar(): SidebarCode | null
}

/** The parts of the conversation list's code that commands use. */
export interface SidebarCode {
  /** Exports a conversation as a file. */
  saveSession(router: SessionRouter, id: string, format: "markdown" | "jsonl"): Promise<void>
  /** Returns the commands that organise a conversation: pinning, moving, archiving. */
  listOrganizing(
    router: SessionRouter,
    id: string,
    onMove: () => void,
  ): readonly { readonly label: string; onSelect(): void }[]
  /** Hides or shows the list in a wide window. */
  toggleSidebar(): void
  MoveDialog(props: { router: SessionRouter; ids: readonly string[]; onClose: () => void }): VNode
}

export interface PageCommand {
  readonly id: CommandId
  readonly keys: readonly Keys[]
  /** Whether the palette lists the command. The others are only useful as shortcuts. */
  readonly isInPalette: boolean
  readonly isAvailable: (context: CommandContext) => boolean
  readonly run: (context: CommandContext) => void
}

const always = (): boolean => true
const canWrite = ({ router }: CommandContext): boolean => !router.isReadOnly.peek()
const hasConversation = ({ router }: CommandContext): boolean => router.controller.peek() !== null

function canAttach(context: CommandContext): boolean {
  return canWrite(context) && findFileField() !== null
}

function findFileField(): HTMLInputElement | null {
  return document.querySelector<HTMLInputElement>(".composer input[type=file]")
}

/** Navigates to a URL hash. Unlike a link, this also takes effect if the hash is the current one. */
export function openHash(router: SessionRouter, hash: string): void {
  if (location.hash === hash) router.openFromHash()
  else location.hash = hash
}

/** Opens the conversation before (-1) or after (1) the open one, in the order of the list on screen. */
function openNeighbour({ router }: CommandContext, step: -1 | 1): void {
  const rows = [...document.querySelectorAll<HTMLElement>(".sidebar [data-session]")]
  const ids = rows.map((row) => row.dataset["session"])
  const index = ids.indexOf(router.controller.peek()?.id)
  const target = ids[index === -1 ? 0 : index + step]
  if (target !== undefined) openHash(router, `#/s/${target}`)
}

function openConversationList({ isDrawerOpen }: CommandContext): void {
  const isDrawer = document.querySelector<HTMLElement>(".drawer-button")?.checkVisibility() ?? false
  if (isDrawer) isDrawerOpen.value = true
  else
    ["nav a[aria-current]", "nav a", "a"]
      .map(findInSidebar)
      .find((link) => link !== null)
      ?.focus()
}

function findInSidebar(selector: string): HTMLElement | null {
  return document.querySelector<HTMLElement>(`.sidebar ${selector}`)
}

function exportConversation({ router, getSidebar }: CommandContext, format: "markdown" | "jsonl"): void {
  const id = router.controller.peek()?.id
  if (id !== undefined) void getSidebar()?.saveSession(router, id, format)
}

function command(id: CommandId, keys: readonly Keys[], options: Omit<PageCommand, "id" | "keys" | "isInPalette">) {
  return { id, keys, isInPalette: true, ...options } satisfies PageCommand
}

function keysOnly(id: CommandId, keys: readonly Keys[], options: Omit<PageCommand, "id" | "keys" | "isInPalette">) {
  return { id, keys, isInPalette: false, ...options } satisfies PageCommand
}

export const PAGE_COMMANDS: readonly PageCommand[] = [
  command("newConversation", [{ key: "o", mod: true, shift: true }], {
    isAvailable: canWrite,
    run({ router }) {
      openHash(router, "#/")
      focusRequests.value++
    },
  }),
  keysOnly("openPalette", [{ key: "k", mod: true }], {
    isAvailable: always,
    run: () => (openSearchDialog.value = openSearchDialog.peek() === "palette" ? null : "palette"),
  }),
  command("findInConversation", [{ key: "f", mod: true, shift: true }], {
    isAvailable: hasConversation,
    run: () => (isFindBarOpen.value = true),
  }),
  command("focusList", [{ key: "s", mod: true, shift: true }], { isAvailable: always, run: openConversationList }),
  command("toggleSidebar", [{ key: "b", mod: true }], {
    isAvailable: ({ getSidebar }) => getSidebar() !== null,
    run: ({ getSidebar }) => getSidebar()?.toggleSidebar(),
  }),
  keysOnly("previousConversation", [{ key: "ArrowUp", alt: true }], {
    isAvailable: always,
    run: (context) => openNeighbour(context, -1),
  }),
  keysOnly("nextConversation", [{ key: "ArrowDown", alt: true }], {
    isAvailable: always,
    run: (context) => openNeighbour(context, 1),
  }),
  keysOnly("previousMessage", [{ key: "k" }], { isAvailable: hasConversation, run: () => focusNeighbourMessage(-1) }),
  keysOnly("nextMessage", [{ key: "j" }], { isAvailable: hasConversation, run: () => focusNeighbourMessage(1) }),
  keysOnly("focusComposer", [{ key: "/" }, { key: "Escape", shift: true }], {
    isAvailable: canWrite,
    run: () => focusRequests.value++,
  }),
  command("attachFile", [{ key: "u", mod: true, shift: true }], {
    isAvailable: canAttach,
    run: () => findFileField()?.click(),
  }),
  command("exportMarkdown", [{ key: "e", mod: true, shift: true }], {
    isAvailable: hasConversation,
    run: (context) => exportConversation(context, "markdown"),
  }),
  command("exportJsonl", [], {
    isAvailable: hasConversation,
    run: (context) => exportConversation(context, "jsonl"),
  }),
  command("openSettings", [{ key: ",", mod: true }], {
    isAvailable: always,
    run: () => (location.hash = "#/settings"),
  }),
  command("changeTheme", [{ key: "l", mod: true, shift: true }], { isAvailable: always, run: cycleTheme }),
  command("showShortcuts", [{ key: "?" }, { key: "/", mod: true }], {
    isAvailable: always,
    run: () => (openSearchDialog.value = "shortcuts"),
  }),
]
