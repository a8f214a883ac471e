/**
 * vitest.config.ts: one project per kind of test.
 *
 * The projects structure, shared and testing run in plain Node, worker and worker-counting in workerd, and client with
 * a DOM. faults kills real servers and browser drives a real Chromium, both from plain Node. `faults`, `browser` and
 * `testing` use the build in dist/. All files share a pool of MAX_WORKERS processes. Long files start first, and
 * `faults-timed` runs last. Each file starts its own servers, so any two files can run in parallel. Most projects run
 * in a few processes (`isolate: false`), so their files must not depend on module state. Each file of
 * `worker-counting`, `faults` and `faults-timed` has its own process.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from "node:fs"
import { totalmem } from "node:os"
import { resolve } from "node:path"
import process from "node:process"
import { cloudflareTest } from "@cloudflare/vitest-plugin"
import preact from "@preact/preset-vite"
import { defineConfig, type TestProjectConfiguration } from "vitest/config"
import { LongestFirst } from "./test/support/longest-first.ts"
import { createStaticImports } from "./test/support/static-imports.ts"

/** Starts real loopback servers in place of the model and weather services. The file's header describes them. */
const UPSTREAMS = "test/support/upstreams.ts"

/** The projects with this alias start their servers with telemetry and check the log lines (SPEC OB6). */
const NODE_ALIAS = {
  "cuecard/testing": resolve("test/support/checked-cuecard.ts"),
  "cuecard/client": resolve("sdk/index.ts"),
}
const CHECK_SERVER_LOGS = ["test/support/check-server-logs.ts"]
const LONG_MS = 120_000
/** Timeout of a fault test, in milliseconds. Long enough for the short form of the fault suite on a busy machine. */
const FAULTS_MS = 300_000
/**
 * More than the two cores of CI, because most files wait for a server, a browser or a timer for much of their time.
 * More than five would take more processor time, because each process starts a browser and loads the modules. Each
 * process can need about 900 MB, with its browser and its server.
 */
const MAX_WORKERS = Number(process.env["MAX_WORKERS"] ?? 5)

const MEMORY_FOLDER = "/dev/shm"

/**
 * Lets tests keep their temporary files in memory, if there is enough. Servers sync their databases after each write,
 * which is slow on a disk.
 */
function keepFilesInMemory(): void {
  if (process.env["TMPDIR"] !== undefined || !existsSync(MEMORY_FOLDER) || totalmem() < 12e9) return
  const { bavail, bsize } = statfsSync(MEMORY_FOLDER)
  if (bavail * bsize < 4e9 || /^\S+ \/dev\/shm .*\bnoexec\b/m.test(readFileSync("/proc/mounts", "utf8"))) return
  const folder = mkdtempSync(`${MEMORY_FOLDER}/cuecard-`)
  process.env["TMPDIR"] = folder
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }))
}
keepFilesInMemory()

/** Processes of a test run compile the packages that they load once. The commands that tests start inherit this. */
process.env["NODE_COMPILE_CACHE"] ??= resolve("node_modules/.cache/cuecard/compiled")

/**
 * Tests contact only the loopback interface. Miniflare would copy these certificates into the configuration of each
 * server, which takes a fifth of the processor time of a start.
 */
delete process.env["NODE_EXTRA_CA_CERTS"]

/** Variables that control generated tests (test/support/seeded.ts). workerd receives them as bindings. */
const LENGTHS = Object.fromEntries(
  ["RUNS", "FC_RUNS", "FC_SEED"].flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value]]
  }),
)

const IS_FULL = ["full", "long"].includes(process.env["RUNS"] ?? "")

/** Vitest's default of one second is too short for a server on a busy machine. */
const EXPECT = { poll: { timeout: 20_000 } }

/** Makes failure messages long enough to show the compared values. `npm run check` ends with these messages. */
const CHAI = { truncateThreshold: 300 }

/**
 * These files count the work of all objects in their isolate, or the modules that the isolate loads, so no other file
 * may leave jobs, tenants or modules behind in that isolate.
 */
const COUNTING_FILES = [
  "cost",
  "issuer-keys",
  "operation-costs",
  "regions",
  "scheduled-backup",
  "socket-registration",
  "tenant-kills",
].map((name) => `test/worker/${name}.test.ts`)

/** These files play fault plans and check in real time how long recovery takes. */
const TIMED_FILES = ["faults", "kept-faults", "mutants", "releases"].map((name) => `test/faults/${name}.test.ts`)

/** A project that kills real servers. */
function faultsProject(
  name: string,
  test: {
    include: string[]
    exclude?: string[]
    maxWorkers: number
    sequence?: { groupOrder: number }
  },
): TestProjectConfiguration {
  return {
    test: {
      name,
      setupFiles: CHECK_SERVER_LOGS,
      chaiConfig: CHAI,
      expect: EXPECT,
      testTimeout: FAULTS_MS,
      hookTimeout: LONG_MS,
      ...test,
    },
  }
}

