/**
 * webhook-kills.test.ts: kills a real server during calls to the webhook tool of a real service.
 *
 * The service applies each call id only once, as docs/webhook-tools.md requires, and answers some calls later. Every
 * call must take effect exactly once, and its result must be in the answer, unless the turn was cut off before the
 * call. The same service also answers the questions to an agent.
 */

import { randomInt } from "node:crypto"
import { EventEmitter, once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Webhook } from "standardwebhooks"
import { afterAll, expect, test } from "vitest"
import { answerTo, callsIn, clientOf, isEnded, StateClient } from "../state/state-client.ts"
import { type KillStage, openStage, sendAndKill, untilEnded, waitAtRandom } from "./kill-stage.ts"
import { startCuecard } from "../support/checked-cuecard.ts"
import { IS_FULL, IS_LONG } from "../support/seeded.ts"
import type { WebhookCall, WebhookQuestion } from "../support/upstream-webhook.ts"

const KILLS = IS_LONG ? 100 : IS_FULL ? 16 : 5
const QUESTION_KILLS = IS_LONG ? 50 : IS_FULL ? 8 : 3
/** A card for `probe_json` with a button that calls the service's tool. */
const OFFER_CARD = {
  for: "probe_json",
  title: "Offer",
  schema: { type: "object", required: ["n"], properties: { n: { type: "integer" } } },
  view: [{ id: "root", component: "Button", label: "Book", action: "book" }],
  actions: { book: { tool: "book", args: { n: { path: "/n" } } } },
  samples: [{ n: 1 }],
}

const cleanups: (() => unknown)[] = []
afterAll(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup()
})

/** A service with one tool, `book`. It also answers the questions to the agent `desk`. */
class BookingService {
  readonly #server: Server
  /** How often each booking took effect. */
  readonly effects = new Map<string, number>()
  /** Emits `booked` after each booking. */
  readonly events = new EventEmitter()
  readonly #done = new Map<string, string>()
  secret = ""
  target = ""
  url = ""
  wrongSignatures = 0
  requests = 0

