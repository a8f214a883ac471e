/**
 * texts.ts: the texts for benchmarking the sanitiser and the segmenter: an ordinary answer, and texts that are designed
 * to be slow to process.
 */

export const SIZE = 1_000_000

function repeatToSize(unit: string): string {
  return unit.repeat(Math.ceil(SIZE / unit.length)).slice(0, SIZE)
}

/** Part of an ordinary answer, with text, lists, inline code, a fence and a card. */
const PAGE = [
  "## What I found\n\n",
  "The wind turned in the night, and by noon the sky over the bay was clear. Über den Hügeln blieb es still.\n\n".repeat(
    30,
  ),
  "- Call `fetch` once, and keep **what it returned**.\n- Compare `a < b` before you go on.\n\n".repeat(6),
  "```ts\nconst total = rows.filter((row) => row.size < limit).length\n```\n\n",
  "In short: <span id='weather_1'>12 degrees, dry, and a light wind from the west.</span>\n\n",
].join("")

export const ORDINARY = repeatToSize(PAGE)

export type NamedText = readonly [name: string, text: string]

/** The worst text of each kind. The goals apply to these texts. */
export const HOSTILE: readonly NamedText[] = [
  ["50,000 unclosed opening spans", "<span id='weather_1'>".repeat(50_000)],
  ["1 MB of <", repeatToSize("<")],
  ["1 MB of backticks", repeatToSize("`")],
  ["nested fences", repeatToSize("````\n~~~~\n```\n~~~\n")],
]

/** Texts with directives, which have to be parsed. The goal is that the time grows linearly with the length. */
export const DIRECTIVES: readonly NamedText[] = [
  ["MEDIA: lines", repeatToSize("MEDIA:https://example.com/a.png\n")],
  ["MEDIA: lines of other files each", createLines((n) => `MEDIA:https://example.com/${n}.png\n`)],
  ["unclosed embeds", repeatToSize("[embed ref='a' ")],
  ["unclosed replies", repeatToSize("[[reply_to:")],
]

function createLines(line: (n: number) => string): string {
  return Array.from({ length: SIZE / 30 }, (_, n) => line(n))
    .join("")
    .slice(0, SIZE)
}

function runsOfAllLengths(): string {
  const runs: string[] = []
  for (let size = 1; size < 1400; size++) runs.push("`".repeat(size), "a")
  return runs.join("").slice(0, SIZE)
}

/** All texts, for a detailed comparison. */
export const TEXTS: readonly NamedText[] = [
  ["ordinary", ORDINARY],
  ...HOSTILE,
  ["one long line", repeatToSize("word ")],
  ["cut marks", repeatToSize("<span id='weather_1")],
  ["</", repeatToSize("</")],
  ["<T>", repeatToSize("<T>")],
  ["tags with values", repeatToSize("<b title='x'>")],
  ["open values", repeatToSize('<a b="')],
  ["values in values", repeatToSize("<a b=\"<a b='>\" ' ")],
  ["comments", repeatToSize("<!--")],
  ["scripts", repeatToSize("<script>")],
  ["runs of all lengths", runsOfAllLengths()],
  ["runs in turn", repeatToSize("`a ``b ")],
  ["stray runs", repeatToSize("it`s\n\n")],
  ["fences in quotes", repeatToSize("> ```\n> ~~~\n```\n~~~\n")],
  ["no fences", repeatToSize("```x`\n")],
  ["heads", repeatToSize("> - 1. \n")],
  ["quotes", repeatToSize(">")],
  ["backslashes", repeatToSize("\\")],
  ["controls", repeatToSize("\u0001")],
]
