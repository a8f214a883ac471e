/**
 * built-worker.ts: reads the build in dist/: the modules of the Worker, its configuration, and the folder of the page.
 */

import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

/**
 * The dist folder. In an installed package, it is the parent of this file's folder; in the repository, it is a sibling
 * of that folder.
 */
const DIST = fileURLToPath(new URL(import.meta.url.endsWith(".ts") ? "../dist/" : "../", import.meta.url))

export interface Build {
  /** JavaScript by file name. */
  readonly modules: Readonly<Record<string, string>>
  readonly main: string
  readonly page: string
  readonly compatibilityDate: string
  readonly compatibilityFlags: readonly string[]
  /** Paths that are handled by the Worker instead of the page's files. */
  readonly workerPaths: readonly string[]
  readonly vars: Readonly<Record<string, string>>
  /** Class names of the Durable Objects, by binding. */
  readonly objects: Readonly<Record<string, string>>
  /** Names of the R2 buckets, by binding. */
  readonly buckets: Readonly<Record<string, string>>
  /** The URL of the server that replaces Workers AI, behind the binding `AI`. If absent, there is no such binding. */
  readonly ai?: URL
}

/** The parts of the built wrangler.json that are used. */
interface BuiltConfig {
  readonly main: string
  readonly compatibility_date: string
  readonly compatibility_flags?: readonly string[]
  readonly assets: { readonly run_worker_first: readonly string[] }
  readonly vars: Readonly<Record<string, string>>
  readonly durable_objects: { readonly bindings: readonly { readonly name: string; readonly class_name: string }[] }
  readonly r2_buckets: readonly { readonly binding: string; readonly bucket_name: string }[]
}

/** Throws if there is no build, or only a production build. */
export function readBuild(dist: string = DIST): Build {
  const folder = join(dist, "cuecard")
  const config = readConfig(folder)
  if (config.vars["ENVIRONMENT"] !== "local") {
    throw new Error(
      `cuecard/testing needs a local build, but ${folder} contains a production build. Run: npm run build`,
    )
  }
  const { main, compatibility_date, compatibility_flags = [], assets, vars, durable_objects, r2_buckets } = config
  return {
    main,
    vars,
    compatibilityDate: compatibility_date,
    compatibilityFlags: compatibility_flags,
    modules: readModules(folder),
    page: join(dist, "client"),
    workerPaths: assets.run_worker_first,
    objects: Object.fromEntries(durable_objects.bindings.map(({ name, class_name }) => [name, class_name])),
    buckets: Object.fromEntries(r2_buckets.map(({ binding, bucket_name }) => [binding, bucket_name])),
  }
}

/**
 * Returns the modules, short ones first. Miniflare copies everything that it has written so far whenever it adds a
 * module to workerd's configuration, so long modules in front would double the time of that step.
 */
function readModules(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".js"))
  const modules = names.map((name): [string, string] => [name, readFileSync(join(folder, name), "utf8")])
  return Object.fromEntries(modules.sort(([, one], [, other]) => one.length - other.length))
}

function readConfig(folder: string): BuiltConfig {
  try {
    return JSON.parse(readFileSync(join(folder, "wrangler.json"), "utf8"))
  } catch {
    throw new Error(`cuecard/testing needs the built Worker, but ${folder} has none. Run: npm run build`)
  }
}
