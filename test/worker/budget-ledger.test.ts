/**
 * budget-ledger.test.ts: tests that real objects count the usage of turns under budgets, even if the objects are
 * evicted or killed.
 */

import { env, evictDurableObject, runInDurableObject } from "cloudflare:test"
import { nanoid } from "nanoid"
import { describe, expect, test, vi } from "vitest"
import type { BudgetView } from "../../shared/usage/budget-view.ts"
import { RENEW_TURNS } from "../../shared/usage/user-account.ts"
import { Tenant } from "../../worker/tenant/tenant-object.ts"
import { IS_FULL } from "../support/seeded.ts"
import { call, makeSession, roleToken } from "./http.ts"
import { say, script } from "./session-helpers.ts"
import { askQuestion } from "./tenant-transfer.ts"

const ALL = { from: "1970-01-01", to: "9999-12-31" } as const

const directoryOf = (tenant: string, user: string) => env.DIRECTORY.getByName(`${tenant}:${user}`)
const sessionOf = (tenant: string, id: string) => env.SESSION.getByName(`${tenant}:${id}`)

/** Returns a message whose answer uses the given number of tokens. */
const scriptUsage = (tokens: number): string =>
  script([say("ok"), { type: "finish", input_tokens: tokens - 1, output_tokens: 1 }])

async function setLimit(tenant: string, change: object): Promise<void> {
  const token = await roleToken(tenant, "boss", "owner")
  expect((await call("/v1/budgets", { method: "PUT", token, body: JSON.stringify(change) })).status).toBe(200)
}

async function sendMessage(session: string, token: string, content: string): Promise<number> {
  const body = JSON.stringify({ id: nanoid(), content })
  return (await call(`/v1/sessions/${session}/messages`, { method: "POST", token, body })).status
}

async function readBudgets(token: string): Promise<BudgetView[]> {
  return (await call("/v1/usage/me", { token })).json.budgets
}

async function untilUsed(token: string, used: number): Promise<void> {
  await expect.poll(async () => (await readBudgets(token))[0]?.used, { timeout: 10_000 }).toBe(used)
}

async function sumDirectory(tenant: string, user: string): Promise<number> {
  const entries = await directoryOf(tenant, user).readUsage(ALL.from, ALL.to)
  return entries.reduce((sum, { input, output }) => sum + input + output, 0)
}

/** Kills an object, so that it loses everything that is only in memory. */
async function killObject(stub: DurableObjectStub): Promise<void> {
  await runInDurableObject(stub, (_object, state) => state.abort("killed")).catch(() => {})
}

