/** open-session.ts: opens a session on a fake server. A test can pass the same storage to a later page. */

import type { Api } from "../../client/net/api.ts"
import { RequestHold } from "../../client/net/request-hold.ts"
import type { SessionRouterDeps } from "../../client/session/session-router.ts"
import type { KeyValueStorage } from "../../client/net/outbox.ts"
import { Draft } from "../../client/session/draft.ts"
import { SessionController, type SessionControllerDeps } from "../../client/session/session-controller.ts"
import type { HistoryPage } from "../../shared/protocol/http-body.ts"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { createClock, createServer, hello, settle, wireMessage } from "./fake-server.ts"

export function createMemoryStorage(): KeyValueStorage & { readonly all: Map<string, string> } {
  const all = new Map<string, string>()
  return {
    all,
    get length() {
      return all.size
    },
    key: (at) => [...all.keys()][at] ?? null,
    getItem: (key) => all.get(key) ?? null,
    setItem: (key, value) => void all.set(key, value),
    removeItem: (key) => void all.delete(key),
  }
}

/** Creates an API with the requests that tests of an open session don't care about. */
export function createStubApi(): Omit<Api, "getToken" | "getHistoryPage"> {
  return {
    hold: new RequestHold(),
    forgetToken() {},
    listSessions: () => Promise.resolve({ sessions: [], next: null }),
    createSession: () => Promise.resolve("s1"),
    renameSession: (_session, title) => Promise.resolve(title),
    eraseSession: () => Promise.resolve(),
    getImportProgress: () => Promise.resolve({ state: "done", records: 0, folded: 0 }),
    fetchAuthorized: () => Promise.resolve(new Response()),
    signUrls: () => Promise.reject(new TypeError("no network")),
    getSettings: () => Promise.reject(new TypeError("no network")),
  }
}

export function pageOf(messages: readonly WireMessage[], more: Partial<HistoryPage> = {}): HistoryPage {
  return { messages, has_more: false, epoch: "e1", seq: 10, ...more }
}

/** Creates named locks, like the browser's. `free` releases all locks, as closing a page does. */
function createLocks() {
  const last = new Map<string, Promise<void>>()
  return {
    withLock(name: string, call: () => Promise<void>): Promise<void> {
      const queued = (last.get(name) ?? Promise.resolve()).then(call)
      last.set(name, queued)
      return queued
    },
    free: () => last.clear(),
  }
}

export function setUp(pages: HistoryPage[] = [pageOf([])], storage = createMemoryStorage()) {
  const clock = createClock()
  const server = createServer()
  const historyCursors: (string | undefined)[] = []
  let ids = 0
  const api: Api = {
    getToken: () => Promise.resolve({ token: "jwt", renewAt: clock.now() + 3_540_000 }),
    ...createStubApi(),
    getHistoryPage(_session, _limit, before) {
      historyCursors.push(before)
      const page = pages.length > 1 ? pages.shift() : pages[0]
      return page === undefined ? Promise.reject(new TypeError("no network")) : Promise.resolve(page)
    },
  }
  const ended: string[] = []
  const locks = createLocks()
  const deps: SessionControllerDeps & Pick<SessionRouterDeps, "withLock" | "isVisible" | "sendFile"> = {
    withLock: locks.withLock,
    isVisible: () => true,
    sendFile: () => Promise.reject(new TypeError("no network")),
    api,
    storage,
    connect: (_session, protocols, events) => server.connect(protocols, events),
    now: clock.now,
    random: () => 1,
    createId: () => `n${++ids}`,
    setTimer: clock.setTimer,
    scheduleRender: (call) => call(),
    onMessageEnd: (message) => void ended.push(message.id),
  }
  return { clock, server, storage, requests: historyCursors, deps, ended, api, locks }
}

export async function openSession(pages?: HistoryPage[], storedState?: ReturnType<typeof createMemoryStorage>) {
  const { clock, server, storage, requests, deps, ended } = setUp(pages, storedState)
  const controller = new SessionController("s1", deps, new Draft())
  await controller.loadNewest()
  await settle()
  server.last().events.onOpen()
  server.last().say(hello())
  return { clock, server, storage, requests, ended, controller, deps }
}

export const listSendFrames = (sent: readonly { readonly type: string }[]) => sent.filter(({ type }) => type === "send")
export const user = (id: string, text: string, more: Partial<WireMessage> = {}) =>
  wireMessage(id, {
    role: "user",
    status: "completed",
    content: text,
    segments: [{ type: "text", content: text }],
    ...more,
  })

/** Closes the socket once the connection has been stable, waits for the page to reconnect, and answers its hello. */
export async function reconnect(
  { server, clock }: Pick<Awaited<ReturnType<typeof openSession>>, "server" | "clock">,
  seq = 10,
) {
  clock.pass(5_000)
  server.last().events.onClose(1006)
  clock.pass(300)
  await settle()
  server.last().events.onOpen()
  server.last().say(hello(seq))
}
