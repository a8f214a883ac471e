/**
 * budget-run.ts: runs many sessions of several users under budgets, on a real server that is killed repeatedly. After
 * each kill it checks the rows on disk. After each restart it checks that a user whose budget is used up is still
 * refused.
 */

import { expect } from "vitest"
import type { UserLimits } from "../../shared/usage/budget-limits.ts"
import type { BudgetView } from "../../shared/usage/budget-view.ts"
import { type Chance, createChance } from "./chance.ts"
import { startServer, type TestServer } from "./server.ts"
import { type BudgetBounds, findBudgetFaults, readTurns } from "./stored-budgets.ts"
import { sendRequest, requestJson, tokenOf, WAIT } from "./tenant-client.ts"
import { findUsageFaults } from "./usage-rows.ts"

export const TENANT = "budgets"
/** Number of clients that send at the same time. */
const CLIENTS = 16
/** Longest pause within an answer, in milliseconds. The pauses let kills hit running turns. */
const MAX_PAUSE_MS = 120
/** A price at which each token costs a thousandth of a dollar. */
export const PRICE = { model: "scripted", from: "2026-01-01", input: 1_000, output: 1_000 }
export const NANOS_PER_TOKEN = 1_000_000

export interface BudgetRunPlan {
  readonly seed: number
  readonly users: number
  readonly sessionsPerUser: number
  readonly turnsPerSession: number
  readonly kills: number
  readonly maxTurnTokens: number
  readonly tenant: UserLimits["tenant"]
  /** Returns the limits of the n-th user. */
  readonly limitsOf: (n: number) => UserLimits["user"]
}

interface RunUser {
  readonly name: string
  readonly token: string
  readonly sessions: { readonly id: string; turnsLeft: number }[]
  /** Whether a message was refused because a daily or monthly budget is used up. */
  isUsedUp: boolean
}

/** Returns a message whose answer uses the given number of tokens. */
export function createUsingMessage(tokens: number, pauseMs = 0): string {
  const text = { type: "text_delta", delta: "ok" }
  const finish = { type: "finish", input_tokens: tokens - 1, output_tokens: 1 }
  return `/script ${JSON.stringify([[text, { type: "pause", ms: pauseMs }, finish]])}`
}

/** Sends a message until a response arrives. */
export async function sendMessage(on: TestServer, token: string, session: string, id: string, content: string) {
  const body = JSON.stringify({ id, content })
  const response = await sendRequest(on, `/v1/sessions/${session}/messages`, token, { method: "POST", body })
  const { code = "", resets = null } = (await response.json()) as { code?: string; resets?: number | null }
  return { status: response.status, code, isUsedUp: code === "budget_exhausted" && resets !== null }
}

export async function setLimits(on: TestServer, change: object): Promise<void> {
  const boss = await tokenOf(TENANT, "boss", "owner")
  const put = await sendRequest(on, "/v1/budgets", boss, { method: "PUT", body: JSON.stringify(change) })
  expect(put.status).toBe(200)
}

export async function readBudgets(on: TestServer, token: string): Promise<readonly BudgetView[]> {
  return (await requestJson(on, "/v1/usage/me", token)).budgets
}

export class BudgetRun {
  readonly #plan: BudgetRunPlan
  readonly #server: TestServer
  readonly #chance: Chance
  readonly #users: RunUser[] = []
  readonly #accepted = new Set<string>()
  readonly #refused = new Set<string>()
  /** Ids of messages that were accepted although the budget was used up. Their answers must fail. */
  readonly #queued = new Set<string>()
  #sent = 0
  readonly faults: string[] = []

  static async start(plan: BudgetRunPlan): Promise<BudgetRun> {
    return new BudgetRun(plan, await startServer({ SCRIPTED_DELAY_MS: "0", TIME_SCALE: "0.04" }))
  }

  private constructor(plan: BudgetRunPlan, server: TestServer) {
    this.#plan = plan
    this.#server = server
    this.#chance = createChance(plan.seed)
  }

