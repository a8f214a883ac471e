/**
 * static-imports.ts: a Vite plugin that turns the dynamic imports of the Worker into static ones, for tests in workerd.
 *
 * Vitest resolves `import()` over a separate connection, and requests that import the same module at the same time wait
 * for a shared promise. However, workerd cancels any request that waits for another request's I/O. In a built Worker,
 * `import()` needs no I/O; the tests of the built server cover that case.
 */

import { resolve } from "node:path"
import type { Plugin } from "vite"

const WORKER_DIRECTORY = resolve("worker")
const DYNAMIC_IMPORT = /(?<!typeof )\bimport\("(\.[^"]+)"\)/g

export function createStaticImports(): Plugin {
  return {
    name: "static-imports",
    enforce: "pre",
    transform(code, id) {
      if (!id.startsWith(WORKER_DIRECTORY)) return null
      const paths: string[] = []
      const replaced = code.replace(
        DYNAMIC_IMPORT,
        (_import, path: string) => `Promise.resolve(lazyModule${paths.push(path) - 1})`,
      )
      // Add the imports to the last line, so that line numbers don't change.
      const imports = paths.map((path, at) => `import * as lazyModule${at} from ${JSON.stringify(path)};`)
      return paths.length === 0 ? null : { code: `${replaced}\n${imports.join("")}`, map: null }
    },
  }
}
