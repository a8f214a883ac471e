/** cards-guide.test.ts: tests that the examples in docs/cards.md are valid. */

import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { checkTemplate } from "../../../shared/card/view/check-template.ts"
import { fillView } from "../../../shared/card/view/fill-view.ts"
import { ENGLISH_LABELS } from "../../../shared/card/view/view-labels.ts"
import { viewToMarkdown } from "../../../shared/card/view/view-markdown.ts"
import type { Json } from "../../../shared/json.ts"

const guide = readFileSync("docs/cards.md", "utf8")

/** Returns the guide's first code block in the given language. */
const readBlock = (language: string): string =>
  new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(guide)?.[1] ?? ""

test("[CV1] the guide's template is valid, and shows what the guide's service returns", async () => {
  const checked = checkTemplate(JSON.parse(readBlock("json")) as Json)
  expect(checked.ok).toBe(true)
  if (!checked.ok) return
  const [, literal = ""] = /const order = (\{[\s\S]*?\n\})/.exec(readBlock("js")) ?? []
  const order = JSON.parse(literal.replace(/(\w+):\s/g, '"$1": ').replace(/,(\s*[}\]])/g, "$1")) as Json
  const filled = fillView(checked.template, order, { locale: "en", timeZone: "UTC", labels: ENGLISH_LABELS })
  expect(filled === null ? "" : viewToMarkdown(filled)).toBe(
    "**Order 1042**\n\n**1042** · **€79.80**\n\n| Item | Count |\n|---|---:|\n| Desk lamp | 2 |",
  )
})