/** A project whose files run in workerd. */
function workerProject(
  name: string,
  test: { isolate?: boolean; include: string[]; exclude?: string[] },
  vars: Readonly<Record<string, string>> = {},
): TestProjectConfiguration {
  return {
    // Otherwise Vite warns about missing source maps of packages.
    logLevel: "error",
    plugins: [
      createStaticImports(),
      cloudflareTest(({ inject }) => ({
        wrangler: { configPath: "./wrangler.toml", environment: "local" },
        // Otherwise workerd prints a stack for every exception, even one that a test expects.
        verbose: false,
        miniflare: {
          cf: false,
          // The bucket is optional in a deployment, so wrangler.toml doesn't bind it (SPEC BK3).
          r2Buckets: ["BACKUP"],
          // For tests of rate limits. Tests never reach the limits of [env.local].
          ratelimits: { RATE_OF_FIVE: { namespace_id: "1499", simple: { limit: 5, period: 60 } } },
          // The bindings that upstreams.ts provides are added to the Worker's variables.
          bindings: {
            PROBE_TOOLS: "on",
            // The model call for a title would be part of every test that counts calls.
            AUTO_TITLES: "off",
            ...vars,
            // Spans and data points are log lines here, so that every test checks them for content (SPEC OB6).
            SPANS: "log",
            SPAN_SAMPLING: "1",
            POINTS: "log",
            ...LENGTHS,
            ...(existsSync(UPSTREAMS) ? (inject<Record<string, string> | undefined>("bindings") ?? {}) : {}),
          },
        },
      })),
    ],
    test: {
      name,
      setupFiles: ["test/worker/check-log-lines.ts", "test/worker/delete-agents.ts"],
      chaiConfig: CHAI,
      expect: EXPECT,
      globalSetup: existsSync(UPSTREAMS) ? [UPSTREAMS] : [],
      testTimeout: 60_000,
      ...test,
    },
  }
}

export default defineConfig({
  test: {
    maxWorkers: MAX_WORKERS,
    sequence: { sequencer: LongestFirst },
    passWithNoTests: true,
    // A failed test prints what it and its Worker logged; a passed one prints nothing.
    silent: "passed-only",
    // In milliseconds. Slower tests are listed individually.
    slowTestThreshold: 10_000,
    reporters: ["default", ["json", { outputFile: "node_modules/.cache/cuecard/vitest.json" }]],
    projects: [
      {
        test: { name: "structure", chaiConfig: CHAI, include: ["test/*.test.ts"], testTimeout: LONG_MS },
      },
      {
        test: {
          name: "shared",
          chaiConfig: CHAI,
          isolate: false,
          include: ["test/{shared,golden,contract}/**/*.test.ts"],
          testTimeout: LONG_MS,
        },
      },
      workerProject(
        "worker",
        { isolate: false, exclude: COUNTING_FILES, include: ["test/worker/**/*.test.ts"] },
        // Otherwise the scripted model writes at a reader's pace, and most of a test's time is waiting.
        { SCRIPTED_DELAY_MS: "0" },
      ),
      workerProject("worker-counting", { include: COUNTING_FILES }),
      {
        plugins: [preact()],
        test: {
          name: "client",
          chaiConfig: CHAI,
          isolate: false,
          include: ["test/client/**/*.test.{ts,tsx}"],
          environment: "happy-dom",
          setupFiles: ["test/client/console.ts"],
          // Long enough for a busy machine, so that only a hang times out.
          testTimeout: LONG_MS,
        },
      },
      {
        resolve: { alias: NODE_ALIAS },
        test: {
          name: "testing",
          isolate: false,
          setupFiles: CHECK_SERVER_LOGS,
          chaiConfig: CHAI,
          expect: EXPECT,
          include: ["test/{consumer,testing}/**/*.test.ts"],
          testTimeout: LONG_MS,
          hookTimeout: LONG_MS,
        },
      },
      faultsProject("faults", {
        include: ["test/faults/**/*.test.ts"],
        exclude: TIMED_FILES,
        maxWorkers: MAX_WORKERS,
      }),
      faultsProject("faults-timed", {
        include: TIMED_FILES,
        // Runs after the other projects, whose load would make recovery slower than allowed.
        sequence: { groupOrder: 1 },
        // The full suite measures how long recovery takes, so it leaves more headroom.
        maxWorkers: IS_FULL ? 3 : MAX_WORKERS,
      }),
      {
        resolve: { alias: NODE_ALIAS },
        test: {
          name: "browser",
          isolate: false,
          setupFiles: CHECK_SERVER_LOGS,
          chaiConfig: CHAI,
          expect: EXPECT,
          include: ["test/browser/**/*.test.ts"],
          testTimeout: LONG_MS,
          hookTimeout: LONG_MS,
        },
      },
    ],
  },
})
