/**
 * tab.ts: a tab of a session. It consists of the page's own controller, socket, store and outbox, behind a proxy and
 * with a faster clock.
 *
 * server ⇄ proxy ⇄ TAB (HttpApi, SessionController) → the states that the tab showed
 */

import { HttpApi } from "../../client/net/api.ts"
import type { KeyValueStorage } from "../../client/net/outbox.ts"
import { Draft } from "../../client/session/draft.ts"
import { SessionController } from "../../client/session/session-controller.ts"
import type { WebSocketEvents } from "../../client/net/socket-link.ts"
import type { ClientFrame } from "../../shared/protocol/client-frame.ts"
import type { HistoryPage } from "../../shared/protocol/http-body.ts"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import type { Chance } from "./chance.ts"
import type { TabProxy } from "./proxy.ts"
import { type Answered, createTap, type Tap } from "./tap.ts"
import type { Rule } from "./violation.ts"

/** Scale of the tab's clock, so that its timeouts of 8 and 45 s expire within a test. */
const CLOCK = 0.05

/** Timeout of a page request, on the page's own clock. */
const REQUEST_MS = 30_000

export interface TabDeps {
  readonly session: string
  readonly proxy: TabProxy
  readonly storage: KeyValueStorage
  readonly chance: Chance
  readonly nextId: () => string
  readonly report: (rule: Rule, detail: string) => void
  /** Called for each frame that the tab sends. */
  readonly onFrameSent: (frame: ClientFrame) => void
  /** Called for each acknowledgement or refusal before it is applied, with the frame to which it responds. */
  readonly onAnswer: (frame: ClientFrame, answer: Answered) => void
}

export interface Tab {
  readonly proxy: TabProxy
  controller(): SessionController
  /** Number of numbered frames received so far. */
  frames(): number
  /** The messages that the tab shows. */
  messages(): readonly WireMessage[]
  /** Every state that the tab has shown, by message id. */
  readonly shown: ReadonlyMap<string, readonly WireMessage[]>
  /** Number of times that the tab reloaded history because its state did not match the server's. */
  resets(): number
  /** Sends a frame directly on the open socket, if there is one. */
  say(frame: ClientFrame): boolean
  /** Closes the tab and reopens it with the state that the browser stored. */
  reopen(): void
  close(): void
  /** Resolves to true once the condition holds, or to false on timeout. The condition is checked after every frame. */
  until(holds: () => boolean, ms: number): Promise<boolean>
}

export function createMemoryStorage(): KeyValueStorage {
  const items = new Map<string, string>()
  return {
    get length() {
      return items.size
    },
    key: (at) => [...items.keys()][at] ?? null,
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, value) => void items.set(key, value),
    removeItem: (key) => void items.delete(key),
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
    deps.onFrameSent(JSON.parse(text) as ClientFrame)
    socket.send(text)
  }
  const recordStates = (controller: SessionController): void => {
    for (const message of messagesOf(controller)) {
      const states = shown.get(message.id) ?? []
      if (states.at(-1) === message) continue
      states.push(message)
      shown.set(message.id, states)
    }
    for (const watch of [...watchers]) watch()
  }
  const connect = (controller: () => SessionController, protocols: string[], events: WebSocketEvents) => {
    const socket = new WebSocket(`ws://127.0.0.1:${proxy.port}/v1/sessions/${session}/socket`, protocols)
    const tap = createTap(deps)
    const own = { socket, tap }
    socket.onopen = () => {
      wire = own
      events.onOpen()
    }
    socket.onmessage = ({ data }) => {
      const frame = tap.received(String(data))
      if (frame?.type === "message" || frame?.type === "ops") frames += 1
      events.onMessage(data)
      recordStates(controller())
    }
    socket.onclose = ({ code }) => {
      if (wire === own) wire = null
      events.onClose(code)
      recordStates(controller())
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
    const api = new HttpApi({ fetch: request, now: clock.now, tokenRoutes: ["/v1/dev/token"] })
    const readPage = api.getHistoryPage.bind(api)
    api.getHistoryPage = async (id, limit, before): Promise<HistoryPage> => {
      const page = await readPage(id, limit, before)
      pages += 1
      // The controller applies the page when this promise resolves.
      setTimeout(() => recordStates(controller), 0)
      return page
    }
    const controller: SessionController = new SessionController(
      session,
      {
        api,
        storage: deps.storage,
        connect: (_session, protocols, events) => connect(() => controller, protocols, events),
        now: clock.now,
        setTimer: clock.after,
        random: deps.chance.real,
        createId: deps.nextId,
        scheduleRender: (call) => call(),
        onMessageEnd() {},
      },
      new Draft(),
    )
    void controller.loadNewest()
    return controller
  }
  let opened = 1
  let controller = open()
  return {
    proxy,
    shown,
    controller: () => controller,
    frames: () => frames,
    messages: () => messagesOf(controller),
    resets: () => Math.max(0, pages - opened),
    say(frame) {
      if (wire === null || wire.socket.readyState !== WebSocket.OPEN) return false
      put(wire, JSON.stringify(frame))
      return true
    },
    reopen() {
      controller.close()
      opened += 1
      controller = open()
    },
    close() {
      controller.close()
    },
    until: (holds, ms) => untilTrue(holds, ms, watchers),
  }
}

function messagesOf(controller: SessionController): WireMessage[] {
  return controller.store.messageIds.peek().flatMap((id) => controller.store.getMessageSignal(id)?.peek() ?? [])
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

/** Interval between checks of conditions that can change without a frame, in milliseconds. */
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
