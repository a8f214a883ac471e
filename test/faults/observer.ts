/**
 * observer.ts: an independent client of a session. It shares no code with the page except `applyToMessage`.
 *
 * history → hello {epoch, after} → numbered frames → the messages by id, with a copy for each seq
 * The observer has every message of the active path, so a frame about any other message is a violation. A check reads
 * history and compares it with the observer's copy for the same epoch and seq.
 */

import { toLiveJson } from "./compared-message.ts"
import { applyToMessage } from "../../shared/protocol/apply-ops.ts"
import type { HistoryPage } from "../../shared/protocol/http-body.ts"
import { parseServerFrame, type ServerFrame, type WireMessage } from "../../shared/protocol/server-frame.ts"
import { PROTOCOL_VERSION, SEEN_EVERY_FRAMES } from "../../shared/limits.ts"
import { clipText, type Rule } from "./violation.ts"
import { untilTrue } from "./tab.ts"

/** Delay before the observer reconnects, in milliseconds. */
const RECONNECT_MS = 40
/** Maximum wait until the observer has received everything that a page of history contains, in milliseconds. */
const CATCH_UP_MS = 30_000
/**
 * Maximum number of times that a check reads history. It reads history again if the active path has changed in between.
 */
const MAX_READS = 5

export interface ObserverDeps {
  readonly openSocket: () => ObservedSocket
  /** If false, the observer receives only whole messages. */
  readonly isLive: boolean
  readonly readHistory: () => Promise<HistoryPage | null>
  readonly report: (rule: Rule, detail: string) => void
}

/** The part of a WebSocket that an observer uses. */
export type ObservedSocket = Pick<
  WebSocket,
  "onopen" | "onmessage" | "onclose" | "onerror" | "readyState" | "send" | "close"
>

export interface Observer {
  /** Breaks the connection, after which the observer reconnects and resumes. */
  drop(): void
  /** Compares history with the messages that the observer had at the same seq. */
  check(): Promise<void>
  /** Describes how the observer's messages differ from a page of history. Returns null if they are equal. */
  differenceFrom(page: HistoryPage): string | null
  close(): void
}

type Numbered = Extract<ServerFrame, { type: "message" | "ops" }>
type Messages = ReadonlyMap<string, WireMessage>

