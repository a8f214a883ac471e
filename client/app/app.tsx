/**
 * app.tsx: the page: sidebar, transcript, composer, and the few words about the connection.
 */

import { type ReadonlySignal, type Signal, useComputed, useSignalEffect } from "@preact/signals"
import type { VNode } from "preact"
import { useEffect, useMemo, useRef } from "preact/hooks"
import { AttachmentNames, type Quote } from "../composer/attachment-chips.tsx"
import { DropOverlay } from "../ui/drop-overlay.tsx"
import type { SessionRouter } from "../session/session-router.ts"
import { Composer, focusRequests } from "../composer/composer.tsx"
import type { MessageExtras } from "../net/outbox.ts"
import type { SessionController } from "../session/session-controller.ts"
import { Logo } from "../ui/logo.tsx"
import { NoticeBar } from "./notice.tsx"
import { Sidebar } from "../sidebar/sidebar.tsx"
import type { LinkState } from "../net/socket-link.ts"
import { ScrollAnchor } from "../transcript/scroll-anchor.ts"
import { loadTranscript, transcriptModule } from "../transcript/load-transcript.ts"
import { TypingIndicator, UnsentMessage } from "../transcript/unsent-messages.tsx"

interface AppProps {
  readonly router: SessionRouter
  /** Words of the reply that ended last, for the announcer. */
  readonly announcement: ReadonlySignal<string>
  readonly isDrawerOpen: Signal<boolean>
  readonly isOnline: ReadonlySignal<boolean>
}

export function App({ router: chat, announcement: spoken, isDrawerOpen, isOnline }: AppProps): VNode {
  const controller = chat.controller.value
  return (
    <div class="page">
      <Sidebar router={chat} isOpen={isDrawerOpen} />
      <TopBar router={chat} isDrawerOpen={isDrawerOpen} />
      {controller === null ? (
        <NewConversationView chat={chat} />
      ) : (
        <ConversationView key={controller.id} controller={controller} router={chat} isOnline={isOnline} />
      )}
      <DropOverlay onFiles={(files) => chat.attachFiles(files)} />
      <NoticeBar sessions={chat.sessionList} />
      <p class="unseen" role="status" aria-live="polite">
        {spoken.value}
      </p>
    </div>
  )
}

function TopBar({ router: chat, isDrawerOpen }: Pick<AppProps, "router" | "isDrawerOpen">): VNode {
  const listedTitle = useComputed(() => {
    const id = chat.controller.value?.id
    return chat.sessionList.sessions.value.find((session) => session.id === id)?.title ?? null
  })
  const askingAgent = useComputed(() =>
    listedTitle.value === null ? (chat.controller.value?.store.findAskingAgent() ?? null) : null,
  )
  return (
    <header class="topbar">
      <button
        type="button"
        aria-label="Conversations"
        aria-expanded={isDrawerOpen.value}
        onClick={() => (isDrawerOpen.value = true)}
      >
        <svg viewBox="0 0 20 20" aria-hidden="true">
          <path d="M3.5 6.5h13M3.5 13.5h9" />
        </svg>
      </button>
      {/* An agent's conversation stands in no list: the reader came from the one that it was asked in. */}
      {askingAgent.value !== null && history.length > 1 && (
        <button type="button" aria-label="Back" onClick={() => history.back()}>
          <svg viewBox="0 0 20 20" aria-hidden="true">
            <path d="M12 4.5L6.5 10l5.5 5.5" />
          </svg>
        </button>
      )}
      <h1>{askingAgent.value !== null ? `Asked by ${askingAgent.value}` : listedTitle.value || "Cuecard"}</h1>
      <a href="#/">
        <span class="unseen">New chat</span>
        <svg viewBox="0 0 20 20" aria-hidden="true">
          <path d="M10 4.5v11M4.5 10h11" />
        </svg>
      </a>
    </header>
  )
}

interface ConversationViewProps extends Pick<AppProps, "router" | "isOnline"> {
  readonly controller: SessionController
}

function ConversationView({ controller: room, router: chat, isOnline }: ConversationViewProps): VNode {
  const scrollAnchor = useMemo(() => new ScrollAnchor(() => void room.loadOlder()), [room])
  const viewRef = useRef<HTMLElement>(null)
  const contentRef = useRef<HTMLDivElement>(null)
  const { store, outbox } = room
  const code = transcriptModule.value
  useEffect(loadTranscript, [])
  useEffect(() => {
    room.findReadingMessage = () => scrollAnchor.findReadingMessage()
  }, [room, scrollAnchor])
  useEffect(() => {
    if (viewRef.current === null || contentRef.current === null) return undefined
    return scrollAnchor.attachTo(viewRef.current, contentRef.current)
  }, [scrollAnchor])
  useSignalEffect(() => {
    if (store.changeCount.value > 0 && !room.isLoadingOlder.peek()) scrollAnchor.noteNewContent()
  })
  const sendMessage = (text: string, extras?: MessageExtras): void => {
    chat.sendMessage(text, extras)
    scrollAnchor.scrollToEnd()
  }
  const isLoaded = room.isLoaded.value || outbox.entries.value.length > 0
  const isEmpty = room.isLoaded.value && store.messageIds.value.length === 0 && outbox.entries.value.length === 0
  return (
    <>
      <main class="view" ref={viewRef}>
        <div class="column" ref={contentRef}>
          {store.hasOlder.value && (
            <p class="note older">{room.isLoadingOlder.value ? "Loading older messages…" : ""}</p>
          )}
          {isEmpty && <WelcomeScreen onPick={sendMessage} />}
          {code === null || code === "lost" || !isLoaded ? (
            <p class="note loading">Loading…</p>
          ) : (
            <code.Transcript
              store={store}
              unsent={outbox.entries}
              scrollAnchor={scrollAnchor}
              requests={room}
              onRetry={(id) => room.retrySend(id)}
              onDiscard={(id) => room.discardUnsent(id)}
            />
          )}
        </div>
      </main>
      <footer class="foot">
        <ScrollToEndButton keeper={scrollAnchor} />
        <LinkStatus
          link={code === "lost" ? "outdated" : room.link.value}
          isOnline={isOnline.value}
          wasLoaded={room.isLoaded.value}
        />
        <ConversationComposer controller={room} onSend={sendMessage} onFiles={(files) => chat.attachFiles(files)} />
      </footer>
    </>
  )
}