  constructor() {
    this.#server = createServer((request, reply) => void this.#answer(request, reply))
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve))
    const address = this.#server.address()
    this.url = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}/book`
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  async #answer(request: IncomingMessage, reply: ServerResponse): Promise<void> {
    let text = ""
    for await (const chunk of request.setEncoding("utf8")) text += chunk
    this.requests++
    try {
      new Webhook(this.secret).verify(text, request.headers as Record<string, string>)
    } catch {
      this.wrongSignatures++
      return void reply.writeHead(401).end()
    }
    const { type, data } = JSON.parse(text) as { type: string; data: WebhookCall & WebhookQuestion }
    if (type === "agent.question") return this.#answerQuestion(String(request.headers["webhook-id"]), data, reply)
    const result = this.#done.get(data.call_id) ?? this.#book(data)
    if (Number(data.arguments["n"]) % 2 === 0) return void reply.end(result)
    reply.writeHead(202).end()
    await this.#sendLater(data, result)
  }

  /** Answers a question, whose text is its number. Every second answer is streamed. */
  #answerQuestion(id: string, question: WebhookQuestion, reply: ServerResponse): void {
    const { text: n } = question
    if (!this.#done.has(id)) this.effects.set(n, (this.effects.get(n) ?? 0) + 1)
    this.#done.set(id, n)
    if (Number(n) % 2 === 0) return void reply.end(JSON.stringify({ text: `Answer ${n}.` }))
    reply.writeHead(202).end()
    void this.#streamAnswer(question)
  }

  /**
   * Repeats the records until the server has the last one. The server skips the records that it already has (SPEC EX9).
   */
  async #streamAnswer({ id, session, token, text: n }: WebhookQuestion): Promise<void> {
    const records = [
      { n: 1, type: "text_delta", delta: "Answer " },
      { n: 2, type: "text_delta", delta: `${n}.` },
      { n: 3, type: "assistant_message", text: "" },
    ]
    const body = records.map((record) => `${JSON.stringify(record)}\n`).join("")
    for (let attempt = 0; attempt < 400; attempt++) {
      await new Promise((resolve) => setTimeout(resolve, 10 + randomInt(30)))
      const path = `/external/sessions/${session}/events?responseId=${id}`
      const headers = { authorization: `Bearer ${token}` }
      const response = await fetch(this.target + path, { method: "POST", headers, body }).catch(() => null)
      if (response?.status === 200 || response?.status === 409) return
    }
  }

  #book({ call_id, arguments: { n } }: WebhookCall): string {
    const key = String(n)
    this.effects.set(key, (this.effects.get(key) ?? 0) + 1)
    const result = JSON.stringify({ booked: n })
    this.#done.set(call_id, result)
    this.events.emit("booked")
    return result
  }

  /** Repeats the result until the server has accepted or refused it. */
  async #sendLater({ call_id, result_path }: WebhookCall, result: string): Promise<void> {
    for (let attempt = 0; attempt < 400; attempt++) {
      await new Promise((resolve) => setTimeout(resolve, 10 + randomInt(30)))
      const at = new Date()
      const headers = {
        "content-type": "application/json",
        "webhook-id": call_id,
        "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
        "webhook-signature": new Webhook(this.secret).sign(call_id, at, result),
      }
      const response = await fetch(this.target + result_path, { method: "POST", headers, body: result }).catch(
        () => null,
      )
      if (response?.status === 202 || response?.status === 404) return
      if (response?.status === 401) this.wrongSignatures++
    }
  }
}

async function startService(): Promise<BookingService> {
  const service = new BookingService()
  await service.start()
  cleanups.push(() => service.close())
  return service
}

interface Stage extends KillStage {
  readonly service: BookingService
}

async function openBookings(): Promise<Stage> {
  const service = await startService()
  const stage = await openStage(async (root, { url }) => {
    service.target = url
    const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] }
    const tool = { description: "Books.", url: service.url, schema, effects: "write", approval: "never" }
    service.secret = (await root.send<{ secret: string }>("PUT", "/v1/tools/book", tool)).secret
    await root.send("PUT", "/v1/agents/helper", { description: "d", prompt: "p", tools: ["book"] })
  })
  cleanups.push(stage.close)
  return Object.assign(stage, { service })
}

/**
 * Expects exactly one effect. If the kill came before the call was stored as running, the turn has ended (SPEC FS9) and
 * the call must never have been sent.
 */
function expectOneEffect({ service }: Stage, answer: Awaited<ReturnType<typeof sendAndKill>>, n: number): void {
  const isCut = answer?.reason === "process_restart"
  const booked = { name: "book", status: "ok", result: JSON.stringify({ booked: n }) }
  if (!isCut) expect(callsIn(answer)[0], `kill ${n}`).toMatchObject(booked)
  expect(service.effects.get(String(n)) ?? 0, `kill ${n}`).toBe(isCut ? 0 : 1)
}

test("[TW3] [TW5] each effect happens once, whenever the server is killed", { timeout: 600_000 }, async () => {
  const stage = await openBookings()
  for (let n = 0; n < KILLS; n++) {
    const steps = [
      [{ type: "tool_call", name: "book", args: JSON.stringify({ n }) }],
      [{ type: "text_delta", delta: "Booked." }],
    ]
    // Half of the kills come once the service has received the call, however slow the machine is.
    const moment = n % 4 < 2 ? once(stage.service.events, "booked") : waitAtRandom()
    const answer = await sendAndKill(stage, { id: `q${n}`, content: `/script ${JSON.stringify(steps)}` }, moment)
    expectOneEffect(stage, answer, n)
  }
  expect(stage.service.effects.size).toBeGreaterThanOrEqual(KILLS / 2)
  expect(stage.service.wrongSignatures).toBe(0)
})

test("[KA3] [KA10] a click on a card makes its call once, whenever the server is killed", {
  timeout: 600_000,
}, async () => {
  const stage = await openBookings()
  const { ada, session, service } = stage
  const root = new StateClient(stage.cuecard, await stage.cuecard.tokenFor({ user: "root", role: "admin" }))
  await root.send("PUT", "/v1/cards/offer", OFFER_CARD)
  for (let n = 0; n < Math.ceil(KILLS / 2); n++) {
    const steps = [
      [{ type: "tool_call", name: "probe_json", args: JSON.stringify({ json: JSON.stringify({ n }) }) }],
      [{ type: "text_delta", delta: "<span id='probe_json_1'>Book it?</span>" }],
    ]
    const asked = { id: `a${n}`, content: `/script ${JSON.stringify(steps)}` }
    await ada.send("POST", `/v1/sessions/${session}/messages`, asked)
    const card = (await untilEnded(stage, asked.id))?.segments.find(({ type }) => type === "rich")
    const call_id = card?.type === "rich" ? (card.call_id ?? "") : ""
    const click = { content: "", action: { call_id, name: "book" } }
    expectOneEffect(stage, await sendAndKill(stage, { id: `c${n}`, ...click }), n)
    // Once the action has been performed, another click is refused.
    if (service.effects.has(String(n)))
      await expect(ada.send("POST", `/v1/sessions/${session}/messages`, { id: `d${n}`, ...click })).rejects.toThrow(
        "done",
      )
  }
})

test("[EA8] each question is answered once, whenever the server is killed", { timeout: 600_000 }, async () => {
  const persist = await mkdtemp(join(tmpdir(), "cuecard-question-"))
  cleanups.push(() => rm(persist, { recursive: true, force: true }))
  const service = await startService()
  let cuecard = await startCuecard({ persist })
  cleanups.push(() => cuecard.close())
  const port = Number(new URL(cuecard.url).port)
  service.target = cuecard.url
  const root = new StateClient(cuecard, await cuecard.tokenFor({ user: "root", role: "admin" }))
  const agent = { description: "d", prompt: "p", answered_by: "webhook", url: service.url }
  service.secret = (await root.send<{ secret: string }>("PUT", "/v1/agents/desk", agent)).secret
  const ada = await clientOf(cuecard, "ada")
  const { id: session } = await ada.send<{ id: string }>("POST", "/v1/sessions", { agent: "desk" })
  for (let n = 0; n < QUESTION_KILLS; n++) {
    const id = `q${n}`
    const send = () => ada.send("POST", `/v1/sessions/${session}/messages`, { id, content: String(n) })
    const readAnswer = async () => answerTo(await ada.messages(session), id)
    const sent = send().catch(() => null)
    await waitAtRandom()
    await cuecard.kill()
    await sent
    cuecard = await startCuecard({ persist, port })
    // Sending a message with the same id again has no effect.
    await send()
    await expect.poll(async () => isEnded(await readAnswer()), { timeout: 60_000 }).toBe(true)
    expect(await readAnswer(), `kill ${n}`).toMatchObject({ status: "completed", content: `Answer ${n}.` })
    expect(service.effects.get(String(n)), `kill ${n}`).toBe(1)
  }
  expect(service.wrongSignatures).toBe(0)
})
