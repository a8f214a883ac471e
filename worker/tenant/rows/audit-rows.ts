/**
 * audit-rows.ts: the SQL rows of a tenant's audit log. Entries are only appended, and each contains the hash of the
 * previous one.
 *
 * All calls are synchronous, so an entry is written together with the change that it records. Cost of an entry: four
 * rows written (the entry, two indexes, the head).
 */

import { clearCachedConfig } from "../../settings/config-cache.ts"
import { sha256 } from "@noble/hashes/sha2.js"
import { parseJson } from "../../../shared/json.ts"
import {
  type AuditEntry,
  type AuditHead,
  type AuditPage,
  actorToText,
  encodeAuditEntry,
  encodeAuditGenesis,
  type StoredAuditEntry,
  textToActor,
} from "../../../shared/protocol/audit-entry.ts"
import { cutText } from "../../../shared/text/cut-text.ts"
import { bytesToHex } from "../../platform/crypto/hex.ts"
import { type Actor, SYSTEM_ACTOR } from "../../platform/rpc/actor.ts"
import type { AuditEvent, AuditFilter } from "../../settings/audit-event.ts"

export const AUDIT_TABLES = `
  CREATE TABLE audit (
    seq INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,             -- milliseconds since 1970
    actor TEXT NOT NULL,             -- actorToText
    address TEXT, action TEXT NOT NULL, target TEXT,
    details TEXT,                    -- a JSON object
    hash TEXT NOT NULL);
  CREATE INDEX audit_action ON audit (action);
  CREATE INDEX audit_actor ON audit (actor);
  CREATE TABLE audit_head (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    seq INTEGER NOT NULL, hash TEXT NOT NULL,           -- the newest entry
    base_seq INTEGER NOT NULL, base_hash TEXT NOT NULL, -- the newest entry that was removed
    minute INTEGER NOT NULL DEFAULT 0,                  -- of the newest failure, in minutes since 1970
    failures INTEGER NOT NULL DEFAULT 0,                -- of this minute, with an entry each
    day_failures INTEGER NOT NULL DEFAULT 0,            -- of this day (UTC), with an entry each
    omitted INTEGER NOT NULL DEFAULT 0)`

/**
 * Maximum number of entries in a log. When PRUNED_ROWS more are stored, the oldest PRUNED_ROWS are removed. SPEC AL8.
 */
export const MAX_AUDIT_ROWS = 1_000_000
export const PRUNED_ROWS = 1_000

/** Maximum number of failures per minute that have their own entries. One more entry counts the others. SPEC AL6. */
export const MAX_FAILURES_PER_MINUTE = 60

/**
 * Maximum number of failures per day (UTC) that have their own entries. An attacker who never stops would need ten
 * years to fill the log. SPEC AL6.
 */
export const MAX_FAILURES_PER_DAY = 250

const DAY_MINUTES = 24 * 60

/**
 * Maximum length of a target, and of a string in the details, in UTF-16 code units. Content does not belong in the log.
 */
const MAX_TARGET_CHARS = 200
const MAX_DETAIL_CHARS = 500

/** Maximum number of entries that a page with two filters reads to find those that match both. */
const MAX_SCANNED_ROWS = 1_000

const COLUMNS = "seq, at, actor, address, action, target, details, hash"

/** An entry as it is stored. */
export type AuditRow = StoredAuditEntry & { readonly hash: string }

interface HeadRow {
  readonly seq: number
  readonly hash: string
  readonly base_seq: number
  readonly base_hash: string
  readonly minute: number
  readonly failures: number
  readonly day_failures: number
  readonly omitted: number
}

export class AuditRows {
  readonly #sql: SqlStorage
  readonly #tenant: string
  readonly #genesis: string
  readonly #maxRows: number

  constructor(sql: SqlStorage, tenant: string, maxRows = MAX_AUDIT_ROWS) {
    this.#sql = sql
    this.#tenant = tenant
    this.#genesis = hashText(encodeAuditGenesis(tenant))
    this.#maxRows = maxRows
  }

