/**
 * card-printer.ts: prints the cards of an export. The templates that a message needs are read before the message is
 * printed.
 */

import { cardToMarkdown } from "../../../shared/card/card-markdown.ts"
import type { CardView } from "../../../shared/card/view/card-template.ts"
import { parseJson } from "../../../shared/json.ts"
import { parseStoredCard } from "../../../shared/protocol/card-cue.ts"
import { parseViewReference, type ViewReference } from "../../../shared/protocol/cards/card-view-url.ts"
import { listCalls, type Message } from "../../../shared/protocol/message.ts"
import type { PrintCard } from "../../../shared/segment/export-markdown.ts"
import type { Env } from "../../env.ts"
import { tenantStub } from "../../platform/rpc/object-stubs.ts"

/** The tenant whose cards an export prints. */
export interface CardOwner {
  readonly env: Env
  readonly tenant: string
}

export interface CardPrinter {
  /** Reads the templates of the message's cards, each once per export. */
  loadViews(message: Message): Promise<void>
  readonly print: PrintCard
}

/**
 * Maximum number of card versions that are read per export. An imported conversation can name more; their cards are
 * printed as JSON.
 */
const MAX_VIEWS = 200

export function createCardPrinter({ env, tenant }: CardOwner): CardPrinter {
  const views = new Map<string, CardView | null>()
  return {
    async loadViews(message) {
      for (const { card } of listCalls(message)) {
        const view = card === null ? null : parseStoredCard(card).view
        if (view === null || views.has(view) || views.size >= MAX_VIEWS) continue
        const reference = parseViewReference(view)
        const text = reference === null ? null : await readView(env, tenant, reference)
        // The server checked the template before storing it.
        views.set(view, text === null ? null : ((parseJson(text) ?? null) as unknown as CardView | null))
      }
    },
    print: (tag, payload, view) => cardToMarkdown(tag, payload, view === undefined ? null : (views.get(view) ?? null)),
  }
}

/** Reads a view; null if the version is no longer stored, or if the tenant's object fails. */
async function readView(env: Env, tenant: string, { name, revision }: ViewReference): Promise<string | null> {
  return await Promise.resolve(tenantStub(env, tenant).getCardView(name, revision)).catch(() => null)
}
