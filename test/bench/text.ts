/**
 * text.ts: measures the speed of the sanitiser and the segmenter on ordinary text, and on text that is designed to be
 * slow.
 *
 * The time must grow linearly with the length. Hostile text may be a few times slower than ordinary text, but not a
 * hundred times slower.
 */

import { clean, createCleaner } from "../../shared/sanitize/clean.ts"
import { createSpanScanner } from "../../shared/segment/span-tag.ts"
import { parse } from "../../shared/segment/segmenter.ts"
import { createCardTrailer } from "../../worker/tool/tool.ts"
import { median } from "./measure.ts"
import type { Row } from "./table.ts"
import { DIRECTIVES, HOSTILE, ORDINARY, SIZE, TEXTS } from "./texts.ts"

const RUNS = 15
/** The number of warm-up runs, in which the code is compiled. */
const WARM_UP = 30
const ROWS = [{ name: "weather", ordinal: 1, result: `{"c":12.4}\n\n${createCardTrailer("weather_1")}` }]

/**
 * Returns the median duration of the runs with each item, in milliseconds. The items alternate, so that other load
 * affects all of them equally.
 */
function timeRuns<T>(run: (item: T) => unknown, items: readonly T[], runs: number): number[] {
  const times = items.map((): number[] => [])
  for (let i = 0; i < runs; i++) {
    items.forEach((item, n) => {
      const started = performance.now()
      run(item)
      times[n]?.push(performance.now() - started)
    })
  }
  return times.map(median)
}

function rowsOf(name: string, run: (text: string) => unknown, goal: number): Row[] {
  for (let i = 0; i < WARM_UP; i++) run(ORDINARY)
  const texts = HOSTILE.map(([, text]) => text)
  const [ordinary = Number.NaN, ...hostile] = timeRuns(run, [ORDINARY, ...texts], RUNS)
  const rows = HOSTILE.map(([what, text], i): Row => {
    const factor = (hostile[i] ?? Number.NaN) / text.length / (ordinary / SIZE)
    return { what: `${name}: ${what}`, ours: `${factor.toFixed(2)} × ordinary`, goal: "< 5 ×", floor: "", peer: "" }
  })
  const isParse = name === "parse"
  const peer = isParse ? "3,800 MB/s (the seed's expression; quadratic when hostile)" : ""
  const [scan = Number.NaN] = isParse ? timeRuns(plainScan, [ORDINARY], RUNS) : []
  const floor = isParse ? `${(SIZE / 1000 / scan).toFixed(0)} MB/s (a scan for spans)` : ""
  const ours = `${(SIZE / 1000 / ordinary).toFixed(0)} MB/s`
  return [{ what: `${name}: ordinary text`, ours, goal: `≥ ${goal} MB/s`, floor, peer }, ...rows]
}

/** Does the minimum work that any search for spans requires. */
function plainScan(text: string): number {
  let found = 0
  for (let at = text.indexOf("<span"); at >= 0; at = text.indexOf("<span", at + 1)) found++
  return found
}

/** Measures how much longer the function takes for a text that is four times as long. */
function growthOf(name: string, run: (text: string) => unknown): Row[] {
  return DIRECTIVES.map(([what, text]) => {
    const [part = Number.NaN, whole = Number.NaN] = timeRuns(run, [text.slice(0, SIZE / 4), text], RUNS)
    const ours = `${(whole / part).toFixed(1)} × for 4 × the text, ${(SIZE / 1000 / whole).toFixed(0)} MB/s`
    return { what: `${name}: ${what}`, ours, goal: "< 6 ×", floor: "", peer: "" }
  })
}

export function benchText(): Row[] {
  const parseRows = (text: string): unknown => parse(text, ROWS)
  return [...rowsOf("parse", parseRows, 400), ...growthOf("parse", parseRows), ...rowsOf("clean", clean, 50)]
}

interface Taker {
  push(text: string): unknown
  end(): unknown
}

const STREAM_SIZE = 100_000
const FEW_RUNS = 5

function speedOf(make: () => Taker, pieces: readonly string[]): string {
  const size = pieces.reduce((sum, piece) => sum + piece.length, 0)
  const cleanAll = (all: readonly string[]): void => {
    const taker = make()
    for (const piece of all) taker.push(piece)
    taker.end()
  }
  const [time = Number.NaN] = timeRuns(cleanAll, [pieces], FEW_RUNS)
  return (size / 1000 / time).toFixed(1)
}

/**
 * Measures every text both as a whole and one code unit at a time, which is the worst case for a stream. This is for
 * detailed analysis.
 */
export function benchEachText(): Row[] {
  return TEXTS.map(([name, text]) => {
    const units = text.slice(0, STREAM_SIZE).split("")
    const [whole, streamed] = [[text], units].map(
      (pieces) => `clean ${speedOf(createCleaner, pieces)}, marks ${speedOf(createSpanScanner, pieces)} MB/s`,
    )
    const what = name.replaceAll("|", "\\|")
    return { what, ours: `${whole}; unit by unit ${streamed}`, goal: "", floor: "", peer: "" }
  })
}
