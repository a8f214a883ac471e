/**
 * external-producer.ts: an external producer for tests, which sends numbered records in an open body and reads the
 * responses.
 */

import { SELF } from "cloudflare:test"
import { issueToken } from "../../worker/auth/verify-token.ts"
import { CLAIMS } from "../support/socket.ts"
import { HOST, nowSeconds, SECRET } from "./http.ts"

/** Returns an external token for a session of the default user. */
export function externalToken(session: string, seconds = 600): Promise<string> {
  const [expires, issued] = [nowSeconds() + seconds, Date.now() / 1000]
  const { tenant, user } = CLAIMS
  return issueToken({ tenant, user, expires, token: `t-${Math.random()}`, issued, scope: "external", session }, SECRET)
}

export interface Answer {
  readonly status: number
  readonly json: Record<string, unknown>
}

export interface OpenRequest {
  /** Sends a record as a line, or sends a string unchanged. */
  send(record: object | string): Promise<void>
  /** Ends the body. Returns the response. */
  end(): Promise<Answer>
  /** Breaks off the body. */
  cut(): Promise<void>
  readonly answer: Promise<Answer>
}

async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text()
  return { status: response.status, json: text.startsWith("{") ? JSON.parse(text) : { text } }
}

/** Opens a request whose body stays open. */
export async function openRequest(session: string, query = "", token?: string): Promise<OpenRequest> {
  const bearer = token ?? (await externalToken(session))
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const writer = writable.getWriter()
  const answer = SELF.fetch(`${HOST}/external/sessions/${session}/events${query}`, {
    method: "POST",
    headers: { authorization: `Bearer ${bearer}` },
    body: readable,
  }).then(answerOf)
  answer.catch(() => {})
  const writeText = async (text: string): Promise<void> => {
    // Ignore errors, because the server stops reading if it responds before the end of the body.
    await writer.write(new TextEncoder().encode(text)).catch(() => {})
  }
  return {
    answer,
    send: (record) => writeText(typeof record === "string" ? record : `${JSON.stringify(record)}\n`),
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
export async function postRecords(session: string, records: readonly (object | string)[], query = ""): Promise<Answer> {
  const request = await openRequest(session, query)
  for (const record of records) await request.send(record)
  return await request.end()
}

/** Reads the state of an answer. */
export async function readState(session: string, id: string): Promise<Answer> {
  const headers = { authorization: `Bearer ${await externalToken(session)}` }
  return await answerOf(await SELF.fetch(`${HOST}/external/sessions/${session}/events?responseId=${id}`, { headers }))
}

export async function postAnswer(session: string, body: object): Promise<Answer> {
  const headers = { authorization: `Bearer ${await externalToken(session)}`, "content-type": "application/json" }
  const init = { method: "POST", headers, body: JSON.stringify(body) }
  return await answerOf(await SELF.fetch(`${HOST}/external/sessions/${session}/messages`, init))
}

/** Returns the records of one answer, numbered from 1. */
export function numberRecords(id: string, ...records: readonly object[]): object[] {
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
