/**
 * chat.ts: which session is open, and which there are.
 *
 * location hash → CHAT → room
 * With no session open the first words make one; until it exists they stand in `starting`.
 */

import { type Signal, signal } from "@preact/signals"
import type { SessionSummary } from "../shared/frame.ts"
import { MAX_TITLE_CHARS } from "../shared/limits.ts"
import { RequestError } from "./api.ts"
import { excerpt } from "./excerpt.ts"
import type { Unsent } from "./outbox.ts"
import { Room, type RoomDeps } from "./room.ts"

export interface ChatDeps extends RoomDeps {
  /** The part of the address after `#`. */
  readHash(): string
  writeHash(hash: string): void
}

export class Chat {
  readonly room: Signal<Room | null> = signal(null)
  readonly sessions: Signal<readonly SessionSummary[]> = signal([])
  /** First words of a session that is being made. */
  readonly starting: Signal<Unsent | null> = signal(null)
  readonly #deps: ChatDeps

  constructor(deps: ChatDeps) {
    this.#deps = deps
  }

  /** Opens what the address names. */
  follow(): void {
    const id = sessionOf(this.#deps.readHash())
    const open = this.room.peek()
    if (id === (open?.id ?? null)) return
    open?.close()
    this.starting.value = null
    this.room.value = id === null ? null : this.#enter(id)
  }

  async refreshSessions(): Promise<void> {
    try {
      this.sessions.value = await this.#deps.api.sessions()
    } catch {
      // The list is a convenience; the open session says for itself when the server is away.
    }
  }

  send(content: string): void {
    const room = this.room.peek()
    if (room !== null) room.send(content)
    else void this.#begin({ id: this.#deps.nextId(), content, at: this.#deps.now(), error: null })
  }

  /** Tries again to make the session that could not be made. */
  retryStart(): void {
    const entry = this.starting.peek()
    if (entry !== null) void this.#begin({ ...entry, error: null })
  }

  discardStart(): void {
    this.starting.value = null
  }

  wake(): void {
    this.room.peek()?.wake()
  }

  async #begin(entry: Unsent): Promise<void> {
    this.starting.value = entry
    try {
      const id = await this.#deps.api.createSession(titleOf(entry.content))
      if (this.starting.peek() !== entry) return
      const room = this.#enter(id)
      room.sendAs(entry.id, entry.content)
      this.room.value = room
      this.starting.value = null
      this.#deps.writeHash(`#/s/${id}`)
      await this.refreshSessions()
    } catch (error) {
      const text = error instanceof RequestError ? error.message : "The server could not be reached."
      if (this.starting.peek() === entry) this.starting.value = { ...entry, error: text }
    }
  }

  #enter(id: string): Room {
    const room = new Room(id, this.#deps)
    void room.load()
    return room
  }
}

const SESSION_HASH = /^#\/s\/([A-Za-z0-9_-]{1,64})$/

/** The session that an address names; null for none. */
export function sessionOf(hash: string): string | null {
  return SESSION_HASH.exec(hash)?.[1] ?? null
}

/** The first line of the first words, cut at a word where there is one. */
export function titleOf(content: string): string {
  const line = content.trim().split("\n", 1)[0]?.replace(/\s+/g, " ") ?? ""
  const cut = excerpt(line, MAX_TITLE_CHARS - 1)
  return cut === line ? line : cut.replace(/\s\S{0,30}…$/, "…")
}
