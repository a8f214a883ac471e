/** usage.test.ts: tests that the usage of turns reaches the tenant's totals exactly once, with real objects. */

import { env, evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test"
import { describe, expect, onTestFinished, test, vi } from "vitest"
import { findPeriodEnd, findPeriodStart, toDay } from "../../shared/usage/period.ts"
import { USAGE_CLOSING_MS } from "../../worker/usage/report-time.ts"
import { addTotals, NO_USAGE, type UsageTotals } from "../../shared/usage/usage-totals.ts"
import { Tenant } from "../../worker/tenant/tenant-object.ts"
import { SessionUsage } from "../../worker/usage/session-usage.ts"
import { CLAIMS, connect } from "../support/socket.ts"
import { call, makeSession } from "./http.ts"
import { call as callTool, pause, say, script } from "./session-helpers.ts"
import {
  askQuestion,
  downloadArchive,
  exportTenant,
  importTenant,
  ownerToken,
  roleToken,
  makeJobsDue,
} from "./tenant-transfer.ts"

const ALL = { from: "1970-01-01", to: "9999-12-31" } as const
const directoryOf = (tenant: string, user: string) => env.DIRECTORY.getByName(`${tenant}:${user}`)
const sessionOf = (tenant: string, id: string) => env.SESSION.getByName(`${tenant}:${id}`)

const createFinish = (input: number, output: number): object => ({
  type: "finish",
  input_tokens: input,
  output_tokens: output,
})

/** Returns the usage totals in a user's directory. */
async function readDirectory(tenant: string, user: string): Promise<UsageTotals> {
  const entries = await directoryOf(tenant, user).readUsage(ALL.from, ALL.to)
  return entries.reduce(addTotals, NO_USAGE)
}

async function readTenant(tenant: string, by: "day" | "model" | "user" | "agent" = "day") {
  return await env.TENANT.getByName(tenant).readUsage({ ...ALL, by })
}

/** Matches a count that includes the estimate for a call whose prompt contains tool descriptions. */
const ABOVE_1000: unknown = expect.toSatisfy((tokens: number) => tokens > 1_000)

async function expectDirectory(
  tenant: string,
  user: string,
  totals: Partial<Record<keyof UsageTotals, unknown>>,
): Promise<void> {
  await expect.poll(() => readDirectory(tenant, user), { timeout: 10_000 }).toMatchObject(totals)
}

/** Changes the rows as if the directory's unreported usage were from an earlier month. */
async function makeDue(directory: DurableObjectStub): Promise<void> {
  await runInDurableObject(directory, (_object, { storage: { sql } }) => {
    sql.exec("UPDATE usage_session SET unsent = replace(unsent, ?, '2020-01-31')", toDay(Date.now()))
  })
}

/**
 * Sets the clock to the middle of the month until the test ends. On the first day of a month, an earlier month may not
 * be due yet (MT19), and the end of the month can be further away than any alarm.
 */
function setClockToMidMonth(): void {
  vi.useFakeTimers({ toFake: ["Date"], now: findPeriodStart("month", Date.now()) + 14 * 24 * 60 * 60_000 })
  onTestFinished(() => void vi.useRealTimers())
}

/** Waits until the newest answer contains the text. */
async function untilShown(session: string, token: string, text: string): Promise<void> {
  const path = `/v1/sessions/${session}/conversation/recent?limit=5`
  const readNewest = async () => (await call(path, { token })).json.messages.at(-1)
  await expect.poll(async () => JSON.stringify((await readNewest()).segments)).toContain(text)
}

let count = 0
async function freshUser() {
  count += 1
  const tenant = `usage${count}`
  const token = await roleToken(tenant, "ada", "member")
  return { tenant, token, session: await makeSession(token) }
}

describe("from a turn to the tenant", () => {
  test("[MT4] [MT5] [MT6] each call of a turn, even of several steps, is in the user's totals and then in the tenant's", async () => {
    const { tenant, token, session } = await freshUser()
    const steps = [
      [say("So: "), callTool("weather", { location: "Oslo" }), createFinish(10, 3)],
      [say("Cold."), createFinish(30, 4)],
    ]
    await askQuestion(session, token, script(...steps))
    await expectDirectory(tenant, "ada", { calls: 2, input: 40, output: 7 })
    expect((await readTenant(tenant)).total.calls).toBe(0)
    await directoryOf(tenant, "ada").flushUsage()
    const { total, rows } = await readTenant(tenant, "agent")
    expect(total).toMatchObject({ calls: 2, input: 40, output: 7, unpricedCalls: 0, cost: 0 })
    expect(rows).toEqual([{ agent: "general", ...total }])
    expect((await readTenant(tenant, "user")).rows).toEqual([{ user: "ada", ...total }])
    expect((await readTenant(tenant, "model")).rows).toEqual([{ provider: "scripted", model: "scripted", ...total }])
  })

  test("[MT4] for a turn that is cancelled or fails, the usage reported so far and an estimate for the last call are counted", async () => {
    const { tenant, token, session } = await freshUser()
    const steps = [
      [callTool("weather", { location: "Oslo" }), createFinish(10, 3)],
      [say("Wait"), pause(10_000), createFinish(99, 99)],
    ]
    const body = JSON.stringify({ id: "q1", content: script(...steps) })
    await call(`/v1/sessions/${session}/messages`, { method: "POST", token, body })
    await untilShown(session, token, "Wait")
    await call(`/v1/sessions/${session}/cancel`, { method: "POST", token, body: "{}" })
    await expectDirectory(tenant, "ada", { calls: 2, unpricedCalls: 1, input: ABOVE_1000, output: 4 })
    await askQuestion(session, token, script([say("x"), { type: "fault", fault: "model_cut_off" }]))
    await expectDirectory(tenant, "ada", { calls: 3, unpricedCalls: 2, input: ABOVE_1000, output: 5 })
  })

  test("[MT4] a turn that an evicted object continues keeps the earlier calls", async () => {
    const { tenant, token, session } = await freshUser()
    const body = JSON.stringify({
      id: "q1",
      content: script(
        [callTool("rename_conversation", { title: "New" }), createFinish(10, 3)],
        [say("Done"), createFinish(20, 5)],
      ),
    })
    await call(`/v1/sessions/${session}/messages`, { method: "POST", token, body })
    const readRecent = async () =>
      (await call(`/v1/sessions/${session}/conversation/recent?limit=5`, { token })).json.messages.at(-1)
    await expect.poll(async () => (await readRecent()).status).toBe("waiting")
    const stub = sessionOf(tenant, session)
    await evictDurableObject(stub)
    const client = await connect(session, { ...CLAIMS, tenant, user: "ada" })
    const [{ call_id }] = (await readRecent()).segments
    client.say({ type: "approve", call_id, decision: "allow" })
    await expectDirectory(tenant, "ada", { calls: 2, input: 30, output: 8 })
  })

  test("[MT5] the alarm repeats a lost report, and a report that arrived is counted once", async () => {
    const { tenant, token, session } = await freshUser()
    await askQuestion(session, token, script([say("one"), createFinish(5, 1)]))
    await expectDirectory(tenant, "ada", { calls: 1, input: 5 })
    const stub = sessionOf(tenant, session)
    for (let i = 0; i < 3; i++) {
      // A new process has no record of which reports the directory has received.
      await evictDurableObject(stub)
      await runInDurableObject(stub, (_object, { storage }) => storage.setAlarm(Date.now() + 60_000))
      await runDurableObjectAlarm(stub)
    }
    await askQuestion(session, token, script([say("two"), createFinish(7, 2)]))
    await expectDirectory(tenant, "ada", { calls: 2, input: 12, output: 3 })
  })

  test("[MT6] [MT18] [BU17] eight reports make a batch, even if the directory is evicted after each; it is sent once", async () => {
    const { tenant, token, session } = await freshUser()
    const directory = directoryOf(tenant, "ada")
    const adding = vi.spyOn(Tenant.prototype, "addUsage")
    for (let calls = 1; calls <= 16; calls++) {
      await askQuestion(session, token, script([say("x"), createFinish(1, 1)]))
      await expectDirectory(tenant, "ada", { calls })
      await evictDurableObject(directory)
      // The batch waits for its own alarm. An earlier alarm must do nothing.
      if (calls % 4 === 0) expect(await runDurableObjectAlarm(directory)).toBe(true)
      expect(adding.mock.calls.length).toBe(Math.floor(calls / 8))
    }
    expect((await readTenant(tenant)).total.calls).toBe(16)
    await directory.flushUsage()
    expect(adding).toHaveBeenCalledTimes(2)
    adding.mockRestore()
  })

  test("[MT19] the rest is reported after the end of the month, at a time that differs between directories, and by no other alarm", async () => {
    setClockToMidMonth()
    const alarms: number[] = []
    for (let i = 0; i < 2; i++) {
      const { tenant, token, session } = await freshUser()
      const directory = directoryOf(tenant, "ada")
      await askQuestion(session, token, script([say("x"), createFinish(1, 1)]))
      await expectDirectory(tenant, "ada", { calls: 1 })
      const readAlarm = () => runInDurableObject(directory, (_object, { storage }) => storage.getAlarm())
      await expect.poll(readAlarm).not.toBe(null)
      const alarm = (await readAlarm()) ?? 0
      const monthEnd = findPeriodEnd("month", Date.now())
      expect(alarm).toBeGreaterThanOrEqual(monthEnd)
      expect(alarm).toBeLessThan(monthEnd + USAGE_CLOSING_MS)
      await evictDurableObject(directory)
      expect(await runDurableObjectAlarm(directory)).toBe(true)
      await expect.poll(readAlarm).toBe(alarm)
      expect((await readTenant(tenant)).total.calls).toBe(0)
      await makeDue(directory)
      await evictDurableObject(directory)
      expect(await runDurableObjectAlarm(directory)).toBe(true)
      expect((await readTenant(tenant)).total.calls).toBe(1)
      alarms.push(alarm)
    }
    expect(alarms[0]).not.toBe(alarms[1])
  })

  test("[MT18] a batch that was being sent when the directory was killed is sent again, whatever sets the alarm", async () => {
    const { tenant, token, session } = await freshUser()
    await askQuestion(session, token, script([say("one"), createFinish(5, 1)]))
    await expectDirectory(tenant, "ada", { calls: 1, input: 5 })
    const directory = directoryOf(tenant, "ada")
    await runInDurableObject(directory, (_object, { storage: { sql } }) => {
      // Begin a batch that the tenant has not received.
      const { unsent } = sql.exec("SELECT unsent FROM usage_session WHERE has_unsent = 1").one()
      sql.exec("UPDATE usage_session SET unsent = '[]', has_unsent = 0")
      sql.exec("INSERT INTO usage_batch (one, ledger, n, sending) VALUES (1, 'L', 1, ?)", unsent ?? null)
    })
    await evictDurableObject(directory)
    await call("/v1/tokens/revoke", { method: "POST", token, body: JSON.stringify({ all: true }) })
    await expect.poll(() => runDurableObjectAlarm(directory)).toBe(true)
    expect((await readTenant(tenant)).total).toMatchObject({ calls: 1, input: 5 })
    // The tenant has received the batch, so no alarm is needed.
    expect(await runInDurableObject(directory, (_object, { storage }) => storage.getAlarm())).toBeNull()
  })

  test("[AU8] a tenant that does not respond to a batch does not delay the notice of a revocation", async () => {
    setClockToMidMonth()
    const { tenant, token, session } = await freshUser()
    await askQuestion(session, token, script([say("one"), createFinish(5, 1)]))
    await expectDirectory(tenant, "ada", { calls: 1, input: 5 })
    let isHanging = true
    const adding = vi.spyOn(Tenant.prototype, "addUsage").mockImplementation((async () => {
      while (isHanging) await new Promise((resolve) => setTimeout(resolve, 20))
      return null
    }) as never)
    onTestFinished(() => {
      isHanging = false
      adding.mockRestore()
    })
    const directory = directoryOf(tenant, "ada")
    await runInDurableObject(directory, (_object, { storage: { sql } }) => {
      sql.exec("INSERT INTO revoked (token, issued, expires) VALUES ('t', 0, 9e9)")
      const values = [session, tenant, "ada"]
      sql.exec("INSERT INTO holder (session, tenant, user, until, told) VALUES (?, ?, ?, 9e9, 0)", ...values)
    })
    await makeDue(directory)
    const woken = runDurableObjectAlarm(directory)
    const readIsNotified = () =>
      runInDurableObject(
        directory,
        (_object, { storage }) => storage.sql.exec<{ told: number }>("SELECT told FROM holder").one().told,
      )
    await expect.poll(readIsNotified).toBe(1)
    expect(adding).toHaveBeenCalled()
    isHanging = false
    await woken
  })

  test("[MT7] erasing a session doesn't reduce the usage, even in the middle of a turn", async () => {
    const { tenant, token, session } = await freshUser()
    await askQuestion(session, token, script([say("one"), createFinish(5, 1)]))
    const steps = [
      [callTool("weather", { location: "Oslo" }), createFinish(10, 3)],
      [say("Wait"), pause(10_000), createFinish(99, 99)],
    ]
    const body = JSON.stringify({ id: "q2", content: script(...steps) })
    await call(`/v1/sessions/${session}/messages`, { method: "POST", token, body })
    await untilShown(session, token, "Wait")
    expect((await call(`/v1/sessions/${session}`, { method: "DELETE", token })).status).toBe(204)
    await expectDirectory(tenant, "ada", { calls: 3, unpricedCalls: 1, input: ABOVE_1000, output: 5 })
    // A session that is created again under the same id must have a new ledger.
    await call("/v1/sessions", { method: "POST", token, body: JSON.stringify({ id: session }) })
    await askQuestion(session, token, script([say("again"), createFinish(2, 2)]))
    await expectDirectory(tenant, "ada", { calls: 4, unpricedCalls: 1, input: ABOVE_1000, output: 7 })
  })
})

describe("tenants as a whole", () => {
  test("[MT7] [MT9] [MT15] the usage of an erased user stays in the tenant's totals, without the user's name", async () => {
    const { tenant, token, session } = await freshUser()
    await askQuestion(session, token, script([say("one"), createFinish(5, 1)]))
    await expectDirectory(tenant, "ada", { calls: 1, input: 5 })
    const owner = await ownerToken(tenant)
    const { status, json } = await call("/v1/users/ada", { method: "DELETE", token: owner })
    expect(status).toBe(202)
    const isDone = async () => {
      await makeJobsDue(tenant)
      return (await call(`/v1/tenant/receipts/${json.id}`, { token: owner })).json.state === "done"
    }
    await expect.poll(isDone, { timeout: 30_000 }).toBe(true)
    expect((await readTenant(tenant)).total).toMatchObject({ calls: 1, input: 5, output: 1 })
    expect((await readTenant(tenant, "user")).rows).toEqual([])
    await runInDurableObject(env.TENANT.getByName(tenant), (_object, { storage }) => {
      for (const table of ["usage_total", "usage_user", "usage_ledger"])
        expect(JSON.stringify(storage.sql.exec(`SELECT * FROM ${table}`).toArray())).not.toContain("ada")
      // For a day, a batch that arrives late is recognised by the random name of the user's ledger.
      const ended = storage.sql.exec("SELECT n, ended FROM usage_ledger").toArray()
      expect(ended).toEqual([{ n: 1, ended: expect.any(Number) }])
      storage.sql.exec("UPDATE usage_ledger SET ended = ended - ?", 24 * 60 * 60_000 + 1)
    })
    await evictDurableObject(env.TENANT.getByName(tenant))
    await env.TENANT.getByName(tenant).addUsage("eve", { ledger: "of-eve", n: 1, entries: [] })
    await runInDurableObject(env.TENANT.getByName(tenant), (_object, { storage }) => {
      const left = storage.sql.exec("SELECT ledger, n FROM usage_ledger ORDER BY ledger").toArray()
      expect(left).toEqual([
        { ledger: "erased", n: 1 },
        { ledger: "of-eve", n: 1 },
      ])
    })
  })

  test("[MT7] an export contains the prices, and usage stays with the tenant that caused it", async () => {
    const { tenant, token } = await freshUser()
    const price = { model: "scripted", from: "2026-01-01", input: 2, output: 8, cached: null, cache_write: null }
    await call("/v1/prices", {
      method: "PUT",
      token: await ownerToken(tenant),
      body: JSON.stringify({ prices: [price] }),
    })
    const session = await makeSession(token)
    await askQuestion(session, token, script([say("one"), createFinish(5, 1)]))
    await expectDirectory(tenant, "ada", { calls: 1, cost: 18_000 })
    await directoryOf(tenant, "ada").flushUsage()
    const archive = await downloadArchive(tenant, await exportTenant(tenant))
    const other = `${tenant}-other`
    expect((await importTenant(other, archive)).state).toBe("done")
    expect((await call("/v1/prices", { token: await ownerToken(other) })).json.prices).toEqual([price])
    expect((await readTenant(other)).total).toEqual(NO_USAGE)
    expect(await directoryOf(other, "ada").readUsage(ALL.from, ALL.to)).toEqual([])
    expect((await readTenant(tenant)).total.calls).toBe(1)
    // The imported session must have its own ledger.
    const theirs = await roleToken(other, "ada", "member")
    await askQuestion(session, theirs, script([say("two"), createFinish(7, 1)]))
    await expectDirectory(other, "ada", { calls: 1, input: 7 })
  })
})

describe("clocks", () => {
  test("[MT8] if the clock is set back, a session's turns still count towards the newest day", async () => {
    const { tenant, session } = await freshUser()
    await runInDurableObject(sessionOf(tenant, session), (_object, { storage }) => {
      const usage = new SessionUsage({
        queryAll: (query, ...bindings) => storage.sql.exec(query, ...bindings).toArray(),
      })
      const one = { provider: "a", model: "b", input: 1, cached: 0, cacheWritten: 0, output: 1, reasoning: 0 }
      const turn = [{ ...one, firstChunkMs: null, retries: 0, isReported: true, cost: 0 }]
      const dayOf = (at: string): string | undefined => {
        usage.addTurn(turn, "general", Date.parse(at))
        const report = usage.nextReport()
        usage.acknowledge(report?.n ?? 0)
        return report?.entries[0]?.day
      }
      const days = ["2026-01-31T23:59:59.999Z", "2026-02-01T00:00:00Z", "2026-01-02T00:00:00Z", "2026-02-02T00:00:00Z"]
      expect(days.map(dayOf)).toEqual(["2026-01-31", "2026-02-01", "2026-02-01", "2026-02-02"])
    })
  })
})
