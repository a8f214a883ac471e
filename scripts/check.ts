/**
 * check.ts: everything CI asks, in its order: format, lint, types, rooms, tests, size.
 *
 * All steps run even when one fails, so that one run tells everything. The totals of the tests, with each other
 * step counted as one, are left in TOTALS_FILE for .ci/run.
 */
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import process from "node:process"

/** Written by vitest.config.ts. */
const VITEST_FILE = "node_modules/.cache/cuecard/vitest.json"
const TOTALS_FILE = "node_modules/.cache/cuecard/totals.txt"

const STEPS = [
  { name: "format", args: ["run", "check:format"] },
  { name: "lint", args: ["run", "check:lint"] },
  { name: "types", args: ["run", "check:types"] },
  { name: "rooms", args: ["run", "check:rooms"] },
  { name: "tests", args: ["test"] },
  { name: "size", args: ["run", "size"] },
] as const

type Count = { readonly passed: number; readonly failed: number }
type VitestTotals = { numPassedTests: number; numFailedTests: number; testResults: { status: string }[] }

function runStep(args: readonly string[]): boolean {
  return spawnSync("npm", ["--silent", ...args], { stdio: "inherit" }).status === 0
}

/** The tests of all belts. A file that does not load, or a run that ends badly, is a failure although no test failed. */
function countTests(ok: boolean): Count {
  if (!existsSync(VITEST_FILE)) return { passed: 0, failed: 1 }
  const { numPassedTests, numFailedTests, testResults } = JSON.parse(readFileSync(VITEST_FILE, "utf8")) as VitestTotals
  const brokenFiles = testResults.filter((file) => file.status === "failed").length
  const failed = numFailedTests > 0 ? numFailedTests : brokenFiles
  return { passed: numPassedTests, failed: ok ? failed : Math.max(1, failed) }
}

rmSync(VITEST_FILE, { force: true })
const results = STEPS.map(({ name, args }) => {
  console.log(`\n── ${name} ──`)
  const started = performance.now()
  const ok = runStep(args)
  const count = name === "tests" ? countTests(ok) : { passed: ok ? 1 : 0, failed: ok ? 0 : 1 }
  if (name === "rooms") rmSync(VITEST_FILE, { force: true })
  return { name, ok, count, seconds: (performance.now() - started) / 1000 }
})

console.log("")
for (const { name, ok, seconds } of results) {
  console.log(`${ok ? "ok    " : "FAILED"} ${name.padEnd(8)} ${seconds.toFixed(1).padStart(6)} s`)
}
const passed = results.reduce((sum, { count }) => sum + count.passed, 0)
const failed = results.reduce((sum, { count }) => sum + count.failed, 0)
mkdirSync("node_modules/.cache/cuecard", { recursive: true })
writeFileSync(TOTALS_FILE, `${passed} passed, ${failed} failed\n`)
process.exit(failed === 0 ? 0 : 1)
