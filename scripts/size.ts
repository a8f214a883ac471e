/**
 * size.ts: compares the gzipped sizes of the first view and the Worker with their budgets.
 *
 * The first view is every script that index.html names, and their static imports.
 */
import { spawnSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, posix } from "node:path"
import process from "node:process"
import { gzipSync } from "node:zlib"
import { BUILT_CONFIG, buildApp, isBuilt } from "./build-state.ts"
import { QUIET_ENV } from "./process-group.ts"

/** JavaScript that is loaded before the page is shown. */
const FIRST_VIEW_BUDGET_KB = 35
/** Code that every cold start loads. */
const WORKER_BUDGET_KB = 210

const PAGE = "dist/client"
const WORKER = "dist/cuecard"

/** All scripts of the first view, as paths in the page's folder. */
function firstViewScripts(): Set<string> {
  const html = readFileSync(`${PAGE}/index.html`, "utf8")
  const wanted = [...html.matchAll(/(?:src|href)="\/([^"]+\.m?js)"/g)].map((match) => match[1] ?? "")
  const seen = new Set<string>()
  for (let path = wanted.pop(); path !== undefined; path = wanted.pop()) {
    if (seen.has(path)) continue
    seen.add(path)
    const code = readFileSync(join(PAGE, path), "utf8")
    for (const [, specifier] of code.matchAll(/(?:\bfrom|\bimport)\s*["'](\.{1,2}\/[^"']+)["']/g)) {
      wanted.push(posix.join(posix.dirname(path), specifier ?? ""))
    }
  }
  return seen
}

function workerScripts(): string[] {
  return readdirSync(WORKER, { recursive: true, encoding: "utf8" }).filter((name) => /\.m?js$/.test(name))
}

const gzipKb = (paths: readonly string[]): number =>
  paths.reduce((sum, path) => sum + gzipSync(readFileSync(path), { level: 9 }).byteLength, 0) / 1024

function reportSize(what: string, kb: number, budget: number): boolean {
  console.log(
    `${what.padEnd(12)} ${kb.toFixed(1).padStart(6)} KB gzip, budget ${budget} KB${kb > budget ? "  OVER" : ""}`,
  )
  return kb <= budget
}

/** Prints the start-up time of the Worker. It has no budget because it depends on the machine. */
function printStartup(): void {
  const profile = join(tmpdir(), `cuecard-startup-${process.pid}.cpuprofile`)
  const wrangler = ["node_modules/wrangler/bin/wrangler.js", "check", "startup", "--config", BUILT_CONFIG]
  const { stdout } = spawnSync(process.execPath, [...wrangler, "--args=--no-bundle", "--outfile", profile], {
    encoding: "utf8",
    env: { ...process.env, ...QUIET_ENV },
    timeout: 60_000,
  })
  if (!existsSync(profile)) {
    console.log(`start-up     not measured\n${stdout.trim()}`)
    return
  }
  const { startTime, endTime } = JSON.parse(readFileSync(profile, "utf8")) as { startTime: number; endTime: number }
  console.log(`start-up     ${((endTime - startTime) / 1000).toFixed(1).padStart(6)} ms`)
}

if (!isBuilt()) buildApp("local")
const page = reportSize(
  "first view",
  gzipKb([...firstViewScripts()].map((path) => join(PAGE, path))),
  FIRST_VIEW_BUDGET_KB,
)
const worker = reportSize("Worker", gzipKb(workerScripts().map((name) => join(WORKER, name))), WORKER_BUDGET_KB)
printStartup()
process.exit(page && worker ? 0 : 1)
