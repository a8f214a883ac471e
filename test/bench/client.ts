/**
 * client.ts: clients of one session: one that only counts what comes, and one that keeps what a reader sees.
 */

import type { Cuecard } from "cuecard/testing"
import { applyToMessage } from "../../shared/protocol/apply-ops.ts"
import { parseServerFrame, type ServerFrame, type WireMessage } from "../../shared/protocol/server-frame.ts"
import { PROTOCOL_VERSION, SEEN_EVERY_FRAMES } from "../../shared/limits.ts"
import { type Exchange, exchange, opened } from "./measure.ts"

export function connect(cuecard: Cuecard, session: string): Promise<WebSocket> {
  const url = new URL(`/v1/sessions/${session}/socket`, cuecard.url)
  url.protocol = "ws:"
  return opened(new WebSocket(url, ["cuecard.v1", `token.${cuecard.token}`]))
}

/** A socket that has said its hello and had its answer. */
export async function openSession(cuecard: Cuecard, known?: string): Promise<WebSocket> {
  const socket = await connect(cuecard, known ?? (await cuecard.createSession()).id)
  const hello = JSON.stringify({ type: "hello", protocol: PROTOCOL_VERSION, live: true })
  await exchange(
    socket,
    hello,
    () => true,
    (text) => text.includes('"hello"'),
  )
  return socket
}

export interface Turn extends Exchange {
  /** Bytes of all frames that went. */
  readonly up: number
}

const unseen = new WeakMap<WebSocket, number>()
let sent = 0

export function nextId(): string {
  sent += 1
  return `bench-${sent}`
}

/** One message and its whole answer. The first delta is the first frame of ops. */
export async function runTurn(socket: WebSocket, content: string): Promise<Turn> {
  const frame = JSON.stringify({ type: "send", id: nextId(), content })
  let [seq, text] = [0, ""]
  const isLast = (frame: string): boolean => {
    text = frame
    return frame.includes('"op":"end"')
  }
  const done = await exchange(socket, frame, (text) => text.startsWith('{"type":"ops"'), isLast)
  seq = Number(/"seq":(\d+)/.exec(text)?.[1])
  return { ...done, up: Buffer.byteLength(frame) + see(socket, seq, done.frames) }
}

/** Says what was seen as often as the protocol asks; the bytes that it took. */
function see(socket: WebSocket, seq: number, frames: number): number {
  const count = (unseen.get(socket) ?? 0) + frames
  unseen.set(socket, count < SEEN_EVERY_FRAMES ? count : 0)
  if (count < SEEN_EVERY_FRAMES) return 0
  const frame = JSON.stringify({ type: "seen", seq })
  socket.send(frame)
  return Buffer.byteLength(frame)
}

/** What a page knows of its session, and what it took to know it. */
export interface Reader {
  readonly socket: WebSocket
  readonly messages: Map<string, WireMessage>
  /** Bytes of each numbered frame, by its seq. */
  readonly sizes: Map<number, number>
  epoch: string
  seq: number
  /** The session's newest seq at the moment of our hello. */
  welcome: number
  bytes: number
  say(frame: object): void
  /** Resolves with the first frame from now on that fits. Rejects when a frame does not follow the one before it. */
  until(fits: (frame: ServerFrame) => boolean): Promise<ServerFrame>
}

/** Opens a session as the page does; with `from` it goes on where that reader was cut off. */
export async function openReader(cuecard: Cuecard, session: string, from?: Reader): Promise<Reader> {
  const reader = follow(await connect(cuecard, session), from)
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

function follow(socket: WebSocket, from?: Reader): Reader {
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
      // A reader that is new goes on from where the session is.
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

/** The answer to a message, as far as the reader knows it. */
export function answerTo(reader: Reader, exchange: string): WireMessage | undefined {
  return [...reader.messages.values()].find(
    (message) => message.role === "assistant" && message.exchange_id === exchange,
  )
}

/** Characters of prose that a reader of this message sees. */
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
  /** Rows that the object read for it. */
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
