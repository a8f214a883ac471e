/**
 * code-tracker.test.ts: tests code spans and fences, whole and in chunks, by comparing them with the Markdown parser.
 */

import fc from "fast-check"
import { expect, test } from "vitest"
import { splitCode, splitFences } from "../../shared/text/code-tracker.ts"
import { MAX_PENDING_CHARS } from "../../shared/limits.ts"
import { longText, normalized, shortText } from "../support/model-text.ts"
import { assertProperty, RUNS } from "../support/seeded.ts"

/** Prints blocks on one line. Text is unchanged, code is in brackets, and `…` marks code that is not closed. */
function printBlocks(text: string): string {
  const blocks = splitFences(text).map((block) =>
    block.type === "text" ? block.text : `[${block.info}|${block.text}${block.closed ? "]" : "…]"}`,
  )
  return blocks.join("¦").replaceAll("\n", "⏎")
}

test.each([
  ["a\n```js\nx\n```\nb", "a⏎¦[js|x]¦b"],
  ["~~~ `a` ~\nx\n~~~", "[`a` ~|x]"],
  ["   ````\n  x\n````", "[|x]"],
  ["     ```\nx\n```", "[|x]"],
  ["> ```\n> x\n>  y\n> ```\n> z", "[|x⏎ y]¦> z"],
  ["> > ```\n> > x\n> > ```", "[|x]"],
  ["- ```sh\n  ls\n    a\n  ```\n- b", "- ¦[sh|ls⏎  a]¦- b"],
  ["12) - ```\nx\n```", "12) - ¦[|x]"],
  ["-```\nx", "-```⏎x"],
  ["a ```\nx\n```", "a ```⏎x⏎¦[|…]"],
  ["```a`b\nx", "```a`b⏎x"],
  ["``\nx", "``⏎x"],
  ["\\```\nx", "\\```⏎x"],
  ["1234567890. ```\nx", "1234567890. ```⏎x"],
  ["", ""],
])("[CO1] a fence opens at the start of a line: %j", (text, expected) => {
  expect(printBlocks(text)).toBe(expected)
})

test.each([
  ["```\nx\n````  \ny", "[|x]¦y"],
  ["````\nx\n```\ny", "[|x⏎```⏎y…]"],
  ["```\nx\n~~~", "[|x⏎~~~…]"],
  ["```\nx\n``` y", "[|x⏎``` y…]"],
  ["```\n> ```\nx\n```", "[|> ```⏎x]"],
  ["- ```\n  x\n```\ny", "- ¦[|x]¦y"],
  ["```\nx\n      ```\ny", "[|x]¦y"],
  ["> ```\n> x\ny", "[|x]¦y"],
  ["> ```\n> x\n\ny", "[|x]¦⏎y"],
  ["> > ```\n> > x\n> y", "[|x]¦> y"],
  ["> ```\n> x\n```\ny", "[|x]¦[|y…]"],
  ["> ```\n> > ```\n> ```", "[|> ```]"],
  ["```", "[|…]"],
  ["```\n", "[|…]"],
  ["```\nx\n", "[|x…]"],
  ["```\n```", "[|]"],
])("[CO2] a fence closes at a matching line, or at the end of its quote: %j", (text, expected) => {
  expect(printBlocks(text)).toBe(expected)
})

/** Prints inline code in brackets. */
function printInlineCode(text: string): string {
  return splitCode(text)
    .map((piece) => (piece.code ? `[${piece.text}]` : piece.text))
    .join("")
}

test.each([
  ["a `b` c", "a [`b`] c"],
  ["``a ` b`` c", "[``a ` b``] c"],
  ["`a `` b", "`a `` b"],
  ["`a\nb`", "[`a\nb`]"],
  ["\\`a` b`", "\\`a[` b`]"],
  ["`a\\` b`", "[`a\\`] b`"],
  ["    a `b`", "    a [`b`]"],
  ["`a\n\nb`", "`a\n\nb`"],
  ["`a\n  \nb`", "`a\n  \nb`"],
  ["`a\n> b`", "`a\n> b`"],
  ["`a\n- b`", "`a\n- b`"],
  ["`a\n-b`", "[`a\n-b`]"],
  ["`a\n1. b`", "`a\n1. b`"],
  ["`a\n## b`", "`a\n## b`"],
  ["`a\n##b`", "[`a\n##b`]"],
  ["`a\n* * *\nb`", "`a\n* * *\nb`"],
  ["`a\n**b**`", "[`a\n**b**`]"],
  ["`a\n```\nb`", "`a\n[```\nb`]"],
  ["`a\n```b`c`", "`a\n```b[`c`]"],
  ["```a`\n```b`", "```a`\n```b`"],
  ["```a`b```", "[```a`b```]"],
  ["`a\n~~b`", "[`a\n~~b`]"],
])("[CO3] inline code stays in its paragraph: %j", (text, expected) => {
  expect(printInlineCode(text)).toBe(expected)
})

