/** conversation-view.tsx: an open session: its transcript, its connection status, and the composer. */

import { type ReadonlySignal, useComputed, useSignalEffect } from "@preact/signals"
import type { RefObject, VNode } from "preact"
import { useEffect, useMemo, useRef } from "preact/hooks"
import { Composer } from "../composer/composer.tsx"
import type { MessageExtras } from "../net/outbox.ts"
import type { Quote } from "../session/quote.ts"
import type { SessionController } from "../session/session-controller.ts"
import type { SessionRouter } from "../session/session-router.ts"
import { loadTranscript, readingPlace, transcriptModule } from "../transcript/load-transcript.ts"
import { ScrollAnchor } from "../transcript/scroll-anchor.ts"
import { focusRequests } from "../ui/focus.ts"
import { getMainTag } from "../ui/page-root.ts"
import { appText } from "../words/page-text.ts"
import { LinkStatus } from "./link-status.tsx"
import { ReadOnlyNote, ConversationMarks } from "../sidebar/deferred-actions.tsx"
import { PageHeading } from "./top-bar.tsx"
import { Suggestions, WelcomeScreen } from "./welcome-screen.tsx"

interface ConversationViewProps {
  readonly controller: SessionController
  readonly router: SessionRouter
  readonly isOnline: ReadonlySignal<boolean>
}

export function ConversationView({ controller, router, isOnline }: ConversationViewProps): VNode {
  const { scrollAnchor, viewRef, contentRef } = useScrollAnchor(controller)
  const { store } = controller
  const isMissing = useIsMissing(controller)
  const Main = getMainTag()
  const code = transcriptModule.value
  useEffect(() => void loadTranscript(), [isOnline.value])
  const isEmpty = useIsEmpty(controller)
  const sendMessage = (text: string, extras?: MessageExtras): void => {
    router.sendMessage(text, extras)
    scrollAnchor.scrollToEnd()
  }
  return (
    <>
      <Main class="view" ref={viewRef}>
        <PageHeading router={router} />
        <div class="column" ref={contentRef}>
          {store.hasOlder.value && (
            <p class="note older">{controller.history.isLoading.value ? appText.loadingOlder : ""}</p>
          )}
          {(store.hasOlder.value || store.hasNewer.value) && <p class="printed">{appText.printedPartly}</p>}
          <ConversationContent
            controller={controller}
            scrollAnchor={scrollAnchor}
            isOnline={isOnline}
            isEmpty={isEmpty}
          />
        </div>
      </Main>
      <footer class={isMissing || (isOnline.value && code === "failed") ? "foot missing" : "foot"}>
        {code !== null && code !== "failed" && <code.ScrollToEndButton scrollAnchor={scrollAnchor} />}
        <ConversationMarks router={router} />
        <LinkStatus
          link={controller.link.value}
          hold={controller.api.hold}
          isOnline={isOnline.value}
          wasLoaded={controller.isLoaded.value}
          wasLive={controller.wasLive.value}
          onRetry={() => router.checkConnections()}
        />
        {controller.isReadOnly.value ? (
          <ReadOnlyNote router={router} />
        ) : (
          <ConversationComposer
            controller={controller}
            host={router}
            onSend={sendMessage}
            onFiles={(files) => router.attachFiles(files)}
          />
        )}
      </footer>
      {isEmpty && <Suggestions onSelect={sendMessage} />}
    </>
  )
}

/** Whether the conversation has no messages yet, and the user can write one. */
function useIsEmpty({ store, outbox, isLoaded, isReadOnly }: SessionController): boolean {
  const hasMessage = store.messageIds.value.length > 0 || outbox.entries.value.length > 0
  return isLoaded.value && !isReadOnly.value && !hasMessage
}

/** Whether the open conversation doesn't exist. In that case, nothing else is shown. */
function useIsMissing({ link, outbox, isLoaded }: SessionController): boolean {
  return link.value === "gone" && !isLoaded.value && outbox.entries.value.length === 0
}

interface ScrollRefs {
  readonly scrollAnchor: ScrollAnchor
  readonly viewRef: RefObject<HTMLElement | null>
  readonly contentRef: RefObject<HTMLDivElement | null>
}

