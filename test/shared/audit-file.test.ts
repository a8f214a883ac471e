/** audit-file.test.ts: tests that `npm run audit -- verify` detects changes in an exported audit log. */

import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import fc from "fast-check"
import { expect, test } from "vitest"
import { verifyAuditFile } from "../../scripts/audit-file.ts"
import {
  type AuditEntry,
  type AuditHead,
  actorToText,
  encodeAuditEntry,
  encodeAuditGenesis,
  textToActor,
  toStoredAuditEntry,
} from "../../shared/protocol/audit-entry.ts"
import { assertPropertyAsync } from "../support/seeded.ts"

const hashText = (text: string): string => createHash("sha256").update(text).digest("hex")

/**
 * Returns an export of the entries up to `count`. With `removed`, the first entries are missing, and an entry records
 * their removal.
 */
function createFile(count: number, tenant = "acme", removed?: AuditHead): string[] {
  const base = removed ?? { seq: 0, hash: hashText(encodeAuditGenesis(tenant)) }
  const entries: AuditEntry[] = []
  for (let seq = base.seq + 1; seq <= count; seq += 1) {
    const id = seq % 2 === 0 ? "ada" : ""
    const actor = {
      kind: id === "" ? ("operator" as const) : ("user" as const),
      id,
      address: seq % 3 === 0 ? null : "10.0.0.0/24",
    }
    const details = seq % 2 === 0 ? null : { count: seq, name: "é", on: true, none: null }
    const entry = {
      seq,
      at: 1_000 + seq,
      actor,
      action: "key.created",
      target: seq % 4 === 0 ? null : `k${seq}`,
      details,
      hash: "",
    }
    const isRemoval = removed !== undefined && seq === count
    const pruned = {
      actor: textToActor("system"),
      action: "audit.pruned",
      details: { up_to: base.seq, hash: base.hash },
    }
    const written: AuditEntry = isRemoval ? { ...entry, ...pruned, actor: { ...pruned.actor, address: null } } : entry
    const hash = hashText(encodeAuditEntry(entries.at(-1)?.hash ?? base.hash, toStoredAuditEntry(written)))
    entries.push({ ...written, hash })
  }
  const head = { seq: count, hash: entries.at(-1)?.hash ?? base.hash }
  return [{ type: "audit", version: 1, tenant, base, head }, ...entries].map((line) => JSON.stringify(line))
}

const FILE = createFile(9)
const HEAD = { seq: 9, hash: JSON.parse(FILE[0] ?? "").head.hash }

test("[AL12] an unchanged file is verified, with or without a saved head", async () => {
  expect(await verifyAuditFile(FILE)).toMatchObject({ ok: true, entries: 9 })
  expect(await verifyAuditFile(FILE, HEAD)).toMatchObject({ ok: true })
  const noted = { seq: 4, hash: JSON.parse(FILE[4] ?? "").hash }
  expect(await verifyAuditFile(FILE, noted)).toMatchObject({ ok: true })
  expect(await verifyAuditFile(createFile(0))).toMatchObject({ ok: true, entries: 0 })
  expect(await verifyAuditFile(FILE, { ...noted, hash: "0".repeat(64) })).toMatchObject({ ok: false })
  expect(await verifyAuditFile(createFile(3), HEAD)).toMatchObject({ ok: false })
})

test("[AL12] a missing, moved or repeated line and another tenant's first line are detected", async () => {
  const removeLine = (index: number): string[] => FILE.filter((_line, n) => n !== index)
  expect(await verifyAuditFile(removeLine(0))).toMatchObject({ ok: false, line: 1 })
  expect(await verifyAuditFile(removeLine(5))).toEqual({ ok: false, line: 6, because: "entry 5 is missing" })
  expect(await verifyAuditFile(removeLine(9))).toEqual({ ok: false, line: 10, because: "entry 9 is missing" })
  expect(await verifyAuditFile(FILE.toSpliced(5, 2, FILE[6] ?? "", FILE[5] ?? ""))).toMatchObject({
    ok: false,
    line: 6,
  })
  expect(await verifyAuditFile([...FILE, FILE[9] ?? ""])).toMatchObject({ ok: false, line: 11 })
  expect(await verifyAuditFile(createFile(9, "other").with(0, FILE[0] ?? ""))).toMatchObject({ ok: false, line: 2 })
  expect(await verifyAuditFile([])).toMatchObject({ ok: false, line: 1 })
})

test("[AL12] a missing beginning is detected, unless an entry records that the server removed it", async () => {
  const [header, third] = [JSON.parse(FILE[0] ?? ""), JSON.parse(FILE[3] ?? "")]
  const cut = { ...header, base: { seq: 3, hash: third.hash } }
  const because = "no entry says that the entries up to 3 were removed"
  const lines = [JSON.stringify(cut), ...FILE.slice(4)]
  expect(await verifyAuditFile(lines)).toEqual({ ok: false, line: 2, because })
  expect(await verifyAuditFile(lines, HEAD)).toMatchObject({ ok: false, because })
  const removed = { seq: 3, hash: third.hash }
  const pruned = createFile(9, "acme", removed)
  expect(await verifyAuditFile(pruned)).toMatchObject({ ok: true, entries: 6 })
  // Here, the entry records a different beginning.
  const fifth = JSON.parse(pruned[2] ?? "")
  const later = { ...JSON.parse(pruned[0] ?? ""), base: { seq: fifth.seq, hash: fifth.hash } }
  expect(await verifyAuditFile([JSON.stringify(later), ...pruned.slice(3)])).toMatchObject({ ok: false, line: 2 })
})

test("[AL12] a single changed character in an entry is detected", async () => {
  await assertPropertyAsync(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 9 }),
      fc.nat(),
      fc.integer({ min: 0x20, max: 0x7e }),
      async (n, at, code) => {
        const line = FILE[n] ?? ""
        const index = at % line.length
        const changed = line.slice(0, index) + String.fromCharCode(code) + line.slice(index + 1)
        expect((await verifyAuditFile(FILE.with(n, changed))).ok).toBe(changed === line)
      },
    ),
    5_000,
  )
})

test("[AL12] the command prints the bad line, and its exit code states whether there is one", () => {
  const folder = mkdtempSync(join(tmpdir(), "cuecard-audit-"))
  try {
    const runCommand = (lines: readonly string[]): string => {
      const path = join(folder, "audit.jsonl")
      writeFileSync(path, `${lines.join("\n")}\n`)
      try {
        return execFileSync(process.execPath, ["scripts/audit.ts", "verify", path], { encoding: "utf8", stdio: "pipe" })
      } catch (error) {
        return `${(error as { status: number }).status} ${(error as { stderr: string }).stderr}`
      }
    }
    expect(runCommand(FILE)).toBe(`ok: 9 entries of acme, head 9.${HEAD.hash}.\n`)
    expect(runCommand(FILE.with(3, (FILE[3] ?? "").replace("key.created", "key.revoked")))).toMatch(
      /^1 .*audit\.jsonl:4: entry 3 was changed\n$/,
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test("[AL1] an actor survives the conversion to text and back", () => {
  for (const text of ["user:ada", "key:a1", "operator", "system", "anonymous"]) {
    expect(actorToText(textToActor(text))).toBe(text)
  }
})
