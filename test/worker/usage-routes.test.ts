/** usage-routes.test.ts: tests that administrators can read usage as JSON and CSV, and set prices. */

import { env, runInDurableObject, SELF } from "cloudflare:test"
import { describe, expect, test, vi } from "vitest"
import type { UsageEntry } from "../../shared/usage/usage-totals.ts"
import { NO_USAGE } from "../../shared/usage/usage-totals.ts"
import { call, HOST, makeSession, refusal } from "./http.ts"
import { say, script } from "./session-helpers.ts"
import { askQuestion, ownerToken, registerUser, roleToken } from "./tenant-transfer.ts"

const RANGE = "from=2026-01-01&to=2026-01-31"

let count = 0
const freshTenant = (): string => `meter${++count}`

function entryOf(change: Partial<UsageEntry>): UsageEntry {
  const key = { day: "2026-01-15", provider: "acme", model: "big", agent: "general" }
  return { ...key, ...NO_USAGE, calls: 1, input: 10, output: 2, cost: 1_500, ...change }
}

async function addUsage(tenant: string, user: string, ...entries: UsageEntry[]): Promise<void> {
  await env.TENANT.getByName(tenant).addUsage(user, { ledger: crypto.randomUUID(), n: 1, entries })
}

async function readUsage(tenant: string, query: string) {
  return await call(`/v1/usage?${query}`, { token: await ownerToken(tenant) })
}

async function readCsv(tenant: string, query: string, accept = "text/csv"): Promise<string> {
  const headers = { authorization: `Bearer ${await ownerToken(tenant)}`, accept }
  const response = await SELF.fetch(`${HOST}/v1/usage?${query}`, { headers })
  expect(response.headers.get("content-type")).toBe("text/csv; charset=utf-8")
  return await response.text()
}

