/**
 * api.ts: the page's requests: a token, the sessions and what can be done with them, pages of history.
 *
 * A token is renewed before it runs out, shared by all who ask at once, and thrown away when it is refused.
 */

import type { PageSettings, SignAnswer } from "../../shared/protocol/asset.ts"
import { type HistoryPage, parseJson, type SessionSummary } from "../../shared/protocol/frame.ts"

export interface Token {
  readonly token: string
  /** When to ask for the next one, in milliseconds since 1970. */
  readonly renewAt: number
}

export interface Api {
  token(): Promise<Token>
  forgetToken(): void
  sessions(): Promise<readonly SessionSummary[]>
  /** The same id again makes no second session. */
  createSession(title: string, id: string): Promise<string>
  /** The title as it is now. */
  rename(session: string, title: string): Promise<string>
  /** Erases it. One that is not there (any more) is no fault. */
  erase(session: string): Promise<void>
  /** The whole transcript as a file. */
  download(session: string, format: ExportFormat): Promise<Blob>
  importProgress(session: string): Promise<ImportProgress>
  page(session: string, limit: number, before?: string): Promise<HistoryPage>
  /** Where some media of a session can be fetched for now. */
  sign(session: string, urls: readonly string[]): Promise<SignAnswer>
  settings(): Promise<PageSettings>
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
const RENEW_EARLY_MS = 60_000
/** What is thought of a token that does not say how long it lives, in milliseconds. */
const UNSAID_LIFE_MS = 120_000
/** Longest download, in milliseconds: tens of megabytes on a poor line. */
const DOWNLOAD_MS = 10 * 60_000

export function createApi({ fetch, now }: ApiDeps): Api {
  let held: Token | null = null
  let asked: Promise<Token> | null = null

  const renew = async (): Promise<Token> => {
    const init = { method: "POST", headers: { "content-type": "application/json" }, body: "{}" }
    const response = await fetch("/v1/dev/token", init)
    if (response.status === 404) throw new RequestError(401, "This server hands out no tokens to its page.")
    const { token } = (await read(response)) as { token: string }
    const life = lifeMs(token)
    held = { token, renewAt: now() + Math.max(life - RENEW_EARLY_MS, life / 2) }
    return held
  }
  const token = (): Promise<Token> => {
    if (held !== null && held.renewAt > now()) return Promise.resolve(held)
    asked ??= renew().finally(() => {
      asked = null
    })
    return asked
  }
  const ask = async (path: string, init: RequestInit = {}, isRetry = false): Promise<Response> => {
    const headers = { ...init.headers, authorization: `Bearer ${(await token()).token}` }
    const response = await fetch(path, { ...init, headers })
    if (response.status !== 401 || isRetry) return response
    held = null
    return ask(path, init, true)
  }
  const request = async (path: string, init?: RequestInit): Promise<unknown> => read(await ask(path, init))
  const pathOf = (session: string): string => `/v1/sessions/${encodeURIComponent(session)}`

  return {
    token,
    forgetToken() {
      held = null
    },
    async sessions() {
      return ((await request("/v1/sessions")) as { sessions: readonly SessionSummary[] }).sessions
    },
    async createSession(title, id) {
      return ((await request("/v1/sessions", jsonOf("POST", { id, title }))) as { id: string }).id
    },
    async rename(session, title) {
      return ((await request(pathOf(session), jsonOf("PATCH", { title }))) as { title: string }).title
    },
    async erase(session) {
      const response = await ask(pathOf(session), { method: "DELETE" })
      if (response.status !== 404) await read(response)
    },
    async download(session, format) {
      const query = format === "markdown" ? "?format=markdown" : ""
      const response = await ask(`${pathOf(session)}/events${query}`, { signal: AbortSignal.timeout(DOWNLOAD_MS) })
      if (!response.ok) await read(response)
      const isMarkdown = response.headers.get("content-type")?.startsWith("text/markdown") === true
      if (format === "markdown" && !isMarkdown) throw new RequestError(501, "This server writes no Markdown.")
      return await response.blob()
    },
    async importProgress(session) {
      return (await request(`${pathOf(session)}/import`)) as ImportProgress
    },
    async page(session, limit, before) {
      const cursor = before === undefined ? "" : `&before=${encodeURIComponent(before)}`
      const path = `${pathOf(session)}/conversation/recent?limit=${limit}${cursor}`
      return (await request(path)) as HistoryPage
    },
    async sign(session, urls) {
      return (await request(`${pathOf(session)}/media/sign`, jsonOf("POST", { urls }))) as SignAnswer
    },
    async settings() {
      return (await request("/v1/settings")) as PageSettings
    },
  }
}

function jsonOf(method: string, body: object): RequestInit {
  return { method, headers: { "content-type": "application/json" }, body: JSON.stringify(body) }
}

/** From `iat` to `exp`: both are told by the server's clock, and this machine's may be wrong by hours. */
function lifeMs(token: string): number {
  const { iat, exp } = claimsOf(token)
  return typeof iat === "number" && typeof exp === "number" && exp > iat ? (exp - iat) * 1000 : UNSAID_LIFE_MS
}

function claimsOf(token: string): { readonly iat?: unknown; readonly exp?: unknown } {
  const payload = token.split(".")[1] ?? ""
  try {
    return Object(parseJson(atob(payload.replaceAll("-", "+").replaceAll("_", "/"))))
  } catch {
    return {}
  }
}

/** The server is ours: its answers are taken as they are, its refusals in its words. */
async function read(response: Response): Promise<unknown> {
  const body: unknown = await response.json().catch(() => null)
  if (response.ok) return body
  const text = typeof body === "object" && body !== null ? Reflect.get(body, "text") : null
  throw new RequestError(response.status, typeof text === "string" ? text : `The server answered ${response.status}.`)
}