describe("counting", () => {
  test("[BU5] an answer that exceeds the budget is completed, and the next message is refused", async () => {
    await setLimit("bl-user", { users: { ada: { tokens_per_day: 100 } } })
    const token = await roleToken("bl-user", "ada", "member")
    const session = await makeSession(token)
    await askQuestion(session, token, scriptUsage(60))
    await untilUsed(token, 60)
    await askQuestion(session, token, scriptUsage(90))
    await untilUsed(token, 150)
    expect(await sendMessage(session, token, scriptUsage(1))).toBe(429)
    expect(await readBudgets(token)).toMatchObject([{ budget: "tokens_per_day", limit: 100, used: 150, left: 0 }])
  })

  test("[BU5] [MT13] an answer whose tokens the provider never reported uses up the budget", async () => {
    await setLimit("bl-cut", { users: { ada: { tokens_per_day: 500 } } })
    const token = await roleToken("bl-cut", "ada", "member")
    const session = await makeSession(token)
    await askQuestion(session, token, script([say("a long answer ".repeat(200))]))
    await expect.poll(async () => (await readBudgets(token))[0]?.used).toBeGreaterThan(500)
    expect(await sendMessage(session, token, scriptUsage(1))).toBe(429)
  })

  test("[BU25] if twelve turns are requested at once, eight of them begin", async () => {
    await setLimit("bl-once", { roles: { member: { tokens_per_day: 100 } } })
    const token = await roleToken("bl-once", "ada", "member")
    const sessions: string[] = []
    for (let made = 0; made < 12; made++) sessions.push(await makeSession(token))
    await directoryOf("bl-once", "ada").refreshBudget()
    const content = "/bench deltas=10 ms=3000"
    const statuses = await Promise.all(sessions.map((session) => sendMessage(session, token, content)))
    expect(statuses.filter((status) => status === 202).length).toBe(8)
  })

  test("[BU5] deleting a used session refunds nothing", async () => {
    await setLimit("bl-deleted", { users: { ada: { tokens_per_day: 100 } } })
    const token = await roleToken("bl-deleted", "ada", "member")
    const session = await makeSession(token)
    await askQuestion(session, token, scriptUsage(120))
    expect((await call(`/v1/sessions/${session}`, { method: "DELETE", token })).status).toBe(204)
    await untilUsed(token, 120)
    expect(await sendMessage(await makeSession(token), token, scriptUsage(1))).toBe(429)
  })

  test("[BU23] once a turn is refused, the tenant's totals include the usage that used up the budget; the tenant is called at most once", async () => {
    await setLimit("bl-report", { users: { ada: { tokens_per_day: 50 } } })
    const token = await roleToken("bl-report", "ada", "member")
    const session = await makeSession(token)
    await askQuestion(session, token, scriptUsage(60))
    await untilUsed(token, 60)
    const readTotal = async () => (await env.TENANT.getByName("bl-report").readUsage({ ...ALL, by: "day" })).total
    expect((await readTotal()).calls).toBe(0)
    const asked = vi.spyOn(Tenant.prototype, "getBudgetGrant")
    for (let attempt = 0; attempt < 3; attempt++) {
      expect(await sendMessage(session, token, scriptUsage(1))).toBe(429)
      // A new process has no record of its last request.
      await evictDurableObject(directoryOf("bl-report", "ada"))
    }
    expect(await readTotal()).toMatchObject({ calls: 1, input: 59, output: 1 })
    // There is at most one call, because `addUsage` already returns the grant.
    expect(asked.mock.calls.length).toBeLessThanOrEqual(1)
    asked.mockRestore()
  })

  test("[BU22] a change takes effect even if the directory sent its request before the change and receives the response after it", async () => {
    await setLimit("bl-changed", { users: { ada: { tokens_per_day: 100 } } })
    const token = await roleToken("bl-changed", "ada", "member")
    await makeSession(token)
    const { getBudgetGrant } = Tenant.prototype
    let isHanging = true
    const asked = vi.spyOn(Tenant.prototype, "getBudgetGrant").mockImplementationOnce(async function (
      this: Tenant,
      user: string,
    ) {
      const grant = getBudgetGrant.call(this, user)
      while (isHanging) await new Promise((resolve) => setTimeout(resolve, 20))
      return grant
    } as never)
    const refreshed = directoryOf("bl-changed", "ada").refreshBudget()
    await expect.poll(() => asked.mock.calls.length).toBe(1)
    const changed = setLimit("bl-changed", { users: { ada: { tokens_per_day: 200 } } })
    const readStored = async () => (await env.TENANT.getByName("bl-changed").listBudgets()).users["ada"]
    await expect.poll(readStored).toEqual({ tokens_per_day: 200 })
    isHanging = false
    await Promise.all([refreshed, changed])
    expect(await readBudgets(token)).toMatchObject([{ limit: 200 }])
    asked.mockRestore()
  })

  test("[BU1] usage from before the budget was set counts", async () => {
    const token = await roleToken("bl-before", "ada", "member")
    const session = await makeSession(token)
    await askQuestion(session, token, scriptUsage(80))
    await expect.poll(() => sumDirectory("bl-before", "ada")).toBe(80)
    await setLimit("bl-before", { tenant: { tokens_per_month: 50 }, users: { ada: { tokens_per_day: 200 } } })
    await evictDurableObject(directoryOf("bl-before", "ada"))
    expect(await readBudgets(token)).toMatchObject([
      { budget: "tokens_per_day", used: 80 },
      { budget: "tokens_per_month", scope: "tenant", used: 80, left: 0 },
    ])
  })

  test("[BU8] [BU24] a tenant's users share its budget; the tenant's object is called at most once per eight turns", async () => {
    await setLimit("bl-shared", { tenant: { tokens_per_day: 300 } })
    const users = await Promise.all(
      ["ada", "bob"].map(async (user) => ({ user, token: await roleToken("bl-shared", user, "member") })),
    )
    const adding = vi.spyOn(Tenant.prototype, "addUsage")
    let turns = 0
    for (const { user, token } of users) {
      const session = await makeSession(token)
      for (let turn = 0; turn < 16; turn++) {
        if ((await sendMessage(session, token, scriptUsage(10))) !== 202) break
        turns += 1
        await expect.poll(() => sumDirectory("bl-shared", user)).toBe((turn + 1) * 10)
      }
    }
    expect(turns).toBeGreaterThan(16)
    expect(adding.mock.calls.length).toBeGreaterThan(0)
    expect(adding.mock.calls.length).toBeLessThanOrEqual(Math.ceil(turns / RENEW_TURNS))
    adding.mockRestore()
    // Bob's directory has been told that Ada used 160 tokens.
    expect(turns * 10).toBeLessThanOrEqual(300 + RENEW_TURNS * 10)
  })
})

