/**
 * transcript-rows.tsx: the messages themselves, and the reader's place among them while they change.
 *
 * ids → ROWS → one view per message
 * Older pages come above, another version comes instead: what the reader looks at stays where it is, and so does the
 * switch that they used. Source: SPEC PG16, PG23.
 */

import { Component, type ComponentChildren, createRef, type VNode } from "preact"
import type { AgentTag } from "../../shared/protocol/event.ts"
import type { TranscriptStore } from "../session/transcript-store.ts"
import { MessageView } from "./message-view.tsx"
import type { ScrollAnchor } from "./scroll-anchor.ts"

interface TranscriptRowsProps {
  readonly ids: readonly string[]
  readonly store: TranscriptStore
  readonly scrollAnchor: ScrollAnchor
}

/** What is held on to through a change of rows. */
interface ScrollSnapshot {
  /** An article that stays, and where its top was; null where none is in view. */
  readonly id: string | null
  readonly top: number
  /** The switch that has the focus and will go: which, in what place, and where the lower edge of its article was. */
  readonly way: string | null
  readonly after: string | null
  readonly bottom: number
}

/** A class for its snapshot: the place is measured before the rows change, and after. */
export class TranscriptRows extends Component<TranscriptRowsProps> {
  readonly #markerRef = createRef<HTMLSpanElement>()

  override shouldComponentUpdate(next: TranscriptRowsProps): boolean {
    return next.ids !== this.props.ids || next.store !== this.props.store
  }

  override getSnapshotBeforeUpdate(before: TranscriptRowsProps): ScrollSnapshot {
    const staying = new Set(this.props.ids)
    const view = this.props.scrollAnchor.top
    const articles = this.#findArticles()
    const anchorArticle = articles.find(
      (one) => staying.has(getMessageId(one)) && one.getBoundingClientRect().bottom > view,
    )
    const focusedSwitch =
      this.#markerRef.current?.ownerDocument.activeElement?.closest<HTMLElement>(".versions [data-way]")
    const leavingArticle = focusedSwitch?.closest("article") ?? null
    const isLeaving =
      leavingArticle !== null && articles.includes(leavingArticle) && !staying.has(getMessageId(leavingArticle))
    return {
      id: anchorArticle === undefined ? null : getMessageId(anchorArticle),
      top: anchorArticle?.getBoundingClientRect().top ?? 0,
      way: isLeaving ? (focusedSwitch?.dataset["way"] ?? null) : null,
      after: isLeaving ? (before.ids[before.ids.indexOf(getMessageId(leavingArticle)) - 1] ?? null) : null,
      bottom: isLeaving ? leavingArticle.getBoundingClientRect().bottom : 0,
    }
  }

  override componentDidUpdate(_before: TranscriptRowsProps, _state: object, hold: ScrollSnapshot): void {
    const { ids, scrollAnchor: keeper } = this.props
    const articles = this.#findArticles()
    const findArticle = (id: string | undefined) => articles.find((one) => getMessageId(one) === id)
    if (hold.way !== null) {
      const replacement = findArticle(ids[hold.after === null ? 0 : ids.indexOf(hold.after) + 1])
      replacement?.querySelector<HTMLElement>(`.versions [data-way=${hold.way}]`)?.focus({ preventScroll: true })
      if (replacement !== undefined && replacement !== articles.at(-1)) keeper.stopFollowing()
      if (replacement !== undefined) return keeper.shiftBy(hold.bottom, replacement.getBoundingClientRect().bottom)
    }
    const anchorArticle = hold.id === null ? undefined : findArticle(hold.id)
    if (anchorArticle !== undefined) keeper.shiftBy(hold.top, anchorArticle.getBoundingClientRect().top)
  }

  override render({ ids, store }: TranscriptRowsProps): ComponentChildren {
    const isFresh = (id: string, at: number): boolean => store.isFresh(id, at)
    const renderMessage = (id: string): VNode | null => {
      const message = store.getMessageSignal(id)
      return message === undefined ? null : <MessageView key={id} message={message} isFresh={isFresh} />
    }
    const blocks = groupExchanges(ids, (id) => store.getMessageSignal(id)?.peek().agent)
    const rows = blocks.map(({ agent, ids: own }) =>
      agent === null
        ? own.map(renderMessage)
        : [
            <section key={own[0]} class="exchange" aria-label={`Exchange with ${agent.name}`}>
              {own.map(renderMessage)}
            </section>,
          ],
    )
    return [<span ref={this.#markerRef} hidden />, ...rows.flat()]
  }

  #findArticles(): HTMLElement[] {
    return Array.from(this.#markerRef.current?.parentElement?.querySelectorAll<HTMLElement>("article") ?? [])
  }
}

interface ExchangeBlock {
  /** Whose exchange wraps them; null: they stand for themselves. */
  readonly agent: AgentTag | null
  readonly ids: readonly string[]
}

/**
 * What an agent asked, and the answer that goes back to it, are one block. It is there with the question, so that the
 * answer joins it. Pure.
 */
export function groupExchanges(
  ids: readonly string[],
  agentOf: (id: string) => AgentTag | undefined,
): readonly ExchangeBlock[] {
  const blocks: { agent: AgentTag | null; ids: string[] }[] = []
  for (const id of ids) {
    const agent = agentOf(id)
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
