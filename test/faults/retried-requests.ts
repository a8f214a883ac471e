/**
 * retried-requests.ts: the suite's own HTTP requests, which are retried until a response arrives, as a careful API
 * client does.
 */

import type { Asset } from "../../shared/protocol/event.ts"
import type { HistoryPage } from "../../shared/protocol/http-body.ts"
import type { TestServer } from "./server.ts"
import {
  type Host,
  recordCancel,
  RETRY_MS,
  recordRefusal,
  tabOf,
  type TestSession,
  TURN_END_MS,
} from "./test-session.ts"

export interface Answer {
  readonly status: number
  readonly body: object
}

/** Sends a request, and retries while the server is down or restarting. Returns null if no response arrived in time. */
export async function requestPersistently(server: TestServer, path: string, body?: object): Promise<Answer | null> {
  const late = performance.now() + TURN_END_MS
  const headers = { authorization: `Bearer ${server.token()}`, "content-type": "application/json" }
  while (performance.now() < late) {
    try {
      const init = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) }
      const signal = AbortSignal.timeout(TURN_END_MS)
      const response = await fetch(server.url() + path, { ...init, signal })
      const answer: unknown = await response.json()
      if (typeof answer === "object" && answer !== null) return { status: response.status, body: answer }
    } catch {
      // The server is down.
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
  }
  return null
}

/** Posts a message until it is accepted or refused. */
export async function postMessage(
  host: Host,
  session: TestSession,
  id: string,
  content: string,
  attachments: readonly string[] = [],
): Promise<void> {
  const message = { id, content, ...(attachments.length === 0 ? {} : { attachments }) }
  const answer = await requestPersistently(host.server, `/v1/sessions/${session.id}/messages`, message)
  if (answer === null) return reportUnanswered(host, session, `the message ${id}`)
  const { status, body } = answer
  if (status === 202) session.ledger.get(id)?.acks.push(Number(Reflect.get(body, "seq")))
  else recordRefusal(session.ledger, id, String(Reflect.get(body, "code")))
}

export async function postCancel(host: Host, session: TestSession, exchange: string): Promise<void> {
  session.cancelRequested.add(exchange)
  const answer = await requestPersistently(host.server, `/v1/sessions/${session.id}/cancel`, { exchange_id: exchange })
  if (answer === null) return reportUnanswered(host, session, `the cancel of ${exchange}`)
  if (answer.status === 200) recordCancel(session, exchange, Number(Reflect.get(answer.body, "seq")))
}

function reportUnanswered(host: Host, session: TestSession, what: string): void {
  host.report({ rule: "answered", session: session.plan.name, detail: `${what} was never answered` })
}

/** Maximum number of messages per page. */
const PAGE_LIMIT = 120

export async function readPage(server: TestServer, session: string): Promise<HistoryPage | null> {
  const answer = await requestPersistently(server, `/v1/sessions/${session}/conversation/recent?limit=${PAGE_LIMIT}`)
  return answer?.status === 200 ? (answer.body as HistoryPage) : null
}

/** Returns every version of every message as JSONL, or null if they could not be read. */
export async function readExport(server: TestServer, session: string): Promise<string | null> {
  try {
    const headers = { authorization: `Bearer ${server.token()}` }
    const signal = AbortSignal.timeout(TURN_END_MS)
    const response = await fetch(`${server.url()}/v1/sessions/${session}/events`, { headers, signal })
    return response.ok ? await response.text() : null
  } catch {
    return null
  }
}

/** Timeout of an upload, in milliseconds. It is needed because a blackholed connection fails silently. */
const UPLOAD_MS = 1_500

/**
 * Uploads text through the first tab's proxy, and retries after each failure. The server stores the same bytes only
 * once.
 */
export async function uploadText(host: Host, session: TestSession, text: string): Promise<Asset | null> {
  const late = performance.now() + TURN_END_MS
  const headers = { authorization: `Bearer ${host.server.token()}` }
  while (performance.now() < late) {
    try {
      const path = `http://127.0.0.1:${tabOf(session, 0).proxy.port}/v1/sessions/${session.id}/assets?name=note.txt`
      const init = { method: "POST", headers, body: text, signal: AbortSignal.timeout(UPLOAD_MS) }
      const response = await fetch(path, init)
      const answer = (await response.json()) as Asset
      if (response.ok) return answer
    } catch {
      // The server is down, or the connection was cut.
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
  }
  reportUnanswered(host, session, `the upload of ${text}`)
  return null
}
