/**
 * session-bytes.ts: counts the stored bytes of a session, and reports them to the user's directory.
 *
 * files + whole megabytes of the database → REPORT {bytes, n} → directory (user-bytes.ts)
 * A report states the whole number, so it can be repeated. The session remembers the last one that the directory applied.
 * After a kill in between, the alarm makes it report again (SPEC LI10).
 */

import { type Result, succeed } from "../../shared/fault.ts"
import { describeError, logError } from "../platform/log.ts"
import type { BytesReport } from "../platform/rpc/directory-rpc.ts"

export const REPORTED_BYTES_TABLE = `
  CREATE TABLE reported_bytes (               -- what the user's directory has applied
    one INTEGER PRIMARY KEY CHECK (one = 1), bytes INTEGER NOT NULL, n INTEGER NOT NULL)`

/** Unit in which the text of a session is counted, in bytes. A conversation shorter than one unit needs no report. */
const TEXT_STEP_BYTES = 1024 * 1024

/** Delay before a failed report is repeated, in milliseconds. */
const RETRY_MS = 30_000

export interface SessionBytesDeps {
  /** The session's database. It throws once the session is erased. */
  readonly sql: Pick<SqlStorage, "exec">
  readonly readDatabaseBytes: () => number
  /** Sends a report. Returns the number of the newest report that was applied. */
  readonly report: (report: Omit<BytesReport, "session">) => Promise<Result<number>>
  readonly waitUntil: (work: Promise<unknown>) => void
  /** Makes sure that the object's alarm fires soon. */
  readonly armAlarm: () => void
  readonly now: () => number
  /** Whether an error only says that the session was erased. */
  readonly isErased: (error: unknown) => boolean
}

export class SessionBytes {
  readonly #deps: SessionBytesDeps
  #reporting: Promise<unknown> = Promise.resolve()
  #hasFailed = false

  constructor(deps: SessionBytesDeps) {
    this.#deps = deps
  }

  /** Reports added bytes, unless they exceed a limit. Errors: `storage_full`, `tenant_storage_full`, those of budgets. */
  async claim(): Promise<Result<null>> {
    this.#deps.armAlarm()
    return await this.#enqueue(false)
  }

  /** Reports a change in the background, whatever the limits are. */
  changed(): void {
    this.#deps.armAlarm()
    this.#deps.waitUntil(this.sync())
  }

  /** Reports the bytes that were not reported yet. Never rejects. Cost: one query, and a call if there is something to report. */
  async sync(): Promise<void> {
    try {
      await this.#enqueue(true)
      this.#hasFailed = false
    } catch (error) {
      this.#hasFailed = !this.#deps.isErased(error)
      if (this.#hasFailed) logError("bytes_not_reported", { error: describeError(error) })
    }
  }

  /** When to report again, in milliseconds since 1970; null if no report has failed. */
  nextAlarmAt(): number | null {
    return this.#hasFailed ? this.#deps.now() + RETRY_MS : null
  }

  /** One report after the other, so that an older number never overtakes a newer one. */
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
      // A report of an earlier process has a higher number, because the clock was set back.
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
