/**
 * workerd-runtime.ts: runs a build in workerd through Miniflare, restricted to the loopback interface.
 */

import { Miniflare, type MiniflareOptions, NoOpLog } from "miniflare"
import type { Build } from "./built-worker.ts"
import { watchChild } from "./server-process.ts"

export interface RuntimeOptions {
  readonly build: Build
  readonly vars: Readonly<Record<string, string>>
  /** Folder for the storage of the objects and buckets. */
  readonly persist: string
  readonly port: number
  readonly onLog: (line: string) => void
}

export interface Runtime {
  readonly url: string
  pid(): number
  /** Removes an object from memory. Its sockets hibernate. */
  evict(className: string, name: string): Promise<void>
  close(): Promise<void>
  kill(): Promise<void>
}

const HOST = "127.0.0.1"
/** Name of the Worker inside Miniflare. */
const WORKER = "cuecard"

/**
 * Handles all the Worker's fetches and allows only loopback addresses, where a test's upstreams listen. It runs
 * in workerd, so that streams and aborts behave as in production.
 */
const OUTBOUND = `export default {
  fetch(request) {
    const { hostname } = new URL(request.url)
    if (hostname === "localhost" || hostname === "[::1]" || /^127\\./.test(hostname)) return fetch(request)
    const refusal = "cuecard/testing has no network: " + hostname
    // The Worker's own log line about the failure doesn't contain the address.
    console.error(refusal)
    throw new Error(refusal)
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
      // Dispose in the same tick, because Miniflare would otherwise restart workerd.
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
      {
        config: workerConfig(build, vars),
        dev: {
          outboundService: { type: "worker", worker: "outbound" },
          ...(build.ai !== undefined && { remoteProxyConnectionString: build.ai as never }),
        },
      },
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
      ...(build.ai !== undefined && { AI: { type: "ai" as const, dev: { remote: true } } }),
    },
    exports: Object.fromEntries(
      objects.map(([, exportName]) => [exportName, { type: "durable-object" as const, storage: "sqlite" as const }]),
    ),
    assets: {
      directory: build.page,
      hasUserWorker: true,
      runWorkerFirst: [...build.workerPaths],
      notFoundHandling: "none" as const,
    },
  }
}

function createManifest(mainModule: string, sources: Readonly<Record<string, string>>) {
  return { mainModule, modules: mapValues(sources, (contents) => ({ type: "esm" as const, contents })) }
}

function mapValues<T, U>(values: Readonly<Record<string, T>>, map: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, map(value)]))
}
