/**
 * workerd-runtime.ts: runs a build in workerd, by Miniflare, on the loopback and with no way out of it.
 */

import { Miniflare, type MiniflareOptions, NoOpLog } from "miniflare"
import type { Build } from "./built-worker.ts"
import { watchChild } from "./server-process.ts"

export interface RuntimeOptions {
  readonly build: Build
  readonly vars: Readonly<Record<string, string>>
  /** Folder of the objects' storage and of the buckets. */
  readonly persist: string
  readonly port: number
  readonly onLog: (line: string) => void
}

export interface Runtime {
  readonly url: string
  pid(): number
  /** Takes the object of this name out of memory; its sockets hibernate. */
  evict(className: string, name: string): Promise<void>
  close(): Promise<void>
  kill(): Promise<void>
}

const HOST = "127.0.0.1"
/** Name of the Worker inside Miniflare. */
const WORKER = "cuecard"

/**
 * Everything that the Worker fetches passes through here: the loopback, where a test's own upstreams are, and no
 * further. It runs in workerd, so that streams and their aborts stay what they are.
 */
const OUTBOUND = `export default {
  fetch(request) {
    const { hostname } = new URL(request.url)
    if (hostname === "localhost" || hostname === "[::1]" || /^127\\./.test(hostname)) return fetch(request)
    throw new Error("cuecard/testing has no network: " + hostname)
  },
}`

export async function startRuntime(options: RuntimeOptions): Promise<Runtime> {
  const { started, child } = watchChild(() => {
    const miniflare = new Miniflare(miniflareOptions(options))
    return { miniflare, ready: miniflare.ready }
  })
  const { miniflare, ready } = started
  const url = await ready.catch(async (error: unknown) => {
    await miniflare.dispose().catch(() => {})
    throw error
  })
  let ended: Promise<void> | null = null
  const close = (): Promise<void> => {
    ended ??= miniflare.dispose()
    return ended
  }
  return {
    url: url.href.replace(/\/$/, ""),
    pid: () => child()?.pid ?? 0,
    evict: (className, name) =>
      miniflare.unsafeEvictDurableObject(WORKER, className, { name, webSockets: "hibernate" }),
    close,
    kill() {
      // In one go: left alone for a moment, Miniflare would start workerd again.
      if (ended === null) child()?.kill("SIGKILL")
      return close()
    },
  }
}

function miniflareOptions({ build, vars, persist, port, onLog }: RuntimeOptions): MiniflareOptions {
  return {
    host: HOST,
    port,
    cf: false,
    log: new NoOpLog(),
    logRequests: false,
    enableDevRegistry: false,
    telemetry: { enabled: false },
    resourcePersistencePath: persist,
    handleStructuredLogs: ({ message }) => onLog(message),
    workers: [
      { config: workerConfig(build, vars), dev: { outboundService: { type: "worker", worker: "outbound" } } },
      {
        config: {
          name: "outbound",
          compatibilityDate: build.compatibilityDate,
          manifest: createManifest("outbound.js", { "outbound.js": OUTBOUND }),
        },
      },
    ],
  }
}

function workerConfig(build: Build, vars: Readonly<Record<string, string>>) {
  const name = WORKER
  const objects = Object.entries(build.objects)
  return {
    name,
    compatibilityDate: build.compatibilityDate,
    compatibilityFlags: [...build.compatibilityFlags],
    manifest: createManifest(build.main, build.modules),
    env: {
      ...mapValues(vars, (value) => ({ type: "text" as const, value })),
      ...mapValues(build.objects, (exportName) => ({ type: "durable-object" as const, worker: name, exportName })),
      ...mapValues(build.buckets, (bucket) => ({ type: "r2" as const, name: bucket })),
      ASSETS: { type: "assets" as const },
    },
    exports: Object.fromEntries(
      objects.map(([, exportName]) => [exportName, { type: "durable-object" as const, storage: "sqlite" as const }]),
    ),
    assets: {
      directory: build.page,
      hasUserWorker: true,
      runWorkerFirst: [...build.workerPaths],
      notFoundHandling: "single-page-application" as const,
    },
  }
}

function createManifest(mainModule: string, sources: Readonly<Record<string, string>>) {
  return { mainModule, modules: mapValues(sources, (contents) => ({ type: "esm" as const, contents })) }
}

function mapValues<T, U>(values: Readonly<Record<string, T>>, map: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, map(value)]))
}
