/** ask.ts: the suite's own requests: tried until they are answered, as a careful client of the API would. */

import type { HistoryPage } from "../../shared/protocol/http-body.ts"
import type { TestServer } from "./server.ts"
import { type Host, noteCancelled, RETRY_MS, refuse, type Stage, TURN_END_MS } from "./stage.ts"

export interface Answer {
  readonly status: number
  readonly body: object
}

/** Null where no answer came in time. A server that is away, or was killed meanwhile, is asked again. */
export async function ask(server: TestServer, path: string, body?: object): Promise<Answer | null> {
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
      // Away.
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
  }
  return null
}

/** Says a message over HTTP until it is taken or refused. */
export async function postMessage(host: Host, stage: Stage, id: string, content: string): Promise<void> {
  const answer = await ask(host.server, `/v1/sessions/${stage.session}/messages`, { id, content })
  if (answer === null) return unanswered(host, stage, `the message ${id}`)
  const { status, body } = answer
  if (status === 202) stage.ledger.get(id)?.acks.push(Number(Reflect.get(body, "seq")))
  else refuse(stage.ledger, id, String(Reflect.get(body, "code")))
}

export async function postCancel(host: Host, stage: Stage, exchange: string): Promise<void> {
  stage.cancelAsked.add(exchange)
  const answer = await ask(host.server, `/v1/sessions/${stage.session}/cancel`, { exchange_id: exchange })
  if (answer === null) return unanswered(host, stage, `the cancel of ${exchange}`)
  if (answer.status === 200) noteCancelled(stage, exchange, Number(Reflect.get(answer.body, "seq")))
}

function unanswered(host: Host, stage: Stage, what: string): void {
  host.report({ rule: "answered", session: stage.plan.name, detail: `${what} was never answered` })
}

/** Most messages of one page. */
const PAGE_LIMIT = 120

export async function readPage(server: TestServer, session: string): Promise<HistoryPage | null> {
  const answer = await ask(server, `/v1/sessions/${session}/conversation/recent?limit=${PAGE_LIMIT}`)
  return answer?.status === 200 ? (answer.body as HistoryPage) : null
}
