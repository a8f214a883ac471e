/** top-bar.tsx: on a phone: the drawer button, the open conversation's title, and a link to a new one. */

import { type Signal, useComputed } from "@preact/signals"
import type { VNode } from "preact"
import type { SessionRouter } from "../session/session-router.ts"
import { appText } from "../words/page-text.ts"

interface TopBarProps {
  readonly router: SessionRouter
  readonly isDrawerOpen: Signal<boolean>
}

export function TopBar({ router, isDrawerOpen }: TopBarProps): VNode {
  const listedTitle = useComputed(() => {
    const id = router.controller.value?.id
    return router.sessionList.sessions.value.find((session) => session.id === id)?.title ?? null
  })
  const askingAgent = useComputed(() =>
    listedTitle.value === null ? (router.controller.value?.store.findAskingAgent() ?? null) : null,
  )
  return (
    <header class="topbar">
      <button
        type="button"
        aria-label={appText.conversations}
        aria-expanded={isDrawerOpen.value}
        onClick={() => (isDrawerOpen.value = true)}
      >
        <svg viewBox="0 0 20 20" aria-hidden="true">
          <path d="M3.5 6.5h13M3.5 13.5h9" />
        </svg>
      </button>
      {/* The list doesn't contain agents' conversations, so this leads back to the one in which the agent was asked. */}
      {askingAgent.value !== null && history.length > 1 && (
        <button type="button" aria-label={appText.back} onClick={() => history.back()}>
          <svg viewBox="0 0 20 20" aria-hidden="true">
            <path d="M12 4.5L6.5 10l5.5 5.5" />
          </svg>
        </button>
      )}
      <h1>{askingAgent.value !== null ? appText.askedBy(askingAgent.value) : listedTitle.value || appText.name}</h1>
      <a href="#/">
        <span class="unseen">{appText.newConversation}</span>
        <svg viewBox="0 0 20 20" aria-hidden="true">
          <path d="M10 4.5v11M4.5 10h11" />
        </svg>
      </a>
    </header>
  )
}
