/** words.ts: how fast text is cleaned and cut at its marks: ordinary text, and text made to be slow. */

import { clean } from "../../shared/clean.ts"
import { parse } from "../../shared/segment.ts"
import { cardTrailer } from "../../worker/tool/tool.ts"
import { median } from "./measure.ts"
import type { Row } from "./table.ts"

const SIZE = 1_000_000
const RUNS = 9
const ROWS = [{ name: "weather", ordinal: 1, result: `{"c":12.4}\n\n${cardTrailer("weather_1")}` }]

function repeat(unit: string): string {
  return unit.repeat(Math.ceil(SIZE / unit.length)).slice(0, SIZE)
}

/** Some pages of an answer: prose, lists, inline code, a fence, and a card. */
const PAGE = [
  "## What I found\n\n",
  "The wind turned in the night, and by noon the sky over the bay was clear. Über den Hügeln blieb es still.\n\n".repeat(
    30,
  ),
  "- Call `fetch` once, and keep **what it returned**.\n- Compare `a < b` before you go on.\n\n".repeat(6),
  "```ts\nconst total = rows.filter((row) => row.size < limit).length\n```\n\n",
  "In short: <span id='weather_1'>12 degrees, dry, and a light wind from the west.</span>\n\n",
].join("")

const ORDINARY = repeat(PAGE)

const HOSTILE: readonly (readonly [name: string, text: string])[] = [
  ["50,000 unclosed opening spans", "<span id='weather_1'>".repeat(50_000)],
  ["1 MB of <", repeat("<")],
  ["1 MB of backticks", repeat("`")],
  ["nested fences", repeat("````\n~~~~\n```\n~~~\n")],
]

/** Milliseconds of one run over each text, medians; the ordinary one beside each hostile one in turn. */
function timed(run: (text: string) => unknown, text: string): number {
  const times: number[] = []
  for (let i = 0; i < RUNS; i++) {
    const started = performance.now()
    run(text)
    times.push(performance.now() - started)
  }
  return median(times)
}

function rowsOf(name: string, run: (text: string) => unknown, goal: number): Row[] {
  timed(run, ORDINARY)
  const ordinary = timed(run, ORDINARY)
  const speed = SIZE / 1000 / ordinary
  const rows = HOSTILE.map(([what, text]): Row => {
    const factor = timed(run, text) / text.length / (ordinary / SIZE)
    return { what: `${name}: ${what}`, ours: `${factor.toFixed(2)} × ordinary`, goal: "< 5 ×", floor: "", peer: "" }
  })
  const peer = name === "parse" ? "3,800 MB/s (the seed's expression; quadratic when hostile)" : ""
  const floor =
    name === "parse" ? `${(SIZE / 1000 / timed(plainScan, ORDINARY)).toFixed(0)} MB/s (a scan for spans)` : ""
  return [
    { what: `${name}: ordinary text`, ours: `${speed.toFixed(0)} MB/s`, goal: `≥ ${goal} MB/s`, floor, peer },
    ...rows,
  ]
}

/** The least that anything that looks for spans must do. */
function plainScan(text: string): number {
  let found = 0
  for (let at = text.indexOf("<span"); at >= 0; at = text.indexOf("<span", at + 1)) found++
  return found
}

export function benchText(): Row[] {
  return [...rowsOf("parse", (text) => parse(text, ROWS), 400), ...rowsOf("clean", clean, 50)]
}
