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
import { segmentOfAsset } from "../../shared/protocol/asset.ts"
import { Lightbox } from "../media/lightbox.tsx"
import { AttachedMedia } from "../media/media-view.tsx"
import { Signer } from "../files/signed-links.ts"
import { type Media, MediaContext } from "../media/use-media-source.ts"
import type { Unsent } from "../net/outbox.ts"
import type { TranscriptStore } from "../session/transcript-store.ts"
import { type Asking, AskingContext } from "./transcript-requests.ts"
import { copyNames } from "./copy-selection.ts"
import { JumpContext, QuoteView } from "./quoted-message.tsx"
import { Rows } from "./transcript-rows.tsx"
import type { ScrollKeeper } from "./scroll-anchor.ts"
import { Typing, UnsentMessage } from "./unsent-messages.tsx"

/** Comes with the transcript, because it reads the same Markdown. */
export { quoteOf } from "./quoted-message.tsx"
export { spokenWords } from "../markdown/markdown-to-text.ts"

interface TranscriptProps {
  readonly store: TranscriptStore
  readonly unsent: ReadonlySignal<readonly Unsent[]>
  readonly keeper: ScrollKeeper
  /** null: nothing can be asked here. */
  readonly asking: Asking | null
  readonly onRetry: (id: string) => void
  readonly onDiscard: (id: string) => void
}

/** Not announced token by token: the announcer speaks finished replies. */
export function Transcript({ store, unsent, keeper, asking, onRetry, onDiscard }: TranscriptProps): VNode {
  const ids = store.order.value
  const entries = unsent.value.filter(({ id }) => !ids.includes(id))
  const isComing = store.busy.value || entries.some(({ error }) => error === null)
  const media = useMemo(() => (asking === null ? null : mediaOf(asking)), [asking])
  useEffect(() => (media === null || asking === null ? undefined : keepTrying(media, asking)), [media])
  const jump = useMemo(() => (asking === null ? null : jumpIn(asking, keeper)), [asking, keeper])
  return (
    <AskingContext.Provider value={asking}>
      <MediaContext.Provider value={media}>
        <JumpContext.Provider value={jump}>
          <div
            class="transcript"
            data-transcript=""
            role="log"
            aria-live="off"
            aria-label="Conversation"
            aria-busy={isComing}
            onCopy={copyNames}
          >
            <Rows ids={ids} store={store} keeper={keeper} />
            {entries.map((entry) => (
              <UnsentMessage
                key={entry.id}
                entry={entry}
                quote={entry.reply_to === undefined ? undefined : <QuoteView of={entry.reply_to} />}
                files={
                  <AttachedMedia segments={(entry.attachments ?? []).flatMap((asset) => segmentOfAsset(asset) ?? [])} />
                }
                onRetry={onRetry}
                onDiscard={onDiscard}
              />
            ))}
            {isComing && <Typing />}
          </div>
          <Lightbox />
        </JumpContext.Provider>
      </MediaContext.Provider>
    </AskingContext.Provider>
  )
}

function mediaOf(asking: Asking): Media {
  const signer = new Signer({
    sign: (urls) => asking.sign(urls),
    now: Date.now,
    random: Math.random,
    after(ms, call) {
      const timer = setTimeout(call, ms)
      return () => clearTimeout(timer)
    },
  })
  return { signer, settings: asking.settings, revived: signal(0), shown: signal(null) }
}

/** What failed is tried again when the server or the net is back, and until it is drawn no more. */
function keepTrying({ signer, revived }: Media, { link }: Asking): () => void {
  const revive = (): void => {
    signer.retry()
    revived.value = revived.peek() + 1
  }
  const stop = effect(() => {
    if (link.value === "live") revive()
  })
  // A net that is away for a moment takes requests, and leaves the socket.
  addEventListener("online", revive)
  return () => {
    stop()
    removeEventListener("online", revive)
    signer.rest()
  }
}

/** How long a message that was jumped to is marked, in milliseconds. */
const MARKED_MS = 1600

function jumpIn(asking: Asking, keeper: ScrollKeeper): (id: string) => Promise<boolean> {
  return async (id) => {
    keeper.letGo()
    if (!(await asking.fetchMessage(id))) return false
    // Once it is drawn, and its place was kept.
    await new Promise((done) => setTimeout(done, 50))
    const article = keeper.show(id)
    if (article === null) return false
    article.dataset["marked"] = ""
    setTimeout(() => delete article.dataset["marked"], MARKED_MS)
    return true
  }
}
