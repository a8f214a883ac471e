/**
 * platform-api.ts: Cloudflare's API, as used by staged deploys and rollbacks: deployments, versions, and the counted
 * requests of each version.
 *
 * The module reads the same environment variables as wrangler: CLOUDFLARE_API_TOKEN, CLOUDFLARE_ACCOUNT_ID,
 * CLOUDFLARE_API_BASE_URL.
 */

import { isJsonObject, parseJson } from "../../shared/json.ts"

const DEFAULT_BASE_URL = "https://api.cloudflare.com/client/v4"

/** Timeout for one response, in milliseconds. */
const REQUEST_MS = 30_000
/**
 * Maximum number of attempts for a request that fails with 429, with 5xx or without a response, and the pause before
 * the second attempt, in milliseconds. The pause doubles with each attempt.
 */
const MAX_ATTEMPTS = 4
const FIRST_PAUSE_MS = 1_000
/** Maximum pause that `Retry-After` may request, in milliseconds. */
const MAX_PAUSE_MS = 60_000
/** Maximum length of a response that is parsed, in characters. */
const MAX_RESPONSE_CHARS = 4 * 1024 * 1024

/** Number of deployments that are read from the list. The API returns the newest ones. */
const MAX_DEPLOYMENTS = 100

/** Thrown if the platform refused a request, or did not respond. */
export class PlatformError extends Error {
  /** Null if there was no usable response, in which case the request may have had an effect. */
  readonly status: number | null

  constructor(message: string, status: number | null) {
    super(message)
    this.status = status
  }
}

/** A version with its share of the traffic, in percent. */
export interface VersionShare {
  readonly version: string
  readonly share: number
}

export interface Deployment {
  readonly id: string
  /** ISO 8601. */
  readonly created: string
  readonly message: string
  readonly versions: readonly VersionShare[]
}

export interface Version {
  readonly id: string
  readonly number: number
  readonly created: string
  readonly message: string
}

/**
 * Number of requests to one version, and how many failed with an exception, an exceeded platform limit, or status 500
 * or above.
 */
export interface RequestCount {
  readonly requests: number
  readonly failed: number
}

export interface PlatformSettings {
  readonly baseUrl: string
  readonly token: string
  readonly account: string
  readonly script: string
  /** Set only by tests. */
  readonly requestMs?: number
  readonly firstPauseMs?: number
}

/**
 * Reads the settings. Throws an error with a message for the user if something is missing or the token would be sent
 * unencrypted.
 */
export function readPlatformSettings(env: NodeJS.ProcessEnv, script: string): PlatformSettings {
  const baseUrl = (env["CLOUDFLARE_API_BASE_URL"] ?? DEFAULT_BASE_URL).replace(/\/+$/, "")
  const url = URL.parse(baseUrl)
  const isLoopback = url !== null && /^(?:127\.[\d.]+|localhost|\[::1\])$/.test(url.hostname)
  if (url === null || (url.protocol !== "https:" && !isLoopback))
    throw new PlatformError("CLOUDFLARE_API_BASE_URL is not an https URL.", null)
  const token = env["CLOUDFLARE_API_TOKEN"] ?? ""
  const account = env["CLOUDFLARE_ACCOUNT_ID"] ?? ""
  if (token === "" || account === "")
    throw new PlatformError(
      `CLOUDFLARE_API_TOKEN and CLOUDFLARE_ACCOUNT_ID are required. The token needs the permissions
"Workers Scripts: Edit", "Workers R2 Storage: Edit" and "Workers Observability: Read".`,
      null,
    )
  return { baseUrl, token, account, script }
}

interface RequestOptions {
  readonly body?: object
  readonly attempts?: number
  /** Whether the result is the text of the response, not a field of its JSON. */
  readonly isRaw?: boolean
}

export class PlatformApi {
  readonly #settings: PlatformSettings
  readonly script: string

  constructor(settings: PlatformSettings) {
    this.#settings = settings
    this.script = settings.script
  }

  /** Returns the deployments, newest first; the first one is active. Empty if the Worker was never deployed. */
  async listDeployments(): Promise<Deployment[]> {
    const result = await this.#request("GET", `${this.#scriptPath()}/deployments`)
    return listOf(result, "deployments").slice(0, MAX_DEPLOYMENTS).map(toDeployment)
  }

