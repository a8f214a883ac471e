/**
 * audit-file.ts: verifies an exported audit log without a server. Every entry must continue the one before it, from the
 * start named by the first line to the newest entry of the export.
 */

import { createHash } from "node:crypto"
import {
  type AuditEntry,
  type AuditFileHeader,
  type AuditHead,
  encodeAuditEntry,
  encodeAuditGenesis,
  formatAuditLine,
  toStoredAuditEntry,
} from "../shared/protocol/audit-entry.ts"

export type AuditFileResult =
  | { readonly ok: true; readonly header: AuditFileHeader; readonly entries: number }
  /** `line`: the line number in the file, from 1. */
  | { readonly ok: false; readonly line: number; readonly because: string }

/**
 * Verifies the lines of a file. `known` is a `head` recorded earlier, which the file must contain. Reads one line at a
 * time, so the file can have any length.
 */
export async function verifyAuditFile(
  lines: AsyncIterable<string> | Iterable<string>,
  known: AuditHead | null = null,
): Promise<AuditFileResult> {
  let header: AuditFileHeader | null = null
  let last: AuditHead = { seq: 0, hash: "" }
  let isKnownFound = false
  let isBaseRecorded = false
  let line = 0
  for await (const text of lines) {
    line += 1
    const value = parseLine(text)
    if (value === null) return { ok: false, line, because: "it isn't JSON" }
    if (header === null) {
      const flaw = findHeaderFlaw(value)
      if (flaw !== null) return { ok: false, line, because: flaw }
      header = value as AuditFileHeader
      last = header.base
    } else {
      const flaw = findEntryFlaw(value as AuditEntry, text, last)
      if (flaw !== null) return { ok: false, line, because: flaw }
      const { seq, hash } = value as AuditEntry
      last = { seq, hash }
      isBaseRecorded ||= recordsRemoval(value as AuditEntry, header.base)
    }
    if (known !== null && last.seq === known.seq) isKnownFound = last.hash === known.hash
  }
  if (header === null) return { ok: false, line: 1, because: "the file is empty" }
  if (last.seq !== header.head.seq || last.hash !== header.head.hash)
    return { ok: false, line: line + 1, because: `entry ${last.seq + 1} is missing` }
  if (header.base.seq > 0 && !isBaseRecorded)
    return { ok: false, line: 2, because: `no entry says that the entries up to ${header.base.seq} were removed` }
  if (known !== null && known.seq > header.base.seq && !isKnownFound)
    return { ok: false, line, because: `the log doesn't contain entry ${known.seq} with the recorded hash` }
  return { ok: true, header, entries: header.head.seq - header.base.seq }
}

function parseLine(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/**
 * Returns what is wrong with the first line; null if nothing is. A server wrote the file, so the types of its values
 * are not checked.
 */
function findHeaderFlaw(value: unknown): string | null {
  const { type, version, tenant, base, head } = value as Partial<AuditFileHeader>
  if (type !== "audit" || version !== 1 || tenant === undefined || base === undefined || head === undefined)
    return "it isn't the first line of an exported audit log"
  const isWhole = base.seq > 0 || base.hash === hashText(encodeAuditGenesis(tenant))
  return isWhole ? null : `it doesn't begin the log of ${tenant}`
}

function findEntryFlaw(entry: AuditEntry, text: string, last: AuditHead): string | null {
  if (entry.seq !== last.seq + 1) return `entry ${last.seq + 1} is missing`
  const isWhole = hasEntryShape(entry) && formatAuditLine(entry) === text
  const hash = isWhole ? hashText(encodeAuditEntry(last.hash, toStoredAuditEntry(entry))) : null
  return hash === entry.hash ? null : `entry ${entry.seq} was changed`
}

/** Whether an entry says that the server has removed everything up to `base`, because the log was too long. */
function recordsRemoval({ action, actor, details }: AuditEntry, base: AuditHead): boolean {
  const isRemoval = action === "audit.pruned" && actor.kind === "system"
  return isRemoval && details?.["up_to"] === base.seq && details["hash"] === base.hash
}

function hasEntryShape({ actor, details }: Partial<AuditEntry>): boolean {
  return typeof actor === "object" && actor !== null && typeof details === "object"
}

function hashText(text: string): string {
  return createHash("sha256").update(text).digest("hex")
}