describe("GET /v1/usage", () => {
  test("[MT9] returns totals by day, model, agent and user, and a grand total, without days outside the range", async () => {
    const tenant = freshTenant()
    await registerUser(tenant, "ada")
    await registerUser(tenant, "bob")
    await addUsage(
      tenant,
      "ada",
      entryOf({}),
      entryOf({ day: "2026-01-16", model: "small", cost: 0, unpricedCalls: 1 }),
      entryOf({ day: "2026-02-01" }),
      entryOf({ day: "2025-12-31" }),
    )
    await addUsage(
      tenant,
      "bob",
      entryOf({ agent: "weather", input: 5, cached: 4, cacheWritten: 1, reasoning: 2, retries: 3 }),
    )
    const one = {
      calls: 1,
      unpriced_calls: 0,
      retries: 0,
      input_tokens: 10,
      cached_tokens: 0,
      cache_written_tokens: 0,
      output_tokens: 2,
      reasoning_tokens: 0,
      cost_nano_usd: 1_500,
    }
    const bobs = { ...one, input_tokens: 5, cached_tokens: 4, cache_written_tokens: 1, reasoning_tokens: 2, retries: 3 }
    const unpriced = { ...one, unpriced_calls: 1, cost_nano_usd: null }
    const byDay = await readUsage(tenant, RANGE)
    expect(byDay.json).toEqual({
      from: "2026-01-01",
      to: "2026-01-31",
      by: "day",
      rows: [
        { day: "2026-01-15", ...bobs, calls: 2, input_tokens: 15, output_tokens: 4, cost_nano_usd: 3_000 },
        { day: "2026-01-16", ...unpriced },
      ],
      total: { ...bobs, calls: 3, unpriced_calls: 1, input_tokens: 25, output_tokens: 6, cost_nano_usd: 3_000 },
      next: null,
    })
    const rowsBy = async (by: string) => (await readUsage(tenant, `${RANGE}&by=${by}`)).json.rows
    expect(await rowsBy("agent")).toEqual([
      { agent: "general", ...one, calls: 2, unpriced_calls: 1, input_tokens: 20, output_tokens: 4 },
      { agent: "weather", ...bobs },
    ])
    expect(
      (await rowsBy("model")).map((row: { model: string; provider: string }) => [row.provider, row.model]),
    ).toEqual([
      ["acme", "big"],
      ["acme", "small"],
    ])
    expect(await rowsBy("user")).toEqual([
      { user: "ada", ...one, calls: 2, unpriced_calls: 1, input_tokens: 20, output_tokens: 4 },
      { user: "bob", ...bobs },
    ])
  })

  test.each([
    ["", "from"],
    ["from=2026-01-01", "to"],
    ["from=2026-02-30&to=2026-03-01", "from"],
    ["from=2026-01-01&to=0", "to"],
    ["from=2026-02-01&to=2026-01-31", "to"],
    ["from=2026-01-01&to=2027-01-02", "to"],
    ["from=2026-01-01&to=2026-01-31&by=hour", "by"],
    ["from=2026-01-01&to=2026-01-31&format=xml", "format"],
  ])("[MT9] refuses %s", async (query, field) => {
    expect(await readUsage("meter0", query)).toEqual(refusal(400, "field_invalid", field))
  })

  test("[MT14] [MT23] requests unreported usage from all directories if there are few users, and otherwise only from those on the page", async () => {
    const tenant = freshTenant()
    const token = await roleToken(tenant, "ada", "member")
    await askQuestion(await makeSession(token), token, script([say("one"), { type: "finish", input_tokens: 5 }]))
    const directory = env.DIRECTORY.getByName(`${tenant}:ada`)
    await expect.poll(async () => (await directory.readUsage("1970-01-01", "9999-12-31")).length).toBe(1)
    const today = new Date().toISOString().slice(0, 10)
    const range = `from=${today}&to=${today}`
    const complete = (await readUsage(tenant, range)).json
    expect(complete.total).toMatchObject({ calls: 1, input_tokens: 5 })
    expect(complete).not.toHaveProperty("incomplete")
    // There are too many users to ask all directories, so only the directories of the users on the page are asked.
    const other = freshTenant()
    for (let i = 0; i < 101; i++) await env.TENANT.getByName(other).registerUser({ id: `user${i}` })
    const otherToken = await roleToken(other, "ada", "member")
    await askQuestion(
      await makeSession(otherToken),
      otherToken,
      script([say("one"), { type: "finish", input_tokens: 7 }]),
    )
    await expect
      .poll(async () => (await env.DIRECTORY.getByName(`${other}:ada`).readUsage("1970-01-01", "9999-12-31")).length)
      .toBe(1)
    const partial = (await readUsage(other, range)).json
    expect(partial.total.calls).toBe(0)
    expect(partial.incomplete).toEqual({ turns_per_user: 7 })
    const byUser = (await readUsage(other, `${range}&by=user`)).json
    expect(byUser.rows).toMatchObject([{ user: "ada", input_tokens: 7 }])
    expect(byUser.incomplete).toEqual({ turns_per_user: 7 })
  })

  test("[MT16] [MT23] calls eight directories at a time, and reports that the sums may lack turns if one of them fails", async () => {
    const tenant = freshTenant()
    const users = Array.from({ length: 30 }, (_, i) => `user${i}`)
    for (const id of users) await env.TENANT.getByName(tenant).registerUser({ id })
    const called: string[] = []
    let [running, maxRunning] = [0, 0]
    const flushUsage = async (name: string): Promise<void> => {
      called.push(name)
      running += 1
      maxRunning = Math.max(maxRunning, running)
      await new Promise((done) => setTimeout(done, 1))
      running -= 1
      if (name.endsWith(":user7")) throw new Error("the directory is unavailable")
    }
    const DIRECTORY = {
      getByName: (name: string) =>
        new Proxy(env.DIRECTORY.getByName(name), {
          get: (target, key) => (key === "flushUsage" ? () => flushUsage(name) : Reflect.get(target, key)),
        }),
    }
    const { status, json } = await call(`/v1/usage?${RANGE}`, { token: await ownerToken(tenant), env: { DIRECTORY } })
    expect(status).toBe(200)
    expect(new Set(called)).toEqual(new Set(users.map((user) => `${tenant}:${user}`)))
    expect(maxRunning).toBe(8)
    expect(json.incomplete).toEqual({ turns_per_user: 7 })
  })

  test("[MT14] waits for directories for at most REFRESH_WAIT_MS, and asks them once per REFRESH_PAUSE_MS", async () => {
    const tenant = freshTenant()
    await env.TENANT.getByName(tenant).registerUser({ id: "ada" })
    let calls = 0
    let reportCall = (): void => {}
    const called = new Promise<void>((resolve) => (reportCall = resolve))
    const flushUsage = async (): Promise<void> => {
      calls += 1
      reportCall()
      await new Promise(() => {})
    }
    const DIRECTORY = {
      getByName: (name: string) =>
        new Proxy(env.DIRECTORY.getByName(name), {
          get: (target, key) => (key === "flushUsage" ? flushUsage : Reflect.get(target, key)),
        }),
    }
    const token = await ownerToken(tenant)
    const readPage = async () => await call(`/v1/usage?${RANGE}`, { token, env: { DIRECTORY } })
    try {
      vi.useFakeTimers({ now: Date.now(), toFake: ["Date", "setTimeout", "clearTimeout"] })
      const response = readPage()
      let isAnswered = false
      void response.then(() => (isAnswered = true))
      await called
      await vi.advanceTimersByTimeAsync(2_999)
      expect(isAnswered).toBe(false)
      await vi.advanceTimersByTimeAsync(1)
      expect(await response).toMatchObject({ status: 200, json: { incomplete: { turns_per_user: 7 } } })
      expect(calls).toBe(1)
      vi.setSystemTime(Date.now() + 29_000)
      expect((await readPage()).json.incomplete).toEqual({ turns_per_user: 7 })
      expect(calls).toBe(1)
      vi.setSystemTime(Date.now() + 1_001)
      const next = readPage()
      const advanceAndCount = async (): Promise<number> => {
        await vi.advanceTimersByTimeAsync(3_000)
        return calls
      }
      await expect.poll(advanceAndCount).toBe(2)
      expect((await next).status).toBe(200)
    } finally {
      vi.useRealTimers()
    }
  })

  test("[MT14] the CSV by user has the unreported usage of users after the first page", async () => {
    const tenant = freshTenant()
    for (let i = 0; i < 101; i++) await env.TENANT.getByName(tenant).registerUser({ id: `user${i}` })
    const token = await roleToken(tenant, "zoe", "member")
    await askQuestion(await makeSession(token), token, script([say("one"), { type: "finish", input_tokens: 9 }]))
    const directory = env.DIRECTORY.getByName(`${tenant}:zoe`)
    await expect.poll(async () => (await directory.readUsage("1970-01-01", "9999-12-31")).length).toBe(1)
    const today = new Date().toISOString().slice(0, 10)
    expect(await readCsv(tenant, `from=${today}&to=${today}&by=user`)).toMatch(/\r\nzoe,1,/)
  })

  test("[MT9] returns longer lists in pages, with every user on one of them", async () => {
    const tenant = freshTenant()
    const users = Array.from({ length: 250 }, (_, i) => `user${String(i).padStart(3, "0")}`)
    await runInDurableObject(env.TENANT.getByName(tenant), async (object) => {
      const stub = object as unknown as typeof env.TENANT extends { getByName(name: string): infer T } ? T : never
      for (const id of users) await stub.registerUser({ id, role: "member" })
      for (const [i, id] of users.entries())
        if (i % 3 === 0 || i > 240)
          await stub.addUsage(id, {
            ledger: id,
            n: 1,
            entries: [entryOf({ model: `m${i}` }), ...(i === 0 ? manyModels() : [])],
          })
    })
    const manyPages = async (by: string, key: string) => {
      const [pages, found] = [[] as number[], [] as string[]]
      for (let next: string | null = ""; next !== null; ) {
        const after = next === "" ? "" : `&after=${encodeURIComponent(next)}`
        const page: { rows: Record<string, string>[]; next: string | null } = (
          await readUsage(tenant, `${RANGE}&by=${by}${after}`)
        ).json
        pages.push(page.rows.length)
        found.push(...page.rows.map((row) => row[key] ?? ""))
        next = page.next
      }
      return { pages, found }
    }
    const byUser = await manyPages("user", "user")
    expect(byUser.found).toEqual(users.filter((_, i) => i % 3 === 0 || i > 240))
    expect(byUser.pages).toHaveLength(3)
    const byModel = await manyPages("model", "model")
    expect(byModel.pages).toEqual([500, 100 + byUser.found.length])
    expect(new Set(byModel.found).size).toBe(600 + byUser.found.length)
    const csv = await readCsv(tenant, `${RANGE}&by=user`)
    expect(csv.split("\r\n")).toHaveLength(byUser.found.length + 2)
  })

  test("[MT9] members can't read it, and an unused tenant stays empty", async () => {
    const token = await roleToken("meter0", "ada", "member")
    expect(await call(`/v1/usage?${RANGE}`, { token })).toEqual(refusal(403, "scope_denied"))
    const { total, rows } = (await readUsage("meter-unused", RANGE)).json
    expect({ calls: total.calls, cost: total.cost_nano_usd, rows }).toEqual({ calls: 0, cost: 0, rows: [] })
    await runInDurableObject(env.TENANT.getByName("meter-unused"), (_object, { storage }) => {
      expect(storage.sql.exec("SELECT name FROM sqlite_master WHERE name = 'usage_total'").toArray()).toEqual([])
    })
  })
})

