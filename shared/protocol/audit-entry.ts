/**
 * audit-entry.ts: the entries of a tenant's audit log, and the text from which each entry's hash is computed.
 *
 * Every entry contains the hash of the previous entry, so that a changed, removed or moved entry breaks the chain. The
 * chain starts with the hash of a string that contains the tenant's id.
 */

export interface AuditEntry {
  /** The entry's number: 1 for the tenant's first entry, without gaps. */
  readonly seq: number
  /** When the action happened, in milliseconds since 1970. */
  readonly at: number
  readonly actor: {
    readonly kind: "user" | "key" | "operator" | "system" | "anonymous"
    /** The id of the user or API key; empty for the other kinds. */
    readonly id: string
    /** The client's network, such as `203.0.113.0/24`; null if its address is unknown. */
    readonly address: string | null
  }
  /** A noun and a past participle, such as `key.created` or `user.suspended`. */
  readonly action: string
  /** The id of what was changed; null for the tenant itself. */
  readonly target: string | null
  readonly details: Readonly<Record<string, string | number | boolean | null>> | null
  /** SHA-256, in hexadecimal digits. */
  readonly hash: string
}

/**
 * A position in the chain. Anyone who has stored a position can later prove that the entries up to it are unchanged.
 */
export interface AuditHead {
  /** 0 before the first entry. */
  readonly seq: number
  readonly hash: string
}

/** The response to `GET /v1/audit`: the newest entries first. */
export interface AuditPage {
  readonly entries: readonly AuditEntry[]
  /**
   * The `before` parameter of the next older page; null if there is none. With a filter, a page can be empty even
   * though there is a next page.
   */
  readonly next: number | null
  /** The newest entry of the log. */
  readonly head: AuditHead
}

/** The response to `POST /v1/audit/verify`. */
export interface AuditVerification {
  readonly ok: boolean
  /** The number of entries that this request checked. */
  readonly rows: number
  /** The number of the first entry that was changed, removed or moved; null if there is none. */
  readonly first_bad: number | null
  /**
   * The `after` parameter of the request that continues the check; null if the newest entry was checked or the check
   * failed.
   */
  readonly next: string | null
  readonly head: AuditHead
}

/** The first line of an exported log. The other lines are the entries, oldest first. */
export interface AuditFileHeader {
  readonly type: "audit"
  readonly version: 1
  readonly tenant: string
  /** The position before the file's first entry: older entries are no longer stored. */
  readonly base: AuditHead
  /** The newest entry when the export began, which is the last entry in the file. */
  readonly head: AuditHead
}

/** Returns the text whose hash precedes the tenant's first entry. */
export function encodeAuditGenesis(tenant: string): string {
  return JSON.stringify(["cuecard audit 1", tenant])
}

/** An entry as it is stored. `details` is JSON text, and is hashed exactly as stored. */
export interface StoredAuditEntry extends Omit<AuditEntry, "actor" | "details" | "hash"> {
  /** For example `user:ada` or `key:a1`; only the kind if there is no id. */
  readonly actor: string
  readonly address: string | null
  readonly details: string | null
}

/** Returns the text that is hashed for an entry. Two different entries never have the same text. */
export function encodeAuditEntry(previousHash: string, entry: StoredAuditEntry): string {
  const { seq, at, actor, address, action, target, details } = entry
  return JSON.stringify([previousHash, seq, at, actor, address, action, target, details])
}

/** Returns an entry as a line of an exported file. Every entry has exactly one such form. */
export function formatAuditLine({ seq, at, actor, action, target, details, hash }: AuditEntry): string {
  const { kind, id, address } = actor
  return JSON.stringify({ seq, at, actor: { kind, id, address }, action, target, details, hash })
}

/** Returns the stored form of an entry that was read from an exported file. */
export function toStoredAuditEntry({ actor, details, ...entry }: AuditEntry): StoredAuditEntry {
  const { seq, at, action, target } = entry
  return {
    seq,
    at,
    actor: actorToText(actor),
    address: actor.address,
    action,
    target,
    details: details === null ? null : JSON.stringify(details),
  }
}

/**
 * Returns the name of an actor in the log and in its filter, such as `user:ada`, `key:a1`, `operator`, `system` or
 * `anonymous`.
 */
export function actorToText({ kind, id }: Pick<AuditEntry["actor"], "kind" | "id">): string {
  return id === "" ? kind : `${kind}:${id}`
}

/** Inverts `actorToText`. Ids contain no colon. */
export function textToActor(text: string): Pick<AuditEntry["actor"], "kind" | "id"> {
  const [kind = "", id = ""] = text.split(":", 2)
  return { kind: kind as AuditEntry["actor"]["kind"], id }
}
