/** widget-conversation.tsx: the page's views of an open and of a new conversation, below a title bar. */

import type { ReadonlySignal } from "@preact/signals"
import type { VNode } from "preact"
import { useEffect } from "preact/hooks"
import { NewConversationView } from "../../client/app/new-conversation-view.tsx"
import { formatHeading } from "../../client/app/top-bar.tsx"
import { attachmentChips } from "../../client/composer/deferred-chips.ts"
import type { SessionRouter } from "../../client/session/session-router.ts"
import { announcement } from "../../client/ui/announcer.ts"
import { deferModule } from "../../client/ui/deferred-module.ts"
import { appText } from "../../client/words/page-text.ts"
import { chooseShellText } from "../shell/shell-text.ts"

export const deferredViews = deferModule(() => import("./deferred-views.tsx"))

/** Loaded after the initial render, because no notice is shown before the user does something. */
export const noticeBar = deferModule(() => import("../../client/app/notice.tsx"))

/** Loaded after the initial render, because no focused element can disappear before the views are shown. */
const focusKeeper = deferModule(() => import("../../client/ui/kept-focus/keep-focus.ts"))

export interface WidgetConversationProps {
  readonly router: SessionRouter
  readonly isOnline: ReadonlySignal<boolean>
  readonly languages: ReadonlySignal<readonly string[]>
  /** Opens a conversation; null for a new one. */
  readonly onOpen: (session: string | null) => void
  /** Closes the panel; null if there is none. */
  readonly onClose: (() => void) | null
}

export function WidgetConversation(props: WidgetConversationProps): VNode {
  const { router, isOnline } = props
  const controller = router.controller.value
  const chips = attachmentChips.module.value
  const views = deferredViews.module.value
  const notices = noticeBar.module.value
  useEffect(() => {
    // If the code can't be loaded, loading is tried again when the page is back online.
    if (controller === null || !isOnline.value) return
    void deferredViews.load()
    void noticeBar.load()
  }, [controller, isOnline.value])
  const keeper = focusKeeper.module.value
  useEffect(() => {
    if (views !== null) void focusKeeper.load()
  }, [views])
  useEffect(() => keeper?.keepFocus(), [keeper])
  return (
    <section class="page widget" aria-label={appText.conversation}>
      <WidgetBar {...props} />
      {controller === null ? (
        <NewConversationView router={router} isOnline={isOnline} />
      ) : (
        views !== null && (
          <views.ConversationView key={controller.id} controller={controller} router={router} isOnline={isOnline} />
        )
      )}
      {chips !== null && !router.isReadOnly.value && (
        <chips.DropOverlay onFiles={(files) => router.attachFiles(files)} />
      )}
      {notices !== null && <notices.NoticeBar sessionList={router.sessionList} />}
      <p class="visually-hidden" role="status" aria-live="polite">
        {announcement.value}
      </p>
    </section>
  )
}

function WidgetBar({ router, languages, onOpen, onClose }: WidgetConversationProps): VNode {
  const heading = router.heading.value
  const { openedFrom } = heading
  const isNew = router.controller.value === null && router.startingEntry.value === null
  return (
    <header class="widget-bar">
      {openedFrom !== null && heading.isAgentSession && (
        <BarButton label={appText.back} path="M12 4.5L6.5 10l5.5 5.5" onClick={() => onOpen(openedFrom)} />
      )}
      <p class="title" aria-hidden="true" dir="auto">
        {formatHeading(heading) || appText.name}
      </p>
      {!router.isReadOnly.value && !isNew && (
        <BarButton label={appText.newConversation} path="M10 4.5v11M4.5 10h11" onClick={() => onOpen(null)} />
      )}
      {onClose !== null && (
        <BarButton label={chooseShellText(languages.value).close} path="M5.5 5.5l9 9M14.5 5.5l-9 9" onClick={onClose} />
      )}
    </header>
  )
}

interface BarButtonProps {
  readonly label: string
  readonly path: string
  readonly onClick: () => void
}

function BarButton({ label, path, onClick }: BarButtonProps): VNode {
  return (
    <button type="button" aria-label={label} onClick={onClick}>
      <svg viewBox="0 0 20 20" aria-hidden="true">
        <path d={path} />
      </svg>
    </button>
  )
}
