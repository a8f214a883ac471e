/**
 * session-router.ts: which session is open, and which there are.
 *
 * location hash → CHAT → room
 * With no session open the first words make one; until it exists they stand in `starting`.
 * A room that is left goes on until all that was said in it is handed over, and so does one that a closed page left
 * something on the shelf for. Source: SPEC PG14, SO7, SO13.
 */

import { effect, type Signal, signal } from "@preact/signals"
import { MAX_TITLE_CHARS } from "../../shared/limits.ts"
import type { Api } from "../net/api.ts"
import { Draft } from "./draft.ts"
import { Early } from "./draft-session.ts"
import { uploadTo } from "../files/attachment-uploads.ts"
import { leftOutWords } from "../files/attachment-limits.ts"
import { Unfinished } from "../files/unfinished-imports.ts"
import type { Upload } from "../files/send-file.ts"
import { type Beside, besideOf, clearShelf, sessionsOn, type Unsent } from "../net/outbox.ts"
import { Room, type RoomDeps } from "./session-controller.ts"
import { Sessions, type SessionsDeps } from "./session-list.ts"
import { Starts, type StartsDeps, titleOf } from "./session-starts.ts"

/** Words on the shelf are taken by their own page within so long, if it lives, in milliseconds. */
const SHELF_CALM_MS = 3_000

export interface ChatDeps extends RoomDeps, StartsDeps, SessionsDeps {
  /** Brings a file up, and tells how far it is. */
  readonly upload?: Upload
  /** The part of the address after `#`. */
  readHash(): string
  writeHash(hash: string): void
}

export class Chat {
  readonly room: Signal<Room | null> = signal(null)
  readonly sessions: Sessions
  /** First words of a session that is being made. */
  readonly starting: Signal<Unsent | null> = signal(null)
  readonly #deps: ChatDeps
  readonly #starts: Starts
  readonly #unfinished: Unfinished
  readonly #early: Early
  /** By session; what is written before there is one has "". */
  readonly #drafts = new Map<string, Draft>()
  /** Rooms that nobody looks at, which still have something to hand over. */
  readonly #left = new Map<string, Room>()
  #cancelCollect: (() => void) | null = null
  /** Stops telling the list what the open room sees. */
  #unwatch: (() => void) | null = null

  constructor(deps: ChatDeps) {
    this.#deps = deps
    this.sessions = new Sessions(deps)
    this.#unfinished = new Unfinished({ ...deps, erase: (id) => this.sessions.erase(id, true) })
    this.#early = new Early({ ...deps, unfinished: this.#unfinished })
    this.#starts = new Starts(deps, {
      told: (entry) => this.#noteStart(entry),
      made: (entry, session) => this.#openMade(entry, session),
    })
  }

  /** What is being written where the reader is. */
  get draft(): Draft {
    return this.room.value?.draft ?? this.#draftOf("")
  }

  get api(): Api {
    return this.#deps.api
  }

  /** What an import needs of the page. */
  get importing(): Pick<ChatDeps, "api" | "nextId" | "after" | "random"> & { readonly unfinished: Unfinished } {
    const { api, nextId, after, random } = this.#deps
    return { api, nextId, after, random, unfinished: this.#unfinished }
  }

  /** Opens a session that came from a file; one that says nothing of its title is called after the file. */
  async openImported(id: string, name: string): Promise<void> {
    await this.sessions.refresh()
    if (this.sessions.find(id)?.title === "" && name.trim() !== "") {
      await this.sessions.rename(id, name.trim().slice(0, MAX_TITLE_CHARS))
    }
    this.#deps.writeHash(`#/s/${id}`)
    this.follow()
  }

  /** Opens what the address names. */
  follow(): void {
    const id = sessionOf(this.#deps.readHash())
    const open = this.room.peek()
    if (open !== null ? id === open.id : id === null && this.starting.peek() !== null) return
    if (open !== null) this.#leave(open)
    this.starting.value = id === null ? this.#starts.first() : null
    this.#show(id === null ? null : this.#enter(id))
  }

  send(content: string, beside: Beside = {}): void {
    const room = this.room.peek()
    if (room !== null) {
      this.sessions.touch(room.id)
      return room.send(content, beside)
    }
    // A session has the id of its first message: so the one that files made is the one that these words make.
    const id = this.#early.take() ?? this.#deps.nextId()
    const entry = { id, content, at: this.#deps.now(), error: null, ...besideOf(beside) }
    this.starting.value = entry
    this.#starts.add(entry)
  }

  /** Files for the next message, where the reader is. */
  attach(files: readonly File[]): void {
    const { upload } = this.#deps
    if (upload === undefined) return
    const { draft } = this
    const room = this.room.peek()
    if (room?.link.peek() === "gone") return
    const leftOut = draft.files.add(files, async (...file) => {
      const session = room?.id ?? (await this.#early.session())
      return await uploadTo(session, { api: this.#deps.api, upload }, ...file)
    })
    if (leftOut > 0) this.sessions.tell(leftOutWords(leftOut), true)
    if (room !== null) return
    const stop = draft.files.list.subscribe((list) => {
      if (list.length > 0) return
      // Words that take them take the session too, in this very moment.
      queueMicrotask(() => {
        stop()
        if (draft.files.list.peek().length === 0) this.#early.drop()
      })
    })
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

  /** Erases a session; the reader of it goes on to a new one. What was never sent there goes with it. */
  async erase(id: string): Promise<void> {
    this.#left.get(id)?.close()
    this.#left.delete(id)
    const open = this.room.peek()
    if (open?.id === id) {
      open.close()
      this.#unwatch?.()
      this.room.value = null
      this.starting.value = this.#starts.first()
      this.#deps.writeHash("#/")
    }
    if (!(await this.sessions.erase(id))) return
    this.#drafts.delete(id)
    clearShelf(this.#deps.shelf, id)
  }

  /** The machine is online or visible again. */
  wake(): void {
    this.sessions.wake()
    this.room.peek()?.wake()
    for (const room of this.#left.values()) room.wake()
    this.#starts.hurry()
    for (const { files } of this.#drafts.values()) files.hurry()
    this.#unfinished.collect()
  }

  /** Hands over what closed pages left on the shelf, of whichever session. */
  collect(): void {
    this.#starts.collect()
    this.#unfinished.collect()
    const open = this.room.peek()
    open?.collect()
    for (const id of sessionsOn(this.#deps.shelf)) {
      if (id === open?.id || this.sessions.isErasing(id)) continue
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
    room.sendAs(entry.id, entry.content, entry)
    // Its files had made it before there were words.
    if (entry.attachments !== undefined) void this.sessions.rename(id, titleOf(entry))
    void this.sessions.refresh()
    // The reader may have gone elsewhere meanwhile: then it is sent behind their back.
    if (this.starting.peek()?.id !== entry.id) return this.#leave(room)
    room.draft.giveBack(this.#draftOf("").words.peek())
    this.#drafts.delete("")
    this.#show(room)
    this.starting.value = null
    this.#deps.writeHash(`#/s/${id}`)
  }

  /** The open room knows first whether it is at work, and whether it is still there. */
  #show(room: Room | null): void {
    this.#unwatch?.()
    this.#unwatch = null
    this.room.value = room
    if (room === null) return
    const stop = effect(() => {
      if (room.link.value === "gone") return void this.sessions.refresh()
      if (room.loaded.value) this.sessions.see(room.id, room.store.busy.value)
    })
    this.#unwatch = () => {
      stop()
      this.sessions.unsee(room.id)
    }
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