function manyModels(): UsageEntry[] {
  return Array.from({ length: 600 }, (_, i) => entryOf({ model: `many${i}` }))
}

describe("CSV", () => {
  test("[MT10] has the same numbers as JSON, with exact costs and the number of unknown costs", async () => {
    const tenant = freshTenant()
    await addUsage(
      tenant,
      "ada",
      entryOf({ cost: 1_234_567_890_123 }),
      entryOf({ day: "2026-01-16", cost: 0, unpricedCalls: 1 }),
    )
    const head =
      "day,calls,unpriced_calls,retries,input_tokens,cached_tokens,cache_written_tokens,output_tokens,reasoning_tokens,cost_usd"
    const file = [head, "2026-01-15,1,0,0,10,0,0,2,0,1234.567890123", "2026-01-16,1,1,0,10,0,0,2,0,unknown", ""].join(
      "\r\n",
    )
    expect(await readCsv(tenant, RANGE)).toBe(file)
    expect(await readCsv(tenant, `${RANGE}&format=csv`, "*/*")).toBe(file)
  })

  test.each([
    ["=1+1", `"'=1+1"`],
    ["+1", `"'+1"`],
    ["-1", `"'-1"`],
    ["@SUM(A1)", `"'@SUM(A1)"`],
    ['=HYPERLINK("http://x","y")', `"'=HYPERLINK(""http://x"",""y"")"`],
    [" =1", `"' =1"`],
    ["＝1", `"'＝1"`],
    ['a,"b"', `"a,""b"""`],
    ["gpt-5", "gpt-5"],
    ["模型", "模型"],
  ])("[MT10] writes the model %j as %s", async (model, written) => {
    const tenant = freshTenant()
    await addUsage(tenant, "ada", entryOf({ model }))
    const [, line] = (await readCsv(tenant, `${RANGE}&by=model`)).split("\r\n")
    expect(line).toBe(`acme,${written},1,0,0,10,0,0,2,0,0.000001500`)
  })
})

