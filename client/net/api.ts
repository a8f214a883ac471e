/**
 * api.ts: the page's requests: a token, the sessions and what can be done with them, pages of history.
 *
 * A token is renewed before it runs out, shared by all who ask at once, and thrown away when it is refused.
 */

import type { PageSettings, SignResponse, HistoryPage, SessionSummary } from "../../shared/protocol/http-body.ts"
import { parseJson } from "../../shared/json.ts"

export interface AccessToken {
  readonly token: string
  /** When to ask for the next one, in milliseconds since 1970. */
  readonly renewAt: number
}

export interface Api {
  getToken(): Promise<AccessToken>
  forgetToken(): void
  listSessions(): Promise<readonly SessionSummary[]>
  /** The same id again makes no second session. */
  createSession(title: string, id: string): Promise<string>
  /** The title as it is now. */
  renameSession(session: string, title: string): Promise<string>
  /** Erases it. One that is not there (any more) is no fault. */
  eraseSession(session: string): Promise<void>
  /** The whole transcript as a file. */
  downloadExport(session: string, format: ExportFormat): Promise<Blob>
  getImportProgress(session: string): Promise<ImportProgress>
  getHistoryPage(session: string, limit: number, before?: string): Promise<HistoryPage>
  /** Where some media of a session can be fetched for now. */
  signUrls(session: string, urls: readonly string[]): Promise<SignResponse>
  getSettings(): Promise<PageSettings>
}

/** How far the server is with a file. */
export interface ImportProgress {
  readonly state: "none" | "staging" | "folding" | "done" | "failed"
  readonly records: number
  readonly folded: number
}

export type ExportFormat = "jsonl" | "markdown"

export interface ApiDeps {
  fetch(url: string, init: RequestInit): Promise<Response>
  now(): number
}

/** What the server refused, in its words. */
export class RequestError extends Error {
  readonly status: number
  constructor(status: number, text: string) {
    super(text)
    this.status = status
  }
}

/** A token is renewed so long before it runs out, in milliseconds; one that lives shortly, after half of its life. */
const TOKEN_RENEW_MARGIN_MS = 60_000
/** What is thought of a token that does not say how long it lives, in milliseconds. */
const DEFAULT_TOKEN_LIFETIME_MS = 120_000
/** Longest download, in milliseconds: tens of megabytes on a poor line. */
const DOWNLOAD_TIMEOUT_MS = 10 * 60_000

export function createApi({ fetch, now }: ApiDeps): Api {
  let cachedToken: AccessToken | null = null
  let pendingToken: Promise<AccessToken> | null = null

  const fetchToken = async (): Promise<AccessToken> => {
    const init = { method: "POST", headers: { "content-type": "application/json" }, body: "{}" }
    const response = await fetch("/v1/dev/token", init)
    if (response.status === 404) throw new RequestError(401, "This server hands out no tokens to its page.")
    const { token } = (await readJson(response)) as { token: string }
    const lifetimeMs = readLifetimeMs(token)
    cachedToken = { token, renewAt: now() + Math.max(lifetimeMs - TOKEN_RENEW_MARGIN_MS, lifetimeMs / 2) }
    return cachedToken
  }
  const getToken = (): Promise<AccessToken> => {
    if (cachedToken !== null && cachedToken.renewAt > now()) return Promise.resolve(cachedToken)
    pendingToken ??= fetchToken().finally(() => {
      pendingToken = null
    })
    return pendingToken
  }
  const fetchAuthorized = async (path: string, init: RequestInit = {}, isRetry = false): Promise<Response> => {
    const headers = { ...init.headers, authorization: `Bearer ${(await getToken()).token}` }
    const response = await fetch(path, { ...init, headers })
    if (response.status !== 401 || isRetry) return response
    cachedToken = null
    return fetchAuthorized(path, init, true)
  }
  const requestJson = async (path: string, init?: RequestInit): Promise<unknown> =>
    readJson(await fetchAuthorized(path, init))
  const sessionPath = (session: string): string => `/v1/sessions/${encodeURIComponent(session)}`

  return {
    getToken,
    forgetToken() {
      cachedToken = null
    },
    async listSessions() {
      return ((await requestJson("/v1/sessions")) as { sessions: readonly SessionSummary[] }).sessions
    },
    async createSession(title, id) {
      return ((await requestJson("/v1/sessions", createJsonRequest("POST", { id, title }))) as { id: string }).id
    },
    async renameSession(session, title) {
      return ((await requestJson(sessionPath(session), createJsonRequest("PATCH", { title }))) as { title: string })
        .title
    },
    async eraseSession(session) {
      const response = await fetchAuthorized(sessionPath(session), { method: "DELETE" })
      if (response.status !== 404) await readJson(response)
    },
    async downloadExport(session, format) {
      const query = format === "markdown" ? "?format=markdown" : ""
      const response = await fetchAuthorized(`${sessionPath(session)}/events${query}`, {
        signal: AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS),
      })
      if (!response.ok) await readJson(response)
      const isMarkdown = response.headers.get("content-type")?.startsWith("text/markdown") === true
      if (format === "markdown" && !isMarkdown) throw new RequestError(501, "This server writes no Markdown.")
      return await response.blob()
    },
    async getImportProgress(session) {
      return (await requestJson(`${sessionPath(session)}/import`)) as ImportProgress
    },
    async getHistoryPage(session, limit, before) {
      const cursor = before === undefined ? "" : `&before=${encodeURIComponent(before)}`
      const path = `${sessionPath(session)}/conversation/recent?limit=${limit}${cursor}`
      return (await requestJson(path)) as HistoryPage
    },
    async signUrls(session, urls) {
      return (await requestJson(
        `${sessionPath(session)}/media/sign`,
        createJsonRequest("POST", { urls }),
      )) as SignResponse
    },
    async getSettings() {
      return (await requestJson("/v1/settings")) as PageSettings
    },
  }
}

function createJsonRequest(method: string, body: object): RequestInit {
  return { method, headers: { "content-type": "application/json" }, body: JSON.stringify(body) }
}

/** From `iat` to `exp`: both are told by the server's clock, and this machine's may be wrong by hours. */
function readLifetimeMs(token: string): number {
  const { iat, exp } = readClaims(token)
  return typeof iat === "number" && typeof exp === "number" && exp > iat
    ? (exp - iat) * 1000
    : DEFAULT_TOKEN_LIFETIME_MS
}

function readClaims(token: string): { readonly iat?: unknown; readonly exp?: unknown } {
  const payload = token.split(".")[1] ?? ""
  try {
    return Object(parseJson(atob(payload.replaceAll("-", "+").replaceAll("_", "/"))))
  } catch {
    return {}
  }
}

/** The server is ours: its answers are taken as they are, its refusals in its words. */
async function readJson(response: Response): Promise<unknown> {
  const body: unknown = await response.json().catch(() => null)
  if (response.ok) return body
  const text = typeof body === "object" && body !== null ? Reflect.get(body, "text") : null
  throw new RequestError(response.status, typeof text === "string" ? text : `The server answered ${response.status}.`)
}
