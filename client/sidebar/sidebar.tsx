/**
 * sidebar.tsx: the list of sessions and what can be done with them: a column on a desktop, a drawer on a phone.
 *
 * All rows share one menu and one dialog. Source: SPEC PG31, PG32.
 */

import { type Signal, useComputed, useSignal } from "@preact/signals"
import type { RefObject, VNode } from "preact"
import { useLayoutEffect, useRef } from "preact/hooks"
import { userMenu } from "../account/deferred-account.ts"
import type { ExportFormat } from "./save-session.ts"
import type { SessionRouter } from "../session/session-router.ts"
import { focusRequests } from "../ui/focus.ts"
import { Logo } from "../ui/logo.tsx"
import { theme, cycleTheme } from "../ui/theme.ts"
import { appText, sidebarText } from "../words/page-text.ts"
import { sessionActions } from "./deferred-actions.tsx"
import { SessionRows } from "./sidebar-rows.tsx"

interface SidebarProps {
  readonly router: SessionRouter
  readonly isOpen: Signal<boolean>
}

export function Sidebar({ router, isOpen }: SidebarProps): VNode {
  const drawer = useDrawer(isOpen)
  const actions = useSessionActions(router, isOpen, drawer)
  const LoadedUserMenu = userMenu.module.value?.UserMenu
  const loaded = sessionActions.module.value
  const closeDrawer = (): void => {
    isOpen.value = false
  }
  return (
    <>
      {isOpen.value && <button type="button" class="veil" aria-label={sidebarText.close} onClick={closeDrawer} />}
      <aside class="sidebar" ref={drawer} tabIndex={-1} data-open={isOpen.value ? "" : undefined}>
        <SidebarHeader isReadOnly={router.isReadOnly.value} />
        <SessionNavigation router={router} actions={actions} />
        <footer>
          {!router.isReadOnly.value && (
            <div class="import-slot">
              {loaded !== null && <loaded.ImportButton router={router} onOpen={closeDrawer} />}
            </div>
          )}
          <button type="button" class="theme" onClick={cycleTheme}>
            {sidebarText.theme} <span>{sidebarText.themes[theme.value]}</span>
          </button>
          <div class="account-slot">{LoadedUserMenu !== undefined && <LoadedUserMenu />}</div>
        </footer>
        {loaded !== null && <loaded.OpenMenu router={router} actions={actions} />}
      </aside>
      {loaded !== null && <loaded.SessionDialog router={router} actions={actions} />}
    </>
  )
}

function SidebarHeader({ isReadOnly }: { readonly isReadOnly: boolean }): VNode {
  return (
    <>
      <p class="brand">
        <Logo /> {appText.name}
      </p>
      {!isReadOnly && (
        <a class="new" href="#/">
          <svg viewBox="0 0 20 20" aria-hidden="true">
            <path d="M10 4.5v11M4.5 10h11" />
          </svg>
          {appText.newConversation}
        </a>
      )}
    </>
  )
}

interface SessionNavigationProps {
  readonly router: SessionRouter
  readonly actions: SessionActions
}

function SessionNavigation({ router, actions }: SessionNavigationProps): VNode {
  const { openedFrom, unlistedId } = router.heading.value
  const openId = useComputed(() => router.controller.value?.id ?? null).value
  const isPointerInside = useSignal(false)
  const LoadedShared = sessionActions.module.value?.SharedSessions
  return (
    <nav
      aria-label={appText.conversations}
      onPointerEnter={(event) => (isPointerInside.value = event.pointerType === "mouse")}
      onPointerLeave={() => (isPointerInside.value = false)}
    >
      {LoadedShared !== undefined && <LoadedShared router={router} openId={openId} />}
      <SessionRows
        sessionList={router.sessionList}
        currentId={openedFrom ?? openId}
        isCurrentOpen={openedFrom === null}
        unlistedId={unlistedId}
        isPointerInside={isPointerInside.value}
        openMenuId={actions.openMenuId}
        onMenu={actions.toggleMenu}
        renamingId={actions.renamingId}
        onRenamed={actions.finishRenaming}
      />
    </nav>
  )
}

