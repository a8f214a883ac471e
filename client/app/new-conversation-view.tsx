/** new-conversation-view.tsx: the view of a new conversation, until the session for its first message exists. */

import type { ReadonlySignal } from "@preact/signals"
import type { VNode } from "preact"
import { attachmentChips } from "../composer/deferred-chips.ts"
import { Composer } from "../composer/composer.tsx"
import type { SessionRouter } from "../session/session-router.ts"
import { TypingIndicator, UnsentMessage } from "../transcript/unsent-messages.tsx"
import { missingModules } from "../ui/deferred-module.ts"
import { getMainTag } from "../ui/page-root.ts"
import { appText, errorText } from "../words/page-text.ts"
import { HoldStatus, MissingCodeStatus, OfflineStatus, QuietStatus } from "./link-status.tsx"
import { ReadOnlyNote, ReadOnlyStart, sessionActions, ConversationMarks } from "../sidebar/deferred-actions.tsx"
import { PageHeading } from "./top-bar.tsx"
import { Suggestions, WelcomeScreen } from "./welcome-screen.tsx"

interface NewConversationViewProps {
  readonly router: SessionRouter
  readonly isOnline: ReadonlySignal<boolean>
}

export function NewConversationView({ router, isOnline }: NewConversationViewProps): VNode {
  const Main = getMainTag()
  const entry = router.startingEntry.value
  const Switch = sessionActions.module.value?.TemporarySwitch
  const chips = attachmentChips.module.value
  return (
    <>
      <Main class="view">
        <PageHeading router={router} />
        <div class="column">
          {entry === null ? (
            router.isReadOnly.value ? (
              <ReadOnlyStart router={router} />
            ) : (
              <WelcomeScreen />
            )
          ) : (
            <div class="transcript" data-transcript="" role="log" aria-live="off" aria-label={appText.conversation}>
              <UnsentMessage
                entry={entry}
                files={chips !== null && <chips.AttachmentNames assets={entry.attachments} />}
                onRetry={() => router.retryStart()}
                onDiscard={() => router.discardFirstMessage()}
              />
              {entry.error === null && <TypingIndicator />}
            </div>
          )}
        </div>
      </Main>
      <footer class="foot">
        <ConversationMarks router={router} />
        <StartStatus router={router} isOnline={isOnline} />
        {router.isReadOnly.value ? (
          <ReadOnlyNote router={router} />
        ) : (
          <Composer
            canSend={entry === null || entry.error !== null}
            onSend={(content, extras) => router.sendMessage(content, extras)}
            onFiles={entry === null ? (files) => router.attachFiles(files) : undefined}
            stop={null}
            draft={router.draft}
            host={router}
          />
        )}
      </footer>
      {entry === null && !router.isReadOnly.value && (
        <Suggestions onSelect={(prompt) => router.sendMessage(prompt)}>
          {Switch !== undefined && <Switch router={router} />}
        </Suggestions>
      )}
    </>
  )
}

/** What keeps a new conversation from starting. */
function StartStatus({ router, isOnline }: NewConversationViewProps): VNode {
  const { sessionList } = router
  if (!isOnline.value) return <OfflineStatus onRetry={() => router.checkConnections()} />
  if (sessionList.isUnreachable.value)
    return <QuietStatus text={errorText.unreachable} onRetry={() => void sessionList.refresh()} />
  return missingModules.value > 0 ? <MissingCodeStatus /> : <HoldStatus hold={router.api.hold} />
}
