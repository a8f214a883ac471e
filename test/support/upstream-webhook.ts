/**
 * upstream-webhook.ts: a tenant's service on loopback, for webhook tools and for agents whose questions go to a
 * webhook. It verifies signatures with the official library (npm `standardwebhooks`) and applies each call id only
 * once, as docs/webhook-tools.md requires of a service.
 *
 * `POST /webhook/set/<run>` sets the secret and the behaviour of a run; a run is any unique word. `/webhook/call/<run>`
 * is the URL of the tool, and `/webhook/seen/<run>` lists its requests.
 */

import type { IncomingMessage, ServerResponse } from "node:http"
import { Webhook } from "standardwebhooks"
import { playHostileWebhook } from "./hostile-webhook.ts"

export interface WebhookState {
  readonly secret: string
  /**
   * How the service responds. `echo`: with the arguments, or with the question. `later`: with status 202. `busy`: with
   * status 503 twice, and then like `echo`. hostile-webhook.ts defines all other responses.
   */
  readonly play: string
}

/** A received request. */
export interface SeenWebhook {
  readonly id: string
  readonly isVerified: boolean
  readonly body: { readonly type: string; readonly data: WebhookCall & WebhookQuestion }
  /** Whether this request was the first with its id. */
  readonly isNew: boolean
}

export interface WebhookCall {
  readonly call_id: string
  readonly tool: string
  readonly arguments: { readonly [name: string]: unknown }
  readonly user: string
  readonly session: string
  readonly result_path: string
}

/** The data of a question that a webhook answers for an agent. */
export interface WebhookQuestion {
  readonly id: string
  readonly agent: string
  readonly text: string
  readonly user: string
  readonly session: string
  readonly token: string
}

const states = new Map<string, WebhookState>()
const seen = new Map<string, SeenWebhook[]>()

export async function answerWebhook(request: IncomingMessage, reply: ServerResponse): Promise<void> {
  const [, , kind = "", run = ""] = (request.url ?? "").split("/")
  let text = ""
  for await (const chunk of request.setEncoding("utf8")) text += chunk
  if (kind === "set") {
    states.set(run, JSON.parse(text))
    return void reply.end("{}")
  }
  const earlier = seen.get(run) ?? []
  if (kind === "seen") return void reply.end(JSON.stringify(earlier))
  const state = states.get(run) ?? { secret: "", play: "echo" }
  const id = String(request.headers["webhook-id"] ?? "")
  const isNew = earlier.every((call) => call.id !== id)
  const received = { id, isVerified: isVerified(state.secret, text, request), body: JSON.parse(text), isNew }
  seen.set(run, [...earlier, received])
  answerCall(state.play, received, earlier.length, reply)
}

function answerCall(play: string, { body }: SeenWebhook, before: number, reply: ServerResponse): void {
  if (play === "later") return void reply.writeHead(202).end()
  if (play === "busy" && before < 2) return void reply.writeHead(503).end()
  if (play !== "echo" && play !== "busy") return playHostileWebhook(play, reply)
  reply.writeHead(200, { "content-type": "application/json" })
  const { type, data } = body
  reply.end(JSON.stringify(type === "agent.question" ? { text: `You asked: ${data.text}` } : { echo: data.arguments }))
}

function isVerified(secret: string, text: string, request: IncomingMessage): boolean {
  try {
    new Webhook(secret).verify(text, request.headers as Record<string, string>)
    return true
  } catch {
    return false
  }
}
