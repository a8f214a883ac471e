/**
 * outbox.ts: words that were sent and not yet acknowledged.
 *
 * composer → OUTBOX → socket (again after every hello, under the same id) → ack
 * One storage key per message, so that two tabs do not overwrite each other, and a reload loses nothing.
 * The server counts an id once (law 6), so sending again is safe. Source: SPEC SO6, SO7, SO13, SO14.
 */

import { type Signal, signal } from "@preact/signals"
import type { Asset } from "../../shared/protocol/event.ts"
import type { ClientFrame } from "../../shared/protocol/client-frame.ts"
import { parseJson } from "../../shared/json.ts"

/** What goes with the words of a message. */
export interface MessageExtras {
  /** The message that it replies to. */
  readonly reply_to?: string
  /** Files that are on the server already. */
  readonly attachments?: readonly Asset[]
}

export interface OutboxEntry extends MessageExtras {
  readonly id: string
  readonly content: string
  /** Milliseconds since 1970: order among the unsent. */
  readonly at: number
  /** The server's words, where it refused; null while it is under way. */
  readonly error: string | null
}

/** The part of localStorage that is used here. */
export interface KeyValueStorage {
  readonly length: number
  key(at: number): string | null
  getItem(key: string): string | null
  setItem(key: string, value: string): void
  removeItem(key: string): void
}

export class Outbox {
  readonly entries: Signal<readonly OutboxEntry[]>
  readonly #storage: KeyValueStorage
  readonly #prefix: string
  /** Acknowledged with this seq, and shown here until their message frame comes. */
  readonly #ackedSeqById = new Map<string, number>()

