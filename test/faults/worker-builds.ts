/**
 * worker-builds.ts: bundles an entry of this folder in place of the production Worker. Everything else comes from
 * dist/.
 */

import { fileURLToPath } from "node:url"
import { build } from "vite"
import { type Build, readBuild } from "../../testing/built-worker.ts"

const bundles = new Map<string, Promise<Build>>()

/** Builds the Worker with the bug that the variable MUTANT names. */
export function buildMutants(): Promise<Build> {
  return buildEntry("mutant-worker")
}

/** Builds the Worker that stops at a chosen write or call, so that it can be killed there. */
export function buildKillPoints(): Promise<Build> {
  return buildEntry("kill-points-worker")
}

/** Bundles each entry once per process. */
function buildEntry(name: string): Promise<Build> {
  const main = `${name}.js`
  const bundled = bundles.get(name) ?? bundleWorker(name, main).then(toBuild(main))
  bundles.set(name, bundled)
  return bundled
}

function toBuild(main: string) {
  return (code: string): Build => ({ ...readBuild(), main, modules: { [main]: code } })
}

async function bundleWorker(name: string, main: string): Promise<string> {
  const output = await build({
    configFile: false,
    publicDir: false,
    logLevel: "error",
    ssr: { target: "webworker", noExternal: true },
    resolve: { conditions: ["workerd", "worker", "module", "browser"] },
    build: {
      ssr: fileURLToPath(new URL(`${name}.ts`, import.meta.url)),
      write: false,
      target: "es2023",
      rolldownOptions: { external: [/^cloudflare:/], output: { entryFileNames: main, codeSplitting: false } },
    },
  })
  const chunks = (Array.isArray(output) ? output : [output]).flatMap((one) => ("output" in one ? one.output : []))
  const [chunk] = chunks.filter((chunk) => chunk.type === "chunk")
  if (chunk === undefined || chunks.length !== 1) throw new Error(`${name}.ts is not one module`)
  return chunk.code
}
