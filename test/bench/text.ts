/**
 * text.ts: `node test/bench/text.ts`: clean and the mark scanner in MB/s, ordinary text first, then text made to be slow.
 *
 * Whole, and in single code units, as a stream at its worst. Time must grow with the text alone: a hostile row may be
 * some times slower than the ordinary one, never a hundred times. words.ts has the goals; this is to look closer.
 */

import { createCleaner } from "../../shared/clean.ts"
import { createMarkScanner } from "../../shared/mark.ts"
import { median } from "./measure.ts"

const SIZE = 1_000_000
const STREAM_SIZE = 100_000
const RUNS = 5

interface Taker {
  push(text: string): unknown
  end(): unknown
}

function repeat(unit: string): string {
  return unit.repeat(Math.ceil(SIZE / unit.length)).slice(0, SIZE)
}

function runsOfAllLengths(): string {
  const runs: string[] = []
  for (let size = 1; size < 1400; size++) runs.push("`".repeat(size), "a")
  return runs.join("").slice(0, SIZE)
}

const PROSE = "It will be `12.4` degrees and dry, and I'd say a < b holds. See [the page](https://example.com/x).\n"
const CODE = "```ts\nconst a: Array<T> = []\nfunction f() {\n  return `x`\n}\n```\n\n"
const ANSWER = `${PROSE.repeat(6)}\n<span id='weather_1'>It is 12 degrees.</span>\n\n- one\n- \`two\`\n\n${CODE}`

const TEXTS: readonly (readonly [name: string, text: string])[] = [
  ["ordinary", repeat(ANSWER)],
  ["one long line", repeat("word ")],
  ["unclosed marks", repeat("<span id='weather_1'>")],
  ["cut marks", repeat("<span id='weather_1")],
  ["<", repeat("<")],
  ["</", repeat("</")],
  ["<T>", repeat("<T>")],
  ["tags with values", repeat("<b title='x'>")],
  ["open values", repeat('<a b="')],
  ["values in values", repeat("<a b=\"<a b='>\" ' ")],
  ["comments", repeat("<!--")],
  ["scripts", repeat("<script>")],
  ["backticks", repeat("`")],
  ["runs of all lengths", runsOfAllLengths()],
  ["runs in turn", repeat("`a ``b ")],
  ["stray runs", repeat("it`s\n\n")],
  ["nested fences", repeat("````\n~~~~\n```\n~~~\n")],
  ["fences in quotes", repeat("> ```\n> ~~~\n```\n~~~\n")],
  ["no fences", repeat("```x`\n")],
  ["heads", repeat("> - 1. \n")],
  ["quotes", repeat(">")],
  ["backslashes", repeat("\\")],
  ["controls", repeat("\u0001")],
]

function speedOf(make: () => Taker, pieces: readonly string[]): string {
  const size = pieces.reduce((sum, piece) => sum + piece.length, 0)
  const times: number[] = []
  for (let i = 0; i < RUNS; i++) {
    const taker = make()
    const started = performance.now()
    for (const piece of pieces) taker.push(piece)
    taker.end()
    times.push(performance.now() - started)
  }
  return (size / 1000 / median(times)).toFixed(1)
}

console.log("| MB/s | clean | marks | clean, streamed | marks, streamed |\n|---|---|---|---|---|")
for (const [name, text] of TEXTS) {
  const units = text.slice(0, STREAM_SIZE).split("")
  const cells = [[text], units].flatMap((pieces) => [
    speedOf(createCleaner, pieces),
    speedOf(createMarkScanner, pieces),
  ])
  console.log(`| ${name.replaceAll("|", "\\|")} | ${cells.join(" | ")} |`)
}