/** The button will go, so the focus goes to the field. */
function stopAnswer(controller: SessionController): void {
  controller.stopAnswer()
  focusRequests.value++
}

interface ConversationComposerProps {
  readonly controller: SessionController
  readonly onSend: (text: string, extras: MessageExtras) => void
  readonly onFiles: (files: readonly File[]) => void
}

/** The message that is replied to; a message that was withdrawn takes no reply. */
function useReplyQuote({ store, draft }: SessionController): Quote | null {
  const code = transcriptModule.value
  const quoteJson = useComputed(() => {
    const id = draft.replyTo.value
    const message = id === null || !store.messageIds.value.includes(id) ? undefined : store.getMessageSignal(id)?.value
    const { value } = transcriptModule
    return message === undefined || value === null || value === "lost" ? "" : JSON.stringify(value.quoteOf(message))
  }).value
  return quoteJson === "" || code === null ? null : JSON.parse(quoteJson)
}

/** The composer of an open room: it knows what can be stopped. */
function ConversationComposer({ controller: room, onSend, onFiles }: ConversationComposerProps): VNode {
  const { store, commands, draft } = room
  const quote = useReplyQuote(room)
  const canSend = room.link.value !== "gone" && room.link.value !== "outdated"
  const activeTurn = store.activeTurn.value
  const isStopRequested = activeTurn !== null && commands.pending.value.get(activeTurn.id)?.command.type === "cancel"
  return (
    <Composer
      canSend={canSend}
      onSend={onSend}
      stop={activeTurn === null ? null : { isRequested: isStopRequested, onStop: () => stopAnswer(room) }}
      {...{ draft, quote }}
      onFiles={canSend ? onFiles : undefined}
    />
  )
}

function ScrollToEndButton({ keeper: scrollAnchor }: { readonly keeper: ScrollAnchor }): VNode | null {
  if (scrollAnchor.isFollowing.value) return null
  /** The button will go, so the focus goes to the field. */
  const scrollToEnd = (): void => {
    scrollAnchor.scrollToEnd()
    focusRequests.value++
  }
  return (
    <button type="button" class="jump" onClick={scrollToEnd}>
      <svg viewBox="0 0 20 20" aria-hidden="true">
        <path d="M10 4v11.5M5 11l5 5 5-5" />
      </svg>
      {scrollAnchor.hasUnread.value ? "New messages" : "Latest"}
    </button>
  )
}

interface LinkStatusProps {
  readonly link: LinkState
  readonly isOnline: boolean
  /** It was open before it was gone: somebody deleted it. */
  readonly wasLoaded: boolean
}

/** Nothing to say while all is well. */
function LinkStatus({ link, isOnline, wasLoaded: wasThere }: LinkStatusProps): VNode | null {
  if (!isOnline && link !== "outdated" && link !== "gone") {
    return (
      <p class="link" role="status">
        You are offline. What you send goes out when you are back.
      </p>
    )
  }
  switch (link) {
    case "live":
      return null
    case "connecting":
    case "waiting":
      return (
        <p class={`link ${link}`} role="status">
          Reconnecting…
        </p>
      )
    case "outdated":
      return (
        <p class="link" role="alert">
          This page is older than the server.{" "}
          <button type="button" onClick={() => location.reload()}>
            Please reload
          </button>
        </p>
      )
    case "gone":
      return (
        <p class="link" role="alert">
          {wasThere ? "This conversation was deleted." : "There is no such conversation."}{" "}
          <a href="#/">Start a new one</a>
        </p>
      )
  }
}

/** Before the first words, and until the session that they make is there. */
function NewConversationView({ chat: router }: { readonly chat: SessionRouter }): VNode {
  const entry = router.startingEntry.value
  return (
    <>
      <main class="view">
        <div class="column">
          {entry === null ? (
            <WelcomeScreen onPick={(words) => router.sendMessage(words)} />
          ) : (
            <div class="transcript" data-transcript="" role="log" aria-live="off" aria-label="Conversation">
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
          onSend={(words, beside) => router.sendMessage(words, beside)}
          onFiles={entry === null ? (files) => router.attachFiles(files) : undefined}
          stop={null}
          draft={router.draft}
        />
      </footer>
    </>
  )
}

const EXAMPLE_PROMPTS = [
  "What's the weather in London and in Tokyo?",
  "Do I need an umbrella in Bergen tomorrow?",
  "Draw a chart of tea 4, coffee 7, water 9",
  "What can you do?",
]

function WelcomeScreen({ onPick: onSelect }: { readonly onPick: (words: string) => void }): VNode {
  return (
    <section class="welcome">
      <Logo />
      <h2>What would you like to know?</h2>
      <p>Answers arrive with their cards in place, and stay that way.</p>
      <ul>
        {EXAMPLE_PROMPTS.map((prompt) => (
          <li key={prompt}>
            <button
              type="button"
              onClick={() => {
                onSelect(prompt)
                focusRequests.value++
              }}
            >
              {prompt}
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}
