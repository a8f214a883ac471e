/**
 * size.ts: checks the gzipped size of the page's and the Worker's scripts against their budgets.
 */
import { spawnSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, posix } from "node:path"
import process from "node:process"
import { gzipSync } from "node:zlib"
import { BUILT_CONFIG, buildApp, isBuilt } from "./build-state.ts"
import { QUIET_ENV } from "./process-group.ts"

const PAGE = "dist/client"
const WORKER = "dist/cuecard"

/** The scripts of the empty page. */
const FIRST_VIEW_BUDGET_KB = 35
/** The first view and the transcript chunk: the scripts that draw a conversation. */
const CONVERSATION_BUDGET_KB = 73
/** What a cold start of the Worker loads. The models, the renderers and the import formats are loaded on demand. */
const WORKER_ENTRY_BUDGET_KB = 155
/** All scripts of the Worker. The readers of nine import formats are loaded on demand and don't slow a cold start. */
const WORKER_TOTAL_BUDGET_KB = 235

/** The given scripts and everything they import statically, as paths under `folder`. */
function withStaticImports(folder: string, entries: readonly string[]): string[] {
  const queue = [...entries]
  const found = new Set<string>()
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (found.has(path)) continue
    found.add(path)
    const code = readFileSync(join(folder, path), "utf8")
    for (const [, specifier = ""] of code.matchAll(/(?:\bfrom|\bimport)\s*["'](\.{1,2}\/[^"']+)["']/g)) {
      queue.push(posix.join(posix.dirname(path), specifier))
    }
  }
  return [...found]
}

function listScripts(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => /\.m?js$/.test(name))
}

/** The scripts that index.html names. */
function firstViewEntries(): string[] {
  const html = readFileSync(`${PAGE}/index.html`, "utf8")
  return [...html.matchAll(/(?:src|href)="\/([^"]+\.m?js)"/g)].map((match) => match[1] ?? "")
}

/** The chunk that client/app/load-transcript.ts imports. */
function transcriptEntry(): string {
  const entry = listScripts(PAGE).find((name) => /(?:^|\/)transcript-[^/]*\.js$/.test(name))
  if (entry === undefined) throw new Error(`There is no transcript chunk in ${PAGE}.`)
  return entry
}

function gzipKb(folder: string, paths: readonly string[]): number {
  const sizes = paths.map((path) => gzipSync(readFileSync(join(folder, path)), { level: 9 }).byteLength)
  return sizes.reduce((sum, size) => sum + size, 0) / 1024
}

/** Prints a size. False if it is over its budget. */
function reportSize(name: string, folder: string, paths: readonly string[], budgetKb: number): boolean {
  const kb = gzipKb(folder, paths)
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
const firstView = firstViewEntries()
const results = [
  reportSize("first view", PAGE, withStaticImports(PAGE, firstView), FIRST_VIEW_BUDGET_KB),
  reportSize("conversation", PAGE, withStaticImports(PAGE, [...firstView, transcriptEntry()]), CONVERSATION_BUDGET_KB),
  reportSize("Worker entry", WORKER, withStaticImports(WORKER, ["index.js"]), WORKER_ENTRY_BUDGET_KB),
  reportSize("Worker total", WORKER, listScripts(WORKER), WORKER_TOTAL_BUDGET_KB),
]
printStartup()
process.exit(results.every(Boolean) ? 0 : 1)
