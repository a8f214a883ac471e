/**
 * user-search.test.ts: tests that users are found by the beginning of their id, their name, or a later word of their
 * name.
 */

import { env, evictDurableObject, runInDurableObject } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import { USER_PAGE_ROWS } from "../../worker/settings/user-change.ts"
import type { Tenant } from "../../worker/tenant/tenant-object.ts"
import { listSearchKeys, toSearchKey } from "../../worker/tenant/rows/user-search-keys.ts"
import { call, refusal } from "./http.ts"
import { tokenOfRole } from "./oidc.ts"

type Found = { readonly users: { readonly id: string }[]; readonly next: string | null }

const tenantOf = (tenant: string) => env.TENANT.getByName(tenant)

async function addUsers(tenant: string, names: Readonly<Record<string, string | null>>): Promise<void> {
  await runInDurableObject(tenantOf(tenant), (object: Tenant) => {
    for (const [id, name] of Object.entries(names)) object.registerUser({ id, name: name ?? undefined })
  })
}

async function searchUsers(tenant: string, q: string, after = "") {
  const query = new URLSearchParams({ q, after })
  return await call(`/v1/users?${query}`, { token: await tokenOfRole(tenant, "admin") })
}

async function findIds(tenant: string, q: string): Promise<string[]> {
  return ((await searchUsers(tenant, q)).json as Found).users.map(({ id }) => id)
}

describe("the search keys of a user", () => {
  test.each([
    ["Ada Lovelace", "ada lovelace"],
    ["  José  O'Brien-Łódź ", "jose o brien lodz"],
    ["GROẞ Straße İstanbul", "gross strasse istanbul"],
    ["Σίσυφος", "σισυφος"],
    ["山田 太郎", "山田 太郎"],
    ["हिन्दी", "हिन्दी"],
    ["شَمْس", "شمس"],
    ["—!", ""],
  ])("[US14] %j becomes %j", (text, key) => {
    expect(toSearchKey(text)).toBe(key.normalize("NFKD"))
  })

  test("[US14] are the lower-case id, and the name from each of its words onwards; a lower-case id needs no key", () => {
    expect(listSearchKeys("ada", null)).toEqual([])
    expect(listSearchKeys("ada", "Ada")).toEqual([])
    expect(listSearchKeys("Team-Ada_1", "Ada de Souza")).toEqual(["team-ada_1", "ada de souza", "de souza", "souza"])
    expect(listSearchKeys("u", "a ".repeat(60)).length).toBeLessThanOrEqual(8)
    for (const key of listSearchKeys("u", "ﷺ".repeat(120))) expect(key.length).toBeLessThanOrEqual(64)
  })
})