export function openObserver(deps: ObserverDeps): Observer {
  const { isLive, readHistory, report } = deps
  let socket: ObservedSocket | null = null
  let isClosed = false
  let epoch: string | null = null
  /** The newest seq that was applied. */
  let last = 0
  /** The session's seq at the last hello. Frames up to this seq are a replay, in which whole messages can skip seqs. */
  let welcomed = 0
  /** Whether the server has answered the newest hello, so that new frames continue from this client's state. */
  let isWelcome = false
  /** Number of unanswered hellos on this socket. */
  let openHellos = 0
  /**
   * The epoch in the newest answer to a hello on this socket; null before the first answer, and after a new epoch has
   * been announced.
   */
  let greetedEpoch: string | null = null
  /** Number of the newest load. The results of earlier loads are ignored. */
  let loads = 0
  let messages: Messages = new Map()
  /** A copy of the messages for each seq of the epoch. */
  let copies = new Map<number, Messages>()
  let pieces: Numbered[] = []
  let unseen = 0

  const keepCopy = (): void => {
    if (last >= welcomed) copies.set(last, messages)
  }

  const load = async (): Promise<void> => {
    isWelcome = false
    const load = ++loads
    const page = await readHistory()
    if (load !== loads || isClosed) return
    if (page === null) return socket?.close()
    epoch = page.epoch
    last = page.seq
    welcomed = page.seq
    messages = new Map(page.messages.map((message) => [message.id, message]))
    copies = new Map([[last, messages]])
    pieces = []
    sayHello()
  }

  const sayHello = (): void => {
    if (socket?.readyState !== WebSocket.OPEN || epoch === null) return
    pieces = []
    openHellos += 1
    isWelcome = false
    const hello = { type: "hello", protocol: PROTOCOL_VERSION, epoch, after: last, live: isLive }
    socket.send(JSON.stringify(hello))
  }

  const takeHello = (frame: Extract<ServerFrame, { type: "hello" }>): void => {
    const isAnnouncement = greetedEpoch !== null && greetedEpoch !== frame.epoch
    greetedEpoch = isAnnouncement ? null : frame.epoch
    if (!isAnnouncement) openHellos -= 1
    if (frame.epoch !== epoch) return void load()
    if (isAnnouncement || openHellos > 0) return
    isWelcome = true
    welcomed = frame.seq
    keepCopy()
  }

  const takeNumbered = (frame: Numbered): void => {
    if (!isWelcome || frame.seq <= last) return
    if (frame.prev !== last) report("seq_in_order", `observer: seq ${frame.seq} says prev ${frame.prev} after ${last}`)
    if (isLive && frame.seq > welcomed && frame.seq !== Math.max(last, welcomed) + 1)
      report("seq_in_order", `observer: live seq ${frame.seq} after ${last}, welcomed at ${welcomed}`)
    if (frame.pieces !== undefined && frame.pieces > 0) {
      pieces.push(frame)
      if (frame.type === "message" || frame.piece !== frame.pieces) return
      for (const piece of pieces.splice(0)) applyFrame(piece)
    } else applyFrame(frame)
    last = frame.seq
    keepCopy()
    unseen += 1
    if (unseen < SEEN_EVERY_FRAMES) return
    unseen = 0
    socket?.send(JSON.stringify({ type: "seen", seq: last }))
  }

  const applyFrame = (frame: Numbered): void => {
    const next = new Map(messages)
    if (frame.type === "message") {
      const { type: _type, seq: _seq, prev: _prev, pieces: _pieces, ...message } = frame
      next.set(message.id, message)
    } else {
      const before = next.get(frame.message)
      if (before === undefined)
        return report(
          "live_is_history",
          `observer: seq ${frame.seq} is about ${frame.message}, which is not in history`,
        )
      try {
        next.set(frame.message, applyToMessage(before, frame.ops))
      } catch (error) {
        return report("live_is_history", `observer: seq ${frame.seq} doesn't fit its message: ${String(error)}`)
      }
    }
    const changed = next.get(frame.type === "message" ? frame.id : frame.message)
    // History does not contain a withdrawn message.
    if (changed?.role === "user" && changed.status === "cancelled") next.delete(changed.id)
    messages = next
  }

  const connect = (): void => {
    if (isClosed) return
    const opened = deps.openSocket()
    socket = opened
    isWelcome = false
    openHellos = 0
    greetedEpoch = null
    opened.onopen = () => (epoch === null ? void load() : sayHello())
    opened.onmessage = ({ data }) => {
      const frame = parseServerFrame(String(data))
      if (socket !== opened || frame === null) return
      if (frame.type === "hello") takeHello(frame)
      else if (frame.type === "message" || frame.type === "ops") takeNumbered(frame)
      // The server no longer has the missed frames.
      else if (frame.type === "error" && !isWelcome) {
        openHellos -= 1
        void load()
      }
    }
    opened.onclose = () => {
      if (socket === opened) setTimeout(connect, RECONNECT_MS)
    }
    opened.onerror = () => {}
  }

  const differenceFrom = (page: HistoryPage, own: Messages = messages): string | null => {
    const known = new Map(page.messages.map((message) => [message.id, message]))
    for (const [id, message] of own) {
      const stored = known.get(id)
      if (stored === undefined) return `observer: ${id} is shown but is not in history`
      if (!isLive && stored.status === "running") continue
      const [shown, read] = [toLiveJson(message), toLiveJson(stored)]
      if (shown !== read)
        return `observer: ${clipText(shown, 600)} is shown, but history contains ${clipText(read, 600)}`
    }
    const missing = page.messages.find(({ id }) => !own.has(id))
    return missing === undefined ? null : `observer: history contains ${missing.id}, which is not shown`
  }

  connect()
  return {
    drop: () => socket?.close(),
    async check() {
      if (!isLive) return
      for (let read = 0; read < MAX_READS && !isClosed; read++) {
        const page = await readHistory()
        if (page === null) return
        const hasCaughtUp = (): boolean => epoch !== page.epoch || (isWelcome && last >= page.seq && last >= welcomed)
        const inTime = await untilTrue(hasCaughtUp, CATCH_UP_MS)
        const copy = epoch === page.epoch ? copies.get(page.seq) : undefined
        if (copy !== undefined) {
          const difference = differenceFrom(page, copy)
          if (difference !== null) report("live_is_history", `at seq ${page.seq}: ${difference}`)
          return
        }
        if (!inTime) return report("live_is_history", `observer: it has ${last}, and history ${page.seq}`)
      }
    },
    differenceFrom: (page) => differenceFrom(page),
    close() {
      isClosed = true
      socket?.close()
      socket = null
    },
  }
}
