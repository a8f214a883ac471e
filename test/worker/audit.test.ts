/** audit.test.ts: tests the chain and the limits of a tenant's audit log, through the whole Worker. */

import { env, runInDurableObject, SELF } from "cloudflare:test"
import fc from "fast-check"
import { nanoid } from "nanoid"
import { afterEach, describe, expect, test, vi } from "vitest"
import type { AuditEntry, AuditPage } from "../../shared/protocol/audit-entry.ts"
import { issueToken } from "../../worker/auth/verify-token.ts"
import { type Actor, SYSTEM_ACTOR } from "../../worker/platform/rpc/actor.ts"
import type { Role } from "../../worker/platform/rpc/claims.ts"
import { AUDIT_PAGE_ROWS } from "../../worker/settings/audit-event.ts"
import { checkAuditRows } from "../../worker/tenant/audit-check.ts"
import {
  AuditRows,
  MAX_FAILURES_PER_DAY,
  MAX_FAILURES_PER_MINUTE,
  PRUNED_ROWS,
} from "../../worker/tenant/rows/audit-rows.ts"
import type { Tenant } from "../../worker/tenant/tenant-object.ts"
import { assertPropertyAsync } from "../support/seeded.ts"
import { call, HOST, nowSeconds, refusal, SECRET, tablesOf } from "./http.ts"

afterEach(() => {
  vi.useRealTimers()
})

function tokenAs(tenant: string, role: Role = "owner", user = "root"): Promise<string> {
  const issued = Date.now() / 1000
  return issueToken({ tenant, user, expires: nowSeconds() + 600, token: nanoid(), issued, role }, SECRET)
}

const tenantOf = (tenant: string) => env.TENANT.getByName(tenant)
const ada: Actor = { kind: "user", id: "ada", address: "203.0.113.0/24" }

/** Adds `count` entries of several kinds to a tenant's log. */
async function fillLog(tenant: string, count: number): Promise<void> {
  await runInDurableObject(tenantOf(tenant), (object: Tenant) => {
    for (let n = 1; n <= count; n += 1) {
      const details = n % 3 === 0 ? { n, text: `t${n}`, flag: true, none: null } : undefined
      const actor = n % 2 === 0 ? SYSTEM_ACTOR : ada
      object.recordEvent(actor, {
        action: `thing.${n % 4 === 0 ? "removed" : "added"}`,
        target: `x${n}`,
        ...(details && { details }),
      })
    }
  })
}

const verifyLog = (token: string, body: unknown = {}) =>
  call("/v1/audit/verify", { method: "POST", token, body: JSON.stringify(body) })
const readPage = async (token: string, query = ""): Promise<AuditPage> =>
  (await call(`/v1/audit${query}`, { token })).json
const downloadLog = (token: string, address: string): Promise<Response> =>
  SELF.fetch(`${HOST}/v1/audit/export`, { headers: { authorization: `Bearer ${token}`, "cf-connecting-ip": address } })
const execSql = (tenant: string, query: string, ...bindings: SqlStorageValue[]) =>
  runInDurableObject(tenantOf(tenant), (_object, { storage: { sql } }) => sql.exec(query, ...bindings).toArray())

async function hashText(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("")
}

