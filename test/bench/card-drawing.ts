/**
 * card-drawing.ts: measures how long Chromium takes to draw a tenant's card: filling the template, rendering and
 * layout.
 */

import preact from "@preact/preset-vite"
import { build, type Rolldown } from "vite"
import { MAX_VIEW_COMPONENTS } from "../../shared/card/view/card-template.ts"
import { openChromium } from "../support/chromium.ts"
import { median, percentile } from "./measure.ts"
import type { Row } from "./table.ts"

/** The number of rounds that aren't measured. They are slower, because the code isn't compiled yet. */
const WARM_UP_ROUNDS = 20
const ROUNDS = 200

/** Bundles the renderer and a drawing function into one script. */
async function bundleHarness(): Promise<string> {
  const output = (await build({
    configFile: false,
    logLevel: "silent",
    plugins: [preact()],
    build: {
      write: false,
      target: "es2023",
      lib: { entry: "test/bench/card-harness.tsx", formats: ["iife"], name: "cardBench" },
      rolldownOptions: { output: { codeSplitting: false } },
    },
  })) as Rolldown.RolldownOutput[]
  const chunk = output[0]?.output[0]
  if (chunk === undefined) throw new Error("The harness has no code.")
  return chunk.code
}

export async function benchCards(): Promise<Row[]> {
  const code = await bundleHarness()
  const browser = await openChromium()
  try {
    const page = await browser.newPage()
    await page.addScriptTag({ content: code })
    const times = await page.evaluate((rounds) => cardBench.drawCards(rounds), WARM_UP_ROUNDS + ROUNDS)
    const counted = times.slice(WARM_UP_ROUNDS)
    return [
      {
        what: `page: a card of ${MAX_VIEW_COMPONENTS} components: fill, render and layout`,
        ours: `p50 ${median(counted).toFixed(1)} ms, p95 ${percentile(counted, 95).toFixed(1)} ms; the first ${times[0]?.toFixed(1)} ms`,
        goal: "≤ 4 ms",
        floor: "",
        peer: "",
      },
    ]
  } finally {
    await browser.close()
  }
}
