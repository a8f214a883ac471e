/**
 * audit-entry.ts: the entries of a tenant's audit log, and the text from which the hash of each is computed.
 *
 * Every entry contains the hash of the previous entry, so that a changed, removed or moved entry breaks the chain. The
 * chain starts from the hash of a text that names the tenant.
 */

export interface AuditEntry {
  /** 1 for the first entry of the tenant, without gaps. */
  readonly seq: number
  /** Milliseconds since 1970. */
  readonly at: number
  readonly actor: {
    readonly kind: "user" | "key" | "operator" | "system" | "anonymous"
    /** The id of the user or API key; empty for the other kinds. */
    readonly id: string
    /** The client's network, such as `203.0.113.0/24`; null if its address is unknown. */
    readonly address: string | null
  }
  /** A noun and a past participle: `key.created`, `user.suspended`. */
  readonly action: string
  /** The id of what was changed; null for the tenant itself. */
  readonly target: string | null
  readonly details: Readonly<Record<string, string | number | boolean | null>> | null
  /** SHA-256, in hexadecimal digits. */
  readonly hash: string
}

/** A position in the chain. With a stored position, you can later prove that the entries up to it are unchanged. */
export interface AuditHead {
  /** 0 before the first entry. */
  readonly seq: number
  readonly hash: string
}

/** The response to `GET /v1/audit`: the newest entries first. */
export interface AuditPage {
  readonly entries: readonly AuditEntry[]
  /** The `before` of the next older page; null if there is none. A page with a filter can be empty and have a next one. */
  readonly next: number | null
  /** The newest entry of the log. */
  readonly head: AuditHead
}

/** The response to `POST /v1/audit/verify`. */
export interface AuditVerification {
  readonly ok: boolean
  /** Entries that this request checked. */
  readonly rows: number
  /** The first entry that was changed, removed or moved; null if there is none. */
  readonly first_bad: number | null
  /** The `after` of the request that continues; null when the newest entry was checked, or the check failed. */
  readonly next: string | null
  readonly head: AuditHead
}

/** The first line of an exported log. The other lines are its entries, oldest first. */
export interface AuditFileHeader {
  readonly type: "audit"
  readonly version: 1
  readonly tenant: string
  /** The position before the first entry of the file: older entries are no longer stored. */
  readonly base: AuditHead
  /** The newest entry when the export began, and the last of the file. */
  readonly head: AuditHead
}

/** Returns the text whose hash precedes the first entry of a tenant. */
export function encodeAuditGenesis(tenant: string): string {
  return JSON.stringify(["cuecard audit 1", tenant])
}

/** An entry as it is stored. `details` is JSON text, and is hashed exactly as stored. */
export interface StoredAuditEntry extends Omit<AuditEntry, "actor" | "details" | "hash"> {
  /** `user:ada`, `key:a1`, or only the kind if there is no id. */
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

/** Returns how the log and its filter name an actor: `user:ada`, `key:a1`, `operator`, `system`, `anonymous`. */
export function actorToText({ kind, id }: Pick<AuditEntry["actor"], "kind" | "id">): string {
  return id === "" ? kind : `${kind}:${id}`
}

/** Returns the inverse of `actorToText`. Ids contain no colon. */
export function textToActor(text: string): Pick<AuditEntry["actor"], "kind" | "id"> {
  const [kind = "", id = ""] = text.split(":", 2)
  return { kind: kind as AuditEntry["actor"]["kind"], id }
}
