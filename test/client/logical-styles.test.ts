/** logical-styles.test.ts: style sheets that follow the direction of the page. */

import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"

const STYLES = "client/styles"
const PHYSICAL =
  /(?:^|[\s;{])(?:left|right|(?:margin|padding|border)-(?:left|right)(?:-\w+)?|border-(?:top|bottom)-(?:left|right)-radius)\s*:|(?:text-align|float|clear):\s*(?:left|right)\b/
/** A table cell's alignment, which Markdown names physically, a part of a formula, and code. */
const ALLOWED = new Set(["transcript/prose.css", "transcript/formulas.css", "transcript/tool-calls.css"])

test("[LG7] no style sheet names left or right", () => {
  const sheets = readdirSync(STYLES, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".css"))
  const lines = sheets.flatMap((name) =>
    ALLOWED.has(name)
      ? []
      : readFileSync(join(STYLES, name), "utf8")
          .replace(/\/\*[\s\S]*?\*\//g, "")
          .split("\n")
          .flatMap((line) => (PHYSICAL.test(line) ? [`${name}: ${line.trim()}`] : [])),
  )
  expect(lines).toEqual([])
})
