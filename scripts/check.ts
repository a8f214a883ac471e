/**
 * check.ts: runs everything that CI checks: format, lint, types, migrations, build, tests, size.
 *
 * The steps before the tests run in parallel, and so do the steps after the build. A failed step does not stop the
 * others, except that nothing is tested without a build. More of the generated tests run than in `npm test`
 * (RUNS=full). The output ends with the duration of each step, what it skipped, and a command to rerun each failure.
 * The totals are written to TOTALS_FILE for .ci/run: one total for all tests, and one for each other step.
 */
import { spawn } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { relative } from "node:path"
import process from "node:process"
import { stripVTControlCharacters } from "node:util"
import { findSkipReason, formatTotals, type Totals } from "./check-totals.ts"

/** Written by vitest.config.ts. */
const VITEST_FILE = "node_modules/.cache/cuecard/vitest.json"
const TOTALS_FILE = "node_modules/.cache/cuecard/totals.txt"
/** Maximum number of failed tests that are listed per file. */
const MAX_NAMED_TESTS = 5
/** How much of each failure message is shown. */
const MAX_MESSAGE_LINES = 5
const MAX_MESSAGE_CHARS = 500

interface StepCommand {
  readonly name: string
  /** Arguments of npm. */
  readonly args: readonly string[]
}

/** These steps run in parallel: they don't depend on each other, and none of them uses both cores all the time. */
const FIRST_STEPS: readonly StepCommand[] = [
  { name: "format", args: ["run", "check:format"] },
  { name: "lint", args: ["run", "check:lint"] },
  { name: "types", args: ["run", "check:types"] },
  { name: "migrations", args: ["run", "check:migrations"] },
  { name: "build", args: ["run", "build"] },
]
const LAST_STEPS: readonly StepCommand[] = [
  { name: "tests", args: ["run", "test:built"] },
  { name: "size", args: ["run", "size"] },
]

interface Step extends Totals {
  readonly name: string
  readonly ok: boolean
  readonly seconds: number
  /** The reason why the step checked nothing, or the files with skipped tests. */
  readonly skips: readonly string[]
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
  /** Number of skipped tests. */
  readonly numPendingTests: number
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    /** The reason why the file could not be loaded; otherwise empty or absent. */
    readonly message?: string
    readonly assertionResults: readonly TestResult[]
  }[]
}

async function runStep({ name, args }: StepCommand): Promise<Step> {
  const started = performance.now()
  const head = `\n── ${name} ──\n`
  if (name === "tests") process.stdout.write(head)
  const { ok, output } = await runNpm(args, name === "tests")
  const seconds = (performance.now() - started) / 1000
  if (name === "tests") return { name, ok, seconds, ...readTests(ok) }
  process.stdout.write(head + output)
  // A step that checked nothing says so in its output.
  const reason = ok ? findSkipReason(output) : null
  const [passed, failed, skipped] = [Number(ok && reason === null), Number(!ok), Number(reason !== null)]
  const skips = reason === null ? [] : [reason]
  return { name, ok, seconds, passed, failed, skipped, skips, help: [`  npm ${args.join(" ")}`] }
}

/** Runs a command. Output that is shown while the command runs is not returned. */
async function runNpm(args: readonly string[], isShown: boolean): Promise<{ ok: boolean; output: string }> {
  const env = { ...process.env, RUNS: process.env["RUNS"] ?? "full" }
  const child = spawn("npm", ["--silent", ...args], { stdio: isShown ? "inherit" : ["ignore", "pipe", "pipe"], env })
  const chunks: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk: Buffer) => chunks.push(chunk))
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve))
  return { ok: code === 0, output: Buffer.concat(chunks).toString() }
}

/** Counts the tests of all projects. A file that does not load, or a run that crashes, counts as a failure. */
function readTests(ok: boolean): Omit<Step, "name" | "ok" | "seconds"> {
  if (!existsSync(VITEST_FILE)) return { passed: 0, failed: 1, skipped: 0, skips: [], help: ["  npm test"] }
  const results = JSON.parse(readFileSync(VITEST_FILE, "utf8")) as VitestResult
  const { numPassedTests, numFailedTests, numPendingTests, testResults } = results
  const hasSkipped = testResults.filter((file) => file.assertionResults.some(({ status }) => status === "skipped"))
  const broken = testResults.filter((file) => file.status === "failed")
  const failed = numFailedTests > 0 ? numFailedTests : broken.length
  return {
    passed: numPassedTests,
    failed: ok ? failed : Math.max(1, failed),
    skipped: numPendingTests,
    skips: hasSkipped.map((file) => relative(process.cwd(), file.name)),
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

/** Returns the first lines of a message, indented, without colours and without the test runner's stack frames. */
function beginningOf(message: string, indent: string): string[] {
  const lines = stripVTControlCharacters(message)
    .split("\n")
    .filter((line) => line.trim() !== "" && !/^\s+at .*(?:node_modules|node:|<anonymous>)/.test(line))
  const text = lines.slice(0, MAX_MESSAGE_LINES).join("\n").slice(0, MAX_MESSAGE_CHARS)
  return text === "" ? [] : text.split("\n").map((line) => indent + line.trimEnd())
}

rmSync(VITEST_FILE, { force: true })
const steps = await Promise.all(FIRST_STEPS.map(runStep))
const isBuilt = steps.every(({ name, ok }) => ok || name !== "build")
if (isBuilt) steps.push(...(await Promise.all(LAST_STEPS.map(runStep))))

console.log("")
for (const { name, ok, seconds, skips } of steps) {
  console.log(`${ok ? "ok    " : "FAILED"} ${name.padEnd(10)} ${seconds.toFixed(1).padStart(6)} s`)
  for (const skip of skips) console.log(`       skipped: ${skip}`)
}
const bad = steps.filter(({ ok }) => !ok)
if (bad.length > 0) {
  console.log("\nRerun the failures:")
  for (const { help } of bad) for (const line of help) console.log(line)
}
mkdirSync("node_modules/.cache/cuecard", { recursive: true })
writeFileSync(TOTALS_FILE, `${formatTotals(steps)}\n`)
process.exit(steps.some(({ failed }) => failed > 0) ? 1 : 0)
