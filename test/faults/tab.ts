/**
 * tab.ts: one tab on one session: the page's own room, socket, store and outbox, on a faster clock and behind a proxy.
 *
 * server ⇄ proxy ⇄ TAB: api, Room → states that it showed
 */

import { createApi } from "../../client/net/api.ts"
import type { KeyValueStorage } from "../../client/net/outbox.ts"
import { SessionController } from "../../client/session/session-controller.ts"
import type { WebSocketEvents } from "../../client/net/socket-link.ts"
import type { ClientFrame } from "../../shared/protocol/client-frame.ts"
import type { HistoryPage } from "../../shared/protocol/http-body.ts"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import type { Chance } from "./chance.ts"
import type { TabProxy } from "./proxy.ts"
import { type Answered, createTap, type Tap } from "./tap.ts"
import type { Rule } from "./violation.ts"

/** A second of the tab's clock takes so many real ones: its limits of 8 and 45 s come within the test. */
const CLOCK = 0.05

/** A request of the page is given up after so long, by its own clock. */
const REQUEST_MS = 30_000

export interface TabDeps {
  readonly session: string
  readonly proxy: TabProxy
  readonly shelf: KeyValueStorage
  readonly chance: Chance
  readonly nextId: () => string
  readonly report: (rule: Rule, detail: string) => void
  /** Each frame as it was said. */
  readonly onSaid: (frame: ClientFrame) => void
  /** Each acknowledgement or refusal as it came, before it is applied, with what it answers. */
  readonly onAnswer: (asked: ClientFrame, answer: Answered) => void
}

export interface Tab {
  readonly proxy: TabProxy
  room(): SessionController
  /** Numbered frames that came so far. */
  frames(): number
  /** The transcript as shown. */
  messages(): readonly WireMessage[]
  /** Every state that was ever shown, by message. */
  readonly shown: ReadonlyMap<string, readonly WireMessage[]>
  /** Pages that the tab had to read because state and server did not fit together. */
  resets(): number
  /** Says a frame past the room, if a socket is open. */
  say(frame: ClientFrame): boolean
  /** Closes the tab and opens it again: what the browser stored is all that is left. */
  reopen(): void
  close(): void
  /** Resolves true once it holds, false when the time is over. Looked at with every frame. */
  until(holds: () => boolean, ms: number): Promise<boolean>
}

export function createShelf(): KeyValueStorage {
  const kept = new Map<string, string>()
  return {
    get length() {
      return kept.size
    },
    key: (at) => [...kept.keys()][at] ?? null,
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => void kept.set(key, value),
    removeItem: (key) => void kept.delete(key),
  }
}

interface Wire {
  readonly socket: WebSocket
  readonly tap: Tap
}

export function openTab(deps: TabDeps): Tab {
  const { session, proxy } = deps
  const shown = new Map<string, WireMessage[]>()
  const watchers = new Set<() => void>()
  let wire: Wire | null = null
  let frames = 0
  let pages = 0

  const put = ({ socket, tap }: Wire, text: string): void => {
    tap.sent(text)
    deps.onSaid(JSON.parse(text) as ClientFrame)
    socket.send(text)
  }
  const lookAt = (room: SessionController): void => {
    for (const message of messagesOf(room)) {
      const states = shown.get(message.id) ?? []
      if (states.at(-1) === message) continue
      states.push(message)
      shown.set(message.id, states)
    }
    for (const watch of [...watchers]) watch()
  }
  const connect = (room: () => SessionController, protocols: string[], events: WebSocketEvents) => {
    const socket = new WebSocket(`ws://127.0.0.1:${proxy.port}/v1/sessions/${session}/socket`, protocols)
    const tap = createTap(deps)
    const own = { socket, tap }
    socket.onopen = () => {
      wire = own
      events.onOpen()
    }
    socket.onmessage = ({ data }) => {
      const frame = tap.heard(String(data))
      if (frame?.type === "message" || frame?.type === "ops") frames += 1
      events.onMessage(data)
      lookAt(room())
    }
    socket.onclose = ({ code }) => {
      if (wire === own) wire = null
      events.onClose(code)
      lookAt(room())
    }
    return {
      send(text: string) {
        if (socket.readyState === WebSocket.OPEN) put(own, text)
      },
      close: (code?: number) => socket.close(code),
    }
  }
  const request = (path: string, init: RequestInit): Promise<Response> =>
    fetch(`http://127.0.0.1:${proxy.port}${path}`, { ...init, signal: AbortSignal.timeout(REQUEST_MS * CLOCK) })
  const open = (): SessionController => {
    const clock = createClock()
    const api = createApi({ fetch: request, now: clock.now })
    const room: SessionController = new SessionController(session, {
      api: {
        ...api,
        async getHistoryPage(id, limit, before): Promise<HistoryPage> {
          const page = await api.getHistoryPage(id, limit, before)
          pages += 1
          // The room takes the page with this very promise.
          setTimeout(() => lookAt(room), 0)
          return page
        },
      },
      storage: deps.shelf,
      connect: (_session, protocols, events) => connect(() => room, protocols, events),
      now: clock.now,
      setTimer: clock.after,
      random: deps.chance.real,
      createId: deps.nextId,
      scheduleRender: (call) => call(),
      onMessageEnd() {},
    })
    void room.loadNewest()
    return room
  }
  let opened = 1
  let room = open()
  return {
    proxy,
    shown,
    room: () => room,
    frames: () => frames,
    messages: () => messagesOf(room),
    resets: () => Math.max(0, pages - opened),
    say(frame) {
      if (wire === null || wire.socket.readyState !== WebSocket.OPEN) return false
      put(wire, JSON.stringify(frame))
      return true
    },
    reopen() {
      room.close()
      opened += 1
      room = open()
    },
    close() {
      room.close()
    },
    until: (holds, ms) => untilTrue(holds, ms, watchers),
  }
}

function messagesOf(room: SessionController): WireMessage[] {
  return room.store.messageIds.peek().flatMap((id) => room.store.getMessageSignal(id)?.peek() ?? [])
}

function createClock() {
  const started = Date.now()
  const origin = performance.now()
  return {
    now: () => Math.round(started + (performance.now() - origin) / CLOCK),
    after(ms: number, call: () => void): () => void {
      const timer = setTimeout(call, ms * CLOCK)
      return () => clearTimeout(timer)
    },
  }
}

/** What does not come with a frame is looked for so often, in milliseconds. */
const POLL_MS = 10

export function untilTrue(holds: () => boolean, ms: number, watchers: Set<() => void> = new Set()): Promise<boolean> {
  return new Promise((resolve) => {
    const finish = (held: boolean): void => {
      watchers.delete(look)
      clearInterval(poll)
      clearTimeout(late)
      resolve(held)
    }
    const look = (): void => {
      if (holds()) finish(true)
    }
    const poll = setInterval(look, POLL_MS)
    const late = setTimeout(() => finish(holds()), ms)
    watchers.add(look)
    look()
  })
}
