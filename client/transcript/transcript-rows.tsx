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
import type { ScrollKeeper } from "./scroll-anchor.ts"

interface RowsProps {
  readonly ids: readonly string[]
  readonly store: TranscriptStore
  readonly keeper: ScrollKeeper
}

/** What is held on to through a change of rows. */
interface Hold {
  /** An article that stays, and where its top was; null where none is in view. */
  readonly id: string | null
  readonly top: number
  /** The switch that has the focus and will go: which, in what place, and where the lower edge of its article was. */
  readonly way: string | null
  readonly after: string | null
  readonly bottom: number
}

/** A class for its snapshot: the place is measured before the rows change, and after. */
export class Rows extends Component<RowsProps> {
  readonly #mark = createRef<HTMLSpanElement>()

  override shouldComponentUpdate(next: RowsProps): boolean {
    return next.ids !== this.props.ids || next.store !== this.props.store
  }

  override getSnapshotBeforeUpdate(before: RowsProps): Hold {
    const staying = new Set(this.props.ids)
    const view = this.props.keeper.top
    const articles = this.#articles()
    const kept = articles.find((one) => staying.has(idOf(one)) && one.getBoundingClientRect().bottom > view)
    const used = this.#mark.current?.ownerDocument.activeElement?.closest<HTMLElement>(".versions [data-way]")
    const leaving = used?.closest("article") ?? null
    const isLeaving = leaving !== null && articles.includes(leaving) && !staying.has(idOf(leaving))
    return {
      id: kept === undefined ? null : idOf(kept),
      top: kept?.getBoundingClientRect().top ?? 0,
      way: isLeaving ? (used?.dataset["way"] ?? null) : null,
      after: isLeaving ? (before.ids[before.ids.indexOf(idOf(leaving)) - 1] ?? null) : null,
      bottom: isLeaving ? leaving.getBoundingClientRect().bottom : 0,
    }
  }

  override componentDidUpdate(_before: RowsProps, _state: object, hold: Hold): void {
    const { ids, keeper } = this.props
    const articles = this.#articles()
    const find = (id: string | undefined) => articles.find((one) => idOf(one) === id)
    if (hold.way !== null) {
      const heir = find(ids[hold.after === null ? 0 : ids.indexOf(hold.after) + 1])
      heir?.querySelector<HTMLElement>(`.versions [data-way=${hold.way}]`)?.focus({ preventScroll: true })
      if (heir !== undefined && heir !== articles.at(-1)) keeper.letGo()
      if (heir !== undefined) return keeper.keepPlace(hold.bottom, heir.getBoundingClientRect().bottom)
    }
    const kept = hold.id === null ? undefined : find(hold.id)
    if (kept !== undefined) keeper.keepPlace(hold.top, kept.getBoundingClientRect().top)
  }

  override render({ ids, store }: RowsProps): ComponentChildren {
    const isFresh = (id: string, at: number): boolean => store.isFresh(id, at)
    const view = (id: string): VNode | null => {
      const message = store.message(id)
      return message === undefined ? null : <MessageView key={id} message={message} isFresh={isFresh} />
    }
    const blocks = blocksOf(ids, (id) => store.message(id)?.peek().agent)
    const rows = blocks.map(({ agent, ids: own }) =>
      agent === null
        ? own.map(view)
        : [
            <section key={own[0]} class="exchange" aria-label={`Exchange with ${agent.name}`}>
              {own.map(view)}
            </section>,
          ],
    )
    return [<span ref={this.#mark} hidden />, ...rows.flat()]
  }

  #articles(): HTMLElement[] {
    return Array.from(this.#mark.current?.parentElement?.querySelectorAll<HTMLElement>("article") ?? [])
  }
}

interface Block {
  /** Whose exchange wraps them; null: they stand for themselves. */
  readonly agent: AgentTag | null
  readonly ids: readonly string[]
}

/**
 * What an agent asked, and the answer that goes back to it, are one block. It is there with the question, so that the
 * answer joins it. Pure.
 */
export function blocksOf(ids: readonly string[], agentOf: (id: string) => AgentTag | undefined): readonly Block[] {
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

function idOf(article: HTMLElement): string {
  return article.dataset["id"] ?? ""
}
