/** weight.ts: gzipped sizes of the page's scripts and of the Worker, as `npm run size` measures them. */

import { measureBundles } from "../../scripts/bundle-sizes.ts"
import type { Row } from "./table.ts"

export async function benchWeight(): Promise<Row[]> {
  const { firstView, conversation, workerEntry, workerTotal } = measureBundles()
  const row = (what: string, kb: number, goal: string, peer: string): Row => {
    return { what, ours: `${kb.toFixed(1)} KB`, goal, floor: "", peer }
  }
  return [
    row("JavaScript that the page asks for at once, gzip", firstView, "≤ 35 KB", "200–322 KB"),
    row("the same, and what it loads to draw a conversation", conversation, "≤ 73 KB", ""),
    row("Worker, what a cold start loads, gzip", workerEntry, "≤ 155 KB", ""),
    row("Worker, all scripts, gzip", workerTotal, "≤ 235 KB", "426 KB"),
  ]
}
