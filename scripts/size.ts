/**
 * size.ts: checks the gzipped sizes of the page's scripts, the Worker and the package entries against their budgets.
 */
import { spawnSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { BUILT_CONFIG, buildApp, buildPackages, isBuilt } from "./build-state.ts"
import {
  LAZY_PART_BUDGET,
  measureBundles,
  measureLargestPart,
  measureSdk,
  measureWidget,
  SDK_BUDGETS,
  SIZE_BUDGETS,
  WIDGET_BUDGETS,
} from "./bundle-sizes.ts"
import { QUIET_ENV } from "./process-group.ts"

/** Prints a size. Returns false if the size is over its budget. */
function reportSize(name: string, kb: number, budgetKb: number): boolean {
  const verdict = kb > budgetKb ? "  OVER" : ""
  console.log(`${name.padEnd(14)} ${kb.toFixed(1).padStart(6)} KB gzip, budget ${budgetKb} KB${verdict}`)
  return kb <= budgetKb
}

/** Prints the start-up time. It depends on the machine, so it has no budget. */
function printStartup(): void {
  const profile = join(tmpdir(), `cuecard-startup-${process.pid}.cpuprofile`)
  const wrangler = ["node_modules/wrangler/bin/wrangler.js", "check", "startup", "--config", BUILT_CONFIG]
  const { stdout } = spawnSync(process.execPath, [...wrangler, "--args=--no-bundle", "--outfile", profile], {
    encoding: "utf8",
    env: { ...process.env, ...QUIET_ENV },
    timeout: 60_000,
  })
  if (!existsSync(profile)) {
    console.log(`start-up       not measured\n${stdout.trim()}`)
    return
  }
  const { startTime, endTime } = JSON.parse(readFileSync(profile, "utf8")) as { startTime: number; endTime: number }
  console.log(`start-up       ${((endTime - startTime) / 1000).toFixed(1).padStart(6)} ms`)
}

if (!isBuilt()) buildApp("local")
if (!existsSync("dist/sdk/index.js")) buildPackages()
const sizes = measureBundles()
const sdk = measureSdk()
const widget = measureWidget()
const largestPart = measureLargestPart()
const results = [
  reportSize("initial load", sizes.initialLoad, SIZE_BUDGETS.initialLoad),
  reportSize("conversation", sizes.conversation, SIZE_BUDGETS.conversation),
  reportSize("card renderer", sizes.cardRenderer, SIZE_BUDGETS.cardRenderer),
  reportSize("service worker", sizes.serviceWorker, SIZE_BUDGETS.serviceWorker),
  reportSize("largest part", largestPart.kb, LAZY_PART_BUDGET),
  reportSize("Worker entry", sizes.workerEntry, SIZE_BUDGETS.workerEntry),
  reportSize("Worker total", sizes.workerTotal, SIZE_BUDGETS.workerTotal),
  reportSize("widget button", widget.button, WIDGET_BUDGETS.button),
  reportSize("  initial load", widget.initialLoad, WIDGET_BUDGETS.initialLoad),
  reportSize("  conversation", widget.conversation, WIDGET_BUDGETS.conversation),
  reportSize("cuecard/client", sdk.client, SDK_BUDGETS.client),
  reportSize("  conversation", sdk.conversation, SDK_BUDGETS.conversation),
  reportSize("cuecard/preact", sdk.preact, SDK_BUDGETS.preact),
  reportSize("cuecard/react", sdk.react, SDK_BUDGETS.react),
]
console.log(`The largest part that is loaded on demand is ${largestPart.name}.`)
printStartup()
process.exit(results.every(Boolean) ? 0 : 1)
