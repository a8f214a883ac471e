/**
 * transcript-rows.tsx: the list of messages, which keeps the reading position when the list changes.
 *
 * When messages are added or dropped, or another version of a message is shown, the message in view doesn't move, and a
 * focused version button keeps the focus. SPEC PG16, PG23, LT2.
 */

import { Component, type ComponentChildren, createRef, type VNode } from "preact"
import type { AgentTag } from "../../shared/protocol/event.ts"
import type { TranscriptStore } from "../session/transcript-store.ts"
import { exchangeText } from "../words/transcript-text.ts"
import { messageParts } from "./message/deferred-parts.ts"
import type { LeavingSwitch } from "./message/version-focus.ts"
import { MessageView } from "./message-view.tsx"
import type { ScrollAnchor } from "./scroll-anchor.ts"
import { TypingIndicator } from "./unsent-messages.tsx"

interface TranscriptRowsProps {
  readonly ids: readonly string[]
  readonly store: TranscriptStore
  readonly scrollAnchor: ScrollAnchor
  /** The answer after which the typing indicator is shown, even if queued messages follow. Null if there is none. */
  readonly writingId: string | null
}

/** The data from which componentDidUpdate restores the scroll position and the focus. */
interface ScrollSnapshot {
  /** The first article in view that isn't removed, and the position of its top; null if there is none. */
  readonly id: string | null
  readonly top: number
  /** Whether the focused element will disappear with its article. */
  readonly isFocusLeaving: boolean
  /** That element's version switch; null if the element isn't a version button. */
  readonly leavingSwitch: LeavingSwitch | null
}

function findFirstInView(
  articles: readonly HTMLElement[],
  stayingIds: ReadonlySet<string>,
  { top }: ScrollAnchor,
): HTMLElement | undefined {
  return articles.find(
    (article) => stayingIds.has(getMessageId(article)) && article.getBoundingClientRect().bottom > top,
  )
}

/** A class component, because only classes can measure the page before an update. */
export class TranscriptRows extends Component<TranscriptRowsProps> {
  readonly #markerRef = createRef<HTMLSpanElement>()

  override shouldComponentUpdate(next: TranscriptRowsProps): boolean {
    const { ids, store, writingId } = this.props
    return next.ids !== ids || next.store !== store || next.writingId !== writingId
  }

  override getSnapshotBeforeUpdate(before: TranscriptRowsProps): ScrollSnapshot {
    const { scrollAnchor } = this.props
    const stayingIds = new Set(this.props.ids)
    const articles = this.#findArticles()
    // A view that follows the end needs no anchor, and measuring would lay out the page once more.
    const anchorArticle = scrollAnchor.isFollowing.peek()
      ? undefined
      : findFirstInView(articles, stayingIds, scrollAnchor)
    const focused = this.#markerRef.current?.ownerDocument.activeElement
    const leavingArticle = focused?.closest("article") ?? null
    const isFocusLeaving =
      leavingArticle !== null && articles.includes(leavingArticle) && !stayingIds.has(getMessageId(leavingArticle))
    return {
      id: anchorArticle === undefined ? null : getMessageId(anchorArticle),
      top: anchorArticle?.getBoundingClientRect().top ?? 0,
      isFocusLeaving,
      leavingSwitch:
        (isFocusLeaving && messageParts.module.peek()?.findLeavingSwitch(focused, leavingArticle, before.ids)) || null,
    }
  }

  override componentDidUpdate(_before: TranscriptRowsProps, _state: object, snapshot: ScrollSnapshot): void {
    const { ids, scrollAnchor } = this.props
    const articles = this.#findArticles()
    const { id, isFocusLeaving, leavingSwitch } = snapshot
    if (isFocusLeaving && leavingSwitch === null) scrollAnchor.focusView()
    if (leavingSwitch?.focusReplacement(ids, articles, scrollAnchor) === true) return
    const anchorArticle = articles.find((article) => getMessageId(article) === id)
    if (anchorArticle !== undefined) scrollAnchor.shiftBy(snapshot.top, anchorArticle.getBoundingClientRect().top)
  }

  override render({ ids, store, writingId }: TranscriptRowsProps): ComponentChildren {
    // A message with the same props as before isn't rendered again.
    const renderMessage = (id: string): VNode | null => {
      const message = store.getMessageSignal(id)
      return message === undefined ? null : <MessageView key={id} message={message} isFresh={store.isFresh} />
    }
    const blocks = groupExchanges(ids, (id) => store.getMessageSignal(id)?.peek().agent)
    const rows = blocks.map(({ agent, ids: blockIds }) => {
      const indicator = writingId !== null && blockIds.includes(writingId) ? <TypingIndicator key="typing" /> : null
      if (agent === null) return [...blockIds.map(renderMessage), indicator]
      return [
        <section key={blockIds[0]} class="exchange" aria-label={exchangeText.exchangeWith(agent.name)}>
          {blockIds.map(renderMessage)}
        </section>,
        indicator,
      ]
    })
    return [<span ref={this.#markerRef} hidden />, ...rows.flat()]
  }

  #findArticles(): HTMLElement[] {
    return Array.from(this.#markerRef.current?.parentElement?.querySelectorAll<HTMLElement>("article") ?? [])
  }
}

interface ExchangeBlock {
  /** The agent of an exchange; null for any other message. */
  readonly agent: AgentTag | null
  readonly ids: readonly string[]
}

/**
 * Groups messages into blocks. A question from another agent and its answer form one block, which exists as soon as the
 * question does, so that the answer joins it without moving anything. Pure.
 */
export function groupExchanges(
  ids: readonly string[],
  getAgent: (id: string) => AgentTag | undefined,
): readonly ExchangeBlock[] {
  const blocks: { agent: AgentTag | null; ids: string[] }[] = []
  for (const id of ids) {
    const agent = getAgent(id)
    const last = blocks.at(-1)
    const isReply = agent?.direction === "sent" && last?.agent?.exchange === agent.exchange && last.ids.length === 1
    if (isReply) last.ids.push(id)
    else blocks.push({ agent: agent?.direction === "received" ? agent : null, ids: [id] })
  }
  return blocks
}

function getMessageId(article: HTMLElement): string {
  return article.dataset["id"] ?? ""
}