  /**
   * Makes a deployment, and returns its id. The request is not retried, because without a response it is unknown
   * whether the deployment was made. Errors: PlatformError.
   */
  async createDeployment(versions: readonly VersionShare[], message: string): Promise<string> {
    const body = {
      strategy: "percentage",
      versions: versions.map(({ version, share }) => ({ version_id: version, percentage: share })),
      annotations: { "workers/message": message },
    }
    return textOf(await this.#request("POST", `${this.#scriptPath()}/deployments`, { body, attempts: 1 }), "id")
  }

  /** Returns the versions that can be deployed: the newest ones since the last migration. */
  async listDeployableVersions(): Promise<Version[]> {
    return listOf(await this.#request("GET", `${this.#scriptPath()}/versions?deployable=true`), "items").map(toVersion)
  }

  /** Returns the tag of the last migration that was applied; null if there is none, or no Worker. */
  async readMigrationTag(): Promise<string | null> {
    const { account, script } = this.#settings
    const path = `/accounts/${account}/workers/services/${script}`
    const result = await this.#request("GET", path).catch((error: unknown) => {
      if (error instanceof PlatformError && error.status === 404) return {}
      throw error
    })
    const environment = objectOf(objectOf(result, "default_environment"), "script")
    return typeof environment["migration_tag"] === "string" ? environment["migration_tag"] : null
  }

  /**
   * Counts the requests of each version since a time, in milliseconds since 1970, from the Worker's logs.
   *
   * A result omits rows without the key that it is grouped by, and alarms have no status. So outcomes and statuses need
   * separate queries.
   */
  async countRequests(from: number, to: number): Promise<Map<string, RequestCount>> {
    const [byOutcome, byStatus] = await Promise.all([
      this.#countEvents({ from, to }, ["$workers.scriptVersion.id", "$workers.outcome"], []),
      this.#countEvents({ from, to }, ["$workers.scriptVersion.id"], SERVER_ERRORS),
    ])
    const counts = new Map<string, RequestCount>()
    const addCounts = (version: string, requests: number, failed: number): void => {
      const count = counts.get(version) ?? { requests: 0, failed: 0 }
      counts.set(version, { requests: count.requests + requests, failed: count.failed + failed })
    }
    for (const { groups, count } of byOutcome) {
      const [version = "", outcome = ""] = groups
      addCounts(version, count, GOOD_OUTCOMES.has(outcome) ? 0 : count)
    }
    for (const { groups, count } of byStatus) addCounts(groups[0] ?? "", 0, count)
    return counts
  }

