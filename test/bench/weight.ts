/** weight.ts: lists the gzipped sizes of the page's scripts and of the Worker, as `npm run size` measures them. */

import { measureBundles, SIZE_BUDGETS } from "../../scripts/bundle-sizes.ts"
import type { Row } from "./table.ts"

export async function benchWeight(): Promise<Row[]> {
  const { initialLoad, conversation, cardRenderer, workerEntry, workerTotal } = measureBundles()
  const createRow = (what: string, kb: number, budget: number, peer: string): Row => {
    return { what, ours: `${kb.toFixed(1)} KB`, goal: `≤ ${budget} KB`, floor: "", peer }
  }
  return [
    createRow("JavaScript for the initial load of the page, gzip", initialLoad, SIZE_BUDGETS.initialLoad, "200–322 KB"),
    createRow("the same, plus what the page loads to draw a conversation", conversation, SIZE_BUDGETS.conversation, ""),
    createRow("what a tenant's first card adds to that", cardRenderer, SIZE_BUDGETS.cardRenderer, ""),
    createRow("Worker: what a cold start loads, gzip", workerEntry, SIZE_BUDGETS.workerEntry, ""),
    createRow("Worker, all scripts, gzip", workerTotal, SIZE_BUDGETS.workerTotal, "426 KB"),
  ]
}
