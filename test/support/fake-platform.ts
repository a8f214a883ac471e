/**
 * fake-platform.ts: a loopback server that replaces Cloudflare's API: versions, deployments, counted requests, and the
 * routes that wrangler uses to upload a version. It can be slow, fail, and lose responses.
 */

import { createServer, type IncomingMessage, type Server } from "node:http"
import type { AddressInfo } from "node:net"

export const ACCOUNT = "0123456789abcdef0123456789abcdef"
const SCRIPT = "cuecard"

export interface FakeDeployment {
  readonly id: string
  readonly created_on: string
  readonly annotations: { readonly "workers/message": string }
  readonly versions: readonly { readonly version_id: string; readonly percentage: number }[]
}

/** How the server misbehaves on a request. `lose`: the request takes effect, but its response never arrives. */
export type Misbehaviour = { readonly status: number; readonly retryAfter?: string } | "hang" | "lose" | "garbage"

export interface Seen {
  readonly method: string
  readonly path: string
  readonly body: string
}

export interface FakePlatform {
  readonly url: string
  readonly seen: readonly Seen[]
  /** All deployments, newest first. */
  readonly deployments: FakeDeployment[]
  /** Ids of the versions that can be deployed. */
  readonly deployable: string[]
  /** The content of the bucket's objects by key. */
  readonly objects: Map<string, string>
  migrationTag: string | null
  /** Requests and failed requests of each version, returned each time they are counted. */
  rates: Readonly<Record<string, { readonly requests: number; readonly failed: number }>>
  /** Called before each request. If it returns a value, that misbehaviour replaces the response. */
  misbehave: ((seen: Seen) => Misbehaviour | null) | null
  /** Deploys a version, as another operator would. */
  deploy(version: string): void
  /** Returns each version's percentage of the traffic in the active deployment, by id. */
  traffic(): Readonly<Record<string, number>>
  close(): Promise<void>
}

interface Answer {
  readonly status?: number
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
  /** The whole response, if it is not JSON. */
  readonly raw?: string
}

