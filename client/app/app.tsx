/** app.tsx: the chat page: the sidebar, the top bar, and the open or new conversation. */

import type { ReadonlySignal } from "@preact/signals"
import type { VNode } from "preact"
import { attachmentChips } from "../composer/deferred-chips.ts"
import type { SessionRouter } from "../session/session-router.ts"
import type { CommandContext } from "../search/page-commands.ts"
import { searchTools } from "../search/deferred-search.ts"
import { isSettingsOpen, settingsPage } from "../settings/deferred-settings.ts"
import { Sidebar } from "../sidebar/sidebar.tsx"
import { announcement } from "../ui/announcer.ts"
import { focusRequests } from "../ui/focus.ts"
import { appText } from "../words/page-text.ts"
import { ConversationView } from "./conversation-view.tsx"
import { NewConversationView } from "./new-conversation-view.tsx"
import { NoticeBar } from "./notice.tsx"
import { TopBar } from "./top-bar.tsx"

interface AppProps {
  readonly router: SessionRouter
  readonly commandContext: CommandContext
  readonly isOnline: ReadonlySignal<boolean>
}

export function App({ router, commandContext, isOnline }: AppProps): VNode {
  const { isDrawerOpen } = commandContext
  const controller = router.controller.value
  const chips = attachmentChips.module.value
  const search = searchTools.module.value
  const LoadedSettings = settingsPage.module.value?.SettingsPage
  return (
    <div class="page">
      {!isSettingsOpen.value && (
        <button type="button" class="skip" inert={isDrawerOpen.value} onClick={() => focusRequests.value++}>
          {appText.skip}
        </button>
      )}
      <Sidebar router={router} isOpen={isDrawerOpen} />
      {/* Everything behind an open drawer is inert, so the focus stays in the drawer. SPEC AX3. */}
      <div class="behind-drawer" inert={isDrawerOpen.value}>
        {!isSettingsOpen.value && <TopBar router={router} isDrawerOpen={isDrawerOpen} />}
        {search !== null && !isSettingsOpen.value && <search.FindBarSlot router={router} />}
        {isSettingsOpen.value ? (
          LoadedSettings !== undefined && <LoadedSettings router={router} />
        ) : controller === null ? (
          <NewConversationView router={router} isOnline={isOnline} />
        ) : (
          <ConversationView key={controller.id} controller={controller} router={router} isOnline={isOnline} />
        )}
      </div>
      {chips !== null && !router.isReadOnly.value && (
        <chips.DropOverlay onFiles={(files) => router.attachFiles(files)} />
      )}
      {search !== null && <search.SearchDialogs context={commandContext} />}
      <NoticeBar sessionList={router.sessionList} />
      <p class="visually-hidden" role="status" aria-live="polite">
        {announcement.value}
      </p>
    </div>
  )
}