  async #countEvents(
    timeframe: { readonly from: number; readonly to: number },
    groupBy: readonly string[],
    filters: readonly object[],
  ): Promise<{ groups: string[]; count: number }[]> {
    const { account, script } = this.#settings
    const body = {
      queryId: "cuecard-staged-deploy",
      timeframe,
      view: "calculations",
      parameters: {
        datasets: ["cloudflare-workers"],
        filterCombination: "and",
        filters: [
          { key: "$metadata.service", operation: "eq", type: "string", value: script },
          // Each invocation has one event of this type. Log lines are separate events.
          { key: "$metadata.type", operation: "eq", type: "string", value: "cf-worker-event" },
          ...filters,
        ],
        calculations: [{ operator: "count", alias: "requests" }],
        groupBys: groupBy.map((value) => ({ type: "string", value })),
        limit: 1_000,
      },
    }
    const result = await this.#request("POST", `/accounts/${account}/workers/observability/telemetry/query`, { body })
    return listOf(result, "calculations").flatMap((calculation) =>
      listOf(calculation, "aggregates").map((row) => toGroupCount(row, groupBy)),
    )
  }

  /** Returns the content of an object in a bucket; null if there is none. */
  async readObject(bucket: string, key: string): Promise<string | null> {
    const name = key.split("/").map(encodeURIComponent).join("/")
    const path = `/accounts/${this.#settings.account}/r2/buckets/${bucket}/objects/${name}`
    try {
      return String(await this.#request("GET", path, { isRaw: true }))
    } catch (error) {
      if (error instanceof PlatformError && error.status === 404) return null
      throw error
    }
  }

  #scriptPath(): string {
    return `/accounts/${this.#settings.account}/workers/scripts/${this.#settings.script}`
  }

  /** Returns the `result` of a response. Retries the request if the platform is busy or does not respond. */
  async #request(method: string, path: string, options: RequestOptions = {}): Promise<unknown> {
    const { attempts = MAX_ATTEMPTS } = options
    for (let attempt = 1; ; attempt += 1) {
      const answer = await this.#tryRequest(method, path, options)
      if (!(answer instanceof Refusal)) return answer.result
      if (!answer.isPassing || attempt >= attempts) throw answer.error
      const pauseMs = answer.retryAfterMs ?? (this.#settings.firstPauseMs ?? FIRST_PAUSE_MS) * 2 ** (attempt - 1)
      await new Promise((done) => setTimeout(done, Math.min(pauseMs, MAX_PAUSE_MS)))
    }
  }

  async #tryRequest(
    method: string,
    path: string,
    { body, isRaw = false }: RequestOptions,
  ): Promise<{ result: unknown } | Refusal> {
    const { baseUrl, token, requestMs = REQUEST_MS } = this.#settings
    const what = `${method} ${path.replace(/\?.*$/, "")}`
    try {
      const response = await fetch(`${baseUrl}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        redirect: "error",
        signal: AbortSignal.timeout(requestMs),
      })
      const text = await response.text()
      if (isRaw && response.ok) return { result: text }
      const json = text.length > MAX_RESPONSE_CHARS ? null : parseJson(text)
      if (response.ok && isJsonObject(json) && json["success"] === true) return { result: json["result"] }
      const { status } = response
      const isPassing = status === 429 || status >= 500 || response.ok
      const error = new PlatformError(`${what}: ${describeErrors(json) ?? `HTTP ${status}`}`, isPassing ? null : status)
      return new Refusal(error, isPassing, readRetryAfter(response.headers.get("retry-after")))
    } catch (error) {
      const cause = error instanceof Error ? (error.cause ?? error) : error
      const text = cause instanceof Error ? cause.message || cause.name : String(cause)
      return new Refusal(new PlatformError(`${what}: ${text}`, null), true, null)
    }
  }
}

/** Outcomes that are not failures of the Worker, including those of clients that leave early. */
const GOOD_OUTCOMES: ReadonlySet<string> = new Set(["ok", "canceled", "responseStreamDisconnected"])

/** Responses that count as failed. Exceptions are counted by their outcome. */
const SERVER_ERRORS = [
  { key: "$workers.event.response.status", operation: "gte", type: "number", value: 500 },
  { key: "$workers.outcome", operation: "eq", type: "string", value: "ok" },
]

class Refusal {
  readonly error: PlatformError
  readonly isPassing: boolean
  readonly retryAfterMs: number | null

  constructor(error: PlatformError, isPassing: boolean, retryAfterMs: number | null) {
    this.error = error
    this.isPassing = isPassing
    this.retryAfterMs = retryAfterMs
  }
}

function readRetryAfter(header: string | null): number | null {
  return header !== null && /^\d{1,6}$/.test(header) ? Number(header) * 1_000 : null
}

/** Returns the messages of the platform's errors, on one line and with a bounded length. */
function describeErrors(json: unknown): string | null {
  const errors = listOf(json, "errors").flatMap((error) => {
    const { message, code } = objectOf({ error }, "error")
    return typeof message === "string" ? [`${message.replace(/\s+/g, " ").slice(0, 300)} (${String(code)})`] : []
  })
  return errors.length === 0 ? null : errors.slice(0, 3).join("; ")
}

type JsonObject = Readonly<Record<string, unknown>>

function objectOf(value: unknown, name: string): JsonObject {
  const field = isJsonObject(value) ? value[name] : undefined
  return isJsonObject(field) ? field : {}
}

function listOf(value: unknown, name: string): readonly unknown[] {
  const field = isJsonObject(value) ? value[name] : undefined
  return Array.isArray(field) ? field : []
}

/**
 * Returns a text field. Throws if the field is missing, because a response without an id or a version cannot be acted
 * on.
 */
function textOf(value: unknown, name: string): string {
  const field = isJsonObject(value) ? value[name] : undefined
  if (typeof field === "string" && field !== "") return field
  throw new PlatformError(`The platform's response has no ${name}.`, null)
}

function toDeployment(value: unknown): Deployment {
  const message = objectOf(value, "annotations")["workers/message"]
  return {
    id: textOf(value, "id"),
    created: textOf(value, "created_on"),
    message: typeof message === "string" ? message : "",
    versions: listOf(value, "versions").map((version) => ({
      version: textOf(version, "version_id"),
      share: Number(isJsonObject(version) ? version["percentage"] : Number.NaN),
    })),
  }
}

function toVersion(value: unknown): Version {
  const message = objectOf(value, "annotations")["workers/message"]
  return {
    id: textOf(value, "id"),
    number: Number(isJsonObject(value) ? value["number"] : Number.NaN),
    created: textOf(objectOf(value, "metadata"), "created_on"),
    message: typeof message === "string" ? message : "",
  }
}

function toGroupCount(row: unknown, groupBy: readonly string[]): { groups: string[]; count: number } {
  const values = new Map(
    listOf(row, "groups").map((group) => {
      const { key, value } = objectOf({ group }, "group")
      return [String(key), String(value)]
    }),
  )
  const { value, count } = objectOf({ row }, "row")
  const number = Number(value ?? count)
  if (!Number.isFinite(number) || number < 0) throw new PlatformError("The platform's counts are not numbers.", null)
  return { groups: groupBy.map((key) => values.get(key) ?? ""), count: number }
}
