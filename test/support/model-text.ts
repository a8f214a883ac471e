/**
 * model-text.ts: generates malformed and hostile model text for property tests.
 *
 * The text combines fragments of Markdown and HTML that open, close and interrupt each other. Some samples use only a
 * few fragments, so that these often meet, and some contain runs of about MAX_PENDING_CHARS.
 */

import fc from "fast-check"

const PIECES = [
  "`",
  "``",
  "```",
  "````",
  "~",
  "~~~",
  "~~~~",
  "\\",
  "\\\\",
  "\\`",
  "\\<",
  "|",
  "_",
  "&",
  "&lt;",
  "\n",
  "\n\n",
  "\r\n",
  "\r",
  " ",
  "  ",
  "\t",
  "    ",
  "> ",
  ">",
  "- ",
  "-",
  "* ",
  "+ ",
  "1. ",
  "12) ",
  "# ",
  "---",
  "***",
  "a",
  "b c",
  "x",
  "é",
  "js",
  "id=",
  "'",
  '"',
  "=",
  "/",
  "!",
  "?",
  "<",
  "</",
  "1",
  ".",
  "<b>",
  "</b>",
  "<b class='x'>",
  "<br/>",
  "<font>",
  "<font\n>",
  "<font\nx",
  "</font>",
  "<div\n\n>",
  '<a b="',
  "<a b='",
  "<span id='a_1'>",
  '<span id="b_2" class=c>',
  "<span>",
  "</span>",
  "</SPAN>",
  "<span id='",
  "<span  id='a_1' >",
  "_1'>",
  "<script>",
  "</script>",
  "<svg>",
  "<svg/>",
  "</svg>",
  "<!--",
  "-->",
  "--!>",
  "<?",
  "?>",
  "<!doctype",
  "<![CDATA[",
  "]]>",
  "<https://a.b>",
  "<a@b.c>",
  "<T>",
  "<your-name>",
  "\u0001",
  "\u202e",
  "\u2060",
  "\ud83d\ude00",
  "\ud800",
  "\udc00",
]

const LONG_PIECES = [" ", "a", "`", "~", ">", "<", "\n", "a b ", "`a ", "<T>", "\u0001", "<b>", "- ", "``", "\\`"]
const LONG_SIZES = [1300, 2040, 2050, 4090, 4095, 4096, 4097, 8200]

const piece = fc.constantFrom(...PIECES)

const longPiece = fc
  .tuple(fc.constantFrom(...LONG_PIECES), fc.constantFrom(...LONG_SIZES))
  .map(([text, size]) => text.repeat(Math.ceil(size / text.length)))

function textOf(part: fc.Arbitrary<string>, maxLength: number): fc.Arbitrary<string> {
  const parts = (from: fc.Arbitrary<string>) => fc.array(from, { maxLength, size: "max" }).map((all) => all.join(""))
  const few = fc.uniqueArray(part, { minLength: 2, maxLength: 7 })
  return fc.oneof(
    parts(part),
    few.chain((some) => parts(fc.constantFrom(...some))),
  )
}

/** Generates short text from all fragments. */
export const shortText = textOf(piece, 30)

/** Generates text of a few thousand code units, which is close to the limits. */
export const longText = textOf(fc.oneof({ arbitrary: piece, weight: 8 }, { arbitrary: longPiece, weight: 2 }), 14)

/** Makes the changes that apply even to code: LF line endings, and no lone surrogates. */
export function normalized(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(/[\ud800-\udfff]/gu, "\ufffd")
}
