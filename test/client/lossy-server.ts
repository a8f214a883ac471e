/**
 * lossy-server.ts: a small server with one session, behind connections that a test can delay, cut and flood.
 *
 * Frames wait in a queue per direction until the test delivers them. When a connection is cut, its frames are lost.
 */

import { applyToMessage } from "../../shared/protocol/apply-ops.ts"
import type { ClientFrame } from "../../shared/protocol/client-frame.ts"
import type { HistoryPage } from "../../shared/protocol/http-body.ts"
import type { Op } from "../../shared/protocol/segment.ts"
import type { ServerFrame, WireMessage } from "../../shared/protocol/server-frame.ts"
import { parseJson } from "../../shared/json.ts"
import { PROTOCOL_VERSION } from "../../shared/limits.ts"
import type { WebSocketLike, WebSocketEvents } from "../../client/net/socket-link.ts"
import { wireMessage } from "./fake-server.ts"

interface Connection {
  readonly events: WebSocketEvents
  readonly up: string[]
  readonly down: string[]
  isOpen: boolean
  isDead: boolean
  /** The seq of the last numbered frame sent on this connection; null until the client has sent hello. */
  last: number | null
}

type Body =
  | ({ readonly type: "message" } & WireMessage)
  | { readonly type: "ops"; readonly message: string; readonly ops: readonly Op[] }

export class LossyServer {
  epoch = "e0"
  seq = 0
  messages: WireMessage[] = []
  readonly connections: Connection[] = []
  /** The frames that can be replayed. */
  replayBuffer: { readonly seq: number; readonly body: Body }[] = []
  readonly changed = new Map<string, number>()
  readonly known = new Map<string, number>()
  #made = 0

  connect(events: WebSocketEvents): WebSocketLike {
    const connection: Connection = { events, up: [], down: [], isOpen: false, isDead: false, last: null }
    this.connections.push(connection)
    return {
      send: (text) => void (connection.isDead || connection.up.push(text)),
      close: () => {
        connection.isDead = true
      },
    }
  }

  page(): HistoryPage {
    return { messages: this.messages, has_more: false, epoch: this.epoch, seq: this.seq }
  }

  running(): WireMessage | undefined {
    return this.messages.find(({ status }) => status === "running")
  }

