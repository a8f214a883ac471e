/**
 * transcript.tsx: the messages of a session, oldest first, then unsent messages and the indicator of a pending answer.
 *
 * The transcript depends only on the store and the outbox, so it looks the same live, after a reload and in a second
 * tab.
 */

import type { ReadonlySignal, Signal } from "@preact/signals"
import { effect, signal } from "@preact/signals"
import type { ComponentChildren, VNode } from "preact"
import { useEffect, useMemo, useRef, useState } from "preact/hooks"
import { assetToSegment } from "../../shared/protocol/asset.ts"
import { BeforeShowMoreContext } from "../markdown/show-more-button.tsx"
import { lightboxModule } from "../media/loading/deferred-lightbox.ts"
import { mediaViews } from "../media/loading/deferred-media.ts"
import { AttachmentsView } from "../media/media-view.tsx"
import type { MediaSegment } from "../words/media-descriptions.ts"
import { transcriptText } from "../words/transcript-text.ts"
import { answerTools } from "../writing/deferred-writing.ts"
import { MediaContext } from "../media/loading/media-context.ts"
import type { OutboxEntry } from "../net/outbox.ts"
import type { TranscriptStore } from "../session/transcript-store.ts"
import { JumpContext, type TranscriptRequests, TranscriptRequestsContext } from "./transcript-requests.ts"
import { CanvasPanelSlot } from "./canvas/panel-slot.tsx"
import { callViews } from "./calls/deferred-calls.ts"
import { messageEditor } from "./message-view.tsx"
import { messageParts } from "./message/deferred-parts.ts"
import { QuotePlace } from "./message/part-places.tsx"
import { TranscriptRows } from "./transcript-rows.tsx"
import type { ScrollAnchor } from "./scroll-anchor.ts"
import { TypingIndicator, UnsentMessage } from "./unsent-messages.tsx"

/**
 * Re-exported for other parts of the page. Importing these modules directly would make them part of the initial load.
 */
export { messageParts, readSpokenText } from "./message/deferred-parts.ts"
export { ScrollToEndButton } from "./position/scroll-to-end-button.tsx"

/**
 * The number of messages that are rendered before the rest of the first page: about two screens on a desktop computer.
 */
const FIRST_MESSAGES = 10

interface TranscriptProps {
  readonly store: TranscriptStore
  readonly unsent: ReadonlySignal<readonly OutboxEntry[]>
  readonly scrollAnchor: ScrollAnchor
  readonly isOnline: ReadonlySignal<boolean>
  /** Null where nothing can be requested, as in a test. */
  readonly requests: TranscriptRequests | null
  readonly onRetry: (id: string) => void
  readonly onDiscard: (id: string) => void
}

/** The messages of a session. They aren't announced as they grow, because the announcer reads out finished answers. */
export function Transcript(props: TranscriptProps): VNode {
  const { store, unsent, scrollAnchor, isOnline, requests, onRetry, onDiscard } = props
  const ids = store.messageIds.value
  // Unsent messages follow the newest message, so they are shown only with it.
  const entries = store.hasNewer.value ? [] : unsent.value.filter(({ id }) => !ids.includes(id))
  const drawnIds = useNewestFirst(ids, scrollAnchor)
  const isPending = !store.hasNewer.value && (store.isBusy.value || entries.some(({ error }) => error === null))
  const isAnswerPending = useMayExpectAnswer(requests) && isOnline.value && isPending
  const LoadedAnnouncer = callViews.module.value?.ToolAnnouncer
  const LoadedLightbox = lightboxModule.module.value?.Lightbox
  const parts = messageParts.module.value
  const api = requests?.api
  // Loads the remaining code once the transcript has been rendered. A failed load is retried when the page is online
  // again or a message arrives. Without an API, as in a shared copy, nothing can be changed.
  useEffect(() => {
    void messageParts.load()
    void callViews.load()
    void mediaViews.load()
    if (api === undefined) return
    void messageEditor.load()
    void answerTools.load()
  }, [api, isOnline.value, ids.length])
  const writingId = isAnswerPending && store.isBusy.value ? (store.activeTurn.value?.id ?? null) : null
  return (
    <TranscriptContexts requests={requests} scrollAnchor={scrollAnchor}>
      <div
        class="transcript"
        data-transcript=""
        role="log"
        aria-live="off"
        aria-label={transcriptText.conversation}
        aria-busy={isAnswerPending}
        onCopy={mediaViews.module.value?.copySelection}
      >
        <TranscriptRows ids={drawnIds} store={store} scrollAnchor={scrollAnchor} writingId={writingId} />
        {entries.map((entry) => (
          <UnsentMessage
            key={entry.id}
            entry={entry}
            quote={entry.reply_to === undefined ? undefined : <QuotePlace of={entry.reply_to} />}
            files={<AttachmentsView segments={getAttachmentSegments(entry)} />}
            copyTrace={
              parts === null || entry.trace === undefined ? undefined : <parts.CopyTraceButton trace={entry.trace} />
            }
            onRetry={onRetry}
            onDiscard={onDiscard}
          />
        ))}
        {isAnswerPending && writingId === null && <TypingIndicator />}
      </div>
      {LoadedAnnouncer !== undefined && <LoadedAnnouncer store={store} />}
      {LoadedLightbox !== undefined && <LoadedLightbox />}
      <CanvasPanelSlot store={store} />
    </TranscriptContexts>
  )
}

