/** search.test.ts: tests search across a user's conversations, and within one conversation. */

import { env, evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import type { MessageHitPage, SearchHit, SearchPage } from "../../shared/protocol/http-body.ts"
import { call, makeSession, refusal, tablesOf, tokenOf } from "./http.ts"
import { connect, type TestClient } from "../support/socket.ts"
import { toJsonl } from "./import-file.ts"
import { askQuestion } from "./tenant-transfer.ts"

async function search(token: string, query: string): Promise<SearchPage> {
  const found = await call(`/v1/search?${query}`, { token })
  expect(found.status, found.text).toBe(200)
  return found.json
}

async function find(token: string, text: string): Promise<readonly SearchHit[]> {
  return (await search(token, `q=${encodeURIComponent(text)}`)).hits
}

/** Describes a hit by its role and snippet. */
function describeHit({ role, snippet }: SearchHit): string {
  return `${role}: ${snippet.map(({ text, hit }) => (hit ? `[${text}]` : text)).join("")}`
}

async function findTexts(token: string, text: string): Promise<string[]> {
  return (await find(token, text)).map(describeHit)
}

const claimsOf = (tenant: string, user: string) => ({ tenant, user, expires: 4_000_000_000, token: null, issued: 0 })

/** Runs the directory's alarm until nothing is left to fetch. */
async function fetchAll(directory: DurableObjectStub): Promise<void> {
  for (let i = 0; i < 20 && (await runDurableObjectAlarm(directory)); i++);
}

async function send(client: TestClient, id: string, content: string) {
  client.say({ type: "send", id, content })
  return await client.untilEnd(id)
}

describe("search across all conversations", () => {
  test("[FT1] [FT2] [FT34] finds words in questions and answers, newest first, lists titles before them, and marks the words found", async () => {
    const token = await tokenOf("ft1", "ada")
    const [one, two] = [await makeSession(token), await makeSession(token, "Weather notes")]
    await askQuestion(one, token, "/say The weather in Oslo is fine.")
    await askQuestion(two, token, "/say Nothing about rain")
    await askQuestion(two, token, "/say more weather here")
    await expect.poll(() => findTexts(token, "weather")).toHaveLength(4)
    expect(await findTexts(token, "weather")).toEqual([
      "title: /say The [weather] in Oslo is fine.",
      "title: [Weather] notes",
      "user: /say more [weather] here",
      "user: /say The [weather] in Oslo is fine.",
    ])
    const [, , hit] = await find(token, "weather")
    expect(hit).toMatchObject({ session: two, title: "Weather notes", message: expect.any(String) })
    expect(await findTexts(token, "rain weat")).toEqual([])
    expect(await findTexts(token, '"nothing about"')).toEqual(["user: /say [Nothing about] rain"])
  })

  test("[FT34] pages contain each hit once", async () => {
    const token = await tokenOf("ft1b", "ada")
    const id = await makeSession(token)
    for (let n = 0; n < 5; n++) await askQuestion(id, token, `/say pebble${n} stone`)
    await expect.poll(async () => (await search(token, "q=stone&in=messages")).hits.length).toBe(5)
    const found: string[] = []
    for (let after: string | null = ""; after !== null; ) {
      const page: SearchPage = await search(
        token,
        `q=stone&in=messages&limit=2${after === "" ? "" : `&after=${after}`}`,
      )
      expect(page.hits.length).toBeLessThanOrEqual(2)
      found.push(...page.hits.map(describeHit))
      after = page.next
    }
    expect(found).toEqual([4, 3, 2, 1, 0].map((n) => `user: /say pebble${n} [stone]`))
    expect((await search(token, "q=pebble0&in=titles")).hits.map(describeHit)).toEqual(["title: /say [pebble0] stone"])
  })

  test("[FT2] finds Chinese, Japanese, Thai, Arabic and accented text by parts of it", async () => {
    const token = await tokenOf("ft2", "ada")
    const id = await makeSession(token, "x")
    await askQuestion(id, token, "/say 明日の東京の天気は晴れ、我喜欢北京烤鸭、ภาษาไทย, الطَّقس جميل, Ça va à Zürich")
    await expect.poll(() => find(token, "東京")).toHaveLength(1)
    for (const text of ["天気", "北京烤鸭", "烤", "ภาษา", "الطقس", "zurich", "ca VA", "züri"])
      expect(await find(token, text), text).toHaveLength(1)
    for (const text of ["京東", "烤北", "zurch"]) expect(await find(token, text), text).toEqual([])
  })

  test("[FT34] [FT35] refuses a query without words, an invalid limit and a query that is too long, and treats what looks like syntax as text", async () => {
    const token = await tokenOf("ft2b", "ada")
    await makeSession(token, "one OR two")
    for (const q of ["", "%20", "%22%22", "a".repeat(201), "a%20".repeat(41)])
      expect(await call(`/v1/search?q=${q}`, { token })).toEqual(refusal(400, "field_invalid"))
    for (const rest of ["limit=0", "limit=51", "after=x", "in=all2"])
      expect(await call(`/v1/search?q=a&${rest}`, { token })).toEqual(refusal(400, "field_invalid"))
    expect(await findTexts(token, "OR")).toEqual(["title: one [OR] two"])
    for (const q of ['"', "a AND", "title:one", "NEAR(a", "*", "^one", "{title}:x", "a + b", "') --"])
      expect((await call(`/v1/search?q=${encodeURIComponent(`${q} zz`)}`, { token })).status).toBe(200)
  })

  test("[FT4] after an edit, a switch of versions and a deletion, only what is shown is found", async () => {
    const [token, claims] = [await tokenOf("ft4", "ada"), claimsOf("ft4", "ada")]
    const id = await makeSession(token, "x")
    const client = await connect(id, claims)
    await send(client, "q0", "/say basalt")
    await send(client, "q1", "/say marble")
    await send(client, "q2", "/say later")
    await expect.poll(() => find(token, "later")).toHaveLength(1)
    client.say({ type: "edit", id: "e1", message: "q1", content: "/say slate" })
    await client.untilTrue((frame) => frame.type === "ack" && frame.id === "e1")
    await expect.poll(() => find(token, "slate")).toHaveLength(1)
    for (const text of ["marble", "later"]) expect(await find(token, text), text).toEqual([])
    expect(await find(token, "basalt")).toHaveLength(1)
    client.say({ type: "switch", id: "s1", message: "e1", version: 1 })
    await client.untilTrue((frame) => frame.type === "ack" && frame.id === "s1")
    await expect.poll(() => find(token, "marble")).toHaveLength(1)
    expect(await find(token, "later")).toHaveLength(1)
    expect(await find(token, "slate")).toEqual([])
    expect((await call(`/v1/sessions/${id}`, { method: "DELETE", token })).status).toBe(204)
    expect(await find(token, "basalt")).toEqual([])
  })

  test("[FT4] a regenerated answer is found instead of the first one", async () => {
    const [token, claims] = [await tokenOf("ft4b", "ada"), claimsOf("ft4b", "ada")]
    const id = await makeSession(token, "x")
    const client = await connect(id, claims)
    const { id: first } = await send(client, "q1", "/say obsidian")
    await expect.poll(() => find(token, "obsidian")).toHaveLength(1)
    client.say({ type: "regenerate", id: "r1", message: first })
    await client.untilTrue((frame) => frame.type === "ack" && frame.id === "r1")
    const answers = () =>
      runInDurableObject(env.DIRECTORY.getByName("ft4b:ada"), (_object, { storage }) =>
        storage.sql
          .exec<{ answer: string }>("SELECT answer FROM search_entry WHERE answer IS NOT NULL")
          .toArray()
          .map(({ answer }) => JSON.parse(answer).id),
      )
    await expect.poll(answers).toEqual(["r1"])
  })

  test("[FT5] an imported conversation and a new title are found, and the old title is not", async () => {
    const token = await tokenOf("ft5", "ada")
    const id = await makeSession(token, "Old heading")
    const records = Array.from({ length: 300 }, (_, i) => ({
      type: "message",
      role: i % 2 === 0 ? "user" : "assistant",
      content: `line ${i} of the sandstone import`,
    }))
    const body = toJsonl(...records)
    const imported = await call(`/v1/sessions/${id}/import`, { method: "POST", token, body })
    expect(imported.status, imported.text).toBeLessThan(300)
    const directory = env.DIRECTORY.getByName("ft5:ada")
    await expect
      .poll(async () => {
        await fetchAll(directory)
        return (await search(token, "q=sandstone&in=messages&limit=50")).pending
      })
      .toBe(false)
    let count = 0
    for (let after: string | null = ""; after !== null; ) {
      const page: SearchPage = await search(token, `q=sandstone&in=messages&limit=50${after && `&after=${after}`}`)
      count += page.hits.length
      after = page.next
    }
    expect(count).toBe(150)
    expect(await findTexts(token, "heading")).toEqual(["title: Old [heading]"])
    await call(`/v1/sessions/${id}`, { method: "PATCH", token, body: '{"title":"New caption"}' })
    expect(await findTexts(token, "heading")).toEqual([])
    expect(await findTexts(token, "caption")).toEqual(["title: New [caption]"])
  })

  test("[FT5] conversations that are older than the search are indexed in the background", async () => {
    const token = await tokenOf("ft5b", "ada")
    const ids = [await makeSession(token, "a"), await makeSession(token, "b")]
    for (const id of ids) for (const n of [1, 2, 3]) await askQuestion(id, token, `/say gneiss ${n}`)
    const directory = env.DIRECTORY.getByName("ft5b:ada")
    await expect.poll(async () => (await search(token, "q=gneiss&in=messages")).hits.length).toBe(6)
    await runInDurableObject(directory, (_object, { storage }) => {
      storage.sql.exec("DROP TABLE search_words; DELETE FROM search_entry; UPDATE sessions SET indexed = 0")
    })
    await evictDurableObject(directory)
    expect(await search(token, "q=gneiss")).toMatchObject({ hits: [], pending: true })
    await fetchAll(directory)
    expect((await search(token, "q=gneiss&in=messages")).hits).toHaveLength(6)
    expect(await findTexts(token, "b")).toEqual(["title: [b]"])
    // A turn in a session that hasn't been indexed yet also causes the earlier turns to be indexed.
    await runInDurableObject(directory, (_object, { storage }) => {
      storage.sql.exec("DROP TABLE search_words; DELETE FROM search_entry; UPDATE sessions SET indexed = 0")
    })
    await evictDurableObject(directory)
    await askQuestion(ids[0] ?? "", token, "/say gneiss 4")
    await expect
      .poll(async () => {
        await fetchAll(directory)
        return (await search(token, "q=gneiss&in=messages")).hits.length
      })
      .toBe(7)
  })

  test("[FT6] another user and another tenant find nothing, not even in a shared conversation; a search stores nothing", async () => {
    const token = await tokenOf("ft6", "ada")
    const id = await makeSession(token, "Secret porphyry")
    await askQuestion(id, token, "/say porphyry")
    await env.TENANT.getByName("ft6").registerUser({ id: "vic" })
    expect((await call(`/v1/sessions/${id}/viewers/vic`, { method: "PUT", token })).status).toBe(200)
    await expect.poll(() => find(token, "porphyry")).toHaveLength(2)
    for (const [tenant, user] of [
      ["ft6", "vic"],
      ["ft6", "eve"],
      ["ft6x", "ada"],
    ] as const)
      expect(await find(await tokenOf(tenant, user), "porphyry")).toEqual([])
    expect(await tablesOf(env.DIRECTORY.getByName("ft6:eve"))).toEqual([])
  })

  test("[FT6] the conversations of asked agents are not searched", async () => {
    const token = await tokenOf("ft6b", "ada")
    const id = await makeSession(token, "x")
    await askQuestion(id, token, "Ask the researcher about the weather in Oslo and Lima")
    await expect.poll(() => find(token, "researcher")).toHaveLength(1)
    const sessions = await runInDurableObject(env.DIRECTORY.getByName("ft6b:ada"), (_object, { storage }) =>
      storage.sql.exec("SELECT DISTINCT session FROM search_entry").toArray(),
    )
    expect(sessions).toEqual([{ session: id }])
  })

  test("[FT6] after an erasure that leaves a tombstone, no word remains, and a new conversation is found", async () => {
    const token = await tokenOf("ft6c", "ada")
    await askQuestion(await makeSession(token), token, "/say travertine")
    await expect.poll(() => find(token, "travertine")).not.toEqual([])
    const directory = env.DIRECTORY.getByName("ft6c:ada")
    await directory.endErasure(true)
    expect((await tablesOf(directory)).filter((name) => name.startsWith("search_words"))).toEqual([])
    await directory.addSession("s1", "Travertine again", 1)
    expect((await directory.search({ text: "travertine", scope: "all", limit: 5, after: null })).ok).toBe(true)
    const found = await directory.search({ text: "travertine", scope: "titles", limit: 5, after: null })
    expect(found).toMatchObject({ ok: true, value: { hits: [{ session: "s1" }] } })
  })

  test("[FT7] a page of results reads the same number of rows with 20,000 messages as with 200", async () => {
    const rowsRead = async (turns: number): Promise<number> => {
      const directory = env.DIRECTORY.getByName(`ft7:u${turns}`)
      await directory.addSession("s", "", 0)
      const texts = Array.from({ length: turns }, (_, i) => ({
        pos: 2 * i + 2,
        question: {
          id: `q${i}`,
          role: "user" as const,
          at: i,
          text: `pumice number ${i} ${i % 2 === 0 ? "even" : "odd"}`,
        },
        answer: { id: `a${i}`, role: "assistant" as const, at: i, text: "An answer." },
      }))
      await runInDurableObject(directory, (object) => {
        for (let at = 0; at < turns; at += 1_000) {
          const slice = texts.slice(at, at + 1_000)
          const search = { tip: slice.at(-1)?.pos ?? 0, after: 2 * at, turns: slice }
          void (object as unknown as typeof directory).setRunning("s", false, undefined, { search })
        }
      })
      return await runInDurableObject(directory, async (object, { storage }) => {
        const counted: SqlStorageCursor<never>[] = []
        const { exec } = storage.sql
        const prototype = Object.getPrototypeOf(storage.sql)
        prototype.exec = function (...args: Parameters<typeof exec>) {
          const cursor = exec.apply(this, args)
          counted.push(cursor as never)
          return cursor
        }
        try {
          const found = await (object as unknown as typeof directory).search({
            text: "pumice even",
            scope: "messages",
            limit: 20,
            after: null,
          })
          expect(found).toMatchObject({ ok: true, value: { hits: { length: 20 } } })
        } finally {
          prototype.exec = exec
        }
        return counted.reduce((sum, { rowsRead: rows }) => sum + rows, 0)
      })
    }
    const [few, many] = [await rowsRead(100), await rowsRead(10_000)]
    expect(many).toBeLessThanOrEqual(few + 10)
    expect(many).toBeLessThan(200)
  })
})

describe("search within one conversation", () => {
  test("[FT8] finds messages of the active path, newest first, in pages, for the owner and for a viewer", async () => {
    const [token, claims] = [await tokenOf("ft8", "ada"), claimsOf("ft8", "ada")]
    const id = await makeSession(token, "x")
    const client = await connect(id, claims)
    for (const n of [1, 2, 3]) await send(client, `q${n}`, `/say dolomite ${n}`)
    client.say({ type: "edit", id: "e3", message: "q3", content: "/say dolomite 33" })
    await client.untilTrue((frame) => frame.type === "ack" && frame.id === "e3")
    const read = async (query: string, as = token, owner = ""): Promise<MessageHitPage> => {
      const found = await call(`/v1/sessions/${id}/search?${query}${owner}`, { token: as })
      expect(found.status, found.text).toBe(200)
      return found.json
    }
    await expect.poll(async () => (await read("q=dolomite")).hits[0]?.role).toBe("assistant")
    const all = await read("q=dolomite")
    expect(all.next).toBeNull()
    expect(all.hits.filter(({ role }) => role === "user").map(({ message }) => message)).toEqual(["e3", "q2", "q1"])
    const paged: string[] = []
    for (let before: string | null = ""; before !== null; ) {
      const page: MessageHitPage = await read(`q=dolomite&limit=2${before && `&before=${before}`}`)
      paged.push(...page.hits.map(({ message }) => message))
      before = page.next
    }
    expect(paged).toEqual(all.hits.map(({ message }) => message))
    await env.TENANT.getByName("ft8").registerUser({ id: "vic" })
    await call(`/v1/sessions/${id}/viewers/vic`, { method: "PUT", token })
    const vic = await tokenOf("ft8", "vic")
    expect((await read("q=dolomite", vic, "&owner=ada")).hits).toHaveLength(all.hits.length)
    expect(await call(`/v1/sessions/${id}/search?q=dolomite`, { token: vic })).toEqual(refusal(404, "session_unknown"))
    for (const query of ["q=", "q=%20", "", "q=a&before=x"])
      expect(await call(`/v1/sessions/${id}/search?${query}`, { token })).toEqual(refusal(400, "field_invalid"))
  })
})
