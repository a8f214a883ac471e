/**
 * vitest.config.ts: one project per kind of test.
 *
 * structure, shared, testing: plain Node · worker, worker-counting: workerd · client: a DOM · faults: plain Node, killing
 * real servers · browser: plain Node, driving a real Chromium. `faults`, `browser` and `testing` use what `npm run build` left in dist/.
 * All files share one pool of MAX_WORKERS, long ones first; `faults-timed` comes last. Each file starts its own servers, so any
 * two of them can run side by side. Most projects run in a few processes (`isolate: false`), so their files must not depend on
 * the state of modules. The files of `worker-counting`, `faults` and `faults-timed` each have a process.
 */
import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { cloudflareTest } from "@cloudflare/vitest-plugin"
import preact from "@preact/preset-vite"
import { defineConfig, type TestProjectConfiguration } from "vitest/config"
import { LongestFirst } from "./test/support/longest-first.ts"
import { createStaticImports } from "./test/support/static-imports.ts"

/** Real servers on the loopback that stand for model and weather upstreams; see its header for what it provides. */
const UPSTREAMS = "test/support/upstreams.ts"

/** The servers of these projects are started with telemetry, and their log lines are checked (SPEC OB6). */
const NODE_ALIAS = { "cuecard/testing": resolve("test/support/checked-cuecard.ts") }
const CHECK_SERVER_LOGS = ["test/support/check-server-logs.ts"]
const LONG_MS = 120_000
/** The short form of the fault suite, on a busy machine. */
const FAULTS_MS = 300_000
/** More than the two cores of CI, because most files wait for a server, a browser or a timer for much of their time. */
const MAX_WORKERS = Number(process.env["MAX_WORKERS"] ?? 6)

/** The length of generated tests (test/support/seeded.ts). workerd takes its environment from its bindings. */
const LENGTHS = Object.fromEntries(
  ["RUNS", "FC_RUNS", "FC_SEED"].flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value]]
  }),
)

/** Vitest waits for one second otherwise, which is too short for a server on a busy machine. */
const EXPECT = { poll: { timeout: 20_000 } }

/** A failure's message shows what was compared. `npm run check` ends with these messages. */
const CHAI = { truncateThreshold: 300 }

/**
 * They count what all objects of their isolate do, or what it loads, so no other file may leave jobs, tenants or modules
 * behind in it.
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

/** They play plans and check how long recovery takes, in real time. */
const TIMED_FILES = ["faults", "mutants", "releases"].map((name) => `test/faults/${name}.test.ts`)

/** A project that kills real servers. */
function faultsProject(
  name: string,
  test: { include: string[]; exclude?: string[]; maxWorkers: number; sequence?: { groupOrder: number } },
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
): TestProjectConfiguration {
  return {
    // Vite would warn about missing source maps of packages.
    logLevel: "error",
    plugins: [
      createStaticImports(),
      cloudflareTest(({ inject }) => ({
        wrangler: { configPath: "./wrangler.toml", environment: "local" },
        // Otherwise workerd prints a stack for every exception, including those that a test expects.
        verbose: false,
        miniflare: {
          cf: false,
          // Optional in a deployment, so not in wrangler.toml (SPEC BK3).
          r2Buckets: ["BACKUP"],
          // For tests of the limits: those of [env.local] are never reached.
          ratelimits: { RATE_OF_FIVE: { namespace_id: "1499", simple: { limit: 5, period: 60 } } },
          // What upstreams.ts gives with provide("bindings", {…}) joins the Worker's variables.
          bindings: {
            PROBE_TOOLS: "on",
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
      setupFiles: ["test/worker/check-log-lines.ts"],
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
    // Milliseconds. Slower tests are listed one by one.
    slowTestThreshold: 10_000,
    reporters: ["default", ["json", { outputFile: "node_modules/.cache/cuecard/vitest.json" }]],
    projects: [
      {
        test: { name: "structure", chaiConfig: CHAI, include: ["test/*.test.ts"], testTimeout: 30_000 },
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
      workerProject("worker", { isolate: false, exclude: COUNTING_FILES, include: ["test/worker/**/*.test.ts"] }),
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
          // A hang shows as a timeout, a busy machine must not.
          testTimeout: 30_000,
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
        // After the other projects, whose load would make recovery slower than allowed.
        sequence: { groupOrder: 1 },
        // The full suite measures how long recovery takes, so it keeps more headroom.
        maxWorkers: ["full", "long"].includes(process.env["RUNS"] ?? "") ? 3 : MAX_WORKERS,
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
