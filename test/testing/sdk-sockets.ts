/** sdk-sockets.ts: provides storage, sockets and answers for the tests of `cuecard/client`. */

import type { ClientSocket, ClientStorage, Conversation, ConversationSnapshot, Message } from "cuecard/client"

/** Creates storage that a later process's client can use too. */
export function createStorage(): ClientStorage & { readonly rows: Map<string, string> } {
  const rows = new Map<string, string>()
  return {
    rows,
    get length() {
      return rows.size
    },
    key: (index) => [...rows.keys()][index] ?? null,
    getItem: (key) => rows.get(key) ?? null,
    setItem: (key, value) => void rows.set(key, value),
    removeItem: (key) => void rows.delete(key),
  }
}

type Handler = ((event: object) => void) | null

/**
 * Creates a socket class. Its first socket is cut off after `cutAfter` numbered frames, and what arrives later is lost.
 */
export function createCutSockets(cutAfter: number): { readonly Socket: SocketClass; opened(): number } {
  let opened = 0
  class CutSocket implements ClientSocket {
    onopen: Handler = null
    onmessage: Handler = null
    onclose: Handler = null
    onerror: Handler = null
    readonly #socket: WebSocket

    constructor(url: string, protocols: string[]) {
      const isFirst = opened++ === 0
      let frames = 0
      let isCut = false
      const socket = new WebSocket(url, protocols)
      const cutSocket = (): void => {
        isCut = true
        socket.close()
        this.onclose?.({ code: 1006 })
      }
      socket.onopen = () => this.onopen?.({})
      socket.onmessage = ({ data }) => {
        if (isCut) return
        this.onmessage?.({ data })
        if (isNumbered(String(data))) frames++
        if (isFirst && frames === cutAfter) cutSocket()
      }
      socket.onclose = ({ code }) => {
        if (!isCut) this.onclose?.({ code })
      }
      this.#socket = socket
    }

    send(text: string): void {
      if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(text)
    }

    close(code?: number): void {
      this.#socket.close(code)
    }
  }
  return { Socket: CutSocket, opened: () => opened }
}

type SocketClass = new (url: string, protocols: string[]) => ClientSocket

/** A socket that never opens. */
export class SilentSocket implements ClientSocket {
  onopen: Handler = null
  onmessage: Handler = null
  onclose: Handler = null
  onerror: Handler = null

  send(): void {}
  close(): void {}
}

function isNumbered(text: string): boolean {
  return /^\{"type":"(?:message|ops)"/.test(text)
}

/** Returns a message that makes the scripted model write the given pieces, with pauses between them. */
export function scriptOf(pieces: readonly string[], pauseMs: number): string {
  const events = pieces.flatMap((delta) => [
    { type: "text_delta", delta },
    { type: "pause", ms: pauseMs },
  ])
  return `/script ${JSON.stringify([[...events, { type: "finish" }]])}`
}

export function textOf({ segments }: Message): string {
  return segments.map((segment) => (segment.type === "text" ? segment.content : "")).join("")
}

/** Removes the `content` of an answer, which only history contains, because frames don't update it. */
export function withoutContent({ content: _, ...message }: Message): Omit<Message, "content"> {
  return message
}

export function answersOf({ messages }: ConversationSnapshot): readonly Message[] {
  return messages.filter(({ role }) => role === "assistant")
}

/** Resolves with the first snapshot for which the condition holds. */
export function untilSnapshot(
  conversation: Conversation,
  holds: (snapshot: ConversationSnapshot) => boolean,
): Promise<ConversationSnapshot> {
  return new Promise((resolve) => {
    const checkSnapshot = (): void => {
      const snapshot = conversation.getSnapshot()
      if (!holds(snapshot)) return
      resolve(snapshot)
      queueMicrotask(() => unsubscribe())
    }
    const unsubscribe = conversation.subscribe(checkSnapshot)
    checkSnapshot()
  })
}
