/**
 * sidebar.tsx: the list of sessions and their actions: a column on desktop, a drawer on a phone.
 *
 * All rows share one menu and one dialog. Source: SPEC PG31, PG32.
 */

import { type Signal, useComputed, useSignal } from "@preact/signals"
import type { RefObject, VNode } from "preact"
import { useLayoutEffect, useRef } from "preact/hooks"
import { userMenu } from "../account/deferred-account.ts"
import { isShared } from "../net/api.ts"
import { searchTools } from "../search/deferred-search.ts"
import { openSearchDialog } from "../search/open-dialog.ts"
import type { SessionRouter } from "../session/session-router.ts"
import { Logo } from "../ui/logo.tsx"
import { appText } from "../words/page-text.ts"
import { sidebarText } from "../words/parts/sidebar-text.ts"
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
      {isOpen.value && <button type="button" class="backdrop" aria-label={sidebarText.close} onClick={closeDrawer} />}
      <aside class="sidebar" ref={drawer} tabIndex={-1} data-open={isOpen.value ? "" : undefined}>
        {loaded !== null && <loaded.HideSidebarButton isOpen={isOpen} />}
        <SidebarHeader isReadOnly={router.isReadOnly.value} />
        <SearchButton router={router} />
        <SessionNavigation router={router} actions={actions} />
        <footer>
          {!router.isReadOnly.value && (
            <div class="import-slot">
              {loaded !== null && <loaded.ImportButton router={router} onOpen={closeDrawer} />}
            </div>
          )}
          <a class="to-settings" href="#/settings">
            <svg viewBox="0 0 20 20" aria-hidden="true">
              <path d="M4 7h12M4 13h12M8 5v4M12 11v4" />
            </svg>
            {sidebarText.settings}
          </a>
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

/** The button that opens the palette. */
function SearchButton({ router }: { readonly router: SessionRouter }): VNode {
  const openPalette = (): void => {
    openSearchDialog.value = "palette"
    void searchTools.load().then((isLoaded) => {
      if (isLoaded) return
      openSearchDialog.value = null
      router.sessionList.showNotice(appText.codeMissing, true)
    })
  }
  return (
    <button
      type="button"
      class="search"
      aria-haspopup="dialog"
      aria-keyshortcuts="Control+K Meta+K"
      onClick={openPalette}
    >
      <svg viewBox="0 0 20 20" aria-hidden="true">
        <path d="M8.8 14.1a5.3 5.3 0 1 0 0-10.6 5.3 5.3 0 0 0 0 10.6zM12.7 12.7l4 4" />
      </svg>
      {sidebarText.search}
    </button>
  )
}

interface SessionNavigationProps {
  readonly router: SessionRouter
  readonly actions: SessionActions
}

function SessionNavigation({ router, actions }: SessionNavigationProps): VNode {
  const { openedFrom } = router.heading.value
  const openId = useComputed(() => router.controller.value?.id ?? null).value
  const isPointerInside = useSignal(false)
  const loaded = sessionActions.module.value
  return (
    <nav
      aria-label={appText.conversations}
      onPointerEnter={(event) => (isPointerInside.value = event.pointerType === "mouse")}
      onPointerLeave={() => (isPointerInside.value = false)}
    >
      {loaded !== null && <loaded.SharedSessions router={router} openId={openId} actions={actions} />}
      <SessionRows
        router={router}
        emptyText={describeEmptyList(router)}
        currentId={openedFrom ?? openId}
        isCurrentOpen={openedFrom === null}
        unlistedId={findUnlisted(router)}
        isPointerInside={isPointerInside.value}
        actions={actions}
        onRenamed={(...result) => loaded?.finishRenaming(router, actions, ...result)}
      />
    </nav>
  )
}

/** Returns the id of the open session if it is the user's own and not in the list yet. */
function findUnlisted({ heading, controller }: SessionRouter): string | null {
  const { title, isAgentSession } = heading.value
  const open = controller.value
  const isUnlisted = title === null && !isAgentSession && open?.isLoaded.value === true && !isShared(open.id)
  return isUnlisted ? open.id : null
}

/** Returns the text of an empty list. There is none while the tenant is leaving. */
function describeEmptyList(router: SessionRouter): string {
  if (router.settings.value.erases_at !== undefined) return ""
  return router.isReadOnly.value ? sidebarText.emptyForViewer : sidebarText.empty
}

/** At this width, the sidebar is a column of the page instead of a drawer (page.css). */
const WIDE = "(min-width: 50.01rem)"

/** Moves the focus into the drawer when it opens, and out of it when it closes. */
function useDrawer(isOpen: Signal<boolean>): RefObject<HTMLElement | null> {
  const drawer = useRef<HTMLElement>(null)
  const wasOpen = useRef(false)
  useLayoutEffect(() => {
    if (isOpen.value) drawer.current?.focus()
    // The focus must not remain in the hidden drawer or get lost.
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

/** Whether the focus is in the drawer, or no element has focus. */
function isFocusFree(drawer: HTMLElement | null): boolean {
  const { activeElement, body } = document
  return activeElement === null || activeElement === body || drawer?.contains(activeElement) === true
}

/** Focuses the button that opens the drawer. Does nothing on a desktop screen, where that button doesn't exist. */
function focusDrawerButton(): void {
  document.querySelector<HTMLElement>(".drawer-button")?.focus()
}

export type SessionDialogKind = "move" | "share"

/** The open menu, field and dialog. Their commands are in menu-commands.ts. */
export interface SessionActions {
  readonly openMenuId: Signal<string | null>
  readonly renamingId: Signal<string | null>
  /** The open dialog, and the session that it is about. */
  readonly dialog: Signal<{ readonly kind: SessionDialogKind; readonly id: string } | null>
  readonly isDrawerOpen: Signal<boolean>
  readonly findMenuButton: (id: string) => HTMLElement | null
  readonly toggleMenu: (id: string) => void
}

function useSessionActions(
  { sessionList }: SessionRouter,
  isDrawerOpen: Signal<boolean>,
  drawer: RefObject<HTMLElement | null>,
): SessionActions {
  const openMenuId = useSignal<string | null>(null)
  const renamingId = useSignal<string | null>(null)
  const dialog: SessionActions["dialog"] = useSignal(null)
  return {
    openMenuId,
    renamingId,
    dialog,
    isDrawerOpen,
    findMenuButton: (id) => drawer.current?.querySelector<HTMLElement>(`[data-session="${id}"] .more`) ?? null,
    toggleMenu(id) {
      openMenuId.value = openMenuId.peek() === id ? null : id
      void sessionActions.load().then((isLoaded) => {
        if (isLoaded) return
        openMenuId.value = null
        sessionList.showNotice(appText.codeMissing, true)
      })
    },
  }
}
