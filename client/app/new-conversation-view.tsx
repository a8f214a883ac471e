/** new-conversation-view.tsx: the view before the first message, and until the session for it exists. */

import type { VNode } from "preact"
import { AttachmentNames } from "../composer/attachment-chips.tsx"
import { Composer } from "../composer/composer.tsx"
import type { SessionRouter } from "../session/session-router.ts"
import { TypingIndicator, UnsentMessage } from "../transcript/unsent-messages.tsx"
import { appText } from "../words/page-text.ts"
import { WelcomeScreen } from "./welcome-screen.tsx"

export function NewConversationView({ router }: { readonly router: SessionRouter }): VNode {
  const entry = router.startingEntry.value
  return (
    <>
      <main class="view">
        <div class="column">
          {entry === null ? (
            <WelcomeScreen onSelect={(prompt) => router.sendMessage(prompt)} />
          ) : (
            <div class="transcript" data-transcript="" role="log" aria-live="off" aria-label={appText.conversation}>
              <UnsentMessage
                entry={entry}
                files={<AttachmentNames assets={entry.attachments} />}
                onRetry={() => router.retryStart()}
                onDiscard={() => router.discardStart()}
              />
              {entry.error === null && <TypingIndicator />}
            </div>
          )}
        </div>
      </main>
      <footer class="foot">
        <Composer
          canSend={entry === null || entry.error !== null}
          onSend={(content, extras) => router.sendMessage(content, extras)}
          onFiles={entry === null ? (files) => router.attachFiles(files) : undefined}
          stop={null}
          draft={router.draft}
        />
      </footer>
    </>
  )
}
