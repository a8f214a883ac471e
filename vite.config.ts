/**
 * vite.config.ts: page and Worker from one command.
 *
 * `vite dev` serves both with hot reload; `vite build` writes dist/client (page) and dist/cuecard (Worker).
 * `--mode testing` and `--mode shared` build the package entries `cuecard/testing` and `cuecard` for plain Node instead.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { cloudflare } from "@cloudflare/vite-plugin"
import preact from "@preact/preset-vite"
import { defineConfig, type Plugin } from "vite"

const STATE_DIR = process.env["CUECARD_STATE"] ?? ".wrangler/state"

/** The built configuration names the folder it was built in; what is packed and handed on should not. */
function withoutPaths(): Plugin {
  const file = "dist/cuecard/wrangler.json"
  return {
    name: "cuecard:without-paths",
    apply: "build",
    closeBundle() {
      if (!existsSync(file)) return
      const { configPath: _config, userConfigPath: _userConfig, ...config } = JSON.parse(readFileSync(file, "utf8"))
      writeFileSync(file, JSON.stringify(config))
    },
  }
}

/** What the Worker answers in `vite dev`; the page is Vite's there, which styles and reloads it in ways that its policy forbids. */
const DEV_PATHS = ["/v1/*", "/healthz", "/external/*", "/media/*", "/canvas/*"]

export default defineConfig(({ mode, command, isPreview }) =>
  mode === "testing" || mode === "shared"
    ? {
        publicDir: false,
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
          cloudflare({
            persistState: { path: STATE_DIR },
            inspectorPort: false,
            config(config) {
              const isDev = command === "serve" && isPreview !== true
              if (isDev && config.assets !== undefined) config.assets.run_worker_first = DEV_PATHS
            },
          }),
          withoutPaths(),
        ],
        build: { target: "es2023" },
        server: { host: "127.0.0.1", port: 8787 },
        environments: {
          client: { build: { modulePreload: { polyfill: false } } },
          cuecard: { build: { minify: true } },
        },
      },
)