  get counts() {
    const { size: accepted } = this.#accepted
    return { accepted, refused: this.#refused.size, kills: this.#server.kills() }
  }

  get persist(): string {
    return this.#server.persist
  }

  /** Sets prices and budgets, and creates all sessions. */
  async prepare(): Promise<void> {
    const { users, sessionsPerUser, turnsPerSession, tenant, limitsOf } = this.#plan
    const boss = await tokenOf(TENANT, "boss", "owner")
    const prices = JSON.stringify({ prices: [PRICE] })
    expect((await sendRequest(this.#server, "/v1/prices", boss, { method: "PUT", body: prices })).status).toBe(200)
    const names = Array.from({ length: users }, (_, n) => `user-${n}`)
    await setLimits(this.#server, { tenant, users: Object.fromEntries(names.map((name, n) => [name, limitsOf(n)])) })
    for (const name of names) {
      const token = await tokenOf(TENANT, name, "member")
      const sessions = await Promise.all(
        Array.from({ length: sessionsPerUser }, async () => {
          const created = await requestJson(this.#server, "/v1/sessions", token, { method: "POST", body: "{}" })
          return { id: String(created.id), turnsLeft: turnsPerSession }
        }),
      )
      this.#users.push({ name, token, sessions, isUsedUp: false })
    }
  }

  /** Sends every message while the server is killed repeatedly. */
  async play(): Promise<void> {
    const { users, sessionsPerUser, turnsPerSession, kills } = this.#plan
    const total = users * sessionsPerUser * turnsPerSession
    let killed = 0
    const playOne = async (): Promise<void> => {
      while (this.#sent < total) {
        const isDue = killed < kills && this.#sent >= ((killed + 1) * total) / (kills + 1)
        if (isDue) killed += 1
        await Promise.all([this.#sendNext(), isDue ? this.#kill() : null])
      }
    }
    await Promise.all(Array.from({ length: CLIENTS }, playOne))
  }

  async #sendNext(): Promise<void> {
    const open = this.#users.flatMap((user) =>
      user.sessions.flatMap((session) => (session.turnsLeft > 0 ? [{ user, session }] : [])),
    )
    if (open.length === 0) return
    const { user, session } = this.#chance.pick(open)
    session.turnsLeft -= 1
    await this.#send(user, session.id)
  }

  /** Sends a user's next message. Returns the message's id if the message was accepted, otherwise null. */
  async #send(user: RunUser, session: string): Promise<string | null> {
    this.#sent += 1
    const id = `m-${this.#sent}`
    const tokens = this.#chance.between(2, this.#plan.maxTurnTokens)
    const content = createUsingMessage(tokens, this.#chance.int(MAX_PAUSE_MS))
    const { status, code, isUsedUp } = await sendMessage(this.#server, user.token, session, id, content)
    if (status === 202) this.#accepted.add(id)
    else if (code === "budget_exhausted") this.#refused.add(id)
    else if (code !== "queue_full") this.faults.push(`${id} of ${user.name}: ${status} ${code}`)
    if (isUsedUp) user.isUsedUp = true
    return status === 202 ? id : null
  }

  async #kill(): Promise<void> {
    await this.#server.crash(() => this.faults.push(...this.findStoredFaults(this.#plan.tenant)))
    // No lease outlives the process, so a user whose messages were refused before the kill is still refused. If a turn
    // of the session is still being recovered, the message is queued first.
    const usedUp = this.#users.filter(({ isUsedUp }) => isUsedUp)
    if (usedUp.length === 0) return
    const user = this.#chance.pick(usedUp)
    const queued = await this.#send(user, user.sessions[0]?.id ?? "")
    if (queued !== null) this.#queued.add(queued)
  }

  /**
   * Waits until nothing is running. It opens no session, because alarms alone must resume the work that a kill
   * interrupted.
   */
  async settle(): Promise<void> {
    for (const { name, token } of this.#users) {
      const isIdle = async (): Promise<boolean> => {
        const { sessions } = await requestJson(this.#server, "/v1/sessions?limit=100", token)
        return sessions.every(({ running }: { running: boolean }) => !running)
      }
      await expect.poll(isIdle, { ...WAIT, message: `the turns of ${name}` }).toBe(true)
    }
  }

  /** Raises the tenant's budget, and checks that only the users with a remaining budget can send messages. */
  async raise(tenant: UserLimits["tenant"]): Promise<void> {
    await setLimits(this.#server, { tenant })
    for (const user of this.#users) {
      const budgets = await readBudgets(this.#server, user.token)
      const hasLeft = budgets.every(({ left }) => left > 0)
      user.isUsedUp = !hasLeft
      const sent = await this.#send(user, user.sessions[0]?.id ?? "")
      if ((sent !== null) !== hasLeft) this.faults.push(`${user.name}: sent ${sent}, with ${JSON.stringify(budgets)}`)
    }
    await this.settle()
  }

  /** Returns the errors in the rows of the stopped server. */
  findStoredFaults(tenant: UserLimits["tenant"]): string[] {
    const { maxTurnTokens: tokens, limitsOf } = this.#plan
    const bounds: BudgetBounds = {
      largest: { tokens, cost: tokens * NANOS_PER_TOKEN },
      limitsOf: (user) => ({ tenant, role: {}, user: limitsOf(Number(user.split("-")[1])) }),
    }
    return [...findUsageFaults(this.persist), ...findBudgetFaults(this.persist, bounds)]
  }

  /**
   * Finds accepted messages that are not stored exactly once, refused messages that are stored, and answers to messages
   * that were queued on a used-up budget. The server must be stopped.
   */
  findMessageFaults(): string[] {
    const turns = [...readTurns(this.persist).values()]
    const stored = turns.flatMap(({ messages }) => messages)
    const unanswered = new Set(turns.flatMap((user) => user.unanswered))
    const counts = new Map<string, number>()
    for (const id of stored) counts.set(id, (counts.get(id) ?? 0) + 1)
    const lost = [...this.#accepted].filter((id) => counts.get(id) !== 1)
    const kept = [...this.#refused].filter((id) => counts.has(id))
    const answered = [...this.#queued].filter((id) => !unanswered.has(id))
    return [
      ...lost.map((id) => `${id} is stored ${counts.get(id) ?? 0} times`),
      ...kept.map((id) => `${id} was refused but is stored`),
      ...answered.map((id) => `${id} is answered, although the budget was used up`),
    ]
  }

  stop(): Promise<void> {
    return this.#server.stop()
  }

  async remove(): Promise<void> {
    await this.#server.stop()
    await this.#server.remove()
  }
}
