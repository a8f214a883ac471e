/** budget-turns.test.ts: tests how budgets refuse turns, and which requests between objects they cause. */

import { env, evictDurableObject, runInDurableObject } from "cloudflare:test"
import { nanoid } from "nanoid"
import { describe, expect, onTestFinished, test, vi } from "vitest"
import type { BudgetChange } from "../../shared/usage/budget-change.ts"
import { ASKED_LEASE_MS, SESSION_LEASE_MS } from "../../shared/usage/user-account.ts"
import { Directory } from "../../worker/directory/directory-object.ts"
import { Tenant } from "../../worker/tenant/tenant-object.ts"
import type { Claims } from "../../worker/platform/rpc/claims.ts"
import { connect } from "../support/socket.ts"
import { call, makeSession, roleToken, tablesOf } from "./http.ts"
import { askQuestion } from "./tenant-transfer.ts"

const TOMORROW = (Math.floor(Date.now() / 86_400_000) + 1) * 86_400_000

const claimsOf = (tenant: string): Claims => ({ tenant, user: "ada", expires: 4_000_000_000, token: null, issued: 0 })
const directoryStubOf = (tenant: string) => env.DIRECTORY.getByName(`${tenant}:ada`)

async function setLimit(tenant: string, change: BudgetChange): Promise<void> {
  const token = await roleToken(tenant, "boss", "owner")
  expect((await call("/v1/budgets", { method: "PUT", token, body: JSON.stringify(change) })).status).toBe(200)
}

/** Stops the clock until the test ends. Call this before the test creates objects, because they keep their clock. */
function stopClock(): void {
  vi.useFakeTimers({ now: Date.now(), toFake: ["Date"] })
  onTestFinished(() => void vi.useRealTimers())
}

async function sendMessage(session: string, token: string, content = "hello") {
  const body = JSON.stringify({ id: nanoid(), content })
  return await call(`/v1/sessions/${session}/messages`, { method: "POST", token, body })
}

async function messagesOf(session: string, token: string) {
  return (await call(`/v1/sessions/${session}/conversation/recent`, { token })).json.messages
}