describe("prices", () => {
  const price = { model: "scripted", from: "2026-01-01", input: 2, output: 8 }
  const putPrices = async (tenant: string, prices: unknown) =>
    await call("/v1/prices", { method: "PUT", token: await ownerToken(tenant), body: JSON.stringify({ prices }) })

  test("[MT11] a tenant's own price applies to its next turns", async () => {
    const tenant = freshTenant()
    const stored = { ...price, cached: null, cache_write: null }
    expect(await putPrices(tenant, [price])).toMatchObject({ status: 200, json: { prices: [stored] } })
    const { json } = await call("/v1/prices", { token: await ownerToken(tenant) })
    expect(json.prices).toEqual([stored])
    expect(json.built_in.length).toBeGreaterThan(20)
    const token = await roleToken(tenant, "ada", "member")
    const usage = { type: "finish", input_tokens: 1_000, output_tokens: 10 }
    await askQuestion(await makeSession(token), token, script([say("Yes"), usage]))
    const directory = env.DIRECTORY.getByName(`${tenant}:ada`)
    const readCost = async () => (await directory.readUsage("2020-01-01", "2999-01-01"))[0]?.cost
    await expect.poll(readCost).toBe(1_000 * 2_000 + 10 * 8_000)
    const { entries } = (await call("/v1/audit?action=prices.changed", { token: await ownerToken(tenant) })).json
    expect(entries).toMatchObject([{ action: "prices.changed", details: { entries: 1 } }])
  })

  test.each<[string, unknown]>([
    ["negative", [{ ...price, input: -1 }]],
    ["NaN", [{ ...price, input: null }]],
    ["10^18", [{ ...price, output: 1e18 }]],
    ["text", [{ ...price, output: "1" }]],
    ["two prices from the same day", [price, { ...price, input: 3 }]],
    ["no day", [{ ...price, from: "soon" }]],
    ["a day that doesn't exist", [{ ...price, from: "2026-02-30" }]],
    ["an end before the beginning", [{ ...price, until: "2025-12-31" }]],
    ["an end that is not a day", [{ ...price, until: "never" }]],
    ["a misspelt field", [{ ...price, cahced: 1 }]],
    ["a control character", [{ ...price, model: "a\nb" }]],
    ["no model", [{ ...price, model: "" }]],
    ["too many", Array.from({ length: 201 }, (_, i) => ({ ...price, model: `m${i}` }))],
    ["no list", {}],
  ])("[MT20] refuses %s", async (_name, prices) => {
    expect((await putPrices("meter0", prices)).json).toMatchObject({ code: "field_invalid" })
  })

  test("[MT22] a change is refused if it is based on a list that has changed since", async () => {
    const tenant = freshTenant()
    const changePrice = async (model: string, revision: string) => {
      const body = JSON.stringify({ prices: [{ ...price, model }], revision })
      return await call("/v1/prices", { method: "PUT", token: await ownerToken(tenant), body })
    }
    const readPrices = async () => (await call("/v1/prices", { token: await ownerToken(tenant) })).json
    const { revision } = await readPrices()
    const first = await changePrice("one", revision)
    expect(first.status).toBe(200)
    expect(await changePrice("two", revision)).toEqual(refusal(409, "prices_changed"))
    expect(await readPrices()).toMatchObject({ prices: [{ model: "one" }], revision: first.json.revision })
    expect((await changePrice("two", first.json.revision)).json.prices).toMatchObject([{ model: "two" }])
  })

  test("[MT21] a price can have a last day", async () => {
    const tenant = freshTenant()
    const until = { ...price, until: "2026-01-01" }
    expect((await putPrices(tenant, [until, { ...price, from: "2026-02-01", until: null }])).json.prices).toEqual([
      { ...until, cached: null, cache_write: null },
      { ...price, from: "2026-02-01", cached: null, cache_write: null },
    ])
  })

  test("[MT11] a list may leave days without a price, and 0 is a price", async () => {
    const tenant = freshTenant()
    const prices = [
      { ...price, from: "2999-01-01" },
      { ...price, provider: "other", input: 0, output: 0 },
    ]
    expect((await putPrices(tenant, prices)).status).toBe(200)
    expect(await putPrices(tenant, [])).toMatchObject({ status: 200, json: { prices: [] } })
  })
})