/** Above this width the drawer is a column that is always visible (page.css). */
const WIDE = "(min-width: 50.01rem)"

/** Moves the focus into the drawer when it opens, and out of it when it closes. */
function useDrawer(isOpen: Signal<boolean>): RefObject<HTMLElement | null> {
  const drawer = useRef<HTMLElement>(null)
  const wasOpen = useRef(false)
  useLayoutEffect(() => {
    if (isOpen.value) drawer.current?.focus()
    // The focus must not stay in a hidden drawer, nor be lost: what was behind the drawer could not have it.
    else if (wasOpen.current && isFocusFree(drawer.current)) focusDrawerButton()
    wasOpen.current = isOpen.value
  }, [isOpen.value])
  useLayoutEffect(() => {
    const wide = window.matchMedia?.(WIDE)
    const closeDrawer = (): void => {
      if (wide?.matches === true) isOpen.value = false
    }
    wide?.addEventListener("change", closeDrawer)
    return () => wide?.removeEventListener("change", closeDrawer)
  }, [])
  return drawer
}

/** Whether the focus is in the drawer, or nowhere. */
function isFocusFree(drawer: HTMLElement | null): boolean {
  const { activeElement, body } = document
  return activeElement === null || activeElement === body || drawer?.contains(activeElement) === true
}

/** Focuses the button that opens the drawer. A desktop has none. */
function focusDrawerButton(): void {
  document.querySelector<HTMLElement>(".drawer-button")?.focus()
}

export type SessionDialogKind = "delete" | "share"

export interface SessionActions {
  readonly openMenuId: Signal<string | null>
  readonly renamingId: Signal<string | null>
  /** The open dialog, and the session that it is about. */
  readonly dialog: Signal<{ readonly kind: SessionDialogKind; readonly id: string } | null>
  readonly findMenuButton: (id: string) => HTMLElement | null
  readonly toggleMenu: (id: string) => void
  readonly closeMenu: (hasChosen: boolean) => void
  readonly finishRenaming: (id: string, title: string | null, byKeyboard: boolean) => void
  readonly eraseSession: (id: string) => void
  readonly openDialog: (kind: SessionDialogKind, id: string) => void
  readonly exportAs: (id: string, format: ExportFormat) => void
}

/** What the menu, the rename field and the dialog do, and where the focus goes afterwards. */
function useSessionActions(
  router: SessionRouter,
  isOpen: Signal<boolean>,
  drawer: RefObject<HTMLElement | null>,
): SessionActions {
  const openMenuId = useSignal<string | null>(null)
  const renamingId = useSignal<string | null>(null)
  const dialog: SessionActions["dialog"] = useSignal(null)
  const findMenuButton = (id: string): HTMLElement | null =>
    drawer.current?.querySelector<HTMLElement>(`[data-session="${id}"] .more`) ?? null
  return {
    openMenuId,
    renamingId,
    dialog,
    findMenuButton,
    toggleMenu(id) {
      openMenuId.value = openMenuId.peek() === id ? null : id
      void sessionActions.load().then((isLoaded) => {
        if (isLoaded) return
        openMenuId.value = null
        router.sessionList.showNotice(appText.codeMissing, true)
      })
    },
    closeMenu(hasChosen) {
      const id = openMenuId.peek()
      openMenuId.value = null
      if (!hasChosen && id !== null) findMenuButton(id)?.focus()
    },
    finishRenaming(id, title, byKeyboard) {
      renamingId.value = null
      // The row's button exists only after the next render.
      if (byKeyboard) setTimeout(() => findMenuButton(id)?.focus())
      if (title !== null) void router.sessionList.renameSession(id, title)
    },
    eraseSession(id) {
      dialog.value = null
      isOpen.value = false
      void router.eraseSession(id)
      // Wait until the dialog has closed.
      setTimeout(() => focusRequests.value++)
    },
    openDialog(kind, id) {
      // The dialog returns the focus to what had it before, which must not be the closed menu.
      findMenuButton(id)?.focus()
      dialog.value = { kind, id }
    },
    exportAs(id, format) {
      findMenuButton(id)?.focus()
      void sessionActions.module.peek()?.saveSession(router, id, format)
    },
  }
}