describe("a budget that is used up", () => {
  test("[BU5] refuses a message over HTTP: nothing is stored, and the refusal names the budget and when it resets", async () => {
    await setLimit("bt-http", { roles: { member: { tokens_per_day: 0 } } })
    const token = await roleToken("bt-http", "ada", "member")
    const session = await makeSession(token)
    const refused = await sendMessage(session, token)
    expect(refused.json.text).toBe("Your token budget for today is used up. It resets at 00:00 UTC.")
    expect(refused).toMatchObject({
      status: 429,
      json: { code: "budget_exhausted", budget: "tokens_per_day", scope: "role", resets: TOMORROW },
    })
    expect(await messagesOf(session, token)).toEqual([])
  })

  test("[BU5] refuses a message on a socket: the socket stays open, and nothing is stored", async () => {
    await setLimit("bt-frame", { tenant: { cost_per_month: 0 } })
    const token = await roleToken("bt-frame", "ada", "member")
    const session = await makeSession(token)
    const client = await connect(session, claimsOf("bt-frame"))
    client.say({ type: "send", id: "m1", content: "hello" })
    client.say({ type: "send", id: "m2", content: "hello" })
    for (const id of ["m1", "m2"]) {
      const frame = await client.untilTrue((frame) => frame.type === "error" && frame.id === id)
      expect(frame).toMatchObject({ code: "budget_exhausted", text: expect.stringContaining("on the 1st") })
    }
    expect(client.closed).toBe(null)
    expect(await messagesOf(session, token)).toEqual([])
  })

  test("[CN2] a cancel frame that arrives while the directory is being asked about a message stops the message's answer", async () => {
    await setLimit("bt-stop", { roles: { member: { tokens_per_day: 1_000_000 } } })
    const token = await roleToken("bt-stop", "ada", "member")
    const session = await makeSession(token)
    const client = await connect(session, claimsOf("bt-stop"))
    client.say({ type: "send", id: "m1", content: "/bench deltas=500 chars=6 tools=0 delay_ms=10" })
    client.say({ type: "cancel", exchange_id: "m1" })
    expect(await client.untilEnd("m1")).toMatchObject({ status: "cancelled" })
    expect(client.frames.filter(({ type }) => type === "error")).toEqual([])
  })

  test("[BU5] refuses new versions of messages", async () => {
    const token = await roleToken("bt-again", "ada", "member")
    const session = await makeSession(token)
    await askQuestion(session, token, "/say hello")
    const [question, answer] = await messagesOf(session, token)
    await setLimit("bt-again", { users: { ada: { tokens_per_day: 0 } } })
    await directoryStubOf("bt-again").leaseTurn(session, false)
    const client = await connect(session, claimsOf("bt-again"))
    client.say({ type: "regenerate", id: "r1", message: answer.id })
    client.say({ type: "edit", id: "r2", message: question.id, content: "again" })
    for (const id of ["r1", "r2"]) {
      const frame = await client.untilTrue((frame) => frame.type === "error" && frame.id === id)
      expect(frame).toMatchObject({ code: "budget_exhausted" })
    }
    expect((await messagesOf(session, token)).length).toBe(2)
  })

  test("[BU6] gives a waiting message a failed answer, which can be retried once the budget allows it", async () => {
    const token = await roleToken("bt-queue", "ada", "member")
    const session = await makeSession(token)
    const client = await connect(session, claimsOf("bt-queue"))
    client.say({ type: "send", id: "m1", content: "/bench deltas=10 ms=600" })
    await client.untilTrue((frame) => frame.type === "ack" && frame.id === "m1")
    client.say({ type: "send", id: "m2", content: "/say two" })
    await client.untilTrue((frame) => frame.type === "ack" && frame.id === "m2")
    await setLimit("bt-queue", { users: { ada: { tokens_per_day: 0 } } })
    await directoryStubOf("bt-queue").refreshBudget()
    await runInDurableObject(env.SESSION.getByName(`bt-queue:${session}`), async (object) => {
      await Reflect.get(object, "getLifecycle").call(object).current().refreshAgent()
    })
    expect(await client.untilEnd("m1")).toMatchObject({ status: "completed" })
    expect(await client.untilEnd("m2")).toMatchObject({ status: "failed", reason: "budget_exhausted" })
    await setLimit("bt-queue", { users: { ada: null } })
    await directoryStubOf("bt-queue").refreshBudget()
    const failed = (await messagesOf(session, token)).at(-1)
    client.say({ type: "retry", id: "r1", message: failed.id })
    await client.untilTrue((frame) => frame.type === "ack" && frame.id === "r1")
    await expect
      .poll(async () => (await messagesOf(session, token)).at(-1))
      .toMatchObject({
        status: "completed",
        segments: [{ type: "text", content: "two" }],
      })
  })
})

test("[BU6] a waiting message fails with a different reason if its budget could not be checked", async () => {
  // With a budget, the session calls the directory for each turn.
  await setLimit("bt-away", { tenant: { concurrent_turns: 5 } })
  const token = await roleToken("bt-away", "ada", "member")
  const session = await makeSession(token)
  const client = await connect(session, claimsOf("bt-away"))
  client.say({ type: "send", id: "m1", content: "/bench deltas=10 ms=600" })
  await client.untilTrue((frame) => frame.type === "ack" && frame.id === "m1")
  client.say({ type: "send", id: "m2", content: "/say two" })
  await client.untilTrue((frame) => frame.type === "ack" && frame.id === "m2")
  await runInDurableObject(directoryStubOf("bt-away"), (object) => {
    Reflect.set(object, "leaseTurn", () => {
      throw new Error("away")
    })
  })
  expect(await client.untilEnd("m2")).toMatchObject({ status: "failed", reason: "budget_unchecked" })
})

