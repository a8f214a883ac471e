/**
 * transcript.tsx: the messages of a session, oldest first, what is on its way, and the sign that an answer is coming.
 *
 * store, outbox → TRANSCRIPT
 * Live, reload and a second tab draw the same: nothing here remembers how a message came.
 */

import type { ReadonlySignal } from "@preact/signals"
import { Component, type ComponentChildren, createRef, type VNode } from "preact"
import type { Unsent } from "../outbox.ts"
import type { TranscriptStore } from "../store.ts"
import { MessageView } from "./message.tsx"
import type { ScrollKeeper } from "./scroll.ts"
import { Typing, UnsentMessage } from "./unsent.tsx"

/** Comes with the transcript, because it reads the same Markdown. */
export { spokenWords } from "../markdown/words.ts"

interface TranscriptProps {
  readonly store: TranscriptStore
  readonly unsent: ReadonlySignal<readonly Unsent[]>
  readonly keeper: ScrollKeeper
  readonly onRetry: (id: string) => void
  readonly onDiscard: (id: string) => void
}

/** Not announced token by token: the announcer speaks finished replies. */
export function Transcript({ store, unsent, keeper, onRetry, onDiscard }: TranscriptProps): VNode {
  const ids = store.order.value
  const entries = unsent.value.filter(({ id }) => !ids.includes(id))
  const isComing = store.busy.value || entries.some(({ error }) => error === null)
  return (
    <div
      class="transcript"
      data-transcript=""
      role="log"
      aria-live="off"
      aria-label="Conversation"
      aria-busy={isComing}
    >
      <Rows ids={ids} store={store} keeper={keeper} />
      {entries.map((entry) => (
        <UnsentMessage key={entry.id} entry={entry} onRetry={onRetry} onDiscard={onDiscard} />
      ))}
      {isComing && <Typing />}
    </div>
  )
}

interface RowsProps {
  readonly ids: readonly string[]
  readonly store: TranscriptStore
  readonly keeper: ScrollKeeper
}

/** A class for its snapshot: what stood first is measured before an older page goes above it, and after. */
class Rows extends Component<RowsProps> {
  readonly #mark = createRef<HTMLSpanElement>()

  override shouldComponentUpdate(next: RowsProps): boolean {
    return next.ids !== this.props.ids || next.store !== this.props.store
  }

  override getSnapshotBeforeUpdate(before: RowsProps): number | null {
    return this.#topOf(before.ids[0])
  }

  override componentDidUpdate(before: RowsProps, _state: object, top: number | null): void {
    const first = before.ids[0]
    if (top === null || first === this.props.ids[0]) return
    const now = this.#topOf(first)
    if (now !== null) this.props.keeper.keepPlace(top, now)
  }

  override render({ ids, store }: RowsProps): ComponentChildren {
    const isFresh = (id: string, at: number): boolean => store.isFresh(id, at)
    const rows = ids.map((id) => {
      const message = store.message(id)
      return message === undefined ? null : <MessageView key={id} message={message} isFresh={isFresh} />
    })
    return [<span ref={this.#mark} hidden />, ...rows]
  }

  #topOf(id: string | undefined): number | null {
    if (id === undefined) return null
    const articles = this.#mark.current?.parentElement?.children ?? []
    const article = Array.from(articles).find((one) => one.getAttribute("data-id") === id)
    return article?.getBoundingClientRect().top ?? null
  }
}
