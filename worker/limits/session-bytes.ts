/**
 * session-bytes.ts: counts the stored bytes of a session, and reports them to the user's directory.
 *
 * files + whole megabytes of the database → REPORT {bytes, n} → directory (user-bytes.ts)
 * A report contains the total, so it can be sent again. The session stores the last report that the directory applied.
 * If the process is killed before that, the alarm makes the session report again (SPEC LI14).
 */

import { type Result, succeed } from "../../shared/fault.ts"
import { describeError, logError } from "../platform/log.ts"
import type { BytesReport } from "../platform/rpc/directory-rpc.ts"

export const REPORTED_BYTES_TABLE = `
  CREATE TABLE reported_bytes (               -- what the user's directory has applied
    one INTEGER PRIMARY KEY CHECK (one = 1), bytes INTEGER NOT NULL, n INTEGER NOT NULL)`

/** Unit in which a session's text is counted, in bytes. A conversation shorter than one unit needs no report. */
const TEXT_STEP_BYTES = 1024 * 1024

/** Delay before a failed report is retried, in milliseconds. */
const RETRY_MS = 30_000

export interface SessionBytesDeps {
  /** The session's database. It throws once the session has been erased. */
  readonly sql: Pick<SqlStorage, "exec">
  readonly readDatabaseBytes: () => number
  /** Sends a report. Returns the number of the newest applied report. */
  readonly report: (report: Omit<BytesReport, "session">) => Promise<Result<number>>
  readonly waitUntil: (work: Promise<unknown>) => void
  /** Makes sure that the object's alarm fires soon. */
  readonly armAlarm: () => void
  readonly now: () => number
  /** Whether an error only means that the session was erased. */
  readonly isErased: (error: unknown) => boolean
}

export class SessionBytes {
  readonly #deps: SessionBytesDeps
  #reporting: Promise<unknown> = Promise.resolve()
  #hasFailed = false

  constructor(deps: SessionBytesDeps) {
    this.#deps = deps
  }

  /** Reports added bytes, unless they exceed a limit. Errors: `storage_full`, `tenant_storage_full`, budget errors. */
  async claim(): Promise<Result<null>> {
    this.#deps.armAlarm()
    return await this.#enqueue(false)
  }

  /** Reports a change in the background, regardless of the limits. */
  noteChange(): void {
    this.#deps.armAlarm()
    this.#deps.waitUntil(this.sync())
  }

  /**
   * Reports bytes that have not been reported yet. Never rejects. Cost: one query, and a call if there is something to
   * report.
   */
  async sync(): Promise<void> {
    try {
      await this.#enqueue(true)
      this.#hasFailed = false
    } catch (error) {
      this.#hasFailed = !this.#deps.isErased(error)
      if (this.#hasFailed) logError("bytes_not_reported", { error: describeError(error) })
    }
  }

  /** Returns when to retry a failed report, in milliseconds since 1970; null if none has failed. */
  nextAlarmAt(): number | null {
    return this.#hasFailed ? this.#deps.now() + RETRY_MS : null
  }

  /** Sends one report at a time, so that an older total never replaces a newer one. */
  #enqueue(isRequired: boolean): Promise<Result<null>> {
    const reported = this.#reporting.then(() => this.#report(isRequired))
    this.#reporting = reported.catch(() => {})
    return reported
  }

  async #report(isRequired: boolean): Promise<Result<null>> {
    const { now, report } = this.#deps
    for (let known = this.#readReported(); ; ) {
      const bytes = this.#count()
      if (bytes === known.bytes) return succeed(null)
      const n = Math.max(now(), known.n + 1)
      const applied = await report({ bytes, n, isRequired })
      if (!applied.ok) return applied
      // If the applied number is higher, an earlier process sent that report before the clock was set back.
      known = { bytes: applied.value > n ? known.bytes : bytes, n: applied.value }
      this.#writeReported(known)
    }
  }

  #count(): number {
    const [row] = this.#deps.sql.exec("SELECT coalesce(sum(size), 0) AS bytes FROM asset").toArray()
    const text = Math.floor(this.#deps.readDatabaseBytes() / TEXT_STEP_BYTES) * TEXT_STEP_BYTES
    return Number(row?.["bytes"] ?? 0) + text
  }

  #readReported(): { readonly bytes: number; readonly n: number } {
    const [row] = this.#deps.sql.exec("SELECT bytes, n FROM reported_bytes").toArray()
    return { bytes: Number(row?.["bytes"] ?? 0), n: Number(row?.["n"] ?? 0) }
  }

  #writeReported({ bytes, n }: { readonly bytes: number; readonly n: number }): void {
    this.#deps.sql.exec("INSERT OR REPLACE INTO reported_bytes (one, bytes, n) VALUES (1, ?, ?)", bytes, n)
  }
}
