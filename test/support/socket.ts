/**
 * socket.ts: a client of one session, for tests in workerd. It records every frame, applies each frame as the page
 * does, and fails on the first gap or duplicate.
 */

import { env } from "cloudflare:test"
import { applyToMessage } from "../../shared/protocol/apply-ops.ts"
import type { ClientFrame } from "../../shared/protocol/client-frame.ts"
import type { HistoryPage } from "../../shared/protocol/http-body.ts"
import { parseServerFrame, type ServerFrame, type WireMessage } from "../../shared/protocol/server-frame.ts"
import { PROTOCOL_VERSION } from "../../shared/limits.ts"
import { noteJson } from "./log-check.ts"
import type { Claims } from "../../worker/platform/rpc/claims.ts"

export const CLAIMS: Claims = { tenant: "acme", user: "ada", expires: 4_000_000_000, token: null, issued: 0 }

export function sessionOf(id: string, claims: Claims = CLAIMS) {
  return env.SESSION.getByName(`${claims.tenant}:${id}`)
}

export async function createSession(id: string, claims: Claims = CLAIMS): Promise<void> {
  await sessionOf(id, claims).create(claims, id, "")
}

export async function pageOf(id: string, query = { limit: 50 }): Promise<HistoryPage> {
  const page = await sessionOf(id).readHistoryPage(CLAIMS, query)
  if (!page.ok) throw new Error(page.fault.reason)
  return JSON.parse(page.value.json)
}

export interface TestClient {
  readonly socket: WebSocket
  readonly frames: ServerFrame[]
  readonly texts: string[]
  readonly messages: Map<string, WireMessage>
  last: number
  /** Number of fragments of the current frame that have been received. */
  pieces: number
  closed: { code: number; reason: string } | null
  /** The first gap, duplicate or invalid op. */
  broken: Error | null
  say(frame: ClientFrame | string): void
  /** Resolves with the first matching frame, past or future. */
  until<T extends ServerFrame>(fits: (frame: ServerFrame) => frame is T): Promise<T>
  untilTrue(fits: (frame: ServerFrame) => boolean): Promise<ServerFrame>
  /** Resolves when the answer of the given exchange has ended. */
  untilEnd(exchange: string): Promise<WireMessage>
  untilClosed(): Promise<{ code: number; reason: string }>
}

export async function connect(id: string, claims: Claims = CLAIMS, hello: object | null = {}): Promise<TestClient> {
  const headers = { upgrade: "websocket", "x-cuecard-claims": JSON.stringify(claims) }
  const response = await sessionOf(id, claims).fetch("https://cuecard.test/socket", { headers })
  const socket = response.webSocket
  if (socket === null) throw new Error(`no socket: ${response.status}`)
  const client = followSocket(socket)
  socket.accept()
  if (hello !== null) {
    client.say({ type: "hello", protocol: PROTOCOL_VERSION, live: true, ...hello })
    const welcome = await client.until((frame) => frame.type === "hello" || frame.type === "error")
    if (welcome.type === "hello" && !("after" in hello)) client.last = welcome.seq
  }
  return client
}

function followSocket(socket: WebSocket): TestClient {
  const waiting = new Set<() => void>()
  const client: TestClient = {
    socket,
    frames: [],
    texts: [],
    messages: new Map(),
    last: 0,
    pieces: 0,
    closed: null,
    broken: null,
    say(frame) {
      const text = typeof frame === "string" ? frame : JSON.stringify(frame)
      noteJson(text)
      socket.send(text)
    },
    until: (fits) => wait(() => client.frames.find(fits)),
    untilTrue: (fits) => wait(() => client.frames.find(fits)),
    untilEnd: (exchange) => wait(() => endedAnswer(client, exchange)),
    untilClosed: () => wait(() => client.closed ?? undefined),
  }
  function wait<T>(look: () => T | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(
        () => reject(new Error(`no matching frame arrived; frames: ${client.texts.join("\n")}`)),
        10_000,
      )
      const check = (): void => {
        const found = look()
        if (client.broken !== null) reject(client.broken)
        else if (found === undefined) return
        clearTimeout(late)
        waiting.delete(check)
        if (found !== undefined) resolve(found)
      }
      waiting.add(check)
      check()
    })
  }
  const wake = (): void => {
    for (const check of [...waiting]) check()
  }
  socket.addEventListener("message", (event) => {
    const text = String(event.data)
    client.texts.push(text)
    noteJson(text)
    const frame = parseServerFrame(text)
    try {
      if (frame !== null) applyFrame(client, frame)
    } catch (error) {
      // Store the error, so that pending waits fail with it.
      client.broken ??= error instanceof Error ? error : new Error(String(error))
    }
    wake()
  })
  socket.addEventListener("close", ({ code, reason }) => {
    client.closed = { code, reason }
    wake()
  })
  return client
}

/** Applies a frame as the page does, except that a gap is an error. */
function applyFrame(client: TestClient, frame: ServerFrame): void {
  client.frames.push(frame)
  if (frame.type !== "message" && frame.type !== "ops") return
  if ("piece" in frame && frame.piece !== undefined) return takePiece(client, frame)
  if (frame.prev !== client.last) throw new Error(`gap: prev ${frame.prev}, last ${client.last}`)
  if (frame.seq <= frame.prev) throw new Error(`duplicate: seq ${frame.seq}, prev ${frame.prev}`)
  if (frame.type === "message") {
    const { type: _, seq: __, prev: ___, pieces, ...message } = frame
    client.messages.set(frame.id, message)
    if (pieces === undefined) client.last = frame.seq
    return
  }
  client.last = frame.seq
  changeWith(client, frame)
}

/**
 * Accepts a fragment of a frame. Fragments must arrive in order and with the same seq. The last one completes the
 * frame.
 */
function takePiece(client: TestClient, frame: Extract<ServerFrame, { type: "ops" }>): void {
  const { piece = 1, pieces = 1 } = frame
  client.pieces = piece === 1 ? 1 : client.pieces + 1
  if (piece !== client.pieces) throw new Error(`piece ${piece} where ${client.pieces} was expected`)
  if (frame.prev !== client.last) throw new Error(`gap: prev ${frame.prev}, last ${client.last}`)
  changeWith(client, frame)
  if (piece === pieces) client.last = frame.seq
}

function changeWith(client: TestClient, frame: Extract<ServerFrame, { type: "ops" }>): void {
  const message = client.messages.get(frame.message)
  // A client that resumes already has the message; this client may never have received it.
  if (message !== undefined) client.messages.set(frame.message, applyToMessage(message, frame.ops))
}

function endedAnswer(client: TestClient, exchange: string): WireMessage | undefined {
  const ended = ["completed", "cancelled", "interrupted", "failed"]
  return [...client.messages.values()].find(
    (message) => message.role === "assistant" && message.exchange_id === exchange && ended.includes(message.status),
  )
}
