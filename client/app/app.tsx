/**
 * app.tsx: the page: sidebar, transcript, composer, and the few words about the connection.
 */

import { type ReadonlySignal, type Signal, useComputed, useSignalEffect } from "@preact/signals"
import type { VNode } from "preact"
import { useEffect, useMemo, useRef } from "preact/hooks"
import { FileNames, type Quote } from "../composer/attachment-chips.tsx"
import { DropPlace } from "../ui/drop-overlay.tsx"
import type { Chat } from "../session/session-router.ts"
import { Composer, focusAsked } from "../composer/composer.tsx"
import type { Beside } from "../net/outbox.ts"
import type { Room } from "../session/session-controller.ts"
import { Mark } from "../ui/logo.tsx"
import { NoticeLine } from "./notice.tsx"
import { Sidebar } from "../sidebar/sidebar.tsx"
import type { LinkState } from "../net/socket-link.ts"
import { ScrollKeeper } from "../transcript/scroll-anchor.ts"
import { loadTranscript, transcriptCode } from "../transcript/load-transcript.ts"
import { Typing, UnsentMessage } from "../transcript/unsent-messages.tsx"

interface AppProps {
  readonly chat: Chat
  /** Words of the reply that ended last, for the announcer. */
  readonly spoken: ReadonlySignal<string>
  readonly isDrawerOpen: Signal<boolean>
  readonly isOnline: ReadonlySignal<boolean>
}

export function App({ chat, spoken, isDrawerOpen, isOnline }: AppProps): VNode {
  const room = chat.room.value
  return (
    <div class="page">
      <Sidebar chat={chat} isOpen={isDrawerOpen} />
      <TopBar chat={chat} isDrawerOpen={isDrawerOpen} />
      {room === null ? <NoRoom chat={chat} /> : <OpenRoom key={room.id} room={room} chat={chat} isOnline={isOnline} />}
      <DropPlace onFiles={(files) => chat.attach(files)} />
      <NoticeLine sessions={chat.sessions} />
      <p class="unseen" role="status" aria-live="polite">
        {spoken.value}
      </p>
    </div>
  )
}

function TopBar({ chat, isDrawerOpen }: Pick<AppProps, "chat" | "isDrawerOpen">): VNode {
  const listed = useComputed(() => {
    const id = chat.room.value?.id
    return chat.sessions.list.value.find((session) => session.id === id)?.title ?? null
  })
  const asker = useComputed(() => (listed.value === null ? (chat.room.value?.store.asker() ?? null) : null))
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
      {asker.value !== null && history.length > 1 && (
        <button type="button" aria-label="Back" onClick={() => history.back()}>
          <svg viewBox="0 0 20 20" aria-hidden="true">
            <path d="M12 4.5L6.5 10l5.5 5.5" />
          </svg>
        </button>
      )}
      <h1>{asker.value !== null ? `Asked by ${asker.value}` : listed.value || "Cuecard"}</h1>
      <a href="#/">
        <span class="unseen">New chat</span>
        <svg viewBox="0 0 20 20" aria-hidden="true">
          <path d="M10 4.5v11M4.5 10h11" />
        </svg>
      </a>
    </header>
  )
}

interface OpenRoomProps extends Pick<AppProps, "chat" | "isOnline"> {
  readonly room: Room
}

function OpenRoom({ room, chat, isOnline }: OpenRoomProps): VNode {
  const keeper = useMemo(() => new ScrollKeeper(() => void room.loadOlder()), [room])
  const view = useRef<HTMLElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const { store, outbox } = room
  const code = transcriptCode.value
  useEffect(loadTranscript, [])
  useEffect(() => {
    room.reading = () => keeper.reading()
  }, [room, keeper])
  useEffect(() => {
    if (view.current === null || content.current === null) return undefined
    return keeper.attach(view.current, content.current)
  }, [keeper])
  useSignalEffect(() => {
    if (store.news.value > 0 && !room.loadingOlder.peek()) keeper.noteNews()
  })
  const send = (words: string, beside?: Beside): void => {
    chat.send(words, beside)
    keeper.toEnd()
  }
  const isLoaded = room.loaded.value || outbox.entries.value.length > 0
  const isEmpty = room.loaded.value && store.order.value.length === 0 && outbox.entries.value.length === 0
  return (
    <>
      <main class="view" ref={view}>
        <div class="column" ref={content}>
          {store.hasOlder.value && <p class="note older">{room.loadingOlder.value ? "Loading older messages…" : ""}</p>}
          {isEmpty && <Welcome onPick={send} />}
          {code === null || code === "lost" || !isLoaded ? (
            <p class="note loading">Loading…</p>
          ) : (
            <code.Transcript
              store={store}
              unsent={outbox.entries}
              keeper={keeper}
              asking={room}
              onRetry={(id) => room.retrySend(id)}
              onDiscard={(id) => room.discard(id)}
            />
          )}
        </div>
      </main>
      <footer class="foot">
        <JumpButton keeper={keeper} />
        <LinkLine
          link={code === "lost" ? "outdated" : room.link.value}
          isOnline={isOnline.value}
          wasThere={room.loaded.value}
        />
        <Writer room={room} onSend={send} onFiles={(files) => chat.attach(files)} />
      </footer>
    </>
  )
}

