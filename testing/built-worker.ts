/**
 * built-worker.ts: reads what `npm run build` left in dist/: the Worker's modules, where the page is, and how they go together.
 */

import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

/** The folder that `npm run build` makes: beside this file when installed, one up when run from source. */
const DIST = fileURLToPath(new URL(import.meta.url.endsWith(".ts") ? "../dist/" : "../", import.meta.url))

export interface Build {
  /** JavaScript by file name. */
  readonly modules: Readonly<Record<string, string>>
  readonly main: string
  readonly page: string
  readonly compatibilityDate: string
  readonly compatibilityFlags: readonly string[]
  /** Paths that the Worker answers rather than the page's files. */
  readonly workerPaths: readonly string[]
  readonly vars: Readonly<Record<string, string>>
  /** Class names of the objects, by their binding. */
  readonly objects: Readonly<Record<string, string>>
  /** Names of the R2 buckets, by their binding. */
  readonly buckets: Readonly<Record<string, string>>
}

/** As much of the built wrangler.json as we need. */
interface BuiltConfig {
  readonly main: string
  readonly compatibility_date: string
  readonly compatibility_flags?: readonly string[]
  readonly assets: { readonly run_worker_first: readonly string[] }
  readonly vars: Readonly<Record<string, string>>
  readonly durable_objects: { readonly bindings: readonly { readonly name: string; readonly class_name: string }[] }
  readonly r2_buckets: readonly { readonly binding: string; readonly bucket_name: string }[]
}

/** Errors  throws where there is no build, or one for production, naming the command that mends it. */
export function readBuild(dist: string = DIST): Build {
  const folder = join(dist, "cuecard")
  const config = readConfig(folder)
  if (config.vars["ENVIRONMENT"] !== "local") {
    throw new Error(`cuecard/testing needs a local build, and ${folder} holds one for production. Run: npm run build`)
  }
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".js"))
  const { main, compatibility_date, compatibility_flags = [], assets, vars, durable_objects, r2_buckets } = config
  return {
    main,
    vars,
    compatibilityDate: compatibility_date,
    compatibilityFlags: compatibility_flags,
    modules: Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name), "utf8")])),
    page: join(dist, "client"),
    workerPaths: assets.run_worker_first,
    objects: Object.fromEntries(durable_objects.bindings.map(({ name, class_name }) => [name, class_name])),
    buckets: Object.fromEntries(r2_buckets.map(({ binding, bucket_name }) => [binding, bucket_name])),
  }
}

function readConfig(folder: string): BuiltConfig {
  try {
    return JSON.parse(readFileSync(join(folder, "wrangler.json"), "utf8"))
  } catch {
    throw new Error(`cuecard/testing serves the built Worker, and there is none in ${folder}. Run: npm run build`)
  }
}
