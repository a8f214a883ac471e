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
import type { Chat } from "../session/session-router.ts"
import { focusAsked } from "../composer/composer.tsx"
import { ImportPlace } from "../import/import-button.tsx"
import { Mark } from "../ui/logo.tsx"
import { theme, turnTheme } from "../ui/theme.ts"
import { AskDelete } from "./delete-dialog.tsx"
import { Menu } from "./session-menu.tsx"
import { SessionRows } from "./session-rows.tsx"
import { saveSession } from "./save-session.ts"

interface SidebarProps {
  readonly chat: Chat
  readonly isOpen: Signal<boolean>
}

export function Sidebar({ chat, isOpen }: SidebarProps): VNode {
  const current = useComputed(() => chat.room.value?.id ?? null).value
  const drawer = useRef<HTMLElement>(null)
  const menuOf = useSignal<string | null>(null)
  const renaming = useSignal<string | null>(null)
  const deleting = useSignal<string | null>(null)
  const close = (): void => {
    isOpen.value = false
  }
  useSignalEffect(() => {
    if (isOpen.value) drawer.current?.focus()
    // What hides takes no focus with it.
    else if (drawer.current?.contains(document.activeElement) === true) focusOpener()
  })
  const buttonOf = (id: string): HTMLElement | null | undefined =>
    drawer.current?.querySelector<HTMLElement>(`[data-session="${id}"] .more`)
  const closeMenu = (isDone: boolean): void => {
    const id = menuOf.peek()
    menuOf.value = null
    if (!isDone && id !== null) buttonOf(id)?.focus()
  }
  const stopRenaming = (id: string, byKey: boolean): void => {
    renaming.value = null
    // Once the row stands there again.
    if (byKey) setTimeout(() => buttonOf(id)?.focus())
  }
  const remove = (id: string): void => {
    deleting.value = null
    isOpen.value = false
    void chat.erase(id)
    // Once the box is gone.
    setTimeout(() => focusAsked.value++)
  }
  const askDelete = (id: string): void => {
    // The menu goes: the focus is to come back here from the box.
    buttonOf(id)?.focus()
    deleting.value = id
  }
  const save = (id: string, format: ExportFormat): void => {
    buttonOf(id)?.focus()
    void saveSession(chat, id, format)
  }
  return (
    <>
      {isOpen.value && <button type="button" class="veil" aria-label="Close the list" onClick={close} />}
      <aside class="sidebar" ref={drawer} tabIndex={-1} data-open={isOpen.value ? "" : undefined}>
        <p class="brand">
          <Mark /> Cuecard
        </p>
        <a class="new" href="#/">
          <svg viewBox="0 0 20 20" aria-hidden="true">
            <path d="M10 4.5v11M4.5 10h11" />
          </svg>
          New chat
        </a>
        <nav aria-label="Conversations">
          <SessionRows
            sessions={chat.sessions}
            current={current}
            menuOf={menuOf}
            renaming={renaming}
            onRenamed={(id, title, byKey) => {
              stopRenaming(id, byKey)
              if (title !== null) void chat.sessions.rename(id, title)
            }}
          />
        </nav>
        <footer>
          <ImportPlace chat={chat} onOpen={close} />
          <button type="button" class="theme" onClick={turnTheme}>
            Theme <span>{theme.value}</span>
          </button>
        </footer>
        {menuOf.value !== null && (
          <Menu
            key={menuOf.value}
            anchor={() => buttonOf(menuOf.peek() ?? "") ?? null}
            onClose={closeMenu}
            items={menuItems(menuOf.value, { renaming, askDelete, save })}
          />
        )}
      </aside>
      {deleting.value !== null && (
        <AskDelete
          title={chat.sessions.find(deleting.value)?.title}
          onCancel={() => {
            deleting.value = null
          }}
          onDelete={() => remove(deleting.peek() ?? "")}
        />
      )}
    </>
  )
}

/** The button that opens the drawer; at a desk there is none. */
function focusOpener(): void {
  document.querySelector<HTMLElement>(".topbar button")?.focus()
}

interface Ways {
  readonly renaming: Signal<string | null>
  readonly askDelete: (id: string) => void
  readonly save: (id: string, format: ExportFormat) => void
}

function menuItems(id: string, { renaming, askDelete, save }: Ways) {
  return [
    {
      label: "Rename",
      act: () => {
        renaming.value = id
      },
    },
    { label: "Export as Markdown", act: () => save(id, "markdown") },
    { label: "Export as JSONL", act: () => save(id, "jsonl") },
    { label: "Delete…", isGrave: true, act: () => askDelete(id) },
  ]
}
