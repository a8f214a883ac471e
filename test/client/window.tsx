/** window.tsx: a transcript rendered into the page, with the user's actions recorded. */

import { signal } from "@preact/signals"
import { vi } from "vitest"
import { Commands } from "../../client/commands.ts"
import type { LinkState } from "../../client/link.ts"
import { Draft } from "../../client/draft.ts"
import type { Unsent } from "../../client/outbox.ts"
import { TranscriptStore } from "../../client/store.ts"
import { ScrollKeeper } from "../../client/transcript/scroll.ts"
import { Transcript } from "../../client/transcript/transcript.tsx"
import type { SignAnswer } from "../../shared/asset.ts"
import { NO_SETTINGS } from "../../client/media/remote.ts"
import type { HistoryPage, WireMessage } from "../../shared/frame.ts"
import { draw } from "./dom.ts"

export const pageOf = (messages: readonly WireMessage[]): HistoryPage => ({
  messages,
  has_more: false,
  epoch: "e",
  seq: 1,
})

export function transcript(messages: readonly WireMessage[], unsent: readonly Unsent[] = []) {
  const store = new TranscriptStore({ schedule: (call) => call(), ended() {} })
  store.load(pageOf(messages))
  const commands = new Commands(() => {})
  const draft = new Draft()
  const entries = signal(unsent)
  const settings = signal(NO_SETTINGS)
  const link = signal<LinkState>("live")
  const wishes = {
    approve: vi.fn(),
    withdraw: vi.fn(),
    regenerate: vi.fn(),
    retry: vi.fn(),
    edit: vi.fn(),
    giveUpEdit: vi.fn((id: string) => commands.asked.peek().get(id)?.isHeard !== true),
    switchTo: vi.fn(),
    fetchMessage: vi.fn(async (id: string) => store.has(id)),
    sign: vi.fn(
      async (urls: readonly string[]): Promise<SignAnswer> => ({
        signed: urls.map((url) => ({ url, href: `${url}?token=t` })),
        expires: 4e9,
      }),
    ),
  }
  const root = draw(
    <Transcript
      store={store}
      unsent={entries}
      keeper={new ScrollKeeper(() => {})}
      asking={{ store, commands, draft, settings, link, ...wishes }}
      onRetry={() => {}}
      onDiscard={() => {}}
    />,
  )
  return {
    store,
    entries,
    settings,
    link,
    commands,
    draft,
    wishes,
    root,
    log: root.querySelector("[data-transcript]") as HTMLElement,
  }
}
