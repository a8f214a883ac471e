/**
 * chat.ts: which session is open, and which there are.
 *
 * location hash → CHAT → room
 * With no session open the first words make one; until it exists they stand in `starting`, and are kept.
 * A room that is left goes on until all that was said in it is handed over. Source: SPEC PG14, SO7, SO13.
 */

import { type Signal, signal } from "@preact/signals"
import type { SessionSummary } from "../shared/frame.ts"
import { MAX_TITLE_CHARS } from "../shared/limits.ts"
import { RequestError } from "./api.ts"
import { Draft } from "./draft.ts"
import { excerpt } from "./excerpt.ts"
import { type Outbox, openStarts, type Unsent } from "./outbox.ts"
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
  readonly #starts: Outbox
  /** Of those, the ones that are on their way from this very page. */
  readonly #begun = new Set<string>()
  /** By session; what is written before there is one has "". */
  readonly #drafts = new Map<string, Draft>()
  /** Rooms that nobody looks at, which still have something to hand over. */
  readonly #left = new Map<string, Room>()

  constructor(deps: ChatDeps) {
    this.#deps = deps
    this.#starts = openStarts(deps.shelf)
  }

  /** What is being written where the reader is. */
  get draft(): Draft {
    return this.room.value?.draft ?? this.#draftOf("")
  }

  /** Opens what the address names. */
  follow(): void {
    const id = sessionOf(this.#deps.readHash())
    const open = this.room.peek()
    if (open !== null ? id === open.id : id === null && this.starting.peek() !== null) return
    if (open !== null) this.#leave(open)
    this.starting.value = id === null ? this.#keptStart() : null
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
    if (room !== null) return room.send(content)
    const entry = { id: this.#deps.nextId(), content, at: this.#deps.now(), error: null }
    this.#starts.add(entry)
    void this.#begin(entry)
  }

  /** Tries again to make the session that could not be made. */
  retryStart(): void {
    const entry = this.starting.peek()
    if (entry !== null && entry.error !== null) void this.#begin({ ...entry, error: null })
  }

  discardStart(): void {
    const entry = this.starting.peek()
    if (entry !== null) this.#starts.remove(entry.id)
    this.starting.value = null
  }

  /** The machine is online or visible again. */
  wake(): void {
    this.room.peek()?.wake()
    for (const room of this.#left.values()) room.wake()
    if (this.starting.peek()?.error === UNREACHED) this.retryStart()
  }

  async #begin(entry: Unsent): Promise<void> {
    this.starting.value = entry
    this.#begun.add(entry.id)
    try {
      const id = await this.#deps.api.createSession(titleOf(entry.content))
      const room = this.#enter(id)
      room.sendAs(entry.id, entry.content)
      this.#starts.remove(entry.id)
      // The reader may have gone elsewhere meanwhile: then it is sent behind their back.
      if (this.starting.peek() !== entry) return this.#leave(room)
      room.draft.giveBack(this.#draftOf("").words.peek())
      this.#drafts.delete("")
      this.room.value = room
      this.starting.value = null
      this.#deps.writeHash(`#/s/${id}`)
      await this.refreshSessions()
    } catch (error) {
      const text = error instanceof RequestError ? error.message : UNREACHED
      if (this.starting.peek() === entry) this.starting.value = { ...entry, error: text }
    } finally {
      this.#begun.delete(entry.id)
    }
  }

  /** Words of a page that was closed before their session was made. Another tab may still be at it, so the reader decides. */
  #keptStart(): Unsent | null {
    const entry = this.#starts.entries.peek().find(({ id }) => !this.#begun.has(id))
    return entry === undefined ? null : { ...entry, error: "This was not sent yet." }
  }

  #enter(id: string): Room {
    const left = this.#left.get(id)
    this.#left.delete(id)
    if (left !== undefined && !left.isClosed) {
      left.enter()
      return left
    }
    const room = new Room(id, this.#deps, this.#draftOf(id))
    void room.load()
    return room
  }

  #draftOf(session: string): Draft {
    const draft = this.#drafts.get(session) ?? new Draft()
    this.#drafts.set(session, draft)
    return draft
  }

  #leave(room: Room): void {
    room.leave()
    for (const [id, { isClosed }] of this.#left) if (isClosed) this.#left.delete(id)
    if (!room.isClosed) this.#left.set(room.id, room)
  }
}

const UNREACHED = "The server could not be reached."

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