describe("the chain", () => {
  test("[AL1] an entry contains the hash of the previous entry, which anyone can compute from the API's responses", async () => {
    await fillLog("al1", 4)
    const { entries, head } = await readPage(await tokenAs("al1"))
    let hash = await hashText(JSON.stringify(["cuecard audit 1", "al1"]))
    for (const { seq, at, actor, action, target, details, hash: own } of entries.toReversed()) {
      const by = actor.id === "" ? actor.kind : `${actor.kind}:${actor.id}`
      const stored = details === null ? null : JSON.stringify(details)
      hash = await hashText(JSON.stringify([hash, seq, at, by, actor.address, action, target, stored]))
      expect(own).toBe(hash)
    }
    expect(head).toEqual({ seq: 4, hash })
    expect(entries[1]).toEqual({
      seq: 3,
      at: expect.any(Number),
      actor: { kind: "user", id: "ada", address: "203.0.113.0/24" },
      action: "thing.added",
      target: "x3",
      details: { n: 3, text: "t3", flag: true, none: null },
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
  })

  test("[AL1] two tenants' chains differ from the first entry on", async () => {
    for (const tenant of ["al1b", "al1c"]) {
      await runInDurableObject(tenantOf(tenant), (_object: Tenant, { storage: { sql } }) => {
        const audit = new AuditRows(sql, tenant)
        sql.exec("SELECT 1")
        expect(audit.start.seq).toBe(0)
      })
    }
    const starts = await Promise.all(
      ["al1b", "al1c"].map(async (tenant) => (await tenantOf(tenant).listAudit({}, 1)).head),
    )
    expect(starts[0]?.hash).not.toBe(starts[1]?.hash)
  })

  test("[AL1] text is stored as it was hashed, whatever characters it contains", async () => {
    const texts = ["\ud800", "a\0b", "\u2028", "é\u0301", "😀".repeat(400), '"\\', "\u202e"]
    await runInDurableObject(tenantOf("al1d"), (object: Tenant) => {
      for (const text of texts)
        object.recordEvent(ada, { action: "a.b", target: text, details: { text, __proto__: null } })
    })
    const token = await tokenAs("al1d")
    expect((await verifyLog(token)).json).toMatchObject({ ok: true, rows: texts.length })
    for (const { target, details } of (await readPage(token)).entries) {
      expect(target?.length).toBeLessThanOrEqual(200)
      expect(String(details?.["text"]).length).toBeLessThanOrEqual(500)
    }
  })
})

describe("verify", () => {
  test("[AL2] an unchanged log is verified up to its head; so is an empty log, for which nothing is stored", async () => {
    await fillLog("al2", 25)
    const token = await tokenAs("al2")
    const { head } = await readPage(token)
    expect((await verifyLog(token)).json).toEqual({ ok: true, rows: 25, first_bad: null, next: null, head })
    const empty = await tokenAs("al2none")
    expect((await verifyLog(empty)).json).toMatchObject({ ok: true, rows: 0, head: { seq: 0 } })
    expect((await readPage(empty)).entries).toEqual([])
    expect(await tablesOf(tenantOf("al2none"))).toEqual([])
  })

  /** Kinds of tampering with a log of 12 entries, each with the number of the entry to report as the first bad one. */
  const TAMPERINGS: readonly (readonly [name: string, sql: string, firstBad: number])[] = [
    ["a later time", "UPDATE audit SET at = at + 1 WHERE seq = 5", 5],
    ["a time with a fraction", "UPDATE audit SET at = at + 0.5 WHERE seq = 5", 5],
    ["another actor", "UPDATE audit SET actor = 'user:adb' WHERE seq = 5", 5],
    ["no actor", "UPDATE audit SET actor = '' WHERE seq = 5", 5],
    ["another address", "UPDATE audit SET address = '203.0.114.0/24' WHERE seq = 5", 5],
    ["no address", "UPDATE audit SET address = NULL WHERE seq = 5", 5],
    ["another action", "UPDATE audit SET action = 'thing.addee' WHERE seq = 5", 5],
    ["another target", "UPDATE audit SET target = 'x6' WHERE seq = 5", 5],
    ["no target", "UPDATE audit SET target = NULL WHERE seq = 5", 5],
    ["another detail", "UPDATE audit SET details = replace(details, 't6', 't7') WHERE seq = 6", 6],
    ["a space in the details", "UPDATE audit SET details = details || ' ' WHERE seq = 6", 6],
    ["details as bytes", "UPDATE audit SET details = CAST(details AS BLOB) WHERE seq = 6", 6],
    ["no details", "UPDATE audit SET details = NULL WHERE seq = 6", 6],
    ["added details", "UPDATE audit SET details = '{}' WHERE seq = 5", 5],
    ["another hash", "UPDATE audit SET hash = replace(hash, substr(hash, 1, 1), 'x') WHERE seq = 5", 5],
    ["a removed entry", "DELETE FROM audit WHERE seq = 5", 5],
    ["a removed first entry", "DELETE FROM audit WHERE seq = 1", 1],
    ["a removed last entry", "DELETE FROM audit WHERE seq = 12", 12],
    ["a removed tail", "DELETE FROM audit WHERE seq > 7", 8],
    ["the removal of all entries", "DELETE FROM audit", 1],
    [
      "a removed last entry and a head adjusted to it",
      "DELETE FROM audit WHERE seq = 12; UPDATE audit_head SET seq = 11",
      11,
    ],
    ["an earlier head", "UPDATE audit_head SET seq = 11, hash = (SELECT hash FROM audit WHERE seq = 11)", 12],
    ["no head", "DELETE FROM audit_head", 1],
    [
      "two swapped entries",
      "UPDATE audit SET seq = CASE seq WHEN 5 THEN -6 ELSE -5 END WHERE seq IN (5, 6); UPDATE audit SET seq = -seq WHERE seq < 0",
      5,
    ],
    [
      "a duplicate entry",
      "INSERT INTO audit SELECT 13, at, actor, address, action, target, details, hash FROM audit WHERE seq = 12",
      13,
    ],
    [
      "removed first entries and a base adjusted to them",
      "UPDATE audit_head SET base_seq = 3, base_hash = (SELECT hash FROM audit WHERE seq = 3); DELETE FROM audit WHERE seq <= 3",
      4,
    ],
  ]

  test.each(TAMPERINGS)("[AL2] detects %s", async (name, sql, firstBad) => {
    const tenant = `al2-${name.replaceAll(" ", "-")}`
    await fillLog(tenant, 12)
    const token = await tokenAs(tenant)
    expect((await verifyLog(token)).json.ok).toBe(true)
    await execSql(tenant, sql)
    expect((await verifyLog(token)).json).toMatchObject({ ok: false, first_bad: firstBad, next: null })
  })

  test("[AL2] detects a single changed character in any column of any entry", async () => {
    await fillLog("al2any", 12)
    const columns = ["actor", "address", "action", "target", "details", "hash"]
    await runInDurableObject(tenantOf("al2any"), async (_object: Tenant, { storage }) => {
      const audit = new AuditRows(storage.sql, "al2any")
      const rows = storage.sql.exec("SELECT * FROM audit ORDER BY seq").toArray()
      await assertPropertyAsync(
        fc.asyncProperty(
          fc.nat(11),
          fc.constantFrom(...columns),
          fc.nat(),
          fc.integer({ min: 1, max: 0x7e }),
          async (n, column, at, by) => {
            const before = rows[n]?.[column]
            if (typeof before !== "string") return
            const index = at % before.length
            const other = String.fromCharCode((before.charCodeAt(index) + by) % 0x7f)
            const after = before.slice(0, index) + other + before.slice(index + 1)
            if (after === before) return
            storage.sql.exec(`UPDATE audit SET ${column} = ? WHERE seq = ?`, after, n + 1)
            const { firstBad } = checkAuditRows(audit, null, null, 100)
            storage.sql.exec(`UPDATE audit SET ${column} = ? WHERE seq = ?`, before, n + 1)
            expect(firstBad).toBe(n + 1)
          },
        ),
        2_000,
      )
      expect(checkAuditRows(audit, null, null, 100)).toMatchObject({ firstBad: null, rows: 12 })
    })
  })

  test("[AL3] a head that was noted earlier is found in an unchanged log, and reveals a rewritten log", async () => {
    await fillLog("al3", 8)
    const token = await tokenAs("al3")
    const { head } = await readPage(token)
    await fillLog("al3", 3)
    expect((await verifyLog(token, { known: head })).json).toMatchObject({ ok: true, rows: 11 })
    // Someone with access to the storage replaces the log with a shorter one whose chain is valid.
    await execSql("al3", "DELETE FROM audit; DELETE FROM audit_head")
    await fillLog("al3", 5)
    expect((await verifyLog(token)).json.ok).toBe(true)
    expect((await verifyLog(token, { known: head })).json).toMatchObject({ ok: false, first_bad: 6 })
    await fillLog("al3", 7)
    expect((await verifyLog(token, { known: head })).json).toMatchObject({ ok: false, first_bad: 8 })
    for (const body of [{ known: {} }, { known: { seq: -1, hash: "a".repeat(64) } }, { after: "1" }, { from: 1 }])
      expect(await verifyLog(token, body)).toEqual(refusal(400, "field_invalid"))
  })

  test("[AL4] a long log is verified in several requests, and a bad entry is found in a later one", async () => {
    await fillLog("al4", 20_010)
    const token = await tokenAs("al4")
    const first = (await verifyLog(token)).json
    expect(first).toMatchObject({ ok: true, rows: 20_000, next: expect.stringMatching(/^20000\.[0-9a-f]{64}$/) })
    expect((await verifyLog(token, { after: first.next })).json).toMatchObject({ ok: true, rows: 10, next: null })
    await execSql("al4", "UPDATE audit SET target = 'y' WHERE seq = 20003")
    expect((await verifyLog(token, { after: first.next })).json).toMatchObject({
      ok: false,
      first_bad: 20_003,
      next: null,
    })
    await execSql("al4", "UPDATE audit SET hash = substr(hash, 2) || substr(hash, 1, 1) WHERE seq = 20000")
    expect((await verifyLog(token, { after: first.next })).json).toMatchObject({ ok: false, first_bad: 20_000 })
  })
})

describe("reading", () => {
  test("[AL5] pages return every entry once, newest first, even while entries are added; filters narrow the result", async () => {
    await fillLog("al5", 2 * AUDIT_PAGE_ROWS + 6)
    const token = await tokenAs("al5")
    const seen: AuditEntry[] = []
    let query = ""
    for (let pages = 0; pages < 9; pages += 1) {
      const { entries, next } = await readPage(token, query)
      seen.push(...entries)
      await fillLog("al5", 1)
      if (next === null) break
      query = `?before=${next}`
    }
    expect(seen.map(({ seq }) => seq)).toEqual(Array.from({ length: 206 }, (_, n) => 206 - n))
    const removed = await readPage(token, "?action=thing.removed&before=207")
    expect(removed.entries.map(({ seq }) => seq)).toEqual(Array.from({ length: 51 }, (_, n) => 204 - 4 * n))
    expect((await readPage(token, "?actor=user:ada&before=6")).entries.map(({ seq }) => seq)).toEqual([5, 3, 1])
    const both = await readPage(token, "?actor=system&action=thing.removed&before=9")
    expect(both).toMatchObject({ entries: [{ seq: 8 }, { seq: 4 }], next: null })
    expect((await readPage(token, "?actor=user:nobody")).entries).toEqual([])
    for (const bad of ["before=0", "before=x", "action=x", "actor=a:b:c", "actor=A", `actor=user:${"a".repeat(200)}`])
      expect(await call(`/v1/audit?${bad}`, { token })).toEqual(refusal(400, "field_invalid"))
  })

  test("[AL5] a page reads only the rows that it returns, even with a filter; with two filters it reads a bounded number", async () => {
    await fillLog("al5b", 3_000)
    const rowsRead = await runInDurableObject(tenantOf("al5b"), (_object: Tenant, { storage: { sql } }) => {
      let read = 0
      const counting = {
        exec: (...query: Parameters<SqlStorage["exec"]>) => {
          const cursor = sql.exec(...query)
          const rows = cursor.toArray()
          read += cursor.rowsRead
          return { toArray: () => rows }
        },
      } as unknown as SqlStorage
      const audit = new AuditRows(counting, "al5b")
      return [
        {},
        { before: 200 },
        { actor: "user:ada" },
        { action: "thing.removed" },
        { actor: "system", action: "no.such" },
      ].map((filter) => {
        read = 0
        audit.list(filter, AUDIT_PAGE_ROWS)
        return read
      })
    })
    expect(Math.max(...rowsRead.slice(0, 4))).toBeLessThanOrEqual(2 * AUDIT_PAGE_ROWS + 5)
    expect(rowsRead[4]).toBeLessThanOrEqual(2_005)
  })

  test("[AL7] the export begins with a line that names the tenant, contains every entry in order, and ends with its own entry", async () => {
    await fillLog("al7", 1_203)
    const token = await tokenAs("al7", "admin", "ann")
    const file = await downloadLog(token, "2001:db8:7:8::9")
    expect(file.headers.get("content-disposition")).toBe('attachment; filename="al7-audit.jsonl"')
    const [header, ...entries] = (await file.text())
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line))
    expect(header).toMatchObject({ type: "audit", version: 1, tenant: "al7", base: { seq: 0 }, head: { seq: 1_204 } })
    expect(entries.map(({ seq }: AuditEntry) => seq)).toEqual(Array.from({ length: 1_204 }, (_, n) => n + 1))
    expect(entries.at(-1)).toMatchObject({
      action: "audit.exported",
      actor: { kind: "user", id: "ann", address: "2001:db8:7::/48" },
      hash: header.head.hash,
    })
  })
})

