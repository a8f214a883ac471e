/**
 * mutant-build.ts: bundles mutant-worker.ts in place of the production Worker. Everything else is taken from dist/.
 */

import { fileURLToPath } from "node:url"
import { build } from "vite"
import { type Build, readBuild } from "../../testing/built-worker.ts"

const ENTRY = fileURLToPath(new URL("mutant-worker.ts", import.meta.url))
const MAIN = "mutant-worker.js"

let bundled: Promise<Build> | null = null

/** Bundles once per process. */
export function buildMutants(): Promise<Build> {
  bundled ??= bundleWorker().then((code) => ({ ...readBuild(), main: MAIN, modules: { [MAIN]: code } }))
  return bundled
}

async function bundleWorker(): Promise<string> {
  const output = await build({
    configFile: false,
    publicDir: false,
    logLevel: "error",
    ssr: { target: "webworker", noExternal: true },
    resolve: { conditions: ["workerd", "worker", "module", "browser"] },
    build: {
      ssr: ENTRY,
      write: false,
      target: "es2023",
      rolldownOptions: { external: [/^cloudflare:/], output: { entryFileNames: MAIN, codeSplitting: false } },
    },
  })
  const chunks = (Array.isArray(output) ? output : [output]).flatMap((one) => ("output" in one ? one.output : []))
  const [chunk] = chunks.filter((one) => one.type === "chunk")
  if (chunk === undefined || chunks.length !== 1) throw new Error("the mutant Worker is not one module")
  return chunk.code
}
