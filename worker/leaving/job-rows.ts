/**
 * job-rows.ts: the SQL rows of a tenant's jobs (exports, imports and erasures), of the jobs' files, and of the tenant's
 * standing.
 *
 * A job stores its progress after each slice of work, so another process can continue it.
 */

import type { Fault } from "../../shared/fault.ts"
import type { Receipt, Tally, TenantStatus } from "../../shared/protocol/http-body.ts"
import type { ArchiveFile } from "../settings/leaving-rpc.ts"
import { parseJson } from "../../shared/json.ts"

export const JOB_TABLES = `
  CREATE TABLE job (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,                -- export, import, backup, erase_user, erase_tenant, standing
    state TEXT NOT NULL,               -- uploading, running, done, failed
    tenant TEXT NOT NULL,
    target TEXT NOT NULL,              -- the user, or the tenant
    created INTEGER NOT NULL, updated INTEGER NOT NULL,
    expires INTEGER,                   -- when it is removed unless it is running; null: never
    due INTEGER NOT NULL,              -- when its next slice may run
    tries INTEGER NOT NULL DEFAULT 0,  -- consecutive failures
    tally TEXT NOT NULL,               -- JSON: Tally
    progress TEXT NOT NULL,            -- JSON: where it continues
    fault TEXT) WITHOUT ROWID;         -- JSON: Fault
  CREATE INDEX job_kind ON job (kind, created);
  CREATE TABLE job_file (
    job TEXT NOT NULL, n INTEGER NOT NULL,
    bytes INTEGER NOT NULL, sha256 TEXT NOT NULL,
    stored INTEGER NOT NULL,           -- 0: an import waits for it
    PRIMARY KEY (job, n)) WITHOUT ROWID;
  CREATE TABLE archive_item (          -- where the content of an imported archive is
    job TEXT NOT NULL, n INTEGER NOT NULL,
    user TEXT NOT NULL, session TEXT NOT NULL,
    kind TEXT NOT NULL,                -- session, transcript, asks, asset
    about TEXT NOT NULL,               -- JSON: the block's header
    file INTEGER NOT NULL, start INTEGER NOT NULL, bytes INTEGER NOT NULL,
    PRIMARY KEY (job, n)) WITHOUT ROWID;
  CREATE INDEX archive_item_session ON archive_item (job, user, session, n);
  CREATE TABLE standing (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    status TEXT NOT NULL, erases INTEGER,
    receipt TEXT)                      -- JSON: Receipt, once the tenant is erased`

export type JobKind = "export" | "backup" | "import" | "erase_user" | "erase_tenant" | "standing"
export type JobState = "uploading" | "running" | "done" | "failed"

export const NO_TALLY: Tally = { users: 0, sessions: 0, agent_sessions: 0, files: 0, bytes: 0 }

export interface Job {
  readonly id: string
  readonly kind: JobKind
  readonly state: JobState
  readonly tenant: string
  readonly target: string
  readonly created: number
  readonly updated: number
  readonly expires: number | null
  readonly due: number
  readonly tries: number
  readonly tally: Tally
  readonly progress: unknown
  readonly fault: Fault | null
}

export type NewJob = Pick<Job, "id" | "kind" | "state" | "tenant" | "target" | "created" | "expires" | "due"> & {
  readonly progress?: unknown
}

interface Standing {
  readonly status: TenantStatus
  readonly erases: number | null
  readonly receipt: Receipt | null
}

type JobRow = Record<keyof Job, string | number | null>
type FileRow = { n: number; bytes: number; sha256: string }

