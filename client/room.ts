/**
 * room.ts: one open session: its page, its socket, its store and its outbox, joined.
 *
 * page → store; socket → store; composer → outbox → socket
 * What does not fit (another epoch, ops out of step) is answered with the newest page, never guessed at.
 */

import { type Signal, signal } from "@preact/signals"
import type { WireMessage } from "../shared/frame.ts"
import { type Api, RequestError } from "./api.ts"
import { Outbox, type Shelf } from "./outbox.ts"
import { type LinkState, retryDelayMs, SessionSocket, type Wire, type WireEvents } from "./socket.ts"
import { TranscriptStore } from "./store.ts"

export interface RoomDeps {
  readonly api: Api
  readonly shelf: Shelf
  connect(session: string, protocols: string[], events: WireEvents): Wire
  now(): number
  random(): number
  nextId(): string
  after(ms: number, call: () => void): () => void
  schedule(call: () => void): void
  ended(message: WireMessage): void
}

/** A reset so long after the one before it stands alone, in milliseconds. */
const CALM_MS = 20_000
/** Messages of the first page, and of every older one. */
const PAGE_MESSAGES = 24

export class Room {
  readonly id: string
  readonly store: TranscriptStore
  readonly outbox: Outbox
  readonly link: Signal<LinkState> = signal("connecting")
  /** The first page has come. */
  readonly loaded = signal(false)
  readonly loadingOlder = signal(false)
  readonly #deps: RoomDeps
  readonly #socket: SessionSocket
  #failures = 0
  #resets = 0
  #resetAt = Number.NEGATIVE_INFINITY
  #closed = false
  #cancelRetry: (() => void) | null = null

  constructor(id: string, deps: RoomDeps) {
    this.id = id
    this.#deps = deps
    this.store = new TranscriptStore(deps)
    this.outbox = new Outbox(deps.shelf, id)
    const { api } = deps
    this.#socket = new SessionSocket(
      {
        connect: (protocols, events) => deps.connect(id, protocols, events),
        token: api.token,
        forgetToken: api.forgetToken,
        now: deps.now,
        random: deps.random,
        after: deps.after,
      },
      {
        frame: (frame) => {
          this.store.applyFrame(frame)
          if (frame.type === "message") this.outbox.remove(frame.id)
        },
        ack: (message, seq) => this.#acknowledge(message, seq),
        error: (text, message) => {
          if (message !== undefined) this.outbox.fail(message, text)
        },
        live: () => this.#sendWaiting(),
        reset: () => this.#reload(),
        link: (state) => {
          this.link.value = state
        },
      },
    )
  }

  /** Reads the newest page and goes on from there; tries again until it can. */
  async load(): Promise<void> {
    if (this.#closed) return
    this.#cancelRetry?.()
    this.#cancelRetry = null
    try {
      const page = await this.#deps.api.page(this.id, PAGE_MESSAGES)
      if (this.#closed) return
      this.#failures = 0
      this.store.load(page)
      for (const { id } of this.outbox.entries.peek()) if (this.store.has(id)) this.outbox.remove(id)
      this.loaded.value = true
      this.#socket.start({ epoch: page.epoch, seq: page.seq })
    } catch (error) {
      this.#loadFailed(error)
    }
  }

  /** At once the first time; a server with which it goes on failing is asked less and less often. */
  #reload(): void {
    const now = this.#deps.now()
    this.#resets = now - this.#resetAt > CALM_MS ? 0 : this.#resets + 1
    this.#resetAt = now
    if (this.#resets === 0) void this.load()
    else this.#loadLater(this.#resets)
  }

  #loadLater(failures: number): void {
    const delay = retryDelayMs(failures, this.#deps.random())
    this.#cancelRetry = this.#deps.after(delay, () => void this.load())
  }

  #loadFailed(error: unknown): void {
    if (this.#closed) return
    if (error instanceof RequestError && error.status === 404) {
      this.link.value = "gone"
      return
    }
    this.link.value = "waiting"
    this.#failures++
    this.#loadLater(this.#failures)
  }

  /** One older page, if there is one. A failure is tried again when the reader scrolls. */
  async loadOlder(): Promise<void> {
    const { cursor } = this.store
    if (this.loadingOlder.peek() || !this.store.hasOlder.peek() || cursor === undefined) return
    this.loadingOlder.value = true
    try {
      const page = await this.#deps.api.page(this.id, PAGE_MESSAGES, cursor)
      if (!this.#closed && this.store.cursor === cursor) this.store.prepend(page)
    } catch {
      // Nothing is lost: the sentinel is still in view or comes into view again.
    } finally {
      this.loadingOlder.value = false
    }
  }

  send(content: string): void {
    this.sendAs(this.#deps.nextId(), content)
  }

  sendAs(id: string, content: string): void {
    this.outbox.add({ id, content, at: this.#deps.now(), error: null })
    this.#socket.send({ type: "send", id, content })
  }

  /** Sends what failed once more, under the same id. */
  retry(id: string): void {
    const entry = this.outbox.entries.peek().find((known) => known.id === id)
    if (entry !== undefined) this.sendAs(id, entry.content)
  }

  discard(id: string): void {
    this.outbox.remove(id)
  }

  /** The machine is online or visible again. */
  wake(): void {
    if (this.#cancelRetry !== null) void this.load()
    else this.#socket.wake()
  }

  close(): void {
    this.#closed = true
    this.#cancelRetry?.()
    this.#socket.stop()
  }

  #acknowledge(id: string, seq: number): void {
    // Sent before and long since: its message lies before the pages at hand, and no frame of it will come.
    const isPast = seq <= this.#socket.seq
    this.outbox.acknowledge(id, this.store.has(id) || isPast)
  }

  #sendWaiting(): void {
    for (const { id, content } of this.outbox.waiting()) this.#socket.send({ type: "send", id, content })
  }
}
