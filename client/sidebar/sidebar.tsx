/**
 * sidebar.tsx: the sessions there are, what can be done with them, and a new one. A column at a desk, a drawer on a phone.
 *
 * sessions → SIDEBAR → chat
 * One menu and one dialog for all rows. Source: SPEC PG31, PG32.
 */

import { type Signal, useComputed, useSignal, useSignalEffect } from "@preact/signals"
import type { VNode } from "preact"
import { useRef } from "preact/hooks"
import type { ExportFormat } from "../net/api.ts"
import type { SessionRouter } from "../session/session-router.ts"
import { focusRequests } from "../composer/composer.tsx"
import { ImportButton } from "../import/import-button.tsx"
import { Logo } from "../ui/logo.tsx"
import { theme, cycleTheme } from "../ui/theme.ts"
import { DeleteDialog } from "./delete-dialog.tsx"
import { SessionMenu } from "./session-menu.tsx"
import { SessionRows } from "./session-rows.tsx"
import { saveSession } from "./save-session.ts"

interface SidebarProps {
  readonly router: SessionRouter
  readonly isOpen: Signal<boolean>
}

export function Sidebar({ router: chat, isOpen }: SidebarProps): VNode {
  const currentId = useComputed(() => chat.controller.value?.id ?? null).value
  const drawer = useRef<HTMLElement>(null)
  const openMenuId = useSignal<string | null>(null)
  const renamingId = useSignal<string | null>(null)
  const deletingId = useSignal<string | null>(null)
  const closeDrawer = (): void => {
    isOpen.value = false
  }
  useSignalEffect(() => {
    if (isOpen.value) drawer.current?.focus()
    // What hides takes no focus with it.
    else if (drawer.current?.contains(document.activeElement) === true) focusDrawerButton()
  })
  const findMenuButton = (id: string): HTMLElement | null | undefined =>
    drawer.current?.querySelector<HTMLElement>(`[data-session="${id}"] .more`)
  const closeMenu = (hasChosen: boolean): void => {
    const id = openMenuId.peek()
    openMenuId.value = null
    if (!hasChosen && id !== null) findMenuButton(id)?.focus()
  }
  const stopRenaming = (id: string, byKeyboard: boolean): void => {
    renamingId.value = null
    // Once the row stands there again.
    if (byKeyboard) setTimeout(() => findMenuButton(id)?.focus())
  }
  const eraseSession = (id: string): void => {
    deletingId.value = null
    isOpen.value = false
    void chat.eraseSession(id)
    // Once the box is gone.
    setTimeout(() => focusRequests.value++)
  }
  const openDeleteDialog = (id: string): void => {
    // The menu goes: the focus is to come back here from the box.
    findMenuButton(id)?.focus()
    deletingId.value = id
  }
  const exportAs = (id: string, format: ExportFormat): void => {
    findMenuButton(id)?.focus()
    void saveSession(chat, id, format)
  }
  return (
    <>
      {isOpen.value && <button type="button" class="veil" aria-label="Close the list" onClick={closeDrawer} />}
      <aside class="sidebar" ref={drawer} tabIndex={-1} data-open={isOpen.value ? "" : undefined}>
        <p class="brand">
          <Logo /> Cuecard
        </p>
        <a class="new" href="#/">
          <svg viewBox="0 0 20 20" aria-hidden="true">
            <path d="M10 4.5v11M4.5 10h11" />
          </svg>
          New chat
        </a>
        <nav aria-label="Conversations">
          <SessionRows
            sessionList={chat.sessionList}
            currentId={currentId}
            openMenuId={openMenuId}
            renamingId={renamingId}
            onRenamed={(id, title, byKeyboard) => {
              stopRenaming(id, byKeyboard)
              if (title !== null) void chat.sessionList.renameSession(id, title)
            }}
          />
        </nav>
        <footer>
          <ImportButton router={chat} onOpen={closeDrawer} />
          <button type="button" class="theme" onClick={cycleTheme}>
            Theme <span>{theme.value}</span>
          </button>
        </footer>
        {openMenuId.value !== null && (
          <SessionMenu
            key={openMenuId.value}
            findAnchor={() => findMenuButton(openMenuId.peek() ?? "") ?? null}
            onClose={closeMenu}
            items={createMenuItems(openMenuId.value, { renamingId, openDeleteDialog, exportAs })}
          />
        )}
      </aside>
      {deletingId.value !== null && (
        <DeleteDialog
          title={chat.sessionList.findSession(deletingId.value)?.title}
          onCancel={() => {
            deletingId.value = null
          }}
          onDelete={() => eraseSession(deletingId.peek() ?? "")}
        />
      )}
    </>
  )
}

/** The button that opens the drawer; at a desk there is none. */
function focusDrawerButton(): void {
  document.querySelector<HTMLElement>(".topbar button")?.focus()
}

interface MenuActions {
  readonly renamingId: Signal<string | null>
  readonly openDeleteDialog: (id: string) => void
  readonly exportAs: (id: string, format: ExportFormat) => void
}

function createMenuItems(
  id: string,
  { renamingId: renaming, openDeleteDialog: askDelete, exportAs: save }: MenuActions,
) {
  return [
    {
      label: "Rename",
      onSelect: () => {
        renaming.value = id
      },
    },
    { label: "Export as Markdown", onSelect: () => save(id, "markdown") },
    { label: "Export as JSONL", onSelect: () => save(id, "jsonl") },
    { label: "Delete…", isDestructive: true, onSelect: () => askDelete(id) },
  ]
}
