/**
 * size.ts: checks the gzipped size of the page's and the Worker's scripts against their budgets.
 */
import { spawnSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { BUILT_CONFIG, buildApp, isBuilt } from "./build-state.ts"
import { measureBundles } from "./bundle-sizes.ts"
import { QUIET_ENV } from "./process-group.ts"

/** The scripts of the empty page. */
const FIRST_VIEW_BUDGET_KB = 35
/** The first view and the transcript chunk: the scripts that draw a conversation. */
const CONVERSATION_BUDGET_KB = 73
/** The scripts that a cold start of the Worker loads. The models, the renderers and the import formats are loaded on demand. */
const WORKER_ENTRY_BUDGET_KB = 180
/** All scripts of the Worker. The readers of nine import formats are loaded on demand and don't slow a cold start. */
const WORKER_TOTAL_BUDGET_KB = 330

/** Prints a size. False if it is over its budget. */
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
const sizes = measureBundles()
const results = [
  reportSize("first view", sizes.firstView, FIRST_VIEW_BUDGET_KB),
  reportSize("conversation", sizes.conversation, CONVERSATION_BUDGET_KB),
  reportSize("Worker entry", sizes.workerEntry, WORKER_ENTRY_BUDGET_KB),
  reportSize("Worker total", sizes.workerTotal, WORKER_TOTAL_BUDGET_KB),
]
printStartup()
process.exit(results.every(Boolean) ? 0 : 1)
