/**
 * top-bar.tsx: the header: the title of the open conversation and its menu. On narrow screens, it also has the drawer
 * button and a link that starts a new conversation. Source: SPEC PG78, VD4.
 */

import { type Signal, useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { useRef } from "preact/hooks"
import type { SessionHeading } from "../session/session-heading.ts"
import type { SessionRouter } from "../session/session-router.ts"
import { deferModule } from "../ui/deferred-module.ts"
import { appText, conversationText } from "../words/page-text.ts"

/** Loaded when the menu is first opened. */
const headerMenu = /* @__PURE__ */ deferModule(() => import("./header-menu.tsx"))

interface TopBarProps {
  readonly router: SessionRouter
  readonly isDrawerOpen: Signal<boolean>
}

/** Returns the title to show; empty for a new conversation and for one without a title. */
export function formatHeading({ title, isAgentSession, askingAgent }: SessionHeading): string {
  if (!isAgentSession) return title ?? ""
  return askingAgent === null ? appText.agentConversation : appText.askedBy(askingAgent)
}

/**
 * The page's heading for screen readers. It isn't part of the top bar, which shows no title while the title is edited
 * or, on a desktop screen, above a new conversation. SPEC AX4.
 */
export function PageHeading({ router }: Pick<TopBarProps, "router">): VNode {
  return <h1 class="visually-hidden">{formatHeading(router.heading.value) || appText.name}</h1>
}

export function TopBar({ router, isDrawerOpen }: TopBarProps): VNode {
  const heading = router.heading.value
  const isRenaming = useSignal(false)
  const title = formatHeading(heading)
  const LoadedTitleField = headerMenu.module.value?.TitleField
  const id = router.controller.value?.id
  return (
    <header class="topbar" data-untitled={title === "" ? "" : undefined}>
      <button
        type="button"
        class="drawer-button"
        aria-label={appText.conversations}
        aria-expanded={isDrawerOpen.value}
        onClick={() => (isDrawerOpen.value = true)}
      >
        <Icon path="M3.5 6.5h13M3.5 13.5h9" />
      </button>
      {/* The user came from the conversation `openedFrom`, so it is the previous entry in the browser's history. */}
      {heading.openedFrom !== null && (
        <button type="button" class="back" aria-label={appText.back} onClick={() => history.back()}>
          <Icon path="M12 4.5L6.5 10l5.5 5.5" />
        </button>
      )}
      {isRenaming.value && id !== undefined && LoadedTitleField !== undefined ? (
        <LoadedTitleField key={id} router={router} id={id} onDone={() => (isRenaming.value = false)} />
      ) : (
        <p class="title" dir="auto" aria-hidden="true">
          {title || appText.name}
        </p>
      )}
      {id !== undefined && heading.title !== null && (
        <HeaderMenuButton key={id} router={router} id={id} isRenaming={isRenaming} />
      )}
      {heading.agent !== undefined && (
        <span class="agent" dir="auto">
          {heading.agent}
        </span>
      )}
      {!router.isReadOnly.value && (
        <a href="#/">
          <span class="visually-hidden">{appText.newConversation}</span>
          <Icon path="M10 4.5v11M4.5 10h11" />
        </a>
      )}
    </header>
  )
}

function Icon({ path }: { readonly path: string }): VNode {
  return (
    <svg viewBox="0 0 20 20" aria-hidden="true">
      <path d={path} />
    </svg>
  )
}

interface HeaderMenuButtonProps {
  readonly router: SessionRouter
  readonly id: string
  readonly isRenaming: Signal<boolean>
}

function HeaderMenuButton({ router, id, isRenaming }: HeaderMenuButtonProps): VNode {
  const isOpen = useSignal(false)
  const button = useRef<HTMLButtonElement>(null)
  const LoadedMenu = headerMenu.module.value?.HeaderMenu
  const toggle = (): void => {
    isOpen.value = !isOpen.value
    void headerMenu.load().then((isLoaded) => {
      if (isLoaded) return
      isOpen.value = false
      router.sessionList.showNotice(appText.codeMissing, true)
    })
  }
  return (
    <>
      <button
        type="button"
        class="title-menu"
        ref={button}
        aria-label={conversationText.optionsFor(formatHeading(router.heading.value))}
        aria-haspopup="menu"
        aria-expanded={isOpen.value}
        onClick={toggle}
      >
        <Icon path="M5.5 8l4.5 4.5 4.5-4.5" />
      </button>
      {LoadedMenu !== undefined && (
        <LoadedMenu router={router} id={id} button={button} isOpen={isOpen} isRenaming={isRenaming} />
      )}
    </>
  )
}
