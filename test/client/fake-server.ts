/** fake-server.ts: a fake server for the page's socket, with a clock, timers and randomness that the test controls. */

import type { ClientFrame } from "../../shared/protocol/client-frame.ts"
import type { MessageFrame, OpsFrame, ServerFrame, WireMessage } from "../../shared/protocol/server-frame.ts"
import type { Op } from "../../shared/protocol/segment.ts"
import { parseJson } from "../../shared/json.ts"
import { PROTOCOL_VERSION } from "../../shared/limits.ts"
import type { LinkState, SocketLinkDeps, WebSocketLike, WebSocketEvents } from "../../client/net/socket-link.ts"
import type { ResumePoint, SessionSocketHandlers } from "../../client/net/session-socket.ts"

export interface FakeSocket {
  readonly protocols: readonly string[]
  readonly sent: ClientFrame[]
  readonly events: WebSocketEvents
  closedWith: number | undefined | null
  say(frame: ServerFrame | { readonly type: string }): void
}

export interface FakeServer {
  readonly sockets: FakeSocket[]
  /** The most recent socket. */
  last(): FakeSocket
  connect(protocols: string[], events: WebSocketEvents): WebSocketLike
}

export function createServer(): FakeServer {
  const sockets: FakeSocket[] = []
  return {
    sockets,
    last() {
      const socket = sockets.at(-1)
      if (socket === undefined) throw new Error("no socket was opened")
      return socket
    },
    connect(protocols, events) {
      const socket: FakeSocket = {
        protocols,
        sent: [],
        events,
        closedWith: null,
        say: (frame) => events.onMessage(JSON.stringify(frame)),
      }
      sockets.push(socket)
      return {
        send: (text) => void socket.sent.push(parseJson(text) as unknown as ClientFrame),
        close: (code) => {
          socket.closedWith = code
        },
      }
    },
  }
}

/** Creates a clock that the test advances. */
export function createClock() {
  let now = 1_000_000
  let timers: { readonly at: number; readonly call: () => void }[] = []
  return {
    now: () => now,
    setTimer(ms: number, call: () => void) {
      const timer = { at: now + ms, call }
      timers.push(timer)
      return () => {
        timers = timers.filter((item) => item !== timer)
      }
    },
    /** Advances the clock and runs the timers that are due, in order. */
    pass(ms: number) {
      const end = now + ms
      for (;;) {
        const due = timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
        if (due === undefined) break
        timers = timers.filter((timer) => timer !== due)
        now = Math.max(now, due.at)
        due.call()
      }
      now = end
    },
  }
}

/** Waits until pending promises have settled. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 8; i++) await Promise.resolve()
}

export interface ReceivedEvents {
  readonly frames: (MessageFrame | OpsFrame)[]
  readonly acks: string[]
  readonly errors: (readonly [string, string | undefined])[]
  readonly resets: string[]
  readonly links: LinkState[]
  liveCount: number
  reached: number
}

export function createRecordingHandlers(
  handleFrame: (frame: MessageFrame | OpsFrame) => void = () => {},
): SessionSocketHandlers & { received: ReceivedEvents } {
  const received: ReceivedEvents = { frames: [], acks: [], errors: [], resets: [], links: [], liveCount: 0, reached: 0 }
  return {
    received,
    onFrame(frame) {
      handleFrame(frame)
      received.frames.push(frame)
    },
    onAck: (id) => void received.acks.push(id),
    onError: ({ text, id }) => void received.errors.push([text, id]),
    onLive: () => void received.liveCount++,
    onReset: (why) => void received.resets.push(why),
    onStateChange: (state) => void received.links.push(state),
    onReachable: () => void received.reached++,
  }
}

export function depsOf(
  server: FakeServer,
  clock: ReturnType<typeof createClock>,
): SocketLinkDeps & { forgotten: number } {
  return {
    forgotten: 0,
    connect: server.connect,
    getToken: () => Promise.resolve({ token: "jwt", renewAt: clock.now() + 3_540_000 }),
    forgetToken() {
      this.forgotten++
    },
    now: clock.now,
    random: () => 1,
    setTimer: clock.setTimer,
  }
}

export const START: ResumePoint = { epoch: "e1", seq: 10 }

export function hello(seq = 10, epoch = "e1"): ServerFrame {
  return { type: "hello", protocol: PROTOCOL_VERSION, epoch, seq }
}

export function ops(seq: number, prev: number, message: string, list: readonly Op[]): OpsFrame {
  return { type: "ops", seq, prev, message, ops: list }
}

export function wireMessage(id: string, more: Partial<WireMessage> = {}): WireMessage {
  return {
    id,
    role: "assistant",
    exchange_id: id,
    content: "",
    segments: [],
    status: "running",
    reason: null,
    mode: "chat",
    metrics: null,
    timestamp: "2026-05-02T14:00:00.000Z",
    ...more,
  }
}

export function messageFrame(seq: number, prev: number, message: WireMessage): MessageFrame {
  return { type: "message", seq, prev, ...message }
}