test("[BU18] when a tenant's budget is used up, the tenant's object is called once for all users in an isolate", async () => {
  await setLimit("bl-all", { tenant: { tokens_per_day: 50 } })
  const users = ["ada", "bob", "cem", "dee", "eve", "fay"]
  const tokens = await Promise.all(users.map((user) => roleToken("bl-all", user, "member")))
  const sessions: string[] = []
  for (const token of tokens) sessions.push(await makeSession(token))
  await askQuestion(sessions[0] ?? "", tokens[0] ?? "", scriptUsage(60))
  await directoryOf("bl-all", "ada").flushUsage()
  // The other users still have earlier leases. Notify them, as would happen after eight turns.
  for (const user of users) await directoryOf("bl-all", user).refreshBudget()
  const asked = vi.spyOn(Tenant.prototype, "getBudgetGrant")
  vi.useFakeTimers({ now: Date.now() + 3 * 60_000, toFake: ["Date"] })
  for (const [at, token] of tokens.entries())
    expect(await sendMessage(sessions[at] ?? "", token, scriptUsage(1))).toBe(429)
  vi.useRealTimers()
  expect(asked).toHaveBeenCalledTimes(1)
  // A raised budget takes effect at once for the users who are notified.
  await setLimit("bl-all", { tenant: { tokens_per_day: 500 } })
  expect(await sendMessage(sessions[1] ?? "", tokens[1] ?? "", scriptUsage(1))).toBe(202)
  asked.mockRestore()
})

describe("killed processes", () => {
  test("[BU9] despite kills, no more than the budget and the leases is spent, and the ledgers equal the sum of all turns", async () => {
    const [sessions, turns] = IS_FULL ? [12, 20] : [4, 8]
    const budget = sessions * turns * 6
    await setLimit("bl-kills", { users: { ada: { tokens_per_day: budget } } })
    const token = await roleToken("bl-kills", "ada", "member")
    const ids = await Promise.all(Array.from({ length: sessions }, () => makeSession(token)))
    let [admitted, refused] = [0, 0]
    const playTurns = async (id: string, seed: number): Promise<void> => {
      for (let turn = 0; turn < turns; turn++) {
        const status = await sendMessage(id, token, scriptUsage(10))
        if (status === 202) admitted += 1
        else refused += 1
        const stub = [directoryOf("bl-kills", "ada"), sessionOf("bl-kills", id)][(seed + turn) % 2]
        if ((seed * 7 + turn) % 3 === 0 && stub !== undefined) await killObject(stub)
      }
    }
    await Promise.all(ids.map((id, seed) => playTurns(id, seed)))
    const readAnswers = async () => {
      const pages = await Promise.all(
        ids.map(
          async (id) => (await call(`/v1/sessions/${id}/conversation/recent?limit=120`, { token })).json.messages,
        ),
      )
      return pages.flat().filter(({ role }) => role === "assistant")
    }
    const sumTurns = async (): Promise<number> => {
      const answers = await readAnswers()
      if (answers.some(({ status }) => status === "running")) return -1
      return answers.reduce((sum, { metrics }) => sum + (metrics?.input_tokens ?? 0) + (metrics?.output_tokens ?? 0), 0)
    }
    await expect
      .poll(async () => (await readAnswers()).map(({ status }) => status).filter((status) => status === "running"), {
        timeout: 20_000,
      })
      .toEqual([])
    await expect
      .poll(async () => (await sumDirectory("bl-kills", "ada")) - (await sumTurns()), { timeout: 20_000 })
      .toBe(0)
    const spent = await sumTurns()
    expect((await readBudgets(token))[0]?.used).toBe(spent)
    // When the budget is used up, each session has at most one running and one waiting turn.
    expect(spent).toBeLessThanOrEqual(budget + 2 * sessions * 10)
    expect(admitted + refused).toBe(sessions * turns)
    const failed = (await readAnswers()).filter(({ reason }) => reason === "budget_exhausted")
    expect(refused + failed.length).toBeGreaterThan(0)
  })
})
