/**
 * bench-model.ts: model turns of an exact size, for benchmarks.
 *
 * `/bench deltas=2000 chars=6 tools=2 delay_ms=0 yield_every=10` produces 2,000 text deltas of 6 characters, split
 * evenly before, between and after two calls of the weather tool. The model keeps no state: the number of tool results
 * since the question determines the step.
 */

import { MAX_STEPS } from "../../../shared/limits.ts"
import { NO_TOKENS } from "../../../shared/usage/call-usage.ts"
import type { ModelEvent } from "../model-adapter.ts"
import { pause } from "../../platform/pause.ts"

export interface BenchPlan {
  readonly deltas: number
  readonly chars: number
  readonly tools: number
  /** Time from one delta to the next, in milliseconds. */
  readonly delayMs: number
  /** Number of deltas after which the model yields to the event loop; 0: never. */
  readonly yieldEvery: number
}

const MAX_DELTAS = 1_000_000
const MAX_CHARS = 5_000_000
const MAX_DELAY_MS = 10_000

/** Returns the plan in a `/bench` message; null for any other message. */
export function parseBenchPlan(message: string): BenchPlan | null {
  if (!/^\/bench(?:\s|$)/.test(message)) return null
  const readSetting = (name: string, fallback: number, max: number): number => {
    const value = new RegExp(`\\s${name}=(\\d{1,9})(?=\\s|$)`).exec(message)?.[1]
    return Math.min(value === undefined ? fallback : Number(value), max)
  }
  return {
    deltas: readSetting("deltas", 200, MAX_DELTAS),
    chars: Math.max(1, readSetting("chars", 6, MAX_CHARS)),
    // Each call takes a step, and the deltas after the last call take one more.
    tools: readSetting("tools", 0, MAX_STEPS - 1),
    delayMs: readSetting("delay_ms", 0, MAX_DELAY_MS),
    yieldEvery: readSetting("yield_every", 10, MAX_DELTAS),
  }
}

const CITIES = ["London", "Tokyo", "Oslo", "Cairo", "Sydney", "Lima", "Paris", "Delhi"]

/**
 * Streams one model call of a bench turn; `stepIndex` starts at 0.
 * With a delay, each delta has an absolute due time, so a late timer doesn't delay the deltas after it.
 */
export async function* streamBenchStep(
  bench: BenchPlan,
  stepIndex: number,
  signal: AbortSignal,
  now: () => number = Date.now,
): AsyncGenerator<ModelEvent> {
  const start = now()
  const from = countDeltasBefore(bench, stepIndex)
  const to = countDeltasBefore(bench, stepIndex + 1)
  for (let i = from; i < to; i++) {
    yield { type: "text_delta", delta: sliceFillerText(i * bench.chars, bench.chars) }
    if (bench.delayMs > 0) await pause(start + (i + 1 - from) * bench.delayMs - now(), signal)
    else if (bench.yieldEvery > 0 && (i + 1) % bench.yieldEvery === 0) await pause(0, signal)
  }
  if (stepIndex < bench.tools) {
    const location = CITIES[stepIndex % CITIES.length] ?? "London"
    yield { type: "tool_call", name: "weather", args: JSON.stringify({ location }) }
  }
  yield { type: "usage", tokens: { ...NO_TOKENS, output: to - from } }
  yield { type: "finish" }
}

/**
 * Returns the number of deltas before a step. The steps' numbers of deltas differ by at most one, and add up to
 * `deltas`.
 */
function countDeltasBefore(bench: BenchPlan, stepIndex: number): number {
  return Math.floor((bench.deltas * Math.min(stepIndex, bench.tools + 1)) / (bench.tools + 1))
}

const FILLER_TEXT =
  "plain words in an even row so that each delta says a little more than the one before it did and no less than the next "

/** Returns `length` characters of endless filler text, starting at position `at`. */
function sliceFillerText(at: number, length: number): string {
  const start = at % FILLER_TEXT.length
  let text = FILLER_TEXT.slice(start, start + length)
  while (text.length < length) text += FILLER_TEXT.slice(0, length - text.length)
  return text
}