test("[CO3] inline code is limited to MAX_PENDING_CHARS", () => {
  const createCode = (size: number) => `\`${"x".repeat(size - 2)}\``
  expect(splitCode(createCode(MAX_PENDING_CHARS))).toEqual([{ code: true, text: createCode(MAX_PENDING_CHARS) }])
  expect(splitCode(createCode(MAX_PENDING_CHARS + 1))).toEqual([
    { code: false, text: createCode(MAX_PENDING_CHARS + 1) },
  ])
})

test("[CO1] the line of a backtick fence ends within MAX_PENDING_CHARS of its run", () => {
  const createFence = (size: number) => `\`\`\`${"x".repeat(size - 3)}\ny`
  expect(splitFences(createFence(MAX_PENDING_CHARS)).map((block) => block.type)).toEqual(["code"])
  expect(splitFences(createFence(MAX_PENDING_CHARS + 1)).map((block) => block.type)).toEqual(["text"])
})

const OPENS = /^([ \t>]*(?:(?:[-+*]|\d{1,9}[.)])[ \t][ \t>]*)*)(`{3,}(?=[^`]*$)|~{3,})(.*)$/

interface Found {
  readonly from: number
  to: number
  readonly info: string
  closed: boolean
}

/** Implements CO1 and CO2 literally, line by line and without limits. */
function listFencesByLine(text: string): Found[] {
  const found: Found[] = []
  let fence: { readonly run: string; readonly quotes: number } | null = null
  let at = 0
  for (const row of text.split("\n")) {
    const last = found.at(-1)
    const head = /^[ \t>]*/.exec(row)?.[0] ?? ""
    const quotes = head.split(">").length - 1
    const isLast = at + row.length === text.length
    if (fence !== null && last !== undefined && quotes < fence.quotes && !(isLast && head === row)) {
      fence = null
      last.to = at + head.length
      last.closed = true
    }
    const opens = OPENS.exec(row)
    if (fence !== null && last !== undefined) {
      const run = row.slice(head.length).trimEnd()
      const closes =
        quotes === fence.quotes && run.startsWith(fence.run) && run === fence.run.charAt(0).repeat(run.length)
      last.to = at + row.length
      last.closed = closes
      if (closes) fence = null
    } else if (opens !== null) {
      const [, lead = "", run = "", info = ""] = opens
      fence = { run, quotes: lead.split(">").length - 1 }
      found.push({ from: at + lead.length, to: at + row.length, info: info.trim(), closed: false })
    }
    at += row.length + 1
    const open = found.at(-1)
    if (fence !== null && open !== undefined) open.to = Math.min(at, text.length)
  }
  return found
}

test("[CO1] [CO2] the page and the sanitiser find the same fences as a literal implementation", () => {
  assertProperty(
    fc.property(shortText, (raw) => {
      const text = normalized(raw)
      const found = listFencesByLine(text)
      const blocks = splitFences(text).filter((block) => block.type === "code")
      expect(blocks.map(({ info, closed }) => ({ info, closed }))).toEqual(
        found.map(({ info, closed }) => ({ info, closed })),
      )
      const pieces = new Set<string>()
      let at = 0
      for (const piece of splitCode(text)) {
        if (piece.code) pieces.add(`${at}-${at + piece.text.length}`)
        at += piece.text.length
      }
      expect(at).toBe(text.length)
      for (const { from, to } of found) expect(pieces).toContain(`${from}-${to}`)
    }),
  )
})

test("[CO3] inline code extends from a run to the next run of the same length", () => {
  const createProperty = (text: fc.Arbitrary<string>) =>
    fc.property(text, (raw) => {
      for (const piece of splitCode(normalized(raw))) {
        const run = /^`+/.exec(piece.text)?.[0] ?? ""
        if (!piece.code || run.length > 2 || run === "") continue
        expect(piece.text.length).toBeLessThanOrEqual(MAX_PENDING_CHARS)
        const runs = piece.text.match(/`+/g) ?? []
        expect(runs.map((other) => other.length === run.length).indexOf(true, 1)).toBe(runs.length - 1)
        expect(piece.text).not.toContain("\n\n")
      }
    })
  assertProperty(createProperty(shortText))
  assertProperty(createProperty(longText), RUNS / 10)
})
