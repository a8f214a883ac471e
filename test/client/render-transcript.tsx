/** render-transcript.tsx: renders a transcript into the page, and records the user's actions. */

import { signal } from "@preact/signals"
import { vi } from "vitest"
import { Commands } from "../../client/session/commands.ts"
import type { LinkState } from "../../client/net/socket-link.ts"
import { Draft } from "../../client/session/draft.ts"
import type { OutboxEntry } from "../../client/net/outbox.ts"
import { mediaViews } from "../../client/media/loading/deferred-media.ts"
import { TranscriptStore } from "../../client/session/transcript-store.ts"
import { callViews } from "../../client/transcript/calls/deferred-calls.ts"
import { messageParts } from "../../client/transcript/message/deferred-parts.ts"
import { ScrollAnchor } from "../../client/transcript/scroll-anchor.ts"
import { Transcript } from "../../client/transcript/transcript.tsx"
import type { SignResponse, HistoryPage } from "../../shared/protocol/http-body.ts"
import { EMPTY_SETTINGS } from "../../client/net/client-environment.ts"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { draw } from "./dom.ts"

// Loaded first, because the first test would otherwise render the transcript without this code.
await Promise.all([callViews.load(), mediaViews.load(), messageParts.load()])

export const pageOf = (messages: readonly WireMessage[]): HistoryPage => ({
  messages,
  has_more: false,
  epoch: "e",
  seq: 1,
})

export function transcript(messages: readonly WireMessage[], unsent: readonly OutboxEntry[] = []) {
  const store = new TranscriptStore({ scheduleRender: (call) => call(), onMessageEnd() {} })
  store.loadPage(pageOf(messages))
  const commands = new Commands(() => {})
  const draft = new Draft()
  const entries = signal(unsent)
  const scrollAnchor = new ScrollAnchor(() => {})
  const settings = signal(EMPTY_SETTINGS)
  const link = signal<LinkState>("live")
  const isOnline = signal(true)
  const actions = {
    decideApproval: vi.fn(),
    withdrawMessage: vi.fn(),
    regenerateAnswer: vi.fn(),
    retryAnswer: vi.fn(),
    editMessage: vi.fn(),
    cancelEdit: vi.fn((id: string) => commands.pending.peek().get(id)?.isAcknowledged !== true),
    switchVersion: vi.fn(),
    loadUntilMessage: vi.fn(async (id: string) => store.has(id)),
    signUrls: vi.fn(
      async (urls: readonly string[]): Promise<SignResponse> => ({
        signed: urls.map((url) => ({ url, href: `${url}?token=t` })),
        expires: 4e9,
      }),
    ),
  }
  const root = draw(
    <Transcript
      store={store}
      unsent={entries}
      scrollAnchor={scrollAnchor}
      isOnline={isOnline}
      requests={{ id: "s1", store, commands, draft, settings, link, isReadOnly: signal(false), ...actions }}
      onRetry={() => {}}
      onDiscard={() => {}}
    />,
  )
  return {
    store,
    scrollAnchor,
    entries,
    settings,
    link,
    isOnline,
    commands,
    draft,
    actions,
    root,
    log: root.querySelector("[data-transcript]") as HTMLElement,
  }
}