describe("sessions that are older than the first budget", () => {
  test("[BU21] refuse every message over HTTP, because each one reads the configuration again", async () => {
    const token = await roleToken("bt-old", "ada", "member")
    const session = await makeSession(token)
    await askQuestion(session, token, "/say hello")
    await setLimit("bt-old", { users: { ada: { tokens_per_day: 0 } } })
    for (let attempt = 0; attempt < 2; attempt++) {
      await evictDurableObject(env.SESSION.getByName(`bt-old:${session}`))
      expect(await sendMessage(session, token)).toMatchObject({ status: 429, json: { budget: "tokens_per_day" } })
    }
  })

  test("[BU21] begin at most one turn through a socket that stays open across a restart", async () => {
    const token = await roleToken("bt-open", "ada", "member")
    const session = await makeSession(token)
    const client = await connect(session, claimsOf("bt-open"))
    client.say({ type: "send", id: "m1", content: "/say one" })
    await client.untilEnd("m1")
    await setLimit("bt-open", { users: { ada: { tokens_per_day: 0 } } })
    await evictDurableObject(env.SESSION.getByName(`bt-open:${session}`))
    client.say({ type: "send", id: "m2", content: "/say two" })
    await client.untilEnd("m2")
    await evictDurableObject(env.SESSION.getByName(`bt-open:${session}`))
    client.say({ type: "send", id: "m3", content: "/say three" })
    const frame = await client.untilTrue((frame) => frame.type === "error" && frame.id === "m3")
    expect(frame).toMatchObject({ code: "budget_exhausted" })
  })
})

describe("the cost of budgets", () => {
  test("[BU7] [BU10] without budgets, a turn requests no lease and stores no budget data in the directory", async () => {
    const leaseTurn = vi.spyOn(Directory.prototype, "leaseTurn")
    const token = await roleToken("bt-none", "ada", "member")
    const session = await makeSession(token)
    await askQuestion(session, token, "/say hello")
    expect(leaseTurn).not.toHaveBeenCalled()
    // With a budget, the same kind of turn requests one.
    await setLimit("bt-some", { tenant: { concurrent_turns: 5 } })
    const otherToken = await roleToken("bt-some", "ada", "member")
    await askQuestion(await makeSession(otherToken), otherToken, "/say hello")
    expect(leaseTurn).toHaveBeenCalled()
    leaseTurn.mockRestore()
    const count = await runInDurableObject(directoryStubOf("bt-none"), (_object, { storage }) =>
      storage.sql.exec("SELECT count(*) AS n FROM budget_account").one(),
    )
    expect(count).toEqual({ n: 0 })
    expect(await tablesOf(env.TENANT.getByName("bt-none"))).toContain("budgets")
  })

  test("[BU9] a session's lease covers its next turn, and ends after SESSION_LEASE_MS", async () => {
    stopClock()
    await setLimit("bt-lease", { users: { ada: { tokens_per_day: 10_000_000 } } })
    const token = await roleToken("bt-lease", "ada", "member")
    const session = await makeSession(token)
    const leaseTurn = vi.spyOn(Directory.prototype, "leaseTurn")
    const countRequests = async (): Promise<number> => {
      leaseTurn.mockClear()
      await askQuestion(session, token, "/say hello")
      return leaseTurn.mock.calls.length
    }
    expect(await countRequests()).toBe(1)
    expect(await countRequests()).toBe(0)
    vi.setSystemTime(Date.now() + SESSION_LEASE_MS)
    expect(await countRequests()).toBe(1)
    leaseTurn.mockRestore()
  })

  test("[BU23] the time between two requests to the tenant doubles with each further refusal, up to a maximum", async () => {
    stopClock()
    await setLimit("bt-pause", { users: { ada: { tokens_per_day: 0 } } })
    await makeSession(await roleToken("bt-pause", "ada", "member"))
    const directory = directoryStubOf("bt-pause")
    const getBudgetGrant = vi.spyOn(Tenant.prototype, "getBudgetGrant")
    const isTenantAskedAfter = async (ms: number): Promise<boolean> => {
      vi.setSystemTime(Date.now() + ms)
      getBudgetGrant.mockClear()
      expect((await directory.leaseTurn("any", false)).ok).toBe(false)
      return getBudgetGrant.mock.calls.length > 0
    }
    await directory.refreshBudget()
    expect(await isTenantAskedAfter(4_999)).toBe(false)
    expect(await isTenantAskedAfter(1)).toBe(true)
    // Each further pause is 2 to 2.5 times as long, so that clients of many users don't retry at the same time.
    expect(await isTenantAskedAfter(9_999)).toBe(false)
    expect(await isTenantAskedAfter(12_500 - 9_999)).toBe(true)
    expect(await isTenantAskedAfter(19_999)).toBe(false)
    for (let refusal = 0; refusal < 12; refusal++) expect(await isTenantAskedAfter(5 * 60_000)).toBe(true)
    getBudgetGrant.mockRestore()
  })

  test("[BU7] a directory that gets no response from the tenant leases one turn at a time", async () => {
    await makeSession(await roleToken("bt-unknown", "ada", "member"))
    const tenant = env.TENANT.getByName("bt-unknown")
    const setFailing = async (isFailing: boolean): Promise<void> => {
      const failCall = (): never => {
        throw new Error("away")
      }
      await runInDurableObject(tenant, (object) => {
        if (isFailing) Reflect.set(object, "getBudgetGrant", failCall)
        else Reflect.deleteProperty(object, "getBudgetGrant")
      })
    }
    await setFailing(true)
    for (const session of ["one", "other", "third"]) {
      expect(await directoryStubOf("bt-unknown").leaseTurn(session, false)).toMatchObject({ value: { turns: 1 } })
    }
    await setFailing(false)
    await directoryStubOf("bt-unknown").refreshBudget()
    expect(await directoryStubOf("bt-unknown").leaseTurn("one", false)).toMatchObject({ value: null })
  })

  test("[BU10] a session still answers after the tenant has removed its budgets", async () => {
    await setLimit("bt-gone", { tenant: { tokens_per_day: 1_000_000 } })
    const token = await roleToken("bt-gone", "ada", "member")
    const session = await makeSession(token)
    await askQuestion(session, token, "/say one")
    await setLimit("bt-gone", { tenant: null })
    await evictDurableObject(directoryStubOf("bt-gone"))
    await askQuestion(session, token, "/say two")
    expect((await messagesOf(session, token)).length).toBe(4)
  })
})

