/**
 * top-bar.tsx: the drawer button, the open conversation's title, and a link that starts a new conversation.
 *
 * On desktop it appears only above an agent's conversation, which the list doesn't contain. SPEC PG78.
 */

import type { Signal } from "@preact/signals"
import type { VNode } from "preact"
import type { SessionHeading } from "../session/session-heading.ts"
import type { SessionRouter } from "../session/session-router.ts"
import { appText } from "../words/page-text.ts"

interface TopBarProps {
  readonly router: SessionRouter
  readonly isDrawerOpen: Signal<boolean>
}

/** Returns the title to show; empty for a new conversation and for one without a title. */
export function formatHeading({ title, isAgentSession, askingAgent }: SessionHeading): string {
  if (!isAgentSession) return title ?? ""
  return askingAgent === null ? appText.agentConversation : appText.askedBy(askingAgent)
}

/** The page's heading, for screen readers. The bar is hidden on desktop, so it can't contain the heading. SPEC AX4. */
export function PageHeading({ router }: Pick<TopBarProps, "router">): VNode {
  return <h1 class="visually-hidden">{formatHeading(router.heading.value) || appText.name}</h1>
}

export function TopBar({ router, isDrawerOpen }: TopBarProps): VNode {
  const heading = router.heading.value
  return (
    <header class="topbar" data-agent={heading.isAgentSession ? "" : undefined}>
      <button
        type="button"
        class="drawer-button"
        aria-label={appText.conversations}
        aria-expanded={isDrawerOpen.value}
        onClick={() => (isDrawerOpen.value = true)}
      >
        <svg viewBox="0 0 20 20" aria-hidden="true">
          <path d="M3.5 6.5h13M3.5 13.5h9" />
        </svg>
      </button>
      {/* The user came from the conversation `openedFrom`, so it is the previous entry in the browser's history. */}
      {heading.openedFrom !== null && (
        <button type="button" aria-label={appText.back} onClick={() => history.back()}>
          <svg viewBox="0 0 20 20" aria-hidden="true">
            <path d="M12 4.5L6.5 10l5.5 5.5" />
          </svg>
        </button>
      )}
      <p class="title" dir="auto" aria-hidden="true">
        {formatHeading(heading) || appText.name}
      </p>
      {!router.isReadOnly.value && (
        <a href="#/">
          <span class="visually-hidden">{appText.newConversation}</span>
          <svg viewBox="0 0 20 20" aria-hidden="true">
            <path d="M10 4.5v11M4.5 10h11" />
          </svg>
        </a>
      )}
    </header>
  )
}
