/**
 * logical-styles.test.ts: style sheets follow the direction of the page, and recognise touch screens in only one way.
 */

import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"

const STYLES = "client/styles"
const PHYSICAL =
  /(?:^|[\s;{])(?:left|right|(?:margin|padding|border)-(?:left|right)(?:-\w+)?|border-(?:top|bottom)-(?:left|right)-radius)\s*:|(?:text-align|float|clear):\s*(?:left|right)\b/
/**
 * These style sheets may name left and right: for the alignment of table cells, which is physical in Markdown, for
 * parts of formulas, and for code.
 */
const ALLOWED = new Set(["transcript/tables.css", "transcript/formulas.css", "transcript/tool-calls.css"])

const SHEETS = readdirSync(STYLES, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".css"))
  .map((name) => ({ name, css: readFileSync(join(STYLES, name), "utf8").replace(/\/\*[\s\S]*?\*\//g, "") }))

/** Returns the lines of all style sheets that match a pattern. */
const findLines = (pattern: RegExp): string[] =>
  SHEETS.flatMap(({ name, css }) =>
    css.split("\n").flatMap((line) => (pattern.test(line) ? [`${name}: ${line.trim()}`] : [])),
  )

test("[LG7] no style sheet names left or right, except where that is allowed", () => {
  const lines = findLines(PHYSICAL).filter((line) => !ALLOWED.has(line.slice(0, line.indexOf(":"))))
  expect(lines).toEqual([])
})

// Some phones report that they support hovering, and some computers with a pen report that they don't.
test("[AX9] a touch screen is recognised by its pointer", () => {
  expect(findLines(/@media.*\b(?:any-)?hover:|any-pointer/)).toEqual([])
})