describe("limits", () => {
  test("[AL6] the first sixty failures in a minute get an entry each, and an entry in a later minute counts the others", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: 60_000 * 30_000_000 + 5 })
    const tenant = tenantOf("al6")
    const failure = { action: "signin.failed", details: { code: "state_wrong" } }
    const anonymous: Actor = { kind: "anonymous", id: "", address: null }
    await runInDurableObject(tenant, (object: Tenant) => {
      // This stores nothing, because nobody uses the tenant yet.
      object.recordFailure(anonymous, failure)
      // The limit doesn't apply to other entries.
      object.recordEvent(ada, { action: "thing.added" })
      for (let n = 0; n < 500; n += 1) object.recordFailure(anonymous, failure)
    })
    const token = await tokenAs("al6")
    expect((await readPage(token)).head.seq).toBe(MAX_FAILURES_PER_MINUTE + 1)
    vi.setSystemTime(60_000 * 30_000_001)
    // The log contains the number of omitted failures even if nothing else happens.
    expect((await readPage(token)).entries[0]).toMatchObject({ action: "failures.omitted", details: { count: 440 } })
    await tenant.recordFailure(anonymous, failure)
    const { entries, head } = await readPage(token)
    expect(head.seq).toBe(MAX_FAILURES_PER_MINUTE + 3)
    expect(entries[1]).toMatchObject({
      actor: { kind: "system" },
      action: "failures.omitted",
      details: { count: 440, minute: 30_000_000 },
    })
    expect((await verifyLog(token)).json).toMatchObject({ ok: true, rows: 63 })
  })

  test("[AL6] the first 250 failures in a day get an entry each, and an entry on a later day counts the others", async () => {
    const tenant = "al6day"
    await fillLog(tenant, 1)
    const anonymous: Actor = { kind: "anonymous", id: "", address: null }
    const [day, minute] = [24 * 60 * 60_000, 60_000]
    await runInDurableObject(tenantOf(tenant), (_object: Tenant, { storage: { sql } }) => {
      const audit = new AuditRows(sql, tenant)
      const failAt = (at: number) => audit.appendFailure(anonymous, { action: "sign_in.failed" }, at)
      for (let at = 0; at < day; at += minute) for (let n = 0; n < 61; n += 1) failAt(20_000 * day + at)
      // There are 250 failures, 4 entries that each count a minute's omitted failures, and the entry from `fillLog`.
      expect(audit.readHead().seq).toBe(1 + MAX_FAILURES_PER_DAY + 4)
      audit.append(ada, { action: "thing.added" }, 20_001 * day - 1)
      failAt(20_001 * day)
      const [last, omitted, added] = audit.list({}, 3).entries
      expect([last?.action, omitted?.action, added?.action]).toEqual([
        "sign_in.failed",
        "failures.omitted",
        "thing.added",
      ])
      const counted = audit.list({ action: "failures.omitted" }, 9).entries
      const sum = counted.reduce((count, { details }) => count + Number(details?.["count"]), 0)
      expect(sum + MAX_FAILURES_PER_DAY).toBe(61 * 24 * 60)
      expect(checkAuditRows(audit, null, null, 9_999)).toMatchObject({ firstBad: null, isDone: true })
    })
  })

  test("[AL8] a log that is too long drops its oldest entries, records the removal, and can still be verified", async () => {
    await fillLog("al8", 1)
    await runInDurableObject(tenantOf("al8"), (_object: Tenant, { storage: { sql } }) => {
      const audit = new AuditRows(sql, "al8", 2_000)
      for (let n = 0; n < 2_998; n += 1) audit.append(ada, { action: "thing.added" }, n)
      expect(audit.readBase().seq).toBe(0)
      audit.append(ada, { action: "thing.added" }, 3_000)
      expect(audit.readBase().seq).toBe(PRUNED_ROWS)
      expect(sql.exec("SELECT count(*) AS n, min(seq) AS first FROM audit").one()).toEqual({ n: 2_001, first: 1_001 })
      expect(audit.list({}, 1).entries).toMatchObject([
        { seq: 3_001, action: "audit.pruned", details: { up_to: 1_000 } },
      ])
      expect(checkAuditRows(audit, null, null, 9_999)).toMatchObject({ firstBad: null, rows: 2_001, isDone: true })
      for (let n = 0; n < 5_000; n += 1) audit.append(ada, { action: "thing.added" }, n)
      expect(Number(sql.exec("SELECT count(*) AS n FROM audit").one()["n"])).toBeLessThanOrEqual(3_000)
      expect(checkAuditRows(audit, null, null, 9_999)).toMatchObject({ firstBad: null, isDone: true })
      sql.exec("DELETE FROM audit WHERE seq = (SELECT min(seq) FROM audit)")
      expect(checkAuditRows(audit, null, null, 9_999).firstBad).toBe(audit.readBase().seq + 1)
    })
  })
})
