/**
 * shipped-cards.ts: the templates that built-in tools declare as their cards. Loaded on the first result of such a
 * tool.
 *
 * A message keeps the version of its card. If a template changes, keep the old file and add it to OLD_TEMPLATES.
 */

import calculation from "../../../shared/card/templates/calculation.json"
import list from "../../../shared/card/templates/list.json"
import page from "../../../shared/card/templates/page.json"
import search from "../../../shared/card/templates/search.json"
import timer from "../../../shared/card/templates/timer.json"
import type { Json } from "../../../shared/json.ts"
import { checkValue } from "../../../shared/json-schema/match-schema.ts"
import { MAX_CARD_BYTES } from "../../../shared/limits.ts"
import { countUtf8Bytes } from "../../../shared/truncate.ts"
import { hashTemplate } from "./hash-template.ts"
import oldCalculation from "./old/calculation-in-english.json"
import oldList from "./old/list-in-english.json"
import oldSearch from "./old/search-in-english.json"
import oldTimer from "./old/timer-in-english.json"

const TEMPLATES = { calculation, list, page, search, timer }

/** The name of a template that a built-in tool can declare. */
export type ShippedCard = keyof typeof TEMPLATES

interface ShippedTemplate {
  readonly title: Json
  readonly schema: { readonly [keyword: string]: Json }
  readonly view: readonly Json[]
  readonly actions?: Json
}

/** Templates that earlier versions shipped, each with its name. */
const OLD_TEMPLATES: readonly (readonly [string, unknown])[] = [
  ["calculation", oldCalculation],
  ["list", oldList],
  ["search", oldSearch],
  ["timer", oldTimer],
]

const toTemplate = (file: unknown): ShippedTemplate => file as ShippedTemplate

/** Converts a template to the JSON text that the page draws. A tenant's card is stored in the same form. */
const toView = ({ title, view, actions }: ShippedTemplate): string => JSON.stringify({ title, view, actions })

/**
 * Returns the card's version (`list@<revision>`); null if the result doesn't match the template's schema, or is too
 * large for a card.
 */
export async function findShippedCard(
  name: ShippedCard,
  data: { readonly [key: string]: Json },
): Promise<string | null> {
  const template = toTemplate(TEMPLATES[name])
  if (countUtf8Bytes(JSON.stringify(data)) > MAX_CARD_BYTES || checkValue(template.schema, data) !== null) return null
  return `${name}@${await createRevision(template)}`
}

/** Returns the view of a version of a shipped template; null if there is no such version. */
export async function readShippedView(name: string, revision: string): Promise<string | null> {
  const versions = [...Object.entries(TEMPLATES), ...OLD_TEMPLATES]
  for (const [other, file] of versions) {
    const template = toTemplate(file)
    if (other === name && (await createRevision(template)) === revision) return toView(template)
  }
  return null
}

const revisions = new WeakMap<ShippedTemplate, Promise<string>>()

function createRevision(template: ShippedTemplate): Promise<string> {
  const known = revisions.get(template)
  if (known !== undefined) return known
  const revision = hashTemplate("", toView(template), JSON.stringify(template.schema))
  revisions.set(template, revision)
  return revision
}
