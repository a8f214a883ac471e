/**
 * chat.ts: which session is open, and which there are.
 *
 * location hash → CHAT → room
 * With no session open the first words make one; until it exists they stand in `starting`.
 * A room that is left goes on until all that was said in it is handed over, and so does one that a closed page left
 * something on the shelf for. Source: SPEC PG14, SO7, SO13.
 */

import { type Signal, signal } from "@preact/signals"
import type { SessionSummary } from "../shared/frame.ts"
import { Draft } from "./draft.ts"
import { sessionsOn, type Unsent } from "./outbox.ts"
import { Room, type RoomDeps } from "./room.ts"
import { Starts, type StartsDeps } from "./starts.ts"

/** Words on the shelf are taken by their own page within so long, if it lives, in milliseconds. */
const SHELF_CALM_MS = 3_000

export interface ChatDeps extends RoomDeps, StartsDeps {
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
  readonly #starts: Starts
  /** By session; what is written before there is one has "". */
  readonly #drafts = new Map<string, Draft>()
  /** Rooms that nobody looks at, which still have something to hand over. */
  readonly #left = new Map<string, Room>()
  #cancelCollect: (() => void) | null = null

  constructor(deps: ChatDeps) {
    this.#deps = deps
    this.#starts = new Starts(deps, {
      told: (entry) => this.#noteStart(entry),
      made: (entry, session) => this.#openMade(entry, session),
    })
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
    this.starting.value = id === null ? this.#starts.first() : null
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
    this.starting.value = entry
    this.#starts.add(entry)
  }

  /** Tries again to make the session that could not be made. */
  retryStart(): void {
    const entry = this.starting.peek()
    if (entry === null) return
    this.starting.value = { ...entry, error: null }
    this.#starts.retry(entry.id)
  }

  discardStart(): void {
    const entry = this.starting.peek()
    if (entry !== null) this.#starts.discard(entry.id)
    this.starting.value = null
  }

  /** The machine is online or visible again. */
  wake(): void {
    this.room.peek()?.wake()
    for (const room of this.#left.values()) room.wake()
    this.#starts.hurry()
  }

  /** Hands over what closed pages left on the shelf, of whichever session. */
  collect(): void {
    this.#starts.collect()
    const open = this.room.peek()
    open?.collect()
    for (const id of sessionsOn(this.#deps.shelf)) {
      if (id === open?.id) continue
      const room = this.#enter(id)
      room.collect()
      this.#leave(room)
    }
  }

  /** Another page put something on the shelf, or took it. */
  hearShelf(): void {
    this.#cancelCollect?.()
    this.#cancelCollect = this.#deps.after(SHELF_CALM_MS, () => this.collect())
  }

  #noteStart(entry: Unsent): void {
    const shown = this.starting.peek()
    if (shown === null ? this.room.peek() === null : shown.id === entry.id) this.starting.value = entry
  }

  #openMade(entry: Unsent, id: string): void {
    const room = this.#enter(id)
    room.sendAs(entry.id, entry.content)
    void this.refreshSessions()
    // The reader may have gone elsewhere meanwhile: then it is sent behind their back.
    if (this.starting.peek()?.id !== entry.id) return this.#leave(room)
    room.draft.giveBack(this.#draftOf("").words.peek())
    this.#drafts.delete("")
    this.room.value = room
    this.starting.value = null
    this.#deps.writeHash(`#/s/${id}`)
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

const SESSION_HASH = /^#\/s\/([A-Za-z0-9_-]{1,64})$/

/** The session that an address names; null for none. */
export function sessionOf(hash: string): string | null {
  return SESSION_HASH.exec(hash)?.[1] ?? null
}
