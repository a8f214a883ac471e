/**
 * vite.config.ts: page and Worker from one command.
 *
 * `vite dev` serves both with hot reload; `vite build` writes dist/client (page) and dist/cuecard (Worker).
 * `--mode testing` builds the `cuecard/testing` entry for plain Node instead.
 */
import { cloudflare } from "@cloudflare/vite-plugin"
import preact from "@preact/preset-vite"
import { defineConfig } from "vite"

const STATE_DIR = process.env["CUECARD_STATE"] ?? ".wrangler/state"

export default defineConfig(({ mode }) =>
  mode === "testing"
    ? {
        publicDir: false,
        build: {
          ssr: "testing/index.ts",
          outDir: "dist/testing",
          target: "node22",
          emptyOutDir: true,
          rolldownOptions: { output: { entryFileNames: "index.js" } },
        },
      }
    : {
        plugins: [preact(), cloudflare({ persistState: { path: STATE_DIR }, inspectorPort: false })],
        build: { target: "es2023" },
        server: { host: "127.0.0.1", port: 8787 },
        environments: {
          client: { build: { modulePreload: { polyfill: false } } },
          cuecard: { build: { minify: true } },
        },
      },
)
