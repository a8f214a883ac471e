/**
 * outbox.ts: messages that the user has sent and the server has not yet acknowledged.
 *
 * composer → OUTBOX → socket (again after every hello, under the same id) → ack
 * Each message is stored under a key of its own, so that a reload loses no message and two tabs don't overwrite each
 * other's messages. The server accepts an id only once, so sending a message again is safe. Source: SPEC SO6, SO7,
 * SO13, SO14.
 */

import { type Signal, signal } from "@preact/signals"
import type { FaultFields } from "../../shared/fault.ts"
import type { ActionClick } from "../../shared/protocol/cards/card-action.ts"
import type { Asset } from "../../shared/protocol/event.ts"
import type { Effort } from "../../shared/model-effort.ts"
import type { ClientFrame } from "../../shared/protocol/client-frame.ts"
import { parseJson } from "../../shared/json.ts"
import type { SessionOptions } from "./api.ts"
import { readStorageRows } from "./user-storage.ts"

/** The parts of a message other than its text. */
export interface MessageExtras {
  /** The id of the message being replied to. */
  readonly reply_to?: string
  /** Files that have been uploaded. */
  readonly attachments?: readonly Asset[]
  /** The click on a card that the message represents. */
  readonly action?: ActionClick
  /** How much the model thinks about the message. */
  readonly effort?: Effort
}

type SendFrame = Extract<ClientFrame, { type: "send" }>

export interface OutboxEntry extends MessageExtras {
  readonly id: string
  readonly content: string
  /** In milliseconds since 1970. Determines the order of the unsent messages. */
  readonly at: number
  /** The server's text if it refused the message; null while the message is being sent. */
  readonly error: string | null
  /** The code of the refusal (shared/fault.ts). */
  readonly code?: string | undefined
  /** The values that the refusal's text contains. */
  readonly fields?: FaultFields | undefined
  /** The trace of the refusal in the server's log. */
  readonly trace?: string | undefined
  /** The options of the session that the message starts. */
  readonly options?: SessionOptions | undefined
}

/** The subset of the Web Storage API that is used here. */
export interface KeyValueStorage {
  readonly length: number
  key(index: number): string | null
  getItem(key: string): string | null
  setItem(key: string, value: string): void
  removeItem(key: string): void
}

export class Outbox {
  readonly entries: Signal<readonly OutboxEntry[]>
  readonly #storage: KeyValueStorage
  readonly #prefix: string
  /** The seq of each acknowledged message. Such messages are kept in `entries` until their message frames arrive. */
  readonly #ackedSeqById = new Map<string, number>()