  constructor(storage: KeyValueStorage, sessionId: string) {
    this.#storage = storage
    this.#prefix = `cuecard.send.${sessionId}.`
    this.entries = signal(readOutboxEntries(storage, this.#prefix))
  }

  /** Takes what another page put on the shelf meanwhile. */
  mergeStored(isShown: (id: string) => boolean = () => false): void {
    const known = new Set(this.entries.value.map(({ id }) => id))
    const stored = readOutboxEntries(this.#storage, this.#prefix).filter(({ id }) => !known.has(id) && !isShown(id))
    if (stored.length > 0) this.entries.value = [...this.entries.value, ...stored].sort((a, b) => a.at - b.at)
  }

  /** Does it still lie there, whoever put it? */
  isStored(id: string): boolean {
    return readOutboxEntries(this.#storage, this.#prefix).some((entry) => entry.id === id)
  }

  /** Last of all, also where the clock stands still or was put back: a reload keeps the order of `at`. */
  addEntry(entry: OutboxEntry): void {
    const others = this.entries.value.filter(({ id }) => id !== entry.id)
    const last = others.at(-1)?.at ?? Number.NEGATIVE_INFINITY
    const ordered = { ...entry, at: Math.max(entry.at, last + 1) }
    this.#writeStored(ordered)
    this.entries.value = [...others, ordered]
  }

  /** What has to go out (again). */
  listPending(): readonly OutboxEntry[] {
    return this.entries.value.filter(({ id, error }) => error === null && !this.#ackedSeqById.has(id))
  }

  /** The newest that is on its way and does not stand in the transcript. */
  findNewestPending(): string | undefined {
    return this.entries.value.findLast(({ error }) => error === null)?.id
  }

  /** The server has it. `shown`: its message is in the transcript, or is older than all that is. */
  acknowledgeEntry(id: string, seq: number, isShown: boolean): void {
    this.#deleteStored(id)
    if (isShown) this.removeEntry(id)
    else if (this.entries.value.some((entry) => entry.id === id)) this.#ackedSeqById.set(id, seq)
  }

  /** A page as of `seq` came: what it shows, and what was acknowledged before it and is not there, is no longer ours. */
  removeSettled(seq: number, isShown: (id: string) => boolean): void {
    for (const { id } of this.entries.value) {
      if (isShown(id) || (this.#ackedSeqById.get(id) ?? Number.POSITIVE_INFINITY) <= seq) this.removeEntry(id)
    }
  }

  /** Refused: it stays where it stood, with the server's words. */
  markFailed(id: string, error: string): void {
    const entry = this.entries.value.find((known) => known.id === id)
    if (entry === undefined) return
    const failed = { ...entry, error }
    this.#writeStored(failed)
    this.entries.value = this.entries.value.map((known) => (known === entry ? failed : known))
  }

  removeEntry(id: string): void {
    this.#deleteStored(id)
    this.#ackedSeqById.delete(id)
    if (this.entries.value.some((entry) => entry.id === id)) {
      this.entries.value = this.entries.value.filter((entry) => entry.id !== id)
    }
  }

  #writeStored(entry: OutboxEntry): void {
    try {
      this.#storage.setItem(this.#prefix + entry.id, JSON.stringify(entry))
    } catch {
      // A full or forbidden storage costs only the survival of a reload.
    }
  }

  #deleteStored(id: string): void {
    try {
      this.#storage.removeItem(this.#prefix + id)
    } catch {
      // As above.
    }
  }
}

/** The sessions of which something lies on the shelf that was not refused. */
export function findSessionsWithPending(storage: KeyValueStorage): readonly string[] {
  const sessionIds = readStorageRows(storage).flatMap(([key, value]) => {
    const isRefused = typeof Object(parseJson(value)).error === "string"
    return isRefused ? [] : (PENDING_KEY.exec(key)?.[1] ?? [])
  })
  return [...new Set(sessionIds)]
}

/** All that lies there of a session goes: it is no more. */
export function clearSessionStorage(storage: KeyValueStorage, sessionId: string): void {
  try {
    for (const [key] of readStorageRows(storage)) if (PENDING_KEY.exec(key)?.[1] === sessionId) storage.removeItem(key)
  } catch {
    // A forbidden storage holds nothing.
  }
}

/** Of a message, or of an edit. */
const PENDING_KEY = /^cuecard\.(?:send|edit)\.([A-Za-z0-9_-]{1,64})\./

/** All that lies there; nothing where it is forbidden. */
export function readStorageRows(storage: KeyValueStorage): readonly (readonly [key: string, value: string])[] {
  try {
    const keys = Array.from({ length: storage.length }, (_, at) => storage.key(at) ?? "")
    return keys.map((key) => [key, storage.getItem(key) ?? ""])
  } catch {
    return []
  }
}

function readOutboxEntries(storage: KeyValueStorage, prefix: string): readonly OutboxEntry[] {
  const rows = readStorageRows(storage).filter(([key]) => key.startsWith(prefix))
  return rows.flatMap(([, value]) => parseOutboxEntry(parseJson(value)) ?? []).sort((a, b) => a.at - b.at)
}

function parseOutboxEntry(value: unknown): OutboxEntry | null {
  if (typeof value !== "object" || value === null) return null
  const { id, content, at, error, ...rest } = value as Partial<OutboxEntry>
  if (typeof id !== "string" || typeof content !== "string" || typeof at !== "number") return null
  return { id, content, at, error: typeof error === "string" ? error : null, ...pickExtras(rest) }
}

/** Only what is there. The shelf is the page's own, so what is an id there is one. */
export function pickExtras({
  reply_to,
  attachments,
}: { readonly [K in keyof MessageExtras]?: MessageExtras[K] | null }): MessageExtras {
  return {
    ...(typeof reply_to === "string" ? { reply_to } : {}),
    ...(Array.isArray(attachments) && attachments.length > 0 ? { attachments } : {}),
  }
}

/** As it goes over the wire: files by their ids. */
export function toSendFrame({
  id,
  content,
  reply_to,
  attachments,
}: OutboxEntry): Extract<ClientFrame, { type: "send" }> {
  return {
    ...({ type: "send", id, content } as const),
    ...(reply_to === undefined ? {} : { reply_to }),
    ...(attachments === undefined ? {} : { attachments: attachments.map((asset) => asset.id) }),
  }
}
