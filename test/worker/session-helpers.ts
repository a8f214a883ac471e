/** session-helpers.ts: helpers for tests of one session: scripts, answers, and comparing live state with history. */

import { env, runInDurableObject } from "cloudflare:test"
import { expect } from "vitest"
import type { HistoryPage } from "../../shared/protocol/http-body.ts"
import type { Segment } from "../../shared/protocol/segment.ts"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { toCanonicalJson } from "../../shared/json.ts"
import { PROTOCOL_VERSION } from "../../shared/limits.ts"
import { NO_SPAN } from "../../worker/telemetry/spans.ts"
import type { Telemetry } from "../../worker/telemetry/telemetry.ts"
import { createSession, pageOf, sessionOf, type TestClient } from "../support/socket.ts"

/** Telemetry that reports nothing. */
export const NO_TELEMETRY: Telemetry = {
  tenant: "acme",
  session: "s1",
  startTrace: () => NO_SPAN,
  reportTurnEnd() {},
}

let count = 0
/** Creates a session under an id that no other test in the file uses. */
export async function freshSession(prefix: string): Promise<string> {
  count += 1
  const id = `${prefix}${count}`
  await createSession(id)
  return id
}

/** Returns a namespace of session objects that records the names of the objects called. */
export function recordAskedSessions() {
  const asked: string[] = []
  const SESSION = {
    getByName(name: string) {
      asked.push(name)
      return env.SESSION.getByName(name)
    },
  } as typeof env.SESSION
  return { asked, SESSION }
}

/** Counts the rows in each table of a session. */
export function rowsIn(id: string): Promise<Record<string, number>> {
  return runInDurableObject(sessionOf(id), (_object, state) => {
    const tables = state.storage.sql.exec<{ name: string }>(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_%' ESCAPE '\\'",
    )
    const countRows = (name: string): number =>
      Number(state.storage.sql.exec(`SELECT count(*) AS n FROM ${name}`).one()["n"])
    return Object.fromEntries(tables.toArray().map(({ name }) => [name, countRows(name)]))
  })
}

/** Serialises a message without `content`, which ops do not update. */
export function shownOf({ content: _, ...message }: WireMessage): string {
  return toCanonicalJson(message)
}

/** Serialises messages without their traces, which belong to the server that ran the turn. */
export function withoutTraces(messages: readonly WireMessage[]): string {
  return toCanonicalJson(messages.map(({ trace: _, ...message }) => message))
}

/** Asserts that the client shows every message as history does. Returns the messages in history. */
export async function expectSame(id: string, client: TestClient): Promise<readonly WireMessage[]> {
  const { messages } = await pageOf(id)
  for (const message of messages) {
    const live = client.messages.get(message.id)
    expect(live && shownOf(live)).toBe(shownOf(message))
  }
  return messages
}

/** Reads history and sends a new hello, as the page does when the epoch has changed. */
export async function renewPage(id: string, client: TestClient): Promise<HistoryPage> {
  const page = await pageOf(id)
  client.messages.clear()
  for (const message of page.messages) client.messages.set(message.id, message)
  client.last = page.seq
  client.say({ type: "hello", protocol: PROTOCOL_VERSION, live: true, epoch: page.epoch, after: page.seq })
  return page
}

/** Returns a message that makes the scripted model emit these events, one list per step (see replay-model.ts). */
export function script(...steps: readonly object[][]): string {
  return `/script ${JSON.stringify(steps)}`
}

export const pause = (ms: number): object => ({ type: "pause", ms })
export const say = (delta: string): object => ({ type: "text_delta", delta })
export const think = (delta: string): object => ({ type: "thinking_delta", delta })
export const call = (name: string, args: object = {}): object => ({
  type: "tool_call",
  name,
  args: JSON.stringify(args),
})
export const fault = (reason: string, retry?: { afterMs: number | null }): object => ({
  type: "fault",
  fault: reason,
  ...(retry === undefined ? {} : { retry }),
})

/** Sends a question and waits until its answer has the given number of segments. */
export async function beginTurn(client: TestClient, id: string, content: string, segments = 1): Promise<WireMessage> {
  client.say({ type: "send", id, content })
  await client.untilTrue(() => (answerTo(client, id)?.segments.length ?? 0) >= segments)
  return answerTo(client, id) as WireMessage
}

export function answerTo(client: TestClient, id: string): WireMessage | undefined {
  return [...client.messages.values()].findLast((message) => message.role === "assistant" && message.exchange_id === id)
}

export function toolsIn(message: WireMessage | undefined): Extract<Segment, { type: "tool" }>[] {
  return (message?.segments ?? []).filter((segment) => segment.type === "tool")
}

export function textIn(message: WireMessage | undefined): string {
  return (message?.segments ?? []).map((segment) => (segment.type === "text" ? segment.content : "")).join("|")
}
