/**
 * audit-check.ts: checks the chain of a tenant's audit log, a bounded number of entries at a time.
 *
 * The check detects changed values, and entries that were removed, moved or added anywhere in the log.
 */

import type { AuditHead } from "../../shared/protocol/audit-entry.ts"
import type { AuditCheck } from "../settings/audit-event.ts"
import { type AuditRow, type AuditRows, hashAuditEntry } from "./rows/audit-rows.ts"

/**
 * Checks up to `limit` entries after a position that was already checked, or from the beginning (null). `known` is a
 * position that was recorded earlier; it must still be part of the log.
 */
export function checkAuditRows(
  audit: AuditRows,
  after: AuditHead | null,
  known: AuditHead | null,
  limit: number,
): AuditCheck {
  const head = audit.readHead()
  const start = after ?? audit.readBase()
  const badStart = after === null ? findBadBase(audit, start) : isStored(audit, after) ? null : after.seq
  const bad = badStart ?? findBadKnown(audit, known, head)
  if (bad !== null) return { rows: 0, firstBad: bad, last: start, isDone: true, head }
  const rows = audit.listRowsAfter(start.seq, limit)
  const broken = findBrokenRow(rows, start)
  const last = rows.at(-1) ?? start
  const isDone = rows.length < limit
  const firstBad = broken ?? (isDone ? findBadEnd(last, head) : null)
  return { rows: rows.length, firstBad, last: { seq: last.seq, hash: last.hash }, isDone, head }
}

/**
 * Finds a wrong beginning: the log must begin with its first entry, or where the newest entry about a removal says that
 * it does.
 */
function findBadBase(audit: AuditRows, base: AuditHead): number | null {
  if (base.seq === 0) return base.hash === audit.start.hash ? null : 1
  const [pruned] = audit.list({ action: "audit.pruned" }, 1).entries
  const isRecorded = pruned?.details?.["up_to"] === base.seq && pruned.details["hash"] === base.hash
  return isRecorded ? null : base.seq + 1
}

/**
 * Finds out whether `known` is no longer part of the log. Entries removed because of the log's limit can't be checked.
 */
function findBadKnown(audit: AuditRows, known: AuditHead | null, head: AuditHead): number | null {
  if (known === null || known.seq <= audit.readBase().seq || isStored(audit, known)) return null
  return Math.min(known.seq, head.seq + 1)
}

function isStored(audit: AuditRows, { seq, hash }: AuditHead): boolean {
  const base = audit.readBase()
  const row = seq === base.seq ? base : audit.listRowsAfter(seq - 1, 1)[0]
  return row?.seq === seq && row.hash === hash
}

/** Returns the `seq` of the first entry that does not continue the one before it; null if there is none. */
function findBrokenRow(rows: readonly AuditRow[], start: AuditHead): number | null {
  let { seq, hash } = start
  for (const row of rows) {
    seq += 1
    if (row.seq !== seq || row.hash !== hashAuditEntry(hash, row)) return seq
    hash = row.hash
  }
  return null
}

/** Finds a wrong end: the newest entry must be the one that the head names. */
function findBadEnd(last: AuditHead, head: AuditHead): number | null {
  if (last.seq !== head.seq) return Math.min(last.seq, head.seq) + 1
  return last.hash === head.hash ? null : head.seq
}