  constructor(storage: KeyValueStorage, sessionId: string) {
    this.#storage = storage
    this.#prefix = `cuecard.send.${sessionId}.`
    this.entries = signal(readOutboxEntries(storage, this.#prefix))
  }

  /** Adds the messages that other tabs have stored, except those that `isShown` accepts. */
  mergeStored(isShown: (id: string) => boolean = () => false): void {
    const known = new Set(this.entries.value.map(({ id }) => id))
    const stored = readOutboxEntries(this.#storage, this.#prefix).filter(({ id }) => !known.has(id) && !isShown(id))
    if (stored[0]) this.entries.value = [...this.entries.value, ...stored].sort((a, b) => a.at - b.at)
  }

  /** Returns whether this message is still stored, by any tab. */
  isStored(id: string): boolean {
    return this.#storage.getItem(this.#prefix + id) !== null
  }

  /** Appends a message. It gets the largest `at`, even if the clock was set back, so that a reload keeps the order. */
  addEntry(entry: OutboxEntry): void {
    const others = this.entries.value.filter(({ id }) => id !== entry.id)
    const ordered = { ...entry, at: Math.max(entry.at, (others.at(-1)?.at ?? 0) + 1) }
    this.#writeStored(ordered)
    this.entries.value = [...others, ordered]
  }

  /** Returns the messages to send, or to send again. */
  listPending(): readonly OutboxEntry[] {
    return this.entries.value.filter(({ id, error }) => error === null && !this.#ackedSeqById.has(id))
  }

  /** Returns the id of the newest message that was not refused and isn't in the transcript yet. */
  findNewestPending(): string | undefined {
    return this.entries.value.findLast(({ error }) => error === null)?.id
  }

  /**
   * Records that the server has the message. `isShown`: whether the message is in the transcript, or older than
   * everything loaded.
   */
  acknowledgeEntry(id: string, seq: number, isShown: boolean): void {
    this.#deleteStored(id)
    if (isShown) this.removeEntry(id)
    else if (this.entries.value.some((entry) => entry.id === id)) this.#ackedSeqById.set(id, seq)
  }

  /**
   * Removes the messages that are in the history loaded as of `seq`, and others that were acknowledged by then.
   */
  removeSettled(seq: number, isShown: (id: string) => boolean): void {
    for (const { id } of this.entries.value) {
      if (isShown(id) || (this.#ackedSeqById.get(id) ?? seq + 1) <= seq) this.removeEntry(id)
    }
  }

  /** Records that the server refused the message, with the server's text. The message keeps its position. */
  markFailed(id: string, error: string, refusal: Pick<OutboxEntry, "code" | "fields" | "trace"> = {}): void {
    const entry = this.entries.value.find((known) => known.id === id)
    if (entry === undefined) return
    const failed = { ...entry, ...refusal, error }
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
      // If storage is full or blocked, the message is still sent, but a reload loses it.
    }
  }

  /** Never throws: if storage is blocked, the page uses an empty one (ui/browser-storage.ts). */
  #deleteStored(id: string): void {
    this.#storage.removeItem(this.#prefix + id)
  }
}

/** Returns the ids of the sessions with stored messages or edits that were not refused. */
export function findSessionsWithPending(storage: KeyValueStorage): readonly string[] {
  const sessionIds = readStorageRows(storage).flatMap(([key, value]) => {
    const isRefused = typeof Object(parseJson(value)).error === "string"
    return isRefused ? [] : (PENDING_KEY.exec(key)?.[1] ?? [])
  })
  return [...new Set(sessionIds)]
}

/** Deletes everything stored for a session that was erased. */
export function clearSessionStorage(storage: KeyValueStorage, sessionId: string): void {
  // If storage is blocked, there are no rows.
  for (const [key] of readStorageRows(storage)) {
    const isDraft = key.startsWith(DRAFT_PREFIX) && key.endsWith(`.${sessionId}`)
    if (isDraft || PENDING_KEY.exec(key)?.[1] === sessionId) storage.removeItem(key)
  }
}

/** Matches the storage key of a message or an edit. */
const PENDING_KEY = /^cuecard\.(?:send|edit)\.([\w-]{1,64})\./

/** The prefix of drafts' storage keys, followed by the user and the session. */
export const DRAFT_PREFIX = "cuecard.draft."

function readOutboxEntries(storage: KeyValueStorage, prefix: string): readonly OutboxEntry[] {
  const rows = readStorageRows(storage).filter(([key]) => key.startsWith(prefix))
  return rows.flatMap(([, value]) => parseOutboxEntry(parseJson(value)) ?? []).sort((a, b) => a.at - b.at)
}

function parseOutboxEntry(value: unknown): OutboxEntry | null {
  const { id, content, at, error, code, fields, trace, ...rest }: Partial<OutboxEntry> = Object(value)
  if (typeof id !== "string" || typeof content !== "string" || typeof at !== "number") return null
  return { id, content, at, code, fields, trace, error: error ?? null, ...pickExtras(rest) }
}

/** Returns only the fields that are set. Ids are not validated, because only the page writes to its storage. */
export function pickExtras({
  reply_to,
  attachments,
  action,
  effort,
}: { readonly [K in keyof MessageExtras]?: MessageExtras[K] | null | undefined }): MessageExtras {
  return {
    ...(reply_to && { reply_to }),
    ...(attachments?.[0] && { attachments }),
    ...(action && { action }),
    ...(effort && { effort }),
  }
}

/** Returns the frame that sends a message. Attachments are sent as ids. Undefined fields are omitted from the JSON. */
export function toSendFrame({ id, content, reply_to, attachments, action, effort }: OutboxEntry): SendFrame {
  return { type: "send", id, content, reply_to, attachments: attachments?.map((asset) => asset.id), action, effort }
}
