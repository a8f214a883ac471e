/**
 * vite.config.ts: builds and serves the page and the Worker.
 *
 * `vite dev` serves both with hot reload; `vite build` writes dist/client (page) and dist/cuecard (Worker).
 * `--mode testing` and `--mode shared` build the package entries `cuecard/testing` and `cuecard` for plain Node instead;
 * `--mode sdk` builds `cuecard/client`, `cuecard/preact` and `cuecard/react`.
 */
import { cloudflare } from "@cloudflare/vite-plugin"
import preact from "@preact/preset-vite"
import { type BuildEnvironmentOptions, defineConfig, type UserConfig } from "vite"
import { isLoadedWithClient, splitByView, workerSplitting } from "./scripts/bundling/chunk-groups.ts"
import { withHashedScripts, withSharedHead, withTranscriptName } from "./scripts/bundling/html-plugins.ts"
import { withOtherPages, withServiceWorker, withWidget } from "./scripts/bundling/other-builds.ts"
import {
  withoutEntityDecoder,
  withoutPaths,
  withoutPreloadHelper,
  withoutRuntimeChunk,
} from "./scripts/bundling/output-plugins.ts"

const STATE_DIR = process.env["CUECARD_STATE"] ?? ".wrangler/state"

/**
 * Selects the environment of wrangler.toml: `local`, unless scripts/deploy.ts selects production (an empty name, for
 * the top level). Cloudflare's own builds are production builds, because it deploys the dist/ that they write.
 */
process.env["CLOUDFLARE_ENV"] ??= process.env["WORKERS_CI"] === "1" ? "" : "local"

/**
 * Paths that the Worker handles in `vite dev`. Vite serves the page itself, because hot reload violates the page's
 * content security policy.
 */
const DEV_PATHS = ["/v1/*", "/auth/*", "/healthz", "/external/*", "/media/*", "/canvas/*"]

/**
 * index.html preloads what its script imports. A chunk loaded on demand preloads nothing (see withoutPreloadHelper).
 */
const modulePreload: BuildEnvironmentOptions["modulePreload"] = {
  polyfill: false,
  resolveDependencies: (_url, paths, { hostType }) => (hostType === "html" ? paths : []),
}

/**
 * `cuecard/client` and its hooks, minified for browsers, bundlers and Node. The signals package for Preact is replaced
 * with its core. A framework is never part of the bundle.
 */
const SDK_CONFIG: UserConfig = {
  publicDir: false,
  plugins: [withoutPreloadHelper()],
  resolve: { alias: { "@preact/signals": "@preact/signals-core" } },
  build: {
    target: "es2023",
    outDir: "dist/sdk",
    modulePreload: { polyfill: false, resolveDependencies: () => [] },
    rolldownOptions: {
      input: { index: "sdk/index.ts", preact: "sdk/preact.ts", react: "sdk/react.ts" },
      external: ["react", "preact/hooks"],
      preserveEntrySignatures: "strict",
      output: {
        entryFileNames: "[name].js",
        chunkFileNames: "[name]-[hash].js",
        codeSplitting: {
          groups: [{ name: (id, modules) => (isLoadedWithClient(id, modules) ? "client" : null) }],
        },
      },
    },
  },
}

export default defineConfig(({ mode, command, isPreview }) =>
  mode === "sdk"
    ? SDK_CONFIG
    : mode === "testing" || mode === "shared"
      ? {
          publicDir: false,
          plugins: [withoutEntityDecoder()],
          build: {
            ssr: `${mode}/index.ts`,
            outDir: `dist/${mode}`,
            target: "node22",
            emptyOutDir: true,
            rolldownOptions: { output: { entryFileNames: "index.js" } },
          },
        }
      : {
          plugins: [
            preact(),
            withSharedHead(),
            cloudflare({
              persistState: { path: STATE_DIR },
              inspectorPort: false,
              config(config) {
                const isDev = command === "serve" && isPreview !== true
                if (isDev && config.assets !== undefined) config.assets.run_worker_first = DEV_PATHS
              },
            }),
            withoutPaths(),
            withoutEntityDecoder(),
            withoutPreloadHelper(),
            withoutRuntimeChunk(),
            withTranscriptName(),
            withHashedScripts(),
            withOtherPages(),
            withWidget(),
            withServiceWorker(),
          ],
          build: { target: "es2023" },
          server: { host: "127.0.0.1", port: 8787 },
          environments: {
            client: {
              build: {
                modulePreload,
                rolldownOptions: { output: { codeSplitting: { groups: splitByView((info) => info.isEntry) } } },
              },
            },
            cuecard: { build: { minify: true, rolldownOptions: { output: { codeSplitting: workerSplitting } } } },
          },
        },
)
