/**
 * tenant-cards.test.tsx: tenants' cards in the page's DOM: whatever a result contains, their text stays plain text.
 */

import fc from "fast-check"
import { render } from "preact"
import { beforeAll, expect, test } from "vitest"
import { loadCards } from "../../client/cards/card-registry.tsx"
import { renderCard } from "../../client/cards/view/view-card.tsx"
import { ViewNodes } from "../../client/cards/view/view-nodes.tsx"
import { keepView } from "../../client/cards/view/view-source.ts"
import { findEnglishTexts, findTexts, formatLocale, LANGUAGES } from "../../client/words/languages/language.ts"
import { loadTexts } from "../../client/words/languages/load-language.ts"
import { viewText } from "../../client/words/parts/view-text.ts"
import { fillView } from "../../shared/card/view/fill-view.ts"
import { ENGLISH_LABELS } from "../../shared/card/view/view-labels.ts"
import { isJsonObject, type Json } from "../../shared/json.ts"
import { readTemplate, readTemplates } from "../shared/card/card-templates.ts"
import { EVERYTHING, MARKUP, SCRIPTS } from "../shared/card/hostile-corpus.ts"
import { assertProperty } from "../support/seeded.ts"
import { draw, until } from "./dom.ts"

const ENGLISH = { locale: "en", timeZone: "UTC", labels: ENGLISH_LABELS }
const everything = { title: "Everything", view: EVERYTHING } as never

beforeAll(loadCards)

/** Returns all strings in a value. */
function listTexts(value: unknown): string[] {
  if (typeof value === "string") return [value]
  if (Array.isArray(value)) return value.flatMap(listTexts)
  return isJsonObject(value) ? Object.values(value).flatMap(listTexts) : []
}

/** Replaces some values of a sample with hostile ones. */
function replaceSome(value: Json, hostile: Json, dice: Iterator<number>): Json {
  if (dice.next().value === 0) return hostile
  if (Array.isArray(value)) return value.map((item: Json) => replaceSome(item, hostile, dice))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, replaceSome(item as Json, hostile, dice)]))
}

test("[CV8] every text node of a card is a literal, a formatted value of the result, or one of the page's labels", () => {
  const views = [
    ...readTemplates().values(),
    { ...(everything as object), samples: [{ a: "x", n: 1, rows: [{ a: "x" }] }] },
  ]
  const hostile = fc.oneof(fc.constantFrom<Json>(...MARKUP, ...SCRIPTS), fc.string(), fc.double(), fc.jsonValue())
  assertProperty(
    fc.property(fc.constantFrom(...views), hostile, fc.infiniteStream(fc.nat(5)), (view, value, dice) => {
      const { samples } = view as { readonly samples: readonly Json[] }
      const result = replaceSome(samples[0] ?? null, value as Json, dice[Symbol.iterator]())
      const filled = fillView(view as never, result, ENGLISH)
      if (filled === null) return
      const root = draw(<ViewNodes node={filled.root} />)
      const known = new Set(listTexts(filled.root))
      const texts = [...listTextNodes(root)].map((node) => node.data)
      const unknown = texts.filter((text) => !known.has(text) && !isLabel(text) && !/[\d∞]/.test(text))
      expect(unknown).toEqual([])
      expect(root.querySelectorAll("script, iframe, img, object, embed, style, link, base, form").length).toBe(0)
      for (const link of root.querySelectorAll("a")) expect(link.href).toMatch(/^(?:https?:|mailto:|tel:)/)
      render(null, root)
      root.remove()
    }),
    1_000,
  )
})

const TRANSLATIONS = LANGUAGES.filter((language) => language !== "en")

test.each(TRANSLATIONS)("[CV14] [BT10] a list card has the page's labels in %s", async (language) => {
  const list = readTemplate("list")
  const reference = `list@${"0".repeat(32)}`
  keepView(reference, list)
  await loadTexts(language, (texts) => {
    findTexts.value = texts
  })
  formatLocale.value = language
  await until(() => expect(viewText.labels).not.toEqual(ENGLISH_LABELS))
  const { labels } = viewText
  for (const [name, text] of Object.entries(ENGLISH_LABELS))
    expect(labels[name as keyof typeof labels].split("#").length, name).toBe(text.split("#").length)
  const content = { payload: list.samples[0] ?? null, synthesis: "", view: reference, isFresh: false }
  const root = draw(renderCard(content, null))
  const badges = [...root.querySelectorAll(".view-badge")].map((badge) => badge.textContent)
  expect(badges).toEqual([labels.openCount.replace("#", "2"), labels.done, labels.open, labels.open])
  render(null, root)
  root.remove()
  findTexts.value = findEnglishTexts
  formatLocale.value = "en"
})

function* listTextNodes(node: Node): Generator<Text> {
  if (node.nodeType === node.TEXT_NODE) yield node as Text
  for (const child of node.childNodes) yield* listTextNodes(child)
}

/** Whether text is one of the page's labels in charts, images and lists. */
function isLabel(text: string): boolean {
  return /^(?:Image|Image from .*|Load|and|more|Data|Table|Show .*|Label|Value| |NaN|)$/s.test(text.trim())
}
