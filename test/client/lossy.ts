/**
 * lossy.ts: a small server that keeps a session like the real one, behind connections that a test can delay, cut and flood.
 *
 * Frames go into queues in both directions and move when the test says so. Frames on a connection that is cut are lost.
 */

import { applyToMessage } from "../../shared/protocol/apply-ops.ts"
import type { ClientFrame } from "../../shared/protocol/client-frame.ts"
import type { HistoryPage } from "../../shared/protocol/http-body.ts"
import type { Op } from "../../shared/protocol/segment.ts"
import type { ServerFrame, WireMessage } from "../../shared/protocol/server-frame.ts"
import { parseJson } from "../../shared/json.ts"
import { PROTOCOL_VERSION } from "../../shared/limits.ts"
import type { WebSocketLike, WebSocketEvents } from "../../client/net/socket-link.ts"
import { wireMessage } from "./wire.ts"

interface Line {
  readonly events: WebSocketEvents
  readonly up: string[]
  readonly down: string[]
  isOpen: boolean
  isDead: boolean
  /** Seq of the last numbered frame that was put on it; null while it has to say hello. */
  last: number | null
}

type Body =
  | ({ readonly type: "message" } & WireMessage)
  | { readonly type: "ops"; readonly message: string; readonly ops: readonly Op[] }

export class LossyServer {
  epoch = "e0"
  seq = 0
  messages: WireMessage[] = []
  readonly lines: Line[] = []
  /** Frames that memory still has. */
  ring: { readonly seq: number; readonly body: Body }[] = []
  readonly changed = new Map<string, number>()
  readonly known = new Map<string, number>()
  #made = 0

  connect(events: WebSocketEvents): WebSocketLike {
    const line: Line = { events, up: [], down: [], isOpen: false, isDead: false, last: null }
    this.lines.push(line)
    return {
      send: (text) => void (line.isDead || line.up.push(text)),
      close: () => {
        line.isDead = true
      },
    }
  }

  page(): HistoryPage {
    return { messages: this.messages, has_more: false, epoch: this.epoch, seq: this.seq }
  }

  running(): WireMessage | undefined {
    return this.messages.find(({ status }) => status === "running")
  }

  /** One more piece of the answer that runs, or its end. */
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

  /** Another answer to the last question: everybody reads history again. */
  revise(): void {
    if (this.running() !== undefined || this.messages.length === 0) return
    const old = this.messages.pop() as WireMessage
    this.epoch = `e${++this.#made}`
    this.ring = []
    for (const line of this.lines) {
      if (line.last === null) continue
      line.last = null
      this.#put(line, { type: "hello", protocol: PROTOCOL_VERSION, epoch: this.epoch, seq: this.seq })
    }
    this.#add(this.#answer(old.exchange_id))
  }

  /** A question. Nothing is queued here: what comes while an answer runs ends it. */
  say(id: string, content: string): void {
    this.end("completed")
    const segments = [{ type: "text", content }] as const
    const timestamp = this.#now()
    this.#add(wireMessage(id, { role: "user", status: "completed", content, segments, timestamp }))
    this.known.set(id, this.seq)
    this.#add(this.#answer(id))
  }

  /** Everything that lies on the line goes its way; the first `most` of it. */
  moveUp(line: Line, most = Number.POSITIVE_INFINITY): void {
    for (let i = 0; i < most && line.isOpen && !line.isDead && line.up.length > 0; i++)
      this.#hear(line, line.up.shift() as string)
  }

  moveDown(line: Line, most = Number.POSITIVE_INFINITY): void {
    for (let i = 0; i < most && line.isOpen && !line.isDead && line.down.length > 0; i++)
      line.events.onMessage(line.down.shift())
  }

  open(line: Line): void {
    if (line.isOpen || line.isDead) return
    line.isOpen = true
    line.events.onOpen()
  }

  /** The line is cut: told to the page, or not. */
  cut(line: Line, isTold: boolean): void {
    if (line.isDead) return
    line.isDead = true
    if (isTold) line.events.onClose(1006)
  }

  /** One numbered frame less, where a later one tells of it. */
  lose(line: Line): void {
    const [first, ...rest] = line.down.map((text) => text.includes('"prev"'))
    if (first === true && rest.includes(true)) line.down.shift()
  }

  /** What was sent last is sent once more. */
  repeat(line: Line): void {
    const last = this.ring.at(-1)
    if (last !== undefined && line.last !== null) this.#put(line, { ...last.body, seq: last.seq, prev: last.seq - 1 })
  }

  #hear(line: Line, text: string): void {
    const frame = parseJson(text) as unknown as ClientFrame
    switch (frame.type) {
      case "ping":
        return void line.down.push('{"type":"pong"}')
      case "hello":
        return this.#hello(line, frame)
      case "send":
        return this.#send(line, frame)
      case "cancel": {
        const isRunning = this.running()?.exchange_id === frame.exchange_id
        if (!isRunning)
          return this.#put(line, { type: "error", code: "turn_ended", text: "ended", id: frame.exchange_id })
        this.end("cancelled")
        return this.#put(line, { type: "ack", id: frame.exchange_id, seq: this.seq })
      }
      default:
    }
  }

  #hello(line: Line, frame: Extract<ClientFrame, { type: "hello" }>): void {
    this.#put(line, { type: "hello", protocol: PROTOCOL_VERSION, epoch: this.epoch, seq: this.seq })
    if (frame.epoch !== this.epoch) return
    const after = frame.after ?? this.seq
    line.last = after
    const missed = this.ring.filter(({ seq }) => seq > after)
    if (missed.length === this.seq - after) {
      for (const { seq, body } of missed) this.#number(line, seq, body)
      return
    }
    const changed = this.messages.filter(({ id }) => (this.changed.get(id) ?? 0) > after)
    changed.sort((a, b) => (this.changed.get(a.id) ?? 0) - (this.changed.get(b.id) ?? 0))
    for (const message of changed)
      this.#number(line, this.changed.get(message.id) ?? 0, { type: "message", ...message })
  }

  #send(line: Line, { id, content }: Extract<ClientFrame, { type: "send" }>): void {
    if (!this.known.has(id)) this.say(id, content)
    this.#put(line, { type: "ack", id, seq: this.known.get(id) ?? 0 })
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
    this.messages = this.messages.map((one) => (one.id === id ? applyToMessage(one, ops) : one))
    this.#broadcast(id, { type: "ops", message: id, ops })
  }

  #broadcast(id: string, body: Body): void {
    const seq = ++this.seq
    this.changed.set(id, seq)
    this.ring.push({ seq, body })
    for (const line of this.lines) if (line.last !== null) this.#number(line, seq, body)
  }

  #number(line: Line, seq: number, body: Body): void {
    this.#put(line, { ...body, seq, prev: line.last ?? 0 })
    line.last = seq
  }

  #put(line: Line, frame: ServerFrame): void {
    if (!line.isDead) line.down.push(JSON.stringify(frame))
  }
}