export class JobRows {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  add({ id, kind, state, tenant, target, created, expires, due, progress = {} }: NewJob): void {
    this.#sql.exec(
      `INSERT INTO job (id, kind, state, tenant, target, created, updated, expires, due, tally, progress)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      id,
      kind,
      state,
      tenant,
      target,
      created,
      created,
      expires,
      due,
      JSON.stringify(NO_TALLY),
      JSON.stringify(progress),
    )
  }

  find(id: string): Job | null {
    const [row] = this.#sql.exec<JobRow>("SELECT * FROM job WHERE id = ?", id).toArray()
    return row === undefined ? null : toJob(row)
  }

  /** Returns jobs of a kind, newest first. */
  list(kind: JobKind, limit: number): Job[] {
    const query = "SELECT * FROM job WHERE kind = ? ORDER BY created DESC, id LIMIT ?"
    return this.#sql.exec<JobRow>(query, kind, limit).toArray().map(toJob)
  }

  /** Returns jobs whose next slice is due at `now`, or that have expired by then. A running job does not expire. */
  listDue(now: number): Job[] {
    const query = "SELECT * FROM job WHERE CASE state WHEN 'running' THEN due ELSE expires END <= ?1 ORDER BY due, id"
    return this.#sql.exec<JobRow>(query, now).toArray().map(toJob)
  }

  /** Returns when the next job is due, in milliseconds since 1970; null if none is. */
  findNextDue(): number | null {
    const query = "SELECT min(CASE state WHEN 'running' THEN due ELSE expires END) AS at FROM job"
    return this.#sql.exec<{ at: number | null }>(query).one().at
  }

  findRunning(kinds: readonly JobKind[], target?: string): Job | null {
    const marks = kinds.map(() => "?").join(", ")
    const query = `SELECT * FROM job WHERE kind IN (${marks}) AND state IN ('running', 'uploading')`
    const rows = this.#sql
      .exec<JobRow>(query, ...kinds)
      .toArray()
      .map(toJob)
    return rows.find((job) => target === undefined || job.target === target) ?? null
  }

  /** Stores the position at which a job continues, and clears its failures. */
  saveProgress(id: string, change: { progress: unknown; tally: Tally; due: number; updated: number }): void {
    const { progress, tally, due, updated } = change
    const query = "UPDATE job SET progress = ?, tally = ?, due = ?, updated = ?, tries = 0 WHERE id = ?"
    this.#sql.exec(query, JSON.stringify(progress), JSON.stringify(tally), due, updated, id)
  }

  setState(id: string, state: JobState, updated: number, fault: Fault | null = null): void {
    const query = "UPDATE job SET state = ?, updated = ?, due = ?, fault = ? WHERE id = ?"
    this.#sql.exec(query, state, updated, updated, fault === null ? null : JSON.stringify(fault), id)
  }

  setExpiry(id: string, expires: number): void {
    this.#sql.exec("UPDATE job SET expires = ? WHERE id = ?", expires, id)
  }

  /** Counts a failed slice and sets the time of the next attempt. */
  postpone(id: string, due: number): void {
    this.#sql.exec("UPDATE job SET tries = tries + 1, due = ? WHERE id = ?", due, id)
  }

  /** Makes a job due now. */
  hasten(id: string, now: number): void {
    this.#sql.exec("UPDATE job SET due = ? WHERE id = ?", now, id)
  }

  /** Removes the rows that locate the content of an archive: the list of its files, and the index of an import. */
  removeIndex(id: string): void {
    for (const table of ["job_file", "archive_item"]) this.#sql.exec(`DELETE FROM ${table} WHERE job = ?`, id)
  }

  remove(id: string): void {
    this.removeIndex(id)
    this.#sql.exec("DELETE FROM job WHERE id = ?", id)
  }

  putFile(job: string, { n, bytes, sha256 }: ArchiveFile, isStored: boolean): void {
    const query = "INSERT OR REPLACE INTO job_file (job, n, bytes, sha256, stored) VALUES (?, ?, ?, ?, ?)"
    this.#sql.exec(query, job, n, bytes, sha256, isStored ? 1 : 0)
  }

  markStored(job: string, n: number): void {
    this.#sql.exec("UPDATE job_file SET stored = 1 WHERE job = ? AND n = ?", job, n)
  }

  findFile(job: string, n: number): ArchiveFile | null {
    const query = "SELECT n, bytes, sha256 FROM job_file WHERE job = ? AND n = ?"
    return this.#sql.exec<FileRow>(query, job, n).toArray()[0] ?? null
  }

  listFiles(job: string): ArchiveFile[] {
    const query = "SELECT n, bytes, sha256 FROM job_file WHERE job = ? AND n > 0 ORDER BY n"
    return this.#sql.exec<FileRow>(query, job).toArray()
  }

  /** Removes the rows of a file and of all files with higher numbers. */
  removeFilesFrom(job: string, n: number): void {
    this.#sql.exec("DELETE FROM job_file WHERE job = ? AND n >= ?", job, n)
  }

  countFiles(job: string): number {
    return this.#sql.exec<{ n: number }>("SELECT count(*) AS n FROM job_file WHERE job = ? AND n > 0", job).one().n
  }

  /** Returns the numbers of the first files that an import is still waiting for. */
  listMissing(job: string, limit: number): number[] {
    const query = "SELECT n FROM job_file WHERE job = ? AND stored = 0 ORDER BY n LIMIT ?"
    return this.#sql
      .exec<{ n: number }>(query, job, limit)
      .toArray()
      .map(({ n }) => n)
  }

  readStanding(): Standing {
    type Row = { status: string; erases: number | null; receipt: string | null }
    const [row] = this.#sql.exec<Row>("SELECT status, erases, receipt FROM standing").toArray()
    if (row === undefined) return { status: "open", erases: null, receipt: null }
    const receipt = row.receipt === null ? null : (parseJson(row.receipt) as unknown as Receipt)
    return { status: row.status as TenantStatus, erases: row.erases, receipt }
  }

  setStanding({ status, erases, receipt }: Standing): void {
    const text = receipt === null ? null : JSON.stringify(receipt)
    const query = "INSERT OR REPLACE INTO standing (one, status, erases, receipt) VALUES (1, ?, ?, ?)"
    this.#sql.exec(query, status, erases, text)
  }
}

/** Converts a row. Only `JobRows` writes these rows. */
function toJob(row: JobRow): Job {
  return {
    ...(row as unknown as Job),
    tally: parseJson(String(row.tally)) as unknown as Tally,
    progress: parseJson(String(row.progress)),
    fault: row.fault === null ? null : (parseJson(String(row.fault)) as unknown as Fault),
  }
}
