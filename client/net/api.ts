/**
 * api.ts: the page's HTTP requests.
 *
 * A token is renewed before it expires, shared by concurrent requests, and discarded when the server refuses it. Response
 * bodies are parsed by shared/protocol/responses.ts.
 */

import type { PageSettings, SignResponse, HistoryPage, SessionPage } from "../../shared/protocol/http-body.ts"
import { parseJson } from "../../shared/json.ts"
import {
  type ImportCounts,
  parseCreatedSession,
  parseHistoryPage,
  parseImportProgress,
  parsePageSettings,
  parseRefusal,
  parseRenamedSession,
  parseSessionList,
  parseSignResponse,
  parseTokenResponse,
} from "../../shared/protocol/responses.ts"
import { errorText } from "../words/page-text.ts"

export interface AccessToken {
  readonly token: string
  /** When to request the next one, in milliseconds since 1970. */
  readonly renewAt: number
}

export type ExportFormat = "jsonl" | "markdown"

export interface ApiDeps {
  /** Aborts the request after `timeoutMs`, if given, or after a default. */
  fetch(url: string, init: RequestInit, timeoutMs?: number): Promise<Response>
  now(): number
}

/** The server refused a request. The message is the server's text. */
export class RequestError extends Error {
  readonly status: number
  constructor(status: number, text: string) {
    super(text)
    this.status = status
  }
}

/** Whether a retry is pointless. A 401 may succeed with a new token, a 408 or 429 after waiting. */
export function isPermanentRefusal({ status }: RequestError): boolean {
  return status < 500 && ![401, 408, 429].includes(status)
}

/** The text to show for a failed request. */
export function describeError(error: unknown): string {
  return error instanceof RequestError ? error.message : errorText.unreachable
}

/** A token is renewed this long before it expires, in milliseconds. A short-lived one is renewed after half its lifetime. */
const TOKEN_RENEW_MARGIN_MS = 60_000
/** Assumed lifetime of a token without `iat` and `exp`, in milliseconds. */
const DEFAULT_TOKEN_LIFETIME_MS = 120_000
/** Longest download, in milliseconds: tens of megabytes on a slow connection. */
const DOWNLOAD_TIMEOUT_MS = 10 * 60_000
/** The status reported for a response that can't be parsed. It is the status of a bad gateway, so the request is retried. */
const UNREADABLE_STATUS = 502

/** What `HttpApi` offers, as a type that tests can implement. */
export type Api = Pick<HttpApi, keyof HttpApi>

export class HttpApi {
  readonly #deps: ApiDeps
  #cachedToken: AccessToken | null = null
  #pendingToken: Promise<AccessToken> | null = null

  constructor(deps: ApiDeps) {
    this.#deps = deps
  }

  getToken(): Promise<AccessToken> {
    if (this.#cachedToken !== null && this.#cachedToken.renewAt > this.#deps.now())
      return Promise.resolve(this.#cachedToken)
    this.#pendingToken ??= this.#requestToken().finally(() => {
      this.#pendingToken = null
    })
    return this.#pendingToken
  }

  /** Discards the token. Called when the server refused it. */
  forgetToken(): void {
    this.#cachedToken = null
  }

  /** The first page of the session list, or the one after another page with this `next`. */
  async listSessions(after?: string): Promise<SessionPage> {
    const query = after === undefined ? "" : `?after=${encodeURIComponent(after)}`
    const { sessions, next = null } = await this.#requestJson(parseSessionList, `/v1/sessions${query}`)
    return { sessions, next }
  }

