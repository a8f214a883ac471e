/**
 * clean.property.test.ts: tests the sanitiser on generated text by comparing it with a Markdown parser and an HTML
 * parser.
 */

import fc from "fast-check"
import { Parser } from "htmlparser2"
import { Marked, type Token } from "marked"
import { expect, test } from "vitest"
import { type CleanState, clean, createCleaner } from "../../shared/sanitize/clean.ts"
import { splitFences } from "../../shared/text/code-tracker.ts"
import { longText, normalized, shortText } from "../support/model-text.ts"
import { assertProperty, RUNS } from "../support/seeded.ts"

/**
 * Number of runs with text of about MAX_PENDING_CHARS. Each of them takes a hundred times as long as a run with short
 * text, of which there are RUNS.
 */
const LONG_RUNS = RUNS / 10

const cuts = fc.array(fc.nat({ max: 40_000 }), { maxLength: 12 })

function splitAt(text: string, at: readonly number[]): string[] {
  const ends = [...new Set([...at.map((n) => n % (text.length + 1)), text.length])].sort((a, b) => a - b)
  return ends.map((end, i) => text.slice(ends[i - 1] ?? 0, end))
}

function cleanChunks(chunks: readonly string[]): string {
  const cleaner = createCleaner()
  return chunks.map((chunk) => cleaner.push(chunk)).join("") + cleaner.end()
}

function cleanWithRestarts(chunks: readonly string[]): string {
  let cleaner = createCleaner()
  let text = ""
  for (const chunk of chunks) {
    text += cleaner.push(chunk)
    cleaner = createCleaner(JSON.parse(JSON.stringify(cleaner.save())) as CleanState)
  }
  return text + cleaner.end()
}

function listCode(text: string) {
  return splitFences(text).filter((block) => block.type === "code")
}

test("[CL9] however the text is cut, the clean text is the same, even if the cleaner is saved between chunks", () => {
  const createProperty = (text: fc.Arbitrary<string>) =>
    fc.property(text, cuts, (raw, at) => {
      const whole = clean(raw)
      expect(cleanChunks(splitAt(raw, at))).toBe(whole)
      expect(cleanWithRestarts(splitAt(raw, at))).toBe(whole)
    })
  assertProperty(createProperty(shortText))
  assertProperty(createProperty(longText), LONG_RUNS)
})

test("[CL9] single code units give the same clean text", () => {
  assertProperty(
    fc.property(shortText, (raw) => {
      expect(cleanChunks(raw.split(""))).toBe(clean(raw))
    }),
  )
})

test("[CL9] cleaning twice gives the same text as cleaning once", () => {
  const createProperty = (text: fc.Arbitrary<string>) =>
    fc.property(text, (raw) => {
      const once = clean(raw)
      expect(clean(once)).toBe(once)
    })
  assertProperty(createProperty(shortText))
  assertProperty(createProperty(longText), LONG_RUNS)
})

test("[CL10] clean text has the same code blocks as the raw text", () => {
  const createProperty = (text: fc.Arbitrary<string>) =>
    fc.property(text, (raw) => {
      expect(listCode(clean(raw))).toEqual(listCode(normalized(raw)))
    })
  assertProperty(createProperty(shortText))
  assertProperty(createProperty(longText), LONG_RUNS)
})

/** Matches tags that must not remain outside code, because they are not allowed or have attributes. */
const LEFT =
  /<(?!\/?(?:b|i|u|s|em|strong|code|pre|kbd|mark|sub|sup|br|hr|p|ul|ol|li|blockquote|h[1-4]|table|thead|tbody|t[rhd]|span)>|span id=(?<q>['"])[a-z][a-z0-9_]*_\d+\k<q>>|https?:|mailto:|tel:|[^\s<>`]+@)[a-z/!?]/i

test("[CL4] outside code, only allowed tags without attributes remain", () => {
  // Text without backticks and tildes contains no code.
  const words = shortText.map((text) => text.replace(/[`~]/g, ""))
  assertProperty(
    fc.property(words, (raw) => {
      expect(clean(raw)).not.toMatch(LEFT)
    }),
  )
})

test("[CL1] a tag ends where htmlparser2 ends it", () => {
  const parts = ["a", "b=", "=", "'", '"', ">", "/", " ", "\n", "x", "é", "\t", "id='c_1'", "-"]
  const attributes = fc.array(fc.constantFrom(...parts), { maxLength: 14 }).map((all) => all.join(""))
  assertProperty(
    fc.property(attributes, (written) => {
      const raw = `<b ${written}>tail`
      const ends: number[] = []
      const parser = new Parser({ onopentag: () => void ends.push(parser.endIndex + 1) }, { decodeEntities: false })
      parser.write(raw)
      const end = ends[0] ?? -1
      expect(clean(raw)).toBe(end < 0 ? `&lt;${raw.slice(1)}` : `<b>${raw.slice(end)}`)
    }),
  )
})

/** The page's Markdown parser with its default options, except that indented code is not code. */
const markdown = new Marked({ tokenizer: { code: () => undefined } })

function listCodeByMarked(text: string): string[] {
  const found: string[] = []
  const visitToken = (token: Token): void => {
    if (token.type === "code") found.push(token["text"] as string)
    const children: Token[] = (token.type === "list" ? token["items"] : "tokens" in token && token.tokens) || []
    for (const child of children) visitToken(child)
  }
  for (const token of markdown.lexer(text)) visitToken(token)
  return found
}

/**
 * Generates documents of noise and closed fences, separated by blank lines. They exclude the cases in which our fences
 * differ from Markdown on purpose: fences that are not closed, that end because the indentation decreases, or whose
 * closing run is indented further than the opening one. They also exclude noise that begins a list or a quote, because
 * marked adds the following lines to it.
 */
const fenced = fc
  .tuple(
    fc.constantFrom("", "> ", "> > ", "  ", "- ", "1. ", "> - "),
    fc.constantFrom("```", "````", "~~~"),
    fc.array(
      fc.constantFrom(
        "<b x>",
        "</div>",
        "<script>",
        "code",
        "\\<",
        "`",
        "``",
        "  deep",
        "",
        "&lt;",
        "<!--",
        "\u0001",
        "# x",
      ),
      { maxLength: 5 },
    ),
  )
  .map(([head, fence, lines]) => {
    const rest = head.replace(/[-\d.]/g, " ")
    return [`${head}${fence}js`, ...lines.map((line) => rest + line), `${rest}${fence}`].join("\n")
  })
const noise = fc
  .array(
    fc.constantFrom(
      "<b x>",
      "</b>",
      "<div",
      "<div>",
      "</div>",
      "<script>",
      "<!--",
      "-->",
      "<T>",
      "`",
      "``",
      "word",
      " ",
      "\n",
      ">",
      "'",
      '"',
      "<a b='",
      "\\",
    ),
    { maxLength: 8 },
  )
  .map((all) => `x${all.join("")}`.replace(/\n[\s>]*/g, "\ny"))
const documents = fc.array(fc.oneof(fenced, noise), { maxLength: 6 }).map((all) => all.join("\n\n"))

test("[CL10] code that the page's Markdown parser finds in the raw text survives", () => {
  assertProperty(
    fc.property(documents, (raw) => {
      const codeAfter = listCodeByMarked(clean(raw))
      let from = 0
      for (const code of listCodeByMarked(raw)) {
        const at = codeAfter.indexOf(code, from)
        expect(at, code).toBeGreaterThanOrEqual(0)
        from = at + 1
      }
    }),
  )
})