/** Returns only the newest messages in the first render, which is painted before the others are rendered. SPEC PF13. */
function useNewestFirst(ids: readonly string[], scrollAnchor: ScrollAnchor): readonly string[] {
  const [isPartial, setPartial] = useState(ids.length > FIRST_MESSAGES && scrollAnchor.isFollowing.peek())
  scrollAnchor.isPartial = isPartial
  // Effects run after the paint.
  useEffect(() => setPartial(false), [])
  return useMemo(() => (isPartial ? ids.slice(-FIRST_MESSAGES) : ids), [isPartial, ids])
}

/** Returns whether an answer may arrive: the session is live, or is connecting for the first time. */
function useMayExpectAnswer(requests: TranscriptRequests | null): boolean {
  const wasLive = useRef(false)
  const link = requests?.link.value ?? "live"
  if (link === "live") wasLive.current = true
  return link === "live" || (link === "connecting" && !wasLive.current)
}

function getAttachmentSegments({ attachments = [] }: OutboxEntry): readonly MediaSegment[] {
  return attachments.flatMap((asset) => assetToSegment(asset) ?? [])
}

interface TranscriptContextsProps extends Pick<TranscriptProps, "requests" | "scrollAnchor"> {
  readonly children: ComponentChildren
}

function TranscriptContexts({ requests, scrollAnchor, children }: TranscriptContextsProps): VNode {
  const views = mediaViews.module.value
  const media = useMemo(
    () => (requests === null ? null : (views?.createMediaContext(requests) ?? null)),
    [requests, views],
  )
  useEffect(() => (media === null || requests === null ? undefined : views?.retryOnReconnect(media, requests)), [media])
  const jump = useMemo(() => (requests === null ? null : createJump(requests, scrollAnchor)), [requests, scrollAnchor])
  useEffect(() => (jump === null ? undefined : followTarget(jump, requests?.targetId)), [jump])
  const stopFollowing = useMemo(() => () => scrollAnchor.stopFollowing(), [scrollAnchor])
  return (
    <TranscriptRequestsContext.Provider value={requests}>
      <MediaContext.Provider value={media}>
        <JumpContext.Provider value={jump}>
          <BeforeShowMoreContext.Provider value={stopFollowing}>{children}</BeforeShowMoreContext.Provider>
        </JumpContext.Provider>
      </MediaContext.Provider>
    </TranscriptRequestsContext.Provider>
  )
}

/** Scrolls to the message that a link leads to. Returns a function that stops this. */
function followTarget(
  jump: (id: string) => Promise<boolean>,
  target: Signal<string | null> = signal(null),
): () => void {
  return effect(() => {
    const id = target.value
    target.value = null
    if (id !== null) void jump(id)
  })
}

function createJump(requests: TranscriptRequests, scrollAnchor: ScrollAnchor): (id: string) => Promise<boolean> {
  return async (id) => {
    try {
      const { jumpToMessage } = await import("./position/jump-to-message.ts")
      return await jumpToMessage(id, requests, scrollAnchor)
    } catch {
      return false
    }
  }
}
