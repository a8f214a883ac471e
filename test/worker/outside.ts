/** outside.ts: an external producer for tests: an open body, numbered records, and the responses. */

import { SELF } from "cloudflare:test"
import { issueToken } from "../../worker/auth/verify-token.ts"
import { CLAIMS } from "../support/socket.ts"
import { HOST, nowSeconds, SECRET } from "./call.ts"

/** An external token for a session of the default user. */
export function outsideToken(session: string, seconds = 600): Promise<string> {
  const [expires, issued] = [nowSeconds() + seconds, Date.now() / 1000]
  const { tenant, user } = CLAIMS
  return issueToken({ tenant, user, expires, token: `t-${Math.random()}`, issued, scope: "external", session }, SECRET)
}

export interface Answer {
  readonly status: number
  readonly json: Record<string, unknown>
}

export interface Sending {
  /** Sends a record as one line, or a text unchanged. */
  send(record: object | string): Promise<void>
  /** Ends the body. */
  end(): Promise<Answer>
  /** Breaks the body off. */
  cut(): Promise<void>
  readonly answer: Promise<Answer>
}

async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text()
  return { status: response.status, json: text.startsWith("{") ? JSON.parse(text) : { text } }
}

/** A request whose body is still open. */
export async function open(session: string, query = "", token?: string): Promise<Sending> {
  const bearer = token ?? (await outsideToken(session))
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const writer = writable.getWriter()
  const answer = SELF.fetch(`${HOST}/external/sessions/${session}/events${query}`, {
    method: "POST",
    headers: { authorization: `Bearer ${bearer}` },
    body: readable,
  }).then(answerOf)
  answer.catch(() => {})
  const write = async (text: string): Promise<void> => {
    // The server stops reading if it responds before the end of the body.
    await writer.write(new TextEncoder().encode(text)).catch(() => {})
  }
  return {
    answer,
    send: (record) => write(typeof record === "string" ? record : `${JSON.stringify(record)}\n`),
    async end() {
      await writer.close().catch(() => {})
      return await answer
    },
    async cut() {
      await writer.abort(new Error("cut")).catch(() => {})
      await answer.catch(() => {})
    },
  }
}

/** Sends these records in one complete request. */
export async function post(session: string, records: readonly (object | string)[], query = ""): Promise<Answer> {
  const sending = await open(session, query)
  for (const record of records) await sending.send(record)
  return await sending.end()
}

/** Reads the state of an answer. */
export async function ask(session: string, id: string): Promise<Answer> {
  const headers = { authorization: `Bearer ${await outsideToken(session)}` }
  return await answerOf(await SELF.fetch(`${HOST}/external/sessions/${session}/events?responseId=${id}`, { headers }))
}

export async function sayOutside(session: string, body: object): Promise<Answer> {
  const headers = { authorization: `Bearer ${await outsideToken(session)}` }
  const init = { method: "POST", headers, body: JSON.stringify(body) }
  return await answerOf(await SELF.fetch(`${HOST}/external/sessions/${session}/messages`, init))
}

/** Records of one answer, numbered from 1. */
export function numbered(id: string, ...records: readonly object[]): object[] {
  return records.map((record, at) => ({ ...record, responseId: id, n: at + 1 }))
}

export const text = (delta: string): object => ({ type: "text_delta", delta })
export const thought = (delta: string): object => ({ type: "thinking_delta", delta })
export const callStart = (callId: string, toolName = "Bash", args = "{}"): object => ({
  type: "tool_call_start",
  callId,
  toolName,
  arguments: args,
})
export const output = (callId: string, delta: string): object => ({ type: "tool_output_delta", callId, delta })
export const result = (callId: string, value: unknown = "done"): object => ({
  type: "tool_result",
  callId,
  ok: true,
  result: value,
})
export const END: object = { type: "assistant_message", text: "" }