  /** Adds an entry. The caller makes the change that the entry records in the same transaction. Returns its `seq`. */
  append(actor: Actor, event: AuditEvent, now: number): number {
    // Every change to the configuration adds an entry, so the cached configuration is cleared here.
    clearCachedConfig(this.#tenant)
    this.recordOmitted(now)
    return this.#write(actor, event, now)
  }

  /**
   * Adds an entry for an attempt that was refused. There are at most MAX_FAILURES_PER_MINUTE such entries per minute
   * and MAX_FAILURES_PER_DAY per day, so that nobody can fill the log. The others are counted, and their number is
   * written in an entry before the first one of a later minute or day, or when the log is read (`recordOmitted`).
   */
  appendFailure(actor: Actor, event: AuditEvent, now: number): void {
    const minute = Math.floor(now / 60_000)
    this.recordOmitted(now)
    const head = this.#readHeadRow()
    const failures = head.minute === minute ? head.failures : 0
    const dayFailures = toDay(head.minute) === toDay(minute) ? head.day_failures : 0
    if (failures >= MAX_FAILURES_PER_MINUTE || dayFailures >= MAX_FAILURES_PER_DAY) {
      this.#sql.exec("UPDATE audit_head SET omitted = omitted + 1")
      return
    }
    this.#write(actor, event, now)
    const sql = "UPDATE audit_head SET minute = ?, failures = ?, day_failures = ?"
    this.#sql.exec(sql, minute, failures + 1, dayFailures + 1)
  }

  /** Returns the newest entry. */
  readHead(): AuditHead {
    const { seq, hash } = this.#readHeadRow()
    return { seq, hash }
  }

  /**
   * Returns when the newest entry with one of these actions was added; null if there is none. Cost: one row read per
   * action.
   */
  findNewestTime(actions: readonly string[]): number | null {
    const sql = "SELECT at FROM audit WHERE action = ? ORDER BY seq DESC LIMIT 1"
    const times = actions.flatMap((action) => this.#query<{ at: number }>(sql, action).map(({ at }) => at))
    return times.length === 0 ? null : Math.max(...times)
  }

  /** Returns the newest entry that was removed; before the first removal, the beginning of the chain. */
  readBase(): AuditHead {
    const { base_seq, base_hash } = this.#readHeadRow()
    return { seq: base_seq, hash: base_hash }
  }

  /** The position before the first entry. */
  get start(): AuditHead {
    return { seq: 0, hash: this.#genesis }
  }

  /** Returns a page of entries, newest first. Cost: the rows of the page, or MAX_SCANNED_ROWS with both filters. */
  list({ before, actor, action }: AuditFilter, limit: number): AuditPage {
    const isDouble = actor !== undefined && action !== undefined
    const scanned = this.#scan(before, actor, actor === undefined ? action : undefined, isDouble, limit)
    const matching = isDouble ? scanned.filter((row) => row.action === action) : scanned
    const page = matching.slice(0, limit)
    const isScanFull = isDouble && scanned.length === MAX_SCANNED_ROWS
    const hasMore = matching.length > page.length || isScanFull
    const last = matching.length > page.length ? page.at(-1) : scanned.at(-1)
    return { entries: page.map(toEntry), next: hasMore ? (last?.seq ?? null) : null, head: this.readHead() }
  }

  /** Returns the entries after a position, oldest first. */
  listAfter(seq: number, limit: number): AuditEntry[] {
    return this.listRowsAfter(seq, limit).map(toEntry)
  }

  #scan(
    before: number | undefined,
    actor: string | undefined,
    action: string | undefined,
    isDouble: boolean,
    limit: number,
  ): AuditRow[] {
    const conditions = ["seq < ?"]
    const bindings: SqlStorageValue[] = [before ?? Number.MAX_SAFE_INTEGER]
    for (const [column, value] of Object.entries({ actor, action })) {
      if (value === undefined) continue
      conditions.push(`${column} = ?`)
      bindings.push(value)
    }
    const where = conditions.join(" AND ")
    return this.#query<AuditRow>(
      `SELECT ${COLUMNS} FROM audit WHERE ${where} ORDER BY seq DESC LIMIT ?`,
      ...bindings,
      // One more row than the page needs, to find out whether there is a next page.
      isDouble ? MAX_SCANNED_ROWS : limit + 1,
    )
  }

  /** Like `listAfter`, but returns the stored rows. */
  listRowsAfter(seq: number, limit: number): AuditRow[] {
    return this.#query<AuditRow>(`SELECT ${COLUMNS} FROM audit WHERE seq > ? ORDER BY seq LIMIT ?`, seq, limit)
  }

  /**
   * Writes one entry with the number of failures that have no entry of their own. Does nothing before their minute is
   * over, or before their day is over if the daily limit was reached.
   */
  recordOmitted(now: number): void {
    const { minute, omitted, day_failures } = this.#readHeadRow()
    const current = Math.floor(now / 60_000)
    const isOver = day_failures >= MAX_FAILURES_PER_DAY ? toDay(minute) !== toDay(current) : minute !== current
    if (omitted === 0 || !isOver) return
    this.#sql.exec("UPDATE audit_head SET omitted = 0")
    this.#write(SYSTEM_ACTOR, { action: "failures.omitted", details: { count: omitted, minute } }, now)
  }

  #write(actor: Actor, event: AuditEvent, now: number): number {
    const head = this.#readHeadRow()
    const entry = toStoredEntry(head.seq + 1, actor, event, now)
    const { seq, at, address, action, target, details } = entry
    const hash = hashAuditEntry(head.hash, entry)
    this.#sql.exec(
      `INSERT INTO audit (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      seq,
      at,
      entry.actor,
      address,
      action,
      target,
      details,
      hash,
    )
    this.#sql.exec(
      `INSERT INTO audit_head (one, seq, hash, base_seq, base_hash) VALUES (1, ?1, ?2, 0, ?3)
       ON CONFLICT (one) DO UPDATE SET seq = ?1, hash = ?2`,
      seq,
      hash,
      this.#genesis,
    )
    if (seq - head.base_seq >= this.#maxRows + PRUNED_ROWS) this.#prune(head.base_seq + PRUNED_ROWS, now)
    return seq
  }

  /**
   * Removes the oldest entries. Adds an entry about the removal, which contains the hash from which the remaining chain
   * continues.
   */
  #prune(upTo: number, now: number): void {
    const [row] = this.#query<{ hash: string }>("SELECT hash FROM audit WHERE seq = ?", upTo)
    if (row === undefined) return
    this.#sql.exec("DELETE FROM audit WHERE seq <= ?", upTo)
    this.#sql.exec("UPDATE audit_head SET base_seq = ?, base_hash = ?", upTo, row.hash)
    this.#write(SYSTEM_ACTOR, { action: "audit.pruned", details: { up_to: upTo, hash: row.hash } }, now)
  }

  #readHeadRow(): HeadRow {
    const start = { seq: 0, hash: this.#genesis, base_seq: 0, base_hash: this.#genesis }
    const [row] = this.#query<HeadRow & Record<string, SqlStorageValue>>("SELECT * FROM audit_head")
    return row ?? { ...start, minute: 0, failures: 0, day_failures: 0, omitted: 0 }
  }

  #query<T extends object>(query: string, ...bindings: SqlStorageValue[]): T[] {
    return this.#sql.exec(query, ...bindings).toArray() as unknown as T[]
  }
}

function toDay(minute: number): number {
  return Math.floor(minute / DAY_MINUTES)
}

function hashText(text: string): string {
  return bytesToHex(sha256(new TextEncoder().encode(text)))
}

/** Returns the hash that an entry must have if it follows the entry with `previousHash`. */
export function hashAuditEntry(previousHash: string, entry: StoredAuditEntry): string {
  return hashText(encodeAuditEntry(previousHash, entry))
}

/**
 * Returns the stored form of an entry. Lone surrogates are replaced, because SQLite would not store them as they were
 * hashed.
 */
function toStoredEntry(seq: number, actor: Actor, event: AuditEvent, now: number): StoredAuditEntry {
  const { action, target, details } = event
  return {
    seq,
    at: Math.floor(now),
    actor: actorToText(actor),
    address: actor.address,
    action,
    target: target === undefined ? null : cutText(target, MAX_TARGET_CHARS).toWellFormed(),
    details: details === undefined ? null : JSON.stringify(details, (_key, value) => cutDetail(value)),
  }
}

function cutDetail(value: unknown): unknown {
  return typeof value === "string" ? cutText(value, MAX_DETAIL_CHARS).toWellFormed() : value
}

function toEntry({ seq, at, actor, address, action, target, details, hash }: AuditRow): AuditEntry {
  const parsed = details === null ? null : (parseJson(details) as AuditEntry["details"] | undefined)
  return { seq, at, actor: { ...textToActor(actor), address }, action, target, details: parsed ?? null, hash }
}