describe("the search", () => {
  test("[US14] finds users once, whatever the case and the diacritics, by id, name, or a later word of the name", async () => {
    await addUsers("us14a", {
      ada: "Ada Lovelace",
      "Team-7": null,
      "x-1": "José Łukasz",
      adalbert: null,
      zoe: "Adam Ádám",
      max: "Max Muster",
    })
    expect(await findIds("us14a", "ada")).toEqual(["ada", "zoe", "adalbert"].sort((a, b) => (a < b ? -1 : 1)))
    expect(await findIds("us14a", "LOVE")).toEqual(["ada"])
    expect(await findIds("us14a", " ada  love")).toEqual(["ada"])
    expect(await findIds("us14a", "jose l")).toEqual(["x-1"])
    expect(await findIds("us14a", "łuk")).toEqual(["x-1"])
    expect(await findIds("us14a", "team-7")).toEqual(["Team-7"])
    expect(await findIds("us14a", "Team-")).toEqual(["Team-7"])
    for (const q of ["vela", "ada x", "%", "_", "*", "  ", "-"]) expect(await findIds("us14a", q), q).toEqual([])
    expect((await searchUsers("us14a", "ada")).json.users[0]).toMatchObject({ id: "ada", name: "Ada Lovelace" })
  })

  test("[US14] finds a user only by the current name, and a removed name leaves no keys", async () => {
    await addUsers("us14b", { ada: "Ada Lovelace" })
    const token = await tokenOfRole("us14b", "owner")
    const renameUser = (name: string | null) =>
      call("/v1/users/ada", { method: "PATCH", token, body: JSON.stringify({ name }) })
    expect((await renameUser("Countess Byron")).status).toBe(200)
    expect([await findIds("us14b", "love"), await findIds("us14b", "byron")]).toEqual([[], ["ada"]])
    const countKeys = () =>
      runInDurableObject(tenantOf("us14b"), (_object, { storage: { sql } }) =>
        Number(sql.exec("SELECT count(*) AS n FROM user_keys").one()["n"]),
      )
    expect(await countKeys()).toBe(2)
    expect((await renameUser(null)).status).toBe(200)
    expect(await countKeys()).toBe(0)
  })

  test("[US14] finds users who are older than the search keys soon after the update", async () => {
    const names = Object.fromEntries(Array.from({ length: 1_100 }, (_, n) => [`old-${n}`, `Ada Number${n}`]))
    await addUsers("us14d", names)
    await runInDurableObject(tenantOf("us14d"), (_object, { storage: { sql } }) => {
      sql.exec(
        "DELETE FROM user_keys; DROP TABLE user_key_fill; DROP TABLE theme; DROP TABLE cards; DROP TABLE models; DROP TABLE mcp_servers; DROP TABLE webhook_tools; DROP TABLE agent_secrets; DROP TABLE mcp_connections",
      )
      sql.exec("UPDATE schema_version SET version = version - 8")
      sql.exec("INSERT INTO user_keys (user, key) VALUES ('old-7', 'earlier')")
    })
    await evictDurableObject(tenantOf("us14d"))
    const lastInOrder = "number999"
    await expect.poll(() => findIds("us14d", lastInOrder), { timeout: 10_000 }).toEqual(["old-999"])
    expect([await findIds("us14d", "number0"), await findIds("us14d", "earlier")]).toEqual([["old-0"], []])
    const readState = () =>
      runInDurableObject(tenantOf("us14d"), async (_object, { storage }) => [
        Number(storage.sql.exec("SELECT count(*) AS n FROM user_keys").one()["n"]),
        storage.sql.exec("SELECT * FROM user_key_fill").toArray(),
        await storage.getAlarm(),
      ])
    await expect.poll(readState).toEqual([2_200, [], null])
  })

  test("[US21] is marked as incomplete until all users have keys", async () => {
    await addUsers("us14f", { ada: "Ada Lovelace" })
    expect((await searchUsers("us14f", "love")).json.incomplete).toBeUndefined()
    await runInDurableObject(tenantOf("us14f"), (_object, { storage: { sql } }) => {
      sql.exec("DELETE FROM user_keys; INSERT INTO user_key_fill (after) VALUES ('')")
    })
    expect((await searchUsers("us14f", "love")).json).toEqual({ users: [], next: null, incomplete: true })
    await runInDurableObject(tenantOf("us14f"), (object: Tenant) => object.alarm())
    expect((await searchUsers("us14f", "love")).json).toMatchObject({ users: [{ id: "ada" }] })
    expect((await searchUsers("us14f", "love")).json.incomplete).toBeUndefined()
  })

  test("[US14] a user whose keys an earlier version left behind can register again", async () => {
    await addUsers("us14e", { ada: "Ada Lovelace" })
    await runInDurableObject(tenantOf("us14e"), (_object, { storage: { sql } }) => {
      sql.exec("DELETE FROM users")
    })
    await addUsers("us14e", { ada: "Ada Byron Lovelace" })
    expect([await findIds("us14e", "byron"), await findIds("us14e", "lovelace")]).toEqual([["ada"], ["ada"]])
  })

  test("[US14] [US19] pages return every result once; a `next` that no search returned is field_invalid", async () => {
    const count = 2 * USER_PAGE_ROWS + 5
    const names = Object.fromEntries(Array.from({ length: count }, (_, n) => [`u${n}`, `Anna Andersson ${n}`]))
    await addUsers("us14c", { ...names, other: "Bo" })
    const seen: string[] = []
    for (let [after, pages] = ["", 0] as [string, number]; pages < 20; pages++) {
      const { users, next } = (await searchUsers("us14c", "an", after)).json as Found
      expect(users.length).toBeLessThanOrEqual(USER_PAGE_ROWS)
      seen.push(...users.map(({ id }) => id))
      if (next === null) break
      after = next
    }
    expect(seen.sort()).toEqual(Object.keys(names).sort())
    for (const after of ["x", "!!", "W10", btoa('{"a":1}'), "a".repeat(600)])
      expect(await searchUsers("us14c", "an", after), after).toEqual(refusal(400, "field_invalid"))
    expect(await searchUsers("us14c", "a".repeat(121))).toEqual(refusal(400, "field_invalid"))
  })

  test("[US20] reads as many rows with 100,000 users as with 1,000, for the first, a middle and the last page, and without results", async () => {
    const rowsRead = async (users: number): Promise<number[]> =>
      await runInDurableObject(tenantOf(`us14-${users}`), async (object: Tenant, { storage: { sql } }) => {
        object.registerUser({ id: "u", name: "First User" })
        sql.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${users})
          INSERT INTO users (id, name, role, created)
          SELECT printf('u%08d', i), printf('User Number%d', i), 'member', i FROM n`)
        sql.exec(`INSERT INTO user_keys (user, key)
          SELECT id, lower(name) FROM users WHERE id > 'u' UNION ALL SELECT id, lower(substr(name, 6)) FROM users WHERE id > 'u'`)
        const { searchUsers } = await import("../../worker/tenant/rows/user-search.ts")
        const counts: number[] = []
        const countReads = (text: string, after: string): string => {
          let read = 0
          const counting = {
            exec(query: string, ...bindings: unknown[]) {
              const cursor = sql.exec(query, ...bindings)
              const rows = cursor.toArray()
              read += cursor.rowsRead
              return { toArray: () => rows }
            },
          } as unknown as SqlStorage
          const found = searchUsers(counting, text, after, USER_PAGE_ROWS)
          counts.push(read)
          return found.ok ? (found.value.next ?? "") : ""
        }
        const next = countReads("u", "")
        countReads("u", next)
        const last = btoa(JSON.stringify([`u${String(users - 50).padStart(8, "0")}`, "u"])).replace(/=+$/, "")
        countReads("u", last)
        countReads("user number", "")
        countReads("number", "")
        countReads("nobody", "")
        return counts
      })
    const [few, many] = [await rowsRead(1_000), await rowsRead(100_000)]
    expect(many).toEqual(few)
    expect(Math.max(...many)).toBeLessThan(6 * USER_PAGE_ROWS)
  })
})