/** Keeps the reading position when the conversation's content changes. */
function useScrollAnchor(controller: SessionController): ScrollRefs {
  const { history, store } = controller
  const scrollAnchor = useMemo(() => new ScrollAnchor(() => void history.loadOlder(), history), [controller])
  const viewRef = useRef<HTMLElement>(null)
  const contentRef = useRef<HTMLDivElement>(null)
  const code = readingPlace.module.value
  useEffect(() => {
    const [view, content] = [viewRef.current, contentRef.current]
    if (view === null || content === null) return undefined
    return scrollAnchor.attachTo(view, content)
  }, [scrollAnchor])
  useEffect(() => {
    const [view, content] = [viewRef.current, contentRef.current]
    if (code === null || view === null || content === null) return undefined
    return code.attachReadingPlace(controller, scrollAnchor, view, content)
  }, [scrollAnchor, code])
  useSignalEffect(() => {
    if (store.changeCount.value > 0) scrollAnchor.noteNewContent(store.newestIds.at(-1))
  })
  return { scrollAnchor, viewRef, contentRef }
}

interface ConversationContentProps {
  readonly controller: SessionController
  readonly scrollAnchor: ScrollAnchor
  readonly isOnline: ReadonlySignal<boolean>
  readonly isEmpty: boolean
}

function ConversationContent(props: ConversationContentProps): VNode {
  const { controller, scrollAnchor, isOnline, isEmpty } = props
  const { store, outbox } = controller
  const loaded = transcriptModule.value
  const hasUnsent = outbox.entries.value.length > 0
  const isLoaded = controller.isLoaded.value || hasUnsent
  return (
    <>
      {isEmpty && <WelcomeScreen />}
      {loaded === null || loaded === "failed" || !isLoaded ? (
        <LoadingNote
          isOnline={isOnline.value}
          isFinal={controller.link.value === "gone" || (loaded === "failed" && isOnline.value)}
        />
      ) : (
        <>
          {/* The message headings are below this one. SPEC AX4. */}
          <h2 class="visually-hidden">{appText.messages}</h2>
          <loaded.Transcript
            store={store}
            unsent={outbox.entries}
            scrollAnchor={scrollAnchor}
            isOnline={isOnline}
            requests={controller}
            onRetry={(id) => controller.retrySend(id)}
            onDiscard={(id) => controller.discardUnsent(id)}
          />
        </>
      )}
    </>
  )
}

interface LoadingNoteProps {
  readonly isOnline: boolean
  /** True if nothing more will load. The connection status says why. */
  readonly isFinal: boolean
}

function LoadingNote({ isOnline, isFinal }: LoadingNoteProps): VNode | null {
  if (isFinal) return null
  if (!isOnline) return <p class="note loading">{appText.loadsLater}</p>
  return (
    <p class="note loading">
      <span class="visually-hidden">{appText.loading}</span>
      <i />
      <i />
      <i />
    </p>
  )
}

interface ConversationComposerProps {
  readonly controller: SessionController
  readonly host: SessionRouter
  readonly onSend: (text: string, extras: MessageExtras) => void
  readonly onFiles: (files: readonly File[]) => void
}

/** The composer of an open session, with its stop button and reply reference. */
function ConversationComposer({ controller, host, onSend, onFiles }: ConversationComposerProps): VNode {
  const { store, commands, draft, link } = controller
  const quote = useReplyQuote(controller)
  const canSend = link.value !== "gone" && link.value !== "outdated"
  const activeTurn = store.activeTurn.value
  const isStopRequested = activeTurn !== null && commands.pending.value.get(activeTurn.id)?.command.type === "cancel"
  const onStop = (): void => {
    controller.stopAnswer()
    // The stop button disappears, so the focus moves to the composer.
    focusRequests.value++
  }
  return (
    <Composer
      canSend={canSend}
      onSend={onSend}
      stop={activeTurn === null ? null : { isRequested: isStopRequested, onStop }}
      draft={draft}
      host={host}
      quote={quote}
      onFiles={canSend ? onFiles : undefined}
    />
  )
}

/**
 * Returns a quote of the message being replied to; null if there is none, or while the message or code isn't loaded.
 * The quote is kept even after the page has dropped its message, which it does when the message is far from those
 * shown.
 */
function useReplyQuote({ store, draft }: SessionController): Quote | null {
  const known = useMemo(() => new Map<string, string>(), [store])
  // Compared as JSON, so that an equal quote doesn't re-render the composer.
  const quoteJson = useComputed(() => {
    const { value: code } = transcriptModule
    const id = draft.replyTo.value ?? ""
    const message = store.messageIds.value.includes(id) ? store.getMessageSignal(id)?.value : undefined
    const parts = code === null || code === "failed" ? null : code.messageParts.module.value
    if (message !== undefined && parts !== null) known.set(id, JSON.stringify(parts.createQuote(message)))
    return known.get(id) ?? ""
  }).value
  return quoteJson === "" ? null : JSON.parse(quoteJson)
}