  /** Returns the session's id. Repeating the request with the same id does not create a second session. */
  async createSession(title: string, id: string): Promise<string> {
    const request = createJsonRequest("POST", { id, title })
    return (await this.#requestJson(parseCreatedSession, "/v1/sessions", request)).id
  }

  /** Returns the title that the server stored. */
  async renameSession(session: string, title: string): Promise<string> {
    const request = createJsonRequest("PATCH", { title })
    return (await this.#requestJson(parseRenamedSession, sessionPath(session), request)).title
  }

  /** Also succeeds if the session doesn't exist. */
  async eraseSession(session: string): Promise<void> {
    const response = await this.#fetchAuthorized(sessionPath(session), { method: "DELETE" })
    if (response.status !== 404) await readJson(response)
  }

  /** The whole transcript as a file. */
  async downloadExport(session: string, format: ExportFormat): Promise<Blob> {
    const query = format === "markdown" ? "?format=markdown" : ""
    const response = await this.#fetchAuthorized(`${sessionPath(session)}/events${query}`, {}, DOWNLOAD_TIMEOUT_MS)
    if (!response.ok) await readJson(response)
    const isMarkdown = response.headers.get("content-type")?.startsWith("text/markdown") === true
    if (format === "markdown" && !isMarkdown) throw new RequestError(501, errorText.noMarkdown)
    return await response.blob()
  }

  getImportProgress(session: string): Promise<ImportCounts> {
    return this.#requestJson(parseImportProgress, `${sessionPath(session)}/import`)
  }

  getHistoryPage(session: string, limit: number, before?: string): Promise<HistoryPage> {
    const cursor = before === undefined ? "" : `&before=${encodeURIComponent(before)}`
    return this.#requestJson(parseHistoryPage, `${sessionPath(session)}/conversation/recent?limit=${limit}${cursor}`)
  }

  /** Signed URLs from which media of a session can be fetched for a while. */
  signUrls(session: string, urls: readonly string[]): Promise<SignResponse> {
    const request = createJsonRequest("POST", { urls })
    return this.#requestJson(parseSignResponse, `${sessionPath(session)}/media/sign`, request)
  }

  getSettings(): Promise<PageSettings> {
    return this.#requestJson(parsePageSettings, "/v1/settings")
  }

  async #requestToken(): Promise<AccessToken> {
    const response = await this.#deps.fetch("/v1/dev/token", createJsonRequest("POST", {}))
    // Only deployments for development issue tokens to the page.
    if (response.status === 404) throw new RequestError(401, errorText.signIn)
    const { token } = await parseBody(response, parseTokenResponse)
    const lifetimeMs = readLifetimeMs(token)
    const renewAt = this.#deps.now() + Math.max(lifetimeMs - TOKEN_RENEW_MARGIN_MS, lifetimeMs / 2)
    this.#cachedToken = { token, renewAt }
    return this.#cachedToken
  }

  async #requestJson<T>(parse: (value: unknown) => T | null, path: string, init?: RequestInit): Promise<T> {
    return await parseBody(await this.#fetchAuthorized(path, init), parse)
  }

  /** Repeats the request once with a new token if the token is refused. */
  async #fetchAuthorized(path: string, init: RequestInit = {}, timeoutMs?: number): Promise<Response> {
    const fetchOnce = async (): Promise<Response> => {
      const headers = { ...init.headers, authorization: `Bearer ${(await this.getToken()).token}` }
      return await this.#deps.fetch(path, { ...init, headers }, timeoutMs)
    }
    const response = await fetchOnce()
    if (response.status !== 401) return response
    this.forgetToken()
    return await fetchOnce()
  }
}

function sessionPath(session: string): string {
  return `/v1/sessions/${encodeURIComponent(session)}`
}

function createJsonRequest(method: string, body: object): RequestInit {
  return { method, headers: { "content-type": "application/json" }, body: JSON.stringify(body) }
}

/** From `iat` to `exp`, both set by the server's clock. The device's clock may be hours off. */
function readLifetimeMs(token: string): number {
  const { iat, exp } = readClaims(token)
  return typeof iat === "number" && typeof exp === "number" && exp > iat
    ? (exp - iat) * 1000
    : DEFAULT_TOKEN_LIFETIME_MS
}

/** Identifies the user of a token in all tenants. Null if the token doesn't name one. */
export function readUser(token: string): string | null {
  const { tenant, sub } = readClaims(token)
  return typeof tenant === "string" && typeof sub === "string" ? `${tenant}/${sub}` : null
}

/** Decoded here, because `jose` would add several kilobytes to the first view for one function. */
function readClaims(token: string): Readonly<Partial<Record<"iat" | "exp" | "tenant" | "sub", unknown>>> {
  const payload = token.split(".")[1] ?? ""
  try {
    return Object(parseJson(atob(payload.replaceAll("-", "+").replaceAll("_", "/"))))
  } catch {
    return {}
  }
}

async function parseBody<T>(response: Response, parse: (value: unknown) => T | null): Promise<T> {
  const body = parse(await readJson(response))
  if (body === null) throw new RequestError(UNREADABLE_STATUS, errorText.badResponse)
  return body
}

/** The body as JSON; null if it isn't JSON. Throws the server's text if the request was refused. */
async function readJson(response: Response): Promise<unknown> {
  const body: unknown = await response.json().catch(() => null)
  if (response.ok) return body
  throw toRequestError(response.status, body)
}

/** The error for a refused request with this body. */
export function toRequestError(status: number, body: unknown): RequestError {
  return new RequestError(status, parseRefusal(body).text ?? errorText.status(status))
}