describe("limits on a user's conversations, turns and files", () => {
  test("[BU11] a conversation beyond the budget isn't created", async () => {
    await setLimit("bt-sessions", { roles: { member: { sessions: 2 } } })
    const token = await roleToken("bt-sessions", "ada", "member")
    const first = await makeSession(token)
    await makeSession(token)
    const refused = await call("/v1/sessions", { method: "POST", token, body: "{}" })
    expect(refused).toMatchObject({ status: 429, json: { code: "budget_exhausted", budget: "sessions", resets: null } })
    expect((await call(`/v1/sessions/${first}`, { method: "DELETE", token })).status).toBe(204)
    await makeSession(token)
  })

  test("[BU28] the limits also apply to a user who sends no messages and was known before the limits were set", async () => {
    const token = await roleToken("bt-silent", "ada", "member")
    expect((await directoryStubOf("bt-silent").authorizeSocket(claimsOf("bt-silent"), "any")).ok).toBe(true)
    // Pretend that the tenant has so many users that this one is not notified of a change.
    const by = { role: "owner", actor: { type: "user", id: "boss" } } as const
    const changed = await env.TENANT.getByName("bt-silent").changeBudgets(by as never, { tenant: { sessions: 2 } })
    expect(changed.ok).toBe(true)
    const createSession = async () => (await call("/v1/sessions", { method: "POST", token, body: "{}" })).status
    await expect.poll(createSession).toBe(429)
    const kept = await runInDurableObject(directoryStubOf("bt-silent"), (_object, { storage }) =>
      storage.sql.exec("SELECT count(*) AS n FROM sessions").one(),
    )
    expect(Number(kept["n"])).toBeLessThanOrEqual(4)
  })

  test("[BU11] a turn beyond the limit of concurrent turns is refused until one has ended", async () => {
    await setLimit("bt-turns", { tenant: { concurrent_turns: 1 } })
    const token = await roleToken("bt-turns", "ada", "member")
    const [one, other] = [await makeSession(token), await makeSession(token)]
    const client = await connect(one, claimsOf("bt-turns"))
    client.say({ type: "send", id: "m1", content: "/bench deltas=20 ms=1500" })
    await client.untilTrue((frame) => frame.type === "ack" && frame.id === "m1")
    const refused = await sendMessage(other, token)
    expect(refused).toMatchObject({ status: 429, json: { code: "budget_exhausted", budget: "concurrent_turns" } })
    // Restart the directory, which must not forget running turns.
    await evictDurableObject(directoryStubOf("bt-turns"))
    expect(await sendMessage(other, token)).toMatchObject({ status: 429, json: { budget: "concurrent_turns" } })
    await client.untilEnd("m1")
    await expect.poll(async () => (await sendMessage(other, token, "/say two")).status).toBe(202)
  })

  test("[BU27] a refused message or frame doesn't block other conversations", async () => {
    await setLimit("bt-refused", { tenant: { concurrent_turns: 1 } })
    const token = await roleToken("bt-refused", "ada", "member")
    const [one, other] = [await makeSession(token), await makeSession(token)]
    // Let the directory receive the budgets.
    await directoryStubOf("bt-refused").refreshBudget()
    expect((await sendMessage(one, token, "  ")).status).toBe(400)
    expect((await sendMessage(other, token, "/bench deltas=5 ms=300")).status).toBe(202)
    await expect.poll(async () => (await messagesOf(other, token)).at(-1)?.status).toBe("completed")
    const client = await connect(one, claimsOf("bt-refused"))
    client.say({ type: "regenerate", id: "r1", message: "unknown" })
    await client.untilTrue((frame) => frame.type === "error" && frame.id === "r1")
    await expect.poll(async () => (await sendMessage(other, token, "/say two")).status).toBe(202)
  })

  test("[BU27] a lease whose turn never begins counts as a running turn for ASKED_LEASE_MS", async () => {
    stopClock()
    await setLimit("bt-lost", { tenant: { concurrent_turns: 1 } })
    await makeSession(await roleToken("bt-lost", "ada", "member"))
    const directory = directoryStubOf("bt-lost")
    await directory.refreshBudget()
    const isLeased = async (session: string): Promise<boolean> => (await directory.leaseTurn(session, false)).ok
    expect([await isLeased("lost"), await isLeased("other")]).toEqual([true, false])
    vi.setSystemTime(Date.now() + ASKED_LEASE_MS - 1)
    expect(await isLeased("other")).toBe(false)
    vi.setSystemTime(Date.now() + 2)
    expect(await isLeased("other")).toBe(true)
  })

  test("[BU11] a file beyond the budget isn't stored", async () => {
    await setLimit("bt-bytes", { roles: { member: { stored_bytes: 2_000_000 } } })
    const token = await roleToken("bt-bytes", "ada", "member")
    const session = await makeSession(token)
    const putAsset = async (bytes: number) =>
      await call(`/v1/sessions/${session}/assets`, {
        method: "POST",
        token,
        body: "a,b\n".repeat(bytes / 4),
        headers: { "content-type": "text/csv", "content-length": String(bytes), "x-file-name": "table.csv" },
      })
    expect((await putAsset(400)).status).toBe(201)
    expect(await putAsset(2_400_000)).toMatchObject({
      status: 429,
      json: { code: "budget_exhausted", budget: "stored_bytes" },
    })
  })

  test("[BU12] a user sees the remaining budget and when it resets; nothing is shown without budgets", async () => {
    const token = await roleToken("bt-me", "ada", "member")
    await makeSession(token)
    expect((await call("/v1/usage/me", { token })).json).toEqual({ budgets: [] })
    await setLimit("bt-me", { tenant: { cost_per_day: 5_000 }, users: { ada: { sessions: 3, tokens_per_day: 100 } } })
    await evictDurableObject(directoryStubOf("bt-me"))
    expect((await call("/v1/usage/me", { token })).json).toEqual({
      budgets: [
        { budget: "tokens_per_day", scope: "user", limit: 100, used: 0, left: 100, resets: TOMORROW },
        { budget: "cost_per_day", scope: "tenant", limit: 5_000, used: 0, left: 5_000, resets: TOMORROW },
        { budget: "sessions", scope: "user", limit: 3, used: 1, left: 2, resets: null },
      ],
    })
  })
})