/** Starts the server. The version `active` receives all traffic. */
export async function startFakePlatform(active: string, earlier: readonly string[] = []): Promise<FakePlatform> {
  const seen: Seen[] = []
  let count = 0
  const platform: Omit<FakePlatform, "url" | "close"> = {
    seen,
    deployments: [],
    deployable: [active, ...earlier],
    objects: new Map(),
    migrationTag: "v3",
    rates: {},
    misbehave: null,
    deploy: (version) => add([{ version_id: version, percentage: 100 }], "by hand"),
    traffic: () =>
      Object.fromEntries(
        platform.deployments[0]?.versions.map((version) => [version.version_id, version.percentage]) ?? [],
      ),
  }
  const add = (versions: FakeDeployment["versions"], message: string): void => {
    count += 1
    const created_on = new Date(1_700_000_000_000 + count * 1000).toISOString()
    platform.deployments.unshift({
      id: `deployment-${count}`,
      created_on,
      annotations: { "workers/message": message },
      versions,
    })
  }
  for (const version of [...earlier].reverse()) platform.deploy(version)
  platform.deploy(active)

  const answer = ({ method, path, body }: Seen): Answer => {
    const [, key] = /\/r2\/buckets\/[\w-]+\/objects\/([^?]+)/.exec(decodeURIComponent(path)) ?? []
    if (key !== undefined) return answerObject(platform.objects, method, key, body)
    const own = `/accounts/${ACCOUNT}/workers`
    switch (`${method} ${path.replace(/\?.*$/, "")}`) {
      case `GET ${own}/scripts/${SCRIPT}/deployments`:
        return { result: { deployments: platform.deployments } }
      case `POST ${own}/scripts/${SCRIPT}/deployments`: {
        const { versions, annotations } = JSON.parse(body) as FakeDeployment
        const sum = versions.reduce((total, { percentage }) => total + percentage, 0)
        const unknown = versions.find(({ version_id }) => !platform.deployable.includes(version_id))
        if (sum !== 100 || versions.length > 2 || unknown !== undefined)
          return { status: 400, error: { code: 10_000, message: "These versions cannot be deployed." } }
        add(versions, annotations["workers/message"])
        return { result: platform.deployments[0] }
      }
      case `GET ${own}/scripts/${SCRIPT}/versions`: {
        const items = platform.deployable.map((id, i) => ({ id, number: i, metadata: { created_on: "2026-01-01" } }))
        return { result: { items } }
      }
      case `POST ${own}/scripts/${SCRIPT}/versions`: {
        const id = `00000000-0000-4000-8000-00000000000${platform.deployable.length}`
        platform.deployable.push(id)
        return { result: { id, startup_time_ms: 9, metadata: { has_preview: false } } }
      }
      case `GET ${own}/services/${SCRIPT}`:
        return {
          result: { default_environment: { script: { migration_tag: platform.migrationTag, tag: "t", tags: [] } } },
        }
      case `POST ${own}/scripts/${SCRIPT}/assets-upload-session`:
        // The platform already has every file.
        return { result: { jwt: "done", buckets: [] } }
      case `POST ${own}/observability/telemetry/query`:
        return { result: countEvents(JSON.parse(body) as Query, platform.rates) }
      case `GET ${own}/scripts/${SCRIPT}/secrets`:
        return { result: [] }
      case `GET ${own}/scripts/${SCRIPT}/settings`:
        return { result: { bindings: [{ type: "r2_bucket", name: "MEDIA", bucket_name: "cuecard-media" }] } }
      default:
        return { result: {} }
    }
  }

  const server = createServer(async (request, response) => {
    const body = await readText(request).catch(() => null)
    // After a refusal, the client abandons its other uploads.
    if (body === null) return
    const entry = { method: request.method ?? "", path: request.url ?? "", body }
    seen.push(entry)
    const odd = platform.misbehave?.(entry) ?? null
    if (odd === "hang") return
    if (odd === "garbage") return void response.end("<html>not the API</html>")
    if (odd !== null && odd !== "lose") {
      const headers = odd.retryAfter === undefined ? {} : { "retry-after": odd.retryAfter }
      response.writeHead(odd.status, headers)
      return void response.end(JSON.stringify({ success: false, errors: [{ code: 1, message: "odd" }] }))
    }
    const { status = 200, result = null, error, raw } = answer(entry)
    if (odd === "lose") return void response.destroy()
    if (raw !== undefined) return void response.end(raw)
    response.writeHead(status, { "content-type": "application/json" })
    response.end(JSON.stringify({ success: error === undefined, errors: error === undefined ? [] : [error], result }))
  })
  const url = await listenOnLoopback(server)
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
  }
  return Object.assign(platform, { url, close })
}

function answerObject(objects: Map<string, string>, method: string, key: string, body: string): Answer {
  if (method === "PUT") objects.set(key, body)
  const raw = objects.get(key)
  if (method !== "GET") return { result: {} }
  return raw === undefined ? { status: 404, error: { code: 10_007, message: "no such object" } } : { raw }
}

interface Query {
  readonly parameters: {
    readonly groupBys: readonly { readonly value: string }[]
    readonly filters: readonly { readonly key: string }[]
  }
}

/**
 * Counts requests as the platform does. Half of the failures are exceptions, and the other half are responses with
 * status 500.
 */
function countEvents({ parameters }: Query, rates: FakePlatform["rates"]): object {
  const isByStatus = parameters.filters.some(({ key }) => key === "$workers.event.response.status")
  const aggregates = Object.entries(rates).flatMap(([version, { requests, failed }]) => {
    const exceptions = Math.floor(failed / 2)
    const row = (value: number, outcome: string): object => ({
      groups: parameters.groupBys.map(({ value: key }) => ({
        key,
        value: key === "$workers.outcome" ? outcome : version,
      })),
      value,
      count: value,
      interval: 0,
      sampleInterval: 1,
    })
    return isByStatus
      ? [row(failed - exceptions, "ok")]
      : [row(requests - exceptions, "ok"), row(exceptions, "exception")]
  })
  return { run: { status: "COMPLETED" }, calculations: [{ calculation: "COUNT", aggregates, series: [] }] }
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString("utf8")
}

async function listenOnLoopback(server: Server): Promise<string> {
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
