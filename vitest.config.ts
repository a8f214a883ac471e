/**
 * vitest.config.ts: one project per belt.
 *
 * rooms, shared, testing: plain Node · worker: workerd · client: a DOM · faults: plain Node, killing real servers ·
 * browser: plain Node, driving a real Chromium. These two run alone and after the others; they and `testing` use what
 * `npm run build` left in dist/.
 */
import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { cloudflareTest } from "@cloudflare/vitest-plugin"
import preact from "@preact/preset-vite"
import { defineConfig } from "vitest/config"

/** Real servers on the loopback that stand for model and weather upstreams; see its header for what it provides. */
const UPSTREAMS = "test/support/upstreams.ts"

const NODE_ALIAS = { "cuecard/testing": resolve("testing/index.ts") }
const LONG_MS = 120_000
/** The short form of the fault suite, on a busy machine. */
const FAULTS_MS = 300_000

export default defineConfig({
  test: {
    maxWorkers: 2,
    passWithNoTests: true,
    reporters: ["default", ["json", { outputFile: "node_modules/.cache/cuecard/vitest.json" }]],
    projects: [
      {
        test: { name: "rooms", include: ["test/*.test.ts"], testTimeout: 30_000 },
      },
      {
        test: { name: "shared", include: ["test/{shared,golden,contract}/**/*.test.ts"], testTimeout: LONG_MS },
      },
      {
        plugins: [
          cloudflareTest(({ inject }) => ({
            wrangler: { configPath: "./wrangler.toml" },
            miniflare: {
              cf: false,
              // What upstreams.ts gives with provide("bindings", {…}) joins the Worker's variables.
              bindings: {
                PROBE_TOOLS: "on",
                ...(existsSync(UPSTREAMS) ? (inject<Record<string, string> | undefined>("bindings") ?? {}) : {}),
              },
            },
          })),
        ],
        test: {
          name: "worker",
          include: ["test/worker/**/*.test.ts"],
          globalSetup: existsSync(UPSTREAMS) ? [UPSTREAMS] : [],
          testTimeout: 60_000,
        },
      },
      {
        plugins: [preact()],
        test: { name: "client", include: ["test/client/**/*.test.{ts,tsx}"], environment: "happy-dom" },
      },
      {
        resolve: { alias: NODE_ALIAS },
        test: {
          name: "testing",
          include: ["test/{consumer,testing}/**/*.test.ts"],
          testTimeout: LONG_MS,
          hookTimeout: LONG_MS,
        },
      },
      {
        test: {
          name: "faults",
          include: ["test/faults/**/*.test.ts"],
          fileParallelism: false,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
          testTimeout: FAULTS_MS,
          hookTimeout: LONG_MS,
        },
      },
      {
        resolve: { alias: NODE_ALIAS },
        test: {
          name: "browser",
          include: ["test/browser/**/*.test.ts"],
          fileParallelism: false,
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
          testTimeout: LONG_MS,
          hookTimeout: LONG_MS,
        },
      },
    ],
  },
})
