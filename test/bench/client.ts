/**
 * client.ts: two clients of a session. One counts frames, and the other builds the transcript.
 */

import type { Cuecard } from "cuecard/testing"
import { applyToMessage } from "../../shared/protocol/apply-ops.ts"
import { parseServerFrame, type ServerFrame, type WireMessage } from "../../shared/protocol/server-frame.ts"
import { PROTOCOL_VERSION, SEEN_EVERY_FRAMES } from "../../shared/limits.ts"
import { MAX_SOCKET_FRAMES } from "../../shared/user-limits.ts"
import { type Exchange, sendAndAwait, untilOpen } from "./measure.ts"

export function connectSocket(cuecard: Cuecard, session: string): Promise<WebSocket> {
  const url = new URL(`/v1/sessions/${session}/socket`, cuecard.url)
  url.protocol = "ws:"
  return untilOpen(new WebSocket(url, ["cuecard.v1", `token.${cuecard.token}`]))
}

/** Opens a socket and exchanges hello frames. */
export async function openSession(cuecard: Cuecard, known?: string): Promise<WebSocket> {
  const socket = await connectSocket(cuecard, known ?? (await cuecard.createSession()).id)
  const hello = JSON.stringify({ type: "hello", protocol: PROTOCOL_VERSION, live: true })
  await sendAndAwait(
    socket,
    hello,
    () => true,
    (text) => text.includes('"hello"'),
  )
  return socket
}

export interface Turn extends Exchange {
  /** Total bytes of the frames sent. */
  readonly up: number
}

const unseen = new WeakMap<WebSocket, number>()
let sent = 0

export function nextId(): string {
  sent += 1
  return `bench-${sent}`
}

/** Sends a message and waits for its whole answer. The first `ops` frame counts as the first delta. */
export async function runTurn(socket: WebSocket, content: string): Promise<Turn> {
  const frame = JSON.stringify({ type: "send", id: nextId(), content })
  let [seq, text] = [0, ""]
  const isLast = (frame: string): boolean => {
    text = frame
    return frame.includes('"op":"end"') || frame.startsWith('{"type":"error"')
  }
  const done = await sendAndAwait(socket, frame, (text) => text.startsWith('{"type":"ops"'), isLast)
  if (text.startsWith('{"type":"error"')) throw new Error(text)
  seq = Number(/"seq":(\d+)/.exec(text)?.[1])
  return { ...done, up: Buffer.byteLength(frame) + countSeen(socket, seq, done.frames) }
}

/** The number of turns that one socket can run, at any speed, before it reaches its limit on frames (SPEC LI4). */
const TURNS_PER_SOCKET = Math.floor(MAX_SOCKET_FRAMES / 2)

/** Fills a session with short turns, using as many sockets as the limit on frames requires. */
export async function fillSession(cuecard: Cuecard, session: string, turns: number): Promise<void> {
  for (let done = 0; done < turns; done += TURNS_PER_SOCKET) {
    const socket = await openSession(cuecard, session)
    for (let turn = done; turn < Math.min(done + TURNS_PER_SOCKET, turns); turn++)
      await runTurn(socket, `Question number ${turn}?`)
    socket.close()
  }
}

/** Sends `seen` frames as often as the protocol requires, and returns their total size in bytes. */
function countSeen(socket: WebSocket, seq: number, frames: number): number {
  const count = (unseen.get(socket) ?? 0) + frames
  unseen.set(socket, count < SEEN_EVERY_FRAMES ? count : 0)
  if (count < SEEN_EVERY_FRAMES) return 0
  const frame = JSON.stringify({ type: "seen", seq })
  socket.send(frame)
  return Buffer.byteLength(frame)
}

/** A transcript as the page builds it, and the traffic that produced it. */
export interface Reader {
  readonly socket: WebSocket
  readonly messages: Map<string, WireMessage>
  /** Size of each numbered frame in bytes, by seq. */
  readonly sizes: Map<number, number>
  epoch: string
  seq: number
  /** The session's newest seq when the server answered our hello. */
  welcome: number
  bytes: number
  say(frame: object): void
  /** Resolves with the next matching frame. Rejects on a gap between frames. */
  until(fits: (frame: ServerFrame) => boolean): Promise<ServerFrame>
}

