/**
 * outbox.ts: words that were sent and not yet acknowledged.
 *
 * composer → OUTBOX → socket (again after every hello, under the same id) → ack
 * One storage key per message, so that two tabs do not overwrite each other, and a reload loses nothing.
 * The server counts an id once (law 6), so sending again is safe. Source: SPEC SO6, SO7, SO13.
 */

import { type Signal, signal } from "@preact/signals"
import type { Asset } from "../../shared/protocol/event.ts"
import { type ClientFrame, parseJson } from "../../shared/protocol/frame.ts"

/** What goes with the words of a message. */
export interface Beside {
  /** The message that it replies to. */
  readonly reply_to?: string
  /** Files that are on the server already. */
  readonly attachments?: readonly Asset[]
}

export interface Unsent extends Beside {
  readonly id: string
  readonly content: string
  /** Milliseconds since 1970: order among the unsent. */
  readonly at: number
  /** The server's words, where it refused; null while it is under way. */
  readonly error: string | null
}

/** The part of localStorage that is used here. */
export interface Shelf {
  readonly length: number
  key(at: number): string | null
  getItem(key: string): string | null
  setItem(key: string, value: string): void
  removeItem(key: string): void
}

export class Outbox {
  readonly entries: Signal<readonly Unsent[]>
  readonly #shelf: Shelf
  readonly #prefix: string
  /** Acknowledged with this seq, and shown here until their message frame comes. */
  readonly #acknowledged = new Map<string, number>()

  constructor(shelf: Shelf, session: string) {
    this.#shelf = shelf
    this.#prefix = `cuecard.send.${session}.`
    this.entries = signal(readShelf(shelf, this.#prefix))
  }

  /** Takes what another page put on the shelf meanwhile. */
  collect(isShown: (id: string) => boolean = () => false): void {
    const known = new Set(this.entries.value.map(({ id }) => id))
    const strays = readShelf(this.#shelf, this.#prefix).filter(({ id }) => !known.has(id) && !isShown(id))
    if (strays.length > 0) this.entries.value = [...this.entries.value, ...strays].sort((a, b) => a.at - b.at)
  }

  /** Does it still lie there, whoever put it? */
  isKept(id: string): boolean {
    return readShelf(this.#shelf, this.#prefix).some((entry) => entry.id === id)
  }

  /** Last of all, also where the clock stands still or was put back: a reload keeps the order of `at`. */
  add(entry: Unsent): void {
    const others = this.entries.value.filter(({ id }) => id !== entry.id)
    const last = others.at(-1)?.at ?? Number.NEGATIVE_INFINITY
    const kept = { ...entry, at: Math.max(entry.at, last + 1) }
    this.#keep(kept)
    this.entries.value = [...others, kept]
  }

  /** What has to go out (again). */
  waiting(): readonly Unsent[] {
    return this.entries.value.filter(({ id, error }) => error === null && !this.#acknowledged.has(id))
  }

  /** The newest that is on its way and does not stand in the transcript. */
  coming(): string | undefined {
    return this.entries.value.findLast(({ error }) => error === null)?.id
  }

  /** The server has it. `shown`: its message is in the transcript, or is older than all that is. */
  acknowledge(id: string, seq: number, shown: boolean): void {
    this.#forget(id)
    if (shown) this.remove(id)
    else if (this.entries.value.some((entry) => entry.id === id)) this.#acknowledged.set(id, seq)
  }

  /** A page as of `seq` came: what it shows, and what was acknowledged before it and is not there, is no longer ours. */
  settle(seq: number, isShown: (id: string) => boolean): void {
    for (const { id } of this.entries.value) {
      if (isShown(id) || (this.#acknowledged.get(id) ?? Number.POSITIVE_INFINITY) <= seq) this.remove(id)
    }
  }

  /** Refused: it stays where it stood, with the server's words. */
  fail(id: string, error: string): void {
    const entry = this.entries.value.find((known) => known.id === id)
    if (entry === undefined) return
    const failed = { ...entry, error }
    this.#keep(failed)
    this.entries.value = this.entries.value.map((known) => (known === entry ? failed : known))
  }

  remove(id: string): void {
    this.#forget(id)
    this.#acknowledged.delete(id)
    if (this.entries.value.some((entry) => entry.id === id)) {
      this.entries.value = this.entries.value.filter((entry) => entry.id !== id)
    }
  }

  #keep(entry: Unsent): void {
    try {
      this.#shelf.setItem(this.#prefix + entry.id, JSON.stringify(entry))
    } catch {
      // A full or forbidden storage costs only the survival of a reload.
    }
  }

  #forget(id: string): void {
    try {
      this.#shelf.removeItem(this.#prefix + id)
    } catch {
      // As above.
    }
  }
}

/** The sessions of which something lies on the shelf that was not refused. */
export function sessionsOn(shelf: Shelf): readonly string[] {
  const sessions = rowsOf(shelf).flatMap(([key, value]) => {
    const isRefused = typeof Object(parseJson(value)).error === "string"
    return isRefused ? [] : (WORDS_KEY.exec(key)?.[1] ?? [])
  })
  return [...new Set(sessions)]
}

/** All that lies there of a session goes: it is no more. */
export function clearShelf(shelf: Shelf, session: string): void {
  try {
    for (const [key] of rowsOf(shelf)) if (WORDS_KEY.exec(key)?.[1] === session) shelf.removeItem(key)
  } catch {
    // A forbidden storage holds nothing.
  }
}

/** Of a message, or of an edit. */
const WORDS_KEY = /^cuecard\.(?:send|edit)\.([A-Za-z0-9_-]{1,64})\./

/** All that lies there; nothing where it is forbidden. */
export function rowsOf(shelf: Shelf): readonly (readonly [key: string, value: string])[] {
  try {
    const keys = Array.from({ length: shelf.length }, (_, at) => shelf.key(at) ?? "")
    return keys.map((key) => [key, shelf.getItem(key) ?? ""])
  } catch {
    return []
  }
}

function readShelf(shelf: Shelf, prefix: string): readonly Unsent[] {
  const rows = rowsOf(shelf).filter(([key]) => key.startsWith(prefix))
  return rows.flatMap(([, value]) => toUnsent(parseJson(value)) ?? []).sort((a, b) => a.at - b.at)
}

function toUnsent(value: unknown): Unsent | null {
  if (typeof value !== "object" || value === null) return null
  const { id, content, at, error, ...rest } = value as Partial<Unsent>
  if (typeof id !== "string" || typeof content !== "string" || typeof at !== "number") return null
  return { id, content, at, error: typeof error === "string" ? error : null, ...besideOf(rest) }
}

/** Only what is there. The shelf is the page's own, so what is an id there is one. */
export function besideOf({ reply_to, attachments }: { readonly [K in keyof Beside]?: Beside[K] | null }): Beside {
  return {
    ...(typeof reply_to === "string" ? { reply_to } : {}),
    ...(Array.isArray(attachments) && attachments.length > 0 ? { attachments } : {}),
  }
}

/** As it goes over the wire: files by their ids. */
export function sendOf({ id, content, reply_to, attachments }: Unsent): Extract<ClientFrame, { type: "send" }> {
  return {
    ...({ type: "send", id, content } as const),
    ...(reply_to === undefined ? {} : { reply_to }),
    ...(attachments === undefined ? {} : { attachments: attachments.map((asset) => asset.id) }),
  }
}
