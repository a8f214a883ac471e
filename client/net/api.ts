/** api.ts: the chat page's HTTP requests. Response bodies are parsed by shared/protocol/responses.ts. */

import type { PageSettings, SignResponse, HistoryPage, SessionPage } from "../../shared/protocol/http-body.ts"
import {
  type ImportCounts,
  parseCreatedSession,
  parseHistoryPage,
  parseImportProgress,
  parsePageSettings,
  parseRenamedSession,
  parseSessionList,
  parseSignResponse,
} from "../../shared/protocol/responses.ts"
import { createJsonRequest, parseBody, readJson } from "./http-request.ts"
import { TokenSource } from "./token-source.ts"

/** The options for creating a session. */
export interface SessionOptions {
  /** The session's agent. Absent if it is the general agent. */
  readonly agent?: string | undefined
  /** Set if the session is temporary: it appears in no list and in no search results, and is erased after a day. */
  readonly temporary?: true | undefined
}

/** The methods of `HttpApi`, as a type that tests can implement. */
export type Api = Pick<HttpApi, keyof HttpApi>

export class HttpApi extends TokenSource {
  /** Returns the first page of the session list or, if `after` is a page's `next`, the page that follows it. */
  async listSessions(after?: string): Promise<SessionPage> {
    const query = after === undefined ? "" : `?after=${encodeURIComponent(after)}`
    const { sessions, next = null } = await this.#requestJson(parseSessionList, `/v1/sessions${query}`)
    return { sessions, next }
  }

  /** Returns the session's id. Sending the request again with the same id does not create a second session. */
  async createSession(title: string, id: string, options?: SessionOptions): Promise<string> {
    const request = createJsonRequest("POST", { id, title, ...options })
    return (await this.#requestJson(parseCreatedSession, "/v1/sessions", request)).id
  }

  /** Returns the title that the server stored. */
  async renameSession(session: string, title: string): Promise<string> {
    const request = createJsonRequest("PATCH", { title })
    return (await this.#requestJson(parseRenamedSession, sessionPath(session), request)).title
  }

  /** Erases a session. Succeeds even if the session doesn't exist. */
  async eraseSession(session: string): Promise<void> {
    const response = await this.fetchAuthorized(sessionPath(session), { method: "DELETE" })
    if (response.status !== 404) await readJson(response)
  }

  getImportProgress(session: string): Promise<ImportCounts> {
    return this.#requestJson(parseImportProgress, sessionPath(session, "/import"))
  }

  getHistoryPage(session: string, limit: number, before?: string): Promise<HistoryPage> {
    const cursor = before === undefined ? "" : `&before=${encodeURIComponent(before)}`
    return this.#requestJson(parseHistoryPage, sessionPath(session, `/conversation/recent?limit=${limit}${cursor}`))
  }

  /** Returns signed URLs from which a session's media can be fetched for a while. */
  signUrls(session: string, urls: readonly string[]): Promise<SignResponse> {
    const request = createJsonRequest("POST", { urls })
    return this.#requestJson(parseSignResponse, sessionPath(session, "/media/sign"), request)
  }

  getSettings(): Promise<PageSettings> {
    return this.#requestJson(parsePageSettings, "/v1/settings")
  }

  async #requestJson<T>(parse: (value: unknown) => T | null, path: string, init?: RequestInit): Promise<T> {
    return await parseBody(await this.fetchAuthorized(path, init), parse)
  }
}

/**
 * Returns the path of a session's route. `session` is the id of one of the user's own sessions, or `<owner>/<id>` for a
 * session that another user shares with the user. Both ids consist of letters, digits, `-` and `_`.
 */
export function sessionPath(session: string, route = ""): string {
  const [id, owner] = session.split("/").reverse()
  const path = `/v1/sessions/${id}${route}`
  return owner === undefined ? path : `${path}${route.includes("?") ? "&" : "?"}owner=${owner}`
}

/** Returns whether another user owns the session and shares it. */
export function isShared(session: string): boolean {
  return session.includes("/")
}
