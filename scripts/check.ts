/**
 * check.ts: runs everything that CI checks: format, lint, types, migrations, tests, size.
 *
 * A failed step does not stop the following ones. The tests include every generated run (RUNS=full). The output ends with
 * the duration of each step and, for each failure, the command that reruns it. TOTALS_FILE receives the totals for
 * .ci/run: all tests, and one for each other step.
 */
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { relative } from "node:path"
import process from "node:process"
import { stripVTControlCharacters } from "node:util"

/** Written by vitest.config.ts. */
const VITEST_FILE = "node_modules/.cache/cuecard/vitest.json"
const TOTALS_FILE = "node_modules/.cache/cuecard/totals.txt"
/** Number of failed tests that are listed per file. */
const MAX_NAMED_TESTS = 5
/** The beginning of each failure message that is shown. */
const MAX_MESSAGE_LINES = 5
const MAX_MESSAGE_CHARS = 500

const STEPS = [
  { name: "format", args: ["run", "check:format"] },
  { name: "lint", args: ["run", "check:lint"] },
  { name: "types", args: ["run", "check:types"] },
  { name: "migrations", args: ["run", "check:migrations"] },
  { name: "tests", args: ["test"] },
  { name: "size", args: ["run", "size"] },
] as const

interface Step {
  readonly name: string
  readonly ok: boolean
  readonly seconds: number
  readonly passed: number
  readonly failed: number
  /** Lines of the summary: each failure, and the command that reruns it. */
  readonly help: readonly string[]
}

interface TestResult {
  readonly status: string
  readonly fullName: string
  readonly failureMessages?: readonly string[]
}

interface VitestResult {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    /** The reason why the file could not be loaded; otherwise empty or absent. */
    readonly message?: string
    readonly assertionResults: readonly TestResult[]
  }[]
}

function runStep(name: string, args: readonly string[]): Step {
  console.log(`\n── ${name} ──`)
  const started = performance.now()
  const env = { ...process.env, RUNS: process.env["RUNS"] ?? "full" }
  const ok = spawnSync("npm", ["--silent", ...args], { stdio: "inherit", env }).status === 0
  const seconds = (performance.now() - started) / 1000
  if (name === "tests") return { name, ok, seconds, ...readTests(ok) }
  return { name, ok, seconds, passed: ok ? 1 : 0, failed: ok ? 0 : 1, help: [`  npm ${args.join(" ")}`] }
}

/** Counts the tests of all projects. A file that does not load, or a run that crashes, counts as a failure. */
function readTests(ok: boolean): Pick<Step, "passed" | "failed" | "help"> {
  if (!existsSync(VITEST_FILE)) return { passed: 0, failed: 1, help: ["  npm test"] }
  const { numPassedTests, numFailedTests, testResults } = JSON.parse(readFileSync(VITEST_FILE, "utf8")) as VitestResult
  const broken = testResults.filter((file) => file.status === "failed")
  const failed = numFailedTests > 0 ? numFailedTests : broken.length
  return {
    passed: numPassedTests,
    failed: ok ? failed : Math.max(1, failed),
    help: broken.length === 0 ? ["  npm test"] : broken.flatMap(helpWith),
  }
}

function helpWith({ name, message, assertionResults }: VitestResult["testResults"][number]): string[] {
  const failed = assertionResults.filter((test) => test.status === "failed")
  const more = failed.length - MAX_NAMED_TESTS
  return [
    `  RUNS=full npx vitest run ${relative(process.cwd(), name)}`,
    ...(failed.length === 0 ? beginningOf(message ?? "", "    ") : []),
    ...failed.slice(0, MAX_NAMED_TESTS).flatMap(describeTest),
    ...(more > 0 ? [`    and ${more} more`] : []),
  ]
}

function describeTest({ fullName, failureMessages = [] }: TestResult): string[] {
  return [`    ${fullName}`, ...failureMessages.flatMap((message) => beginningOf(message, "      "))]
}

/** The first lines of a message without colours and without the frames of the test runner, indented. */
function beginningOf(message: string, indent: string): string[] {
  const lines = stripVTControlCharacters(message)
    .split("\n")
    .filter((line) => line.trim() !== "" && !/^\s+at .*(?:node_modules|node:|<anonymous>)/.test(line))
  const text = lines.slice(0, MAX_MESSAGE_LINES).join("\n").slice(0, MAX_MESSAGE_CHARS)
  return text === "" ? [] : text.split("\n").map((line) => indent + line.trimEnd())
}

rmSync(VITEST_FILE, { force: true })
const steps = STEPS.map(({ name, args }) => runStep(name, args))

console.log("")
for (const { name, ok, seconds } of steps) {
  console.log(`${ok ? "ok    " : "FAILED"} ${name.padEnd(10)} ${seconds.toFixed(1).padStart(6)} s`)
}
const bad = steps.filter(({ ok }) => !ok)
if (bad.length > 0) {
  console.log("\nRun what failed again:")
  for (const { help } of bad) for (const line of help) console.log(line)
}
const passed = steps.reduce((sum, step) => sum + step.passed, 0)
const failed = steps.reduce((sum, step) => sum + step.failed, 0)
mkdirSync("node_modules/.cache/cuecard", { recursive: true })
writeFileSync(TOTALS_FILE, `${passed} passed, ${failed} failed\n`)
process.exit(failed === 0 ? 0 : 1)