/** Opens a session as the page does. With `from`, resumes where that reader was cut off. */
export async function openReader(cuecard: Cuecard, session: string, from?: Reader): Promise<Reader> {
  const reader = followSession(await connectSocket(cuecard, session), from)
  const place = from === undefined ? {} : { epoch: from.epoch, after: from.seq }
  const welcome = reader.until((frame) => frame.type === "hello")
  reader.say({ type: "hello", protocol: PROTOCOL_VERSION, live: true, ...place })
  await welcome
  return reader
}

interface Waiting {
  fits(frame: ServerFrame): boolean
  resolve(frame: ServerFrame): void
  reject(error: unknown): void
}

function followSession(socket: WebSocket, from?: Reader): Reader {
  const waiting = new Set<Waiting>()
  const { epoch = "", seq = 0, messages = new Map() } = from ?? {}
  const reader: Reader = {
    socket,
    messages: new Map(messages),
    sizes: new Map(),
    epoch,
    seq,
    welcome: 0,
    bytes: 0,
    say: (frame) => socket.send(JSON.stringify(frame)),
    until: (fits) => new Promise((resolve, reject) => void waiting.add({ fits, resolve, reject })),
  }
  socket.addEventListener("message", (event) => {
    const text = String(event.data)
    const size = Buffer.byteLength(text)
    reader.bytes += size
    const frame = parseServerFrame(text)
    if (frame === null) return
    try {
      takeFrame(reader, frame, size)
    } catch (error) {
      for (const one of waiting) one.reject(error)
    }
    for (const one of waiting) {
      if (!one.fits(frame)) continue
      waiting.delete(one)
      one.resolve(frame)
    }
  })
  return reader
}

function takeFrame(reader: Reader, frame: ServerFrame, size: number): void {
  switch (frame.type) {
    case "hello":
      // A new reader starts at the current seq of the session.
      if (reader.epoch === "") reader.seq = frame.seq
      reader.epoch = frame.epoch
      reader.welcome = frame.seq
      return
    case "message":
    case "ops":
      break
    case "ack":
    case "error":
      return
  }
  if (frame.prev !== reader.seq) throw new Error(`a gap: ${frame.prev} after ${reader.seq}`)
  reader.seq = frame.seq
  reader.sizes.set(frame.seq, size)
  if (reader.sizes.size % SEEN_EVERY_FRAMES === 0) reader.say({ type: "seen", seq: frame.seq })
  if (frame.type === "message") {
    const { type: _, seq: __, prev: ___, pieces: ____, ...message } = frame
    reader.messages.set(frame.id, message)
    return
  }
  const message = reader.messages.get(frame.message)
  if (message !== undefined) reader.messages.set(frame.message, applyToMessage(message, frame.ops))
}

/** Returns the answer to a message as the reader has received it so far. */
export function answerTo(reader: Reader, exchange: string): WireMessage | undefined {
  return [...reader.messages.values()].find(
    (message) => message.role === "assistant" && message.exchange_id === exchange,
  )
}

/** Returns the number of visible characters of a message. */
export function charsShown(message: WireMessage | undefined): number {
  return textShown(message).length
}

export function textShown(message: WireMessage | undefined): string {
  const segments = message?.segments ?? []
  return segments.map((segment) => (segment.type === "text" ? segment.content : "")).join("")
}

export function isEnd(frame: ServerFrame): boolean {
  return frame.type === "ops" && frame.ops.some((op) => op.op === "end")
}

export interface Page {
  readonly ms: number
  readonly bytes: number
  /** Number of rows that the object read. */
  readonly rows: number
  readonly messages: readonly WireMessage[]
}

export async function readPage(cuecard: Cuecard, session: string, limit: number): Promise<Page> {
  const url = `${cuecard.url}/v1/sessions/${session}/conversation/recent?limit=${limit}`
  const started = performance.now()
  const response = await fetch(url, { headers: { authorization: `Bearer ${cuecard.token}` } })
  const body = await response.text()
  const ms = performance.now() - started
  const rows = Number(/dur=(\d+)/.exec(response.headers.get("server-timing") ?? "")?.[1])
  return { ms, bytes: Buffer.byteLength(body), rows, messages: JSON.parse(body).messages }
}
