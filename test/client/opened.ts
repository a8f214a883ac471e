/** opened.ts: a session, or a page of sessions, on a fake server, with storage that outlives them. */

import type { Api } from "../../client/api.ts"
import type { ChatDeps } from "../../client/chat.ts"
import type { Shelf } from "../../client/outbox.ts"
import { Room, type RoomDeps } from "../../client/room.ts"
import type { HistoryPage, WireMessage } from "../../shared/frame.ts"
import { createClock, createServer, hello, settle, wireMessage } from "./wire.ts"

export function createShelf(): Shelf & { readonly all: Map<string, string> } {
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

export function pageOf(messages: readonly WireMessage[], more: Partial<HistoryPage> = {}): HistoryPage {
  return { messages, has_more: false, epoch: "e1", seq: 10, ...more }
}

/** One at a time under a name, as the browser's locks are; `free` is what happens when a page is closed. */
function createClaims() {
  const last = new Map<string, Promise<void>>()
  return {
    claim(name: string, call: () => Promise<void>): Promise<void> {
      const mine = (last.get(name) ?? Promise.resolve()).then(call)
      last.set(name, mine)
      return mine
    },
    free: () => last.clear(),
  }
}

export function setUp(pages: HistoryPage[] = [pageOf([])], shelf = createShelf()) {
  const clock = createClock()
  const server = createServer()
  const asked: (string | undefined)[] = []
  let ids = 0
  const api: Api = {
    token: () => Promise.resolve({ token: "jwt", renewAt: clock.now() + 3_540_000 }),
    forgetToken() {},
    sessions: () => Promise.resolve([]),
    createSession: () => Promise.resolve("s1"),
    rename: (_session, title) => Promise.resolve(title),
    erase: () => Promise.resolve(),
    importProgress: () => Promise.resolve({ state: "done", records: 0, folded: 0 }),
    download: () => Promise.resolve(new Blob()),
    sign: () => Promise.reject(new TypeError("no network")),
    settings: () => Promise.reject(new TypeError("no network")),
    page(_session, _limit, before) {
      asked.push(before)
      const page = pages.length > 1 ? pages.shift() : pages[0]
      return page === undefined ? Promise.reject(new TypeError("no network")) : Promise.resolve(page)
    },
  }
  const ended: string[] = []
  const claims = createClaims()
  const deps: RoomDeps & Pick<ChatDeps, "claim" | "isVisible"> = {
    claim: claims.claim,
    isVisible: () => true,
    api,
    shelf,
    connect: (_session, protocols, events) => server.connect(protocols, events),
    now: clock.now,
    random: () => 1,
    nextId: () => `n${++ids}`,
    after: clock.after,
    schedule: (call) => call(),
    ended: (message) => void ended.push(message.id),
  }
  return { clock, server, shelf, asked, deps, ended, api, claims }
}

export async function opened(pages?: HistoryPage[], kept?: ReturnType<typeof createShelf>) {
  const { clock, server, shelf, asked, deps, ended } = setUp(pages, kept)
  const room = new Room("s1", deps)
  await room.load()
  await settle()
  server.last().events.open()
  server.last().say(hello())
  return { clock, server, shelf, asked, ended, room, deps }
}

export const sends = (sent: readonly { readonly type: string }[]) => sent.filter(({ type }) => type === "send")
export const user = (id: string, words: string, more: Partial<WireMessage> = {}) =>
  wireMessage(id, {
    role: "user",
    status: "completed",
    content: words,
    segments: [{ type: "text", content: words }],
    ...more,
  })

/** The line is cut after a while, and made again. */
export async function reconnect(
  { server, clock }: Pick<Awaited<ReturnType<typeof opened>>, "server" | "clock">,
  seq = 10,
) {
  clock.pass(5_000)
  server.last().events.close(1006)
  clock.pass(300)
  await settle()
  server.last().events.open()
  server.last().say(hello(seq))
}