/** The button will go, so the focus goes to the field. */
function stop(room: Room): void {
  room.stop()
  focusAsked.value++
}

interface WriterProps {
  readonly room: Room
  readonly onSend: (words: string, beside: Beside) => void
  readonly onFiles: (files: readonly File[]) => void
}

/** The message that is replied to; a message that was withdrawn takes no reply. */
function useQuote({ store, draft }: Room): Quote | null {
  const code = transcriptCode.value
  const line = useComputed(() => {
    const id = draft.reply.value
    const message = id === null || !store.order.value.includes(id) ? undefined : store.message(id)?.value
    const { value } = transcriptCode
    return message === undefined || value === null || value === "lost" ? "" : JSON.stringify(value.quoteOf(message))
  }).value
  return line === "" || code === null ? null : JSON.parse(line)
}

/** The composer of an open room: it knows what can be stopped. */
function Writer({ room, onSend, onFiles }: WriterProps): VNode {
  const { store, commands, draft } = room
  const quote = useQuote(room)
  const canSend = room.link.value !== "gone" && room.link.value !== "outdated"
  const turn = store.turn.value
  const isAsked = turn !== null && commands.asked.value.get(turn.id)?.command.type === "cancel"
  return (
    <Composer
      canSend={canSend}
      onSend={onSend}
      stop={turn === null ? null : { isAsked, onStop: () => stop(room) }}
      {...{ draft, quote }}
      onFiles={canSend ? onFiles : undefined}
    />
  )
}

function JumpButton({ keeper }: { readonly keeper: ScrollKeeper }): VNode | null {
  if (keeper.following.value) return null
  /** The button will go, so the focus goes to the field. */
  const jump = (): void => {
    keeper.toEnd()
    focusAsked.value++
  }
  return (
    <button type="button" class="jump" onClick={jump}>
      <svg viewBox="0 0 20 20" aria-hidden="true">
        <path d="M10 4v11.5M5 11l5 5 5-5" />
      </svg>
      {keeper.unread.value ? "New messages" : "Latest"}
    </button>
  )
}

interface LinkLineProps {
  readonly link: LinkState
  readonly isOnline: boolean
  /** It was open before it was gone: somebody deleted it. */
  readonly wasThere: boolean
}

/** Nothing to say while all is well. */
function LinkLine({ link, isOnline, wasThere }: LinkLineProps): VNode | null {
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
function NoRoom({ chat }: { readonly chat: Chat }): VNode {
  const entry = chat.starting.value
  return (
    <>
      <main class="view">
        <div class="column">
          {entry === null ? (
            <Welcome onPick={(words) => chat.send(words)} />
          ) : (
            <div class="transcript" data-transcript="" role="log" aria-live="off" aria-label="Conversation">
              <UnsentMessage
                entry={entry}
                files={<FileNames assets={entry.attachments} />}
                onRetry={() => chat.retryStart()}
                onDiscard={() => chat.discardStart()}
              />
              {entry.error === null && <Typing />}
            </div>
          )}
        </div>
      </main>
      <footer class="foot">
        <Composer
          canSend={entry === null || entry.error !== null}
          onSend={(words, beside) => chat.send(words, beside)}
          onFiles={entry === null ? (files) => chat.attach(files) : undefined}
          stop={null}
          draft={chat.draft}
        />
      </footer>
    </>
  )
}

const EXAMPLES = [
  "What's the weather in London and in Tokyo?",
  "Do I need an umbrella in Bergen tomorrow?",
  "Draw a chart of tea 4, coffee 7, water 9",
  "What can you do?",
]

function Welcome({ onPick }: { readonly onPick: (words: string) => void }): VNode {
  return (
    <section class="welcome">
      <Mark />
      <h2>What would you like to know?</h2>
      <p>Answers arrive with their cards in place, and stay that way.</p>
      <ul>
        {EXAMPLES.map((words) => (
          <li key={words}>
            <button
              type="button"
              onClick={() => {
                onPick(words)
                focusAsked.value++
              }}
            >
              {words}
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}
