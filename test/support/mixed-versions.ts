/**
 * mixed-versions.ts: a server with the Worker of one version and the Durable Objects of another, as happens while the
 * traffic is split between two versions.
 */

import { Miniflare, type MiniflareOptions, NoOpLog } from "miniflare"
import type { Build } from "../../testing/built-worker.ts"

export interface MixedServer {
  readonly url: string
  /** The lines that either version has logged. */
  readonly logs: readonly string[]
  close(): Promise<void>
}

export async function startMixed(worker: Build, objects: Build): Promise<MixedServer> {
  const logs: string[] = []
  const miniflare = new Miniflare({
    host: "127.0.0.1",
    port: 0,
    cf: false,
    log: new NoOpLog(),
    logRequests: false,
    enableDevRegistry: false,
    telemetry: { enabled: false },
    handleStructuredLogs: ({ message }) => logs.push(message),
    // Both Workers use the same objects, which run the code of the version `objects`.
    workers: [
      { config: createConfig("worker", worker, objects, {}) },
      {
        config: createConfig(
          "objects",
          objects,
          objects,
          mapValues(invertEntries(objects.objects), () => ({
            type: "durable-object" as const,
            storage: "sqlite" as const,
          })),
        ),
      },
    ],
  } satisfies MiniflareOptions)
  const { href } = await miniflare.ready
  return { url: href.replace(/\/$/, ""), logs, close: () => miniflare.dispose() }
}

function createConfig<T>(name: string, build: Build, objects: Build, exports: Record<string, T>) {
  const { main, modules, page, workerPaths, compatibilityDate, compatibilityFlags, buckets } = build
  const vars = { ...build.vars, MODEL: "scripted", SCRIPTED_DELAY_MS: "0", AUTO_TITLES: "off" }
  return {
    name,
    compatibilityDate,
    compatibilityFlags: [...compatibilityFlags],
    manifest: { mainModule: main, modules: mapValues(modules, (contents) => ({ type: "esm" as const, contents })) },
    env: {
      ...mapValues(vars, (value) => ({ type: "text" as const, value })),
      ...mapValues(objects.objects, (exportName) => ({
        type: "durable-object" as const,
        worker: "objects",
        exportName,
      })),
      ...mapValues(buckets, (bucket) => ({ type: "r2" as const, name: bucket })),
      ASSETS: { type: "assets" as const },
    },
    exports,
    assets: {
      directory: page,
      hasUserWorker: true,
      runWorkerFirst: [...workerPaths],
      notFoundHandling: "none" as const,
    },
  }
}

function mapValues<T, U>(values: Readonly<Record<string, T>>, map: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, map(value)]))
}

function invertEntries(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [value, key]))
}
