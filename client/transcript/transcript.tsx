/**
 * transcript.tsx: the messages of a session, oldest first, what is on its way, and the sign that an answer is coming.
 *
 * store, outbox → TRANSCRIPT
 * Live, reload and a second tab draw the same: nothing here remembers how a message came.
 */

import type { ReadonlySignal } from "@preact/signals"
import { effect, signal } from "@preact/signals"
import type { VNode } from "preact"
import { useEffect, useMemo } from "preact/hooks"
import { assetToSegment } from "../../shared/protocol/asset.ts"
import { Lightbox } from "../media/lightbox.tsx"
import { AttachmentsView } from "../media/media-view.tsx"
import { LinkSigner } from "../files/signed-links.ts"
import { type MediaContextValue, MediaContext } from "../media/use-media-source.ts"
import type { OutboxEntry } from "../net/outbox.ts"
import type { TranscriptStore } from "../session/transcript-store.ts"
import { type TranscriptRequests, TranscriptRequestsContext } from "./transcript-requests.ts"
import { copySelection } from "./copy-selection.ts"
import { JumpContext, QuotedMessage } from "./quoted-message.tsx"
import { TranscriptRows } from "./transcript-rows.tsx"
import type { ScrollAnchor } from "./scroll-anchor.ts"
import { TypingIndicator, UnsentMessage } from "./unsent-messages.tsx"

/** Comes with the transcript, because it reads the same Markdown. */
export { createQuote as quoteOf } from "./quoted-message.tsx"
export { segmentsToSpokenText as spokenWords } from "../markdown/markdown-to-text.ts"

interface TranscriptProps {
  readonly store: TranscriptStore
  readonly unsent: ReadonlySignal<readonly OutboxEntry[]>
  readonly scrollAnchor: ScrollAnchor
  /** null: nothing can be asked here. */
  readonly requests: TranscriptRequests | null
  readonly onRetry: (id: string) => void
  readonly onDiscard: (id: string) => void
}

/** Not announced token by token: the announcer speaks finished replies. */
export function Transcript({
  store,
  unsent,
  scrollAnchor: keeper,
  requests: asking,
  onRetry,
  onDiscard,
}: TranscriptProps): VNode {
  const ids = store.messageIds.value
  const entries = unsent.value.filter(({ id }) => !ids.includes(id))
  const isAnswerPending = store.isBusy.value || entries.some(({ error }) => error === null)
  const media = useMemo(() => (asking === null ? null : createMediaContext(asking)), [asking])
  useEffect(() => (media === null || asking === null ? undefined : retryOnReconnect(media, asking)), [media])
  const jump = useMemo(() => (asking === null ? null : createJump(asking, keeper)), [asking, keeper])
  return (
    <TranscriptRequestsContext.Provider value={asking}>
      <MediaContext.Provider value={media}>
        <JumpContext.Provider value={jump}>
          <div
            class="transcript"
            data-transcript=""
            role="log"
            aria-live="off"
            aria-label="Conversation"
            aria-busy={isAnswerPending}
            onCopy={copySelection}
          >
            <TranscriptRows ids={ids} store={store} scrollAnchor={keeper} />
            {entries.map((entry) => (
              <UnsentMessage
                key={entry.id}
                entry={entry}
                quote={entry.reply_to === undefined ? undefined : <QuotedMessage of={entry.reply_to} />}
                files={
                  <AttachmentsView
                    segments={(entry.attachments ?? []).flatMap((asset) => assetToSegment(asset) ?? [])}
                  />
                }
                onRetry={onRetry}
                onDiscard={onDiscard}
              />
            ))}
            {isAnswerPending && <TypingIndicator />}
          </div>
          <Lightbox />
        </JumpContext.Provider>
      </MediaContext.Provider>
    </TranscriptRequestsContext.Provider>
  )
}

function createMediaContext(requests: TranscriptRequests): MediaContextValue {
  const signer = new LinkSigner({
    signUrls: (urls) => requests.signUrls(urls),
    now: Date.now,
    random: Math.random,
    setTimer(ms, call) {
      const timer = setTimeout(call, ms)
      return () => clearTimeout(timer)
    },
  })
  return { signer, settings: requests.settings, reconnectCount: signal(0), lightbox: signal(null) }
}

/** What failed is tried again when the server or the net is back, and until it is drawn no more. */
function retryOnReconnect(
  { signer, reconnectCount: revived }: MediaContextValue,
  { link }: TranscriptRequests,
): () => void {
  const retryFailed = (): void => {
    signer.retryFailed()
    revived.value = revived.peek() + 1
  }
  const disposeEffect = effect(() => {
    if (link.value === "live") retryFailed()
  })
  // A net that is away for a moment takes requests, and leaves the socket.
  addEventListener("online", retryFailed)
  return () => {
    disposeEffect()
    removeEventListener("online", retryFailed)
    signer.stopRetrying()
  }
}

/** How long a message that was jumped to is marked, in milliseconds. */
const HIGHLIGHT_MS = 1600

function createJump(requests: TranscriptRequests, scrollAnchor: ScrollAnchor): (id: string) => Promise<boolean> {
  return async (id) => {
    scrollAnchor.stopFollowing()
    if (!(await requests.loadUntilMessage(id))) return false
    // Once it is drawn, and its place was kept.
    await new Promise((resolve) => setTimeout(resolve, 50))
    const article = scrollAnchor.showMessage(id)
    if (article === null) return false
    article.dataset["marked"] = ""
    setTimeout(() => delete article.dataset["marked"], HIGHLIGHT_MS)
    return true
  }
}