  /** Appends to the running answer. */
  grow(text: string): void {
    const answer = this.running()
    const before = answer?.segments[0]
    if (answer === undefined) return
    const offset = before?.type === "text" ? before.content.length : 0
    const segment = { type: "text", content: text } as const
    this.#change(answer.id, [
      before === undefined ? { op: "open", at: 0, segment } : { op: "text", at: 0, offset, text },
    ])
  }

  end(status: WireMessage["status"]): void {
    const answer = this.running()
    if (answer !== undefined) this.#change(answer.id, [{ op: "end", status, reason: null, metrics: null }])
  }

  /** Replaces the last answer. The new epoch makes all clients reload their history. */
  revise(): void {
    if (this.running() !== undefined || this.messages.length === 0) return
    const old = this.messages.pop() as WireMessage
    this.epoch = `e${++this.#made}`
    this.replayBuffer = []
    for (const connection of this.connections) {
      if (connection.last === null) continue
      connection.last = null
      this.#sendFrame(connection, { type: "hello", protocol: PROTOCOL_VERSION, epoch: this.epoch, seq: this.seq })
    }
    this.#add(this.#answer(old.exchange_id))
  }

  /** Accepts a user's message. There is no queue, so a running answer is completed. */
  say(id: string, content: string): void {
    this.end("completed")
    const segments = [{ type: "text", content }] as const
    const timestamp = this.#now()
    this.#add(wireMessage(id, { role: "user", status: "completed", content, segments, timestamp }))
    this.known.set(id, this.seq)
    this.#add(this.#answer(id))
  }

  /** Delivers up to `most` frames from the client. */
  moveUp(connection: Connection, most = Number.POSITIVE_INFINITY): void {
    for (let i = 0; i < most && connection.isOpen && !connection.isDead && connection.up.length > 0; i++)
      this.#receive(connection, connection.up.shift() as string)
  }

  /** Delivers up to `most` frames to the client. */
  moveDown(connection: Connection, most = Number.POSITIVE_INFINITY): void {
    for (let i = 0; i < most && connection.isOpen && !connection.isDead && connection.down.length > 0; i++)
      connection.events.onMessage(connection.down.shift())
  }

  open(connection: Connection): void {
    if (connection.isOpen || connection.isDead) return
    connection.isOpen = true
    connection.events.onOpen()
  }

  /** Cuts the connection, with or without a close event. */
  cut(connection: Connection, hasCloseEvent: boolean): void {
    if (connection.isDead) return
    connection.isDead = true
    if (hasCloseEvent) connection.events.onClose(1006)
  }

  /** Drops the first numbered frame if a later frame reveals the gap. */
  lose(connection: Connection): void {
    const [first, ...rest] = connection.down.map((text) => text.includes('"prev"'))
    if (first === true && rest.includes(true)) connection.down.shift()
  }

  /** Sends the last numbered frame again. */
  repeat(connection: Connection): void {
    const last = this.replayBuffer.at(-1)
    if (last !== undefined && connection.last !== null)
      this.#sendFrame(connection, { ...last.body, seq: last.seq, prev: last.seq - 1 })
  }

  #receive(connection: Connection, text: string): void {
    const frame = parseJson(text) as unknown as ClientFrame
    switch (frame.type) {
      case "ping":
        return void connection.down.push('{"type":"pong"}')
      case "hello":
        return this.#hello(connection, frame)
      case "send":
        return this.#send(connection, frame)
      case "cancel": {
        const isRunning = this.running()?.exchange_id === frame.exchange_id
        if (!isRunning)
          return this.#sendFrame(connection, {
            type: "error",
            code: "turn_ended",
            text: "ended",
            id: frame.exchange_id,
          })
        this.end("cancelled")
        return this.#sendFrame(connection, { type: "ack", id: frame.exchange_id, seq: this.seq })
      }
      default:
    }
  }

  #hello(connection: Connection, frame: Extract<ClientFrame, { type: "hello" }>): void {
    this.#sendFrame(connection, { type: "hello", protocol: PROTOCOL_VERSION, epoch: this.epoch, seq: this.seq })
    if (frame.epoch !== this.epoch) return
    const after = frame.after ?? this.seq
    connection.last = after
    const missed = this.replayBuffer.filter(({ seq }) => seq > after)
    if (missed.length === this.seq - after) {
      for (const { seq, body } of missed) this.#sendNumbered(connection, seq, body)
      return
    }
    const changed = this.messages.filter(({ id }) => (this.changed.get(id) ?? 0) > after)
    changed.sort((a, b) => (this.changed.get(a.id) ?? 0) - (this.changed.get(b.id) ?? 0))
    for (const message of changed)
      this.#sendNumbered(connection, this.changed.get(message.id) ?? 0, { type: "message", ...message })
  }

  #send(connection: Connection, { id, content }: Extract<ClientFrame, { type: "send" }>): void {
    if (!this.known.has(id)) this.say(id, content)
    this.#sendFrame(connection, { type: "ack", id, seq: this.known.get(id) ?? 0 })
  }

  #answer(exchange_id: string): WireMessage {
    return wireMessage(`a${++this.#made}`, { exchange_id, timestamp: this.#now() })
  }

  #now(): string {
    return new Date(Date.UTC(2026, 4, 2) + this.seq * 1000).toISOString()
  }

  #add(message: WireMessage): void {
    this.messages = [...this.messages, message]
    this.#broadcast(message.id, { type: "message", ...message })
  }

  #change(id: string, ops: readonly Op[]): void {
    this.messages = this.messages.map((message) => (message.id === id ? applyToMessage(message, ops) : message))
    this.#broadcast(id, { type: "ops", message: id, ops })
  }

  #broadcast(id: string, body: Body): void {
    const seq = ++this.seq
    this.changed.set(id, seq)
    this.replayBuffer.push({ seq, body })
    for (const connection of this.connections) if (connection.last !== null) this.#sendNumbered(connection, seq, body)
  }

  #sendNumbered(connection: Connection, seq: number, body: Body): void {
    this.#sendFrame(connection, { ...body, seq, prev: connection.last ?? 0 })
    connection.last = seq
  }

  #sendFrame(connection: Connection, frame: ServerFrame): void {
    if (!connection.isDead) connection.down.push(JSON.stringify(frame))
  }
}
