/**
 * choose-result-card.ts: decides whether a tool's result becomes a card in the answer, and which card shows it.
 *
 * result → CHOOSE → the result with its trailer, and the stored `card`
 * A result becomes a card if its trailer contains the call's own tag and its data fits into a card (`resolveCardTag`).
 * Tools whose results a component of the page shows add the trailer themselves. For the others, `addTemplateCard` adds
 * it if the tenant or the tool has a template that matches the data. The model only places the card (SPEC SG3, CV10).
 */

import type { Json } from "../../../shared/json.ts"
import { resolveCardTag } from "../../../shared/protocol/card-cue.ts"
import { describeError, type Log } from "../../platform/log.ts"
import { createCardTrailer, DeferredResult, type Tool, type ToolContext, toolResult, type ToolResult } from "../tool.ts"
import type { ShippedCard } from "./shipped-cards.ts"

/**
 * Finds the version of the card that shows a result (`hits@<revision>`); null if there is none. `shipped`: the template
 * that the tool declares.
 */
export type FindCard = (
  tool: string,
  data: { readonly [key: string]: Json },
  shipped?: ShippedCard,
) => Promise<string | null>

export type ToolOutcome = ToolResult | DeferredResult | { readonly [key: string]: Json }

/** A call whose result may become a card. */
export interface CardCall {
  readonly call: { readonly name: string }
  /** Undefined if the turn has no tool with that name. */
  readonly tool: Tool | undefined
  /** Absent: no tool has a card with a template. */
  readonly findCard?: FindCard | undefined
  readonly log: Log
}

/**
 * Adds a card's trailer to data for which the page has no component, if the tenant has a card for it (SPEC CV10) or the
 * tool declares a template. `view`: the version of that card; null if there is none.
 * If the lookup fails, the error is only logged.
 */
export async function addTemplateCard(
  outcome: ToolOutcome,
  context: ToolContext,
  { call, tool, findCard, log }: CardCall,
): Promise<{ readonly outcome: ToolOutcome; readonly view: string | null }> {
  const isPlain = typeof outcome !== "string" && !(outcome instanceof DeferredResult)
  if (context.card === null || findCard === undefined || !isPlain || Object.hasOwn(outcome, "error"))
    return { outcome, view: null }
  try {
    const shipped = tool?.card === "component" ? undefined : tool?.card
    const view = await findCard(call.name, outcome, shipped)
    return view === null ? { outcome, view } : { outcome: toolResult(context, outcome, createCardTrailer), view }
  } catch (error) {
    log("card_unread", { tool: call.name, error: describeError(error) })
    return { outcome, view: null }
  }
}

/**
 * Returns the `card` that is stored with a call: its tag, followed by the version of the template if there is one
 * (`parseStoredCard`). Null if the result doesn't become a card.
 */
export function chooseResultCard(
  name: string,
  ordinal: number | null,
  result: string,
  view: string | null,
): string | null {
  const tag = resolveCardTag(name, ordinal, result)
  return tag !== null && view !== null ? `${tag} ${view}` : tag
}
