/**
 * kill-points.test.ts: kills a real server at each write and each call between objects, in turn, while a user's budgets
 * are set and used up and messages are refused.
 */

import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, expect, test } from "vitest"
import type { UserLimits } from "../../shared/usage/budget-limits.ts"
import { type Cuecard, startCuecard } from "../support/checked-cuecard.ts"
import { everyNth, IS_FULL, IS_LONG } from "../support/seeded.ts"
import { NANOS_PER_TOKEN, PRICE, createUsingMessage } from "./budget-run.ts"
import { KILL_LINE, KILL_PATH } from "./kill-points.ts"
import { findBudgetFaults, readTurns } from "./stored-budgets.ts"
import { WAIT } from "./tenant-client.ts"
import { findUsageFaults } from "./usage-rows.ts"
import { buildKillPoints } from "./worker-builds.ts"

const USER = "ada"
const TURN_TOKENS = 16
/** The budget that remains before each round, in tokens. One turn uses up this remainder. */
const LEFT_TOKENS = 10
const VARS = { SCRIPTED_DELAY_MS: "0", TIME_SCALE: "0.04" }
const MAX_POINTS = 200

/** A server with one user and one session, which can be killed at a numbered point. */
class KilledServer {
  #cuecard: Cuecard | null = null
  #killing: Promise<void> | null = null
  #sent = 0
  readonly persist: string
  session = ""

  constructor(persist: string) {
    this.persist = persist
  }

  async start(): Promise<void> {
    const onLog = (line: string): void => {
      if (line === KILL_LINE) this.#killing ??= this.#kill()
    }
    this.#cuecard = await startCuecard({ persist: this.persist, vars: VARS, onLog }, await buildKillPoints())
    this.#killing = null
  }

  /** Arms the point that is `n` points ahead. Returns the number of points passed since the previous call. */
  async arm(n: number): Promise<number> {
    return (await this.#request("POST", `${KILL_PATH}?n=${n}`)).body.passed
  }

  /** Returns whether the process has reached the armed point, and so has been killed. */
  async isKilled(): Promise<boolean> {
    await this.#killing
    return this.#killing !== null
  }

  async create(): Promise<void> {
    await this.#request("PUT", "/v1/prices", { prices: [PRICE] }, "owner")
    this.session = (await this.#request("POST", "/v1/sessions", {})).body.id
  }

  /** Sets the budgets, and sends messages until one is refused. */
  async playRound(limits: UserLimits["user"]): Promise<void> {
    const set = await this.#request("PUT", "/v1/budgets", { users: { [USER]: limits } }, "owner")
    expect(set.status).toBe(200)
    // Several turns may be needed, because a turn that a kill cut off has used nothing.
    for (let sent = 0; sent < 4; sent += 1) {
      this.#sent += 1
      const message = { id: `m${this.#sent}`, content: createUsingMessage(TURN_TOKENS) }
      const { status, body } = await this.#request("POST", `/v1/sessions/${this.session}/messages`, message)
      if (status === 429) return expect(body).toMatchObject({ code: "budget_exhausted", resets: expect.any(Number) })
      expect(status).toBe(202)
      await this.untilIdle()
    }
    throw new Error("no message was refused")
  }

  /** Waits until no turn is running, without opening the session. */
  async untilIdle(): Promise<void> {
    const isIdle = async (): Promise<boolean> => {
      if (await this.isKilled()) throw new Error("killed")
      const { sessions } = (await this.#request("GET", "/v1/sessions")).body
      return sessions.every(({ running }: { running: boolean }) => !running)
    }
    for (const late = Date.now() + WAIT.timeout; !(await isIdle()); ) {
      if (Date.now() > late) throw new Error("a turn did not end in time")
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  async readUsed(): Promise<object> {
    const { budgets } = (await this.#request("GET", "/v1/usage/me")).body
    return Object.fromEntries(budgets.map(({ budget, used }: { budget: string; used: number }) => [budget, used]))
  }

  async stop(): Promise<void> {
    await this.#cuecard?.kill()
  }

  async #kill(): Promise<void> {
    await this.#cuecard?.kill()
  }

  async #request(method: string, path: string, body?: object, role: "member" | "owner" = "member") {
    const cuecard = this.#cuecard
    if (cuecard === null) throw new Error("not started")
    const user = role === "owner" ? "boss" : USER
    const headers = {
      authorization: `Bearer ${await cuecard.tokenFor({ user, role })}`,
      "content-type": "application/json",
    }
    const init = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await fetch(cuecard.url + path, { method, headers, ...init })
    return { status: response.status, body: await response.json() }
  }
}

let killed: KilledServer | null = null
afterEach(async () => {
  await killed?.stop()
  if (killed !== null) await rm(killed.persist, { recursive: true, force: true })
  killed = null
})

/**
 * For each kind of budget, a function that returns a round's limits, given the tokens used so far. One turn uses up
 * what is left.
 */
const KINDS = {
  "a token budget": (tokens) => ({ tokens_per_month: tokens + LEFT_TOKENS }),
  "a cost budget with one turn at a time": (tokens) => ({
    cost_per_month: (tokens + LEFT_TOKENS) * NANOS_PER_TOKEN,
    concurrent_turns: 1,
  }),
} satisfies Record<string, (tokens: number) => UserLimits["user"]>

/** Every twelfth point in a short run, every fourth point with `RUNS=full`, and all points with `RUNS=long`. */
const STEP = IS_LONG ? 1 : IS_FULL ? 4 : 12
const POINTS = everyNth(
  Array.from({ length: MAX_POINTS }, (_, at) => at + 1),
  STEP,
  STEP,
)

test.each(Object.entries(KINDS))(
  "[FS14] %s: wherever the server is killed, it counts every turn and refuses messages only once the budget is used up",
  async (_, limitsOf) => {
    killed = new KilledServer(await mkdtemp(join(tmpdir(), "cuecard-kill-points-")))
    const server = killed
    const readTokens = (): number => readTurns(server.persist).get(USER)?.spent.tokens ?? 0
    const findFaults = (limits: UserLimits["user"]): string[] => {
      const largest = { tokens: TURN_TOKENS, cost: TURN_TOKENS * NANOS_PER_TOKEN }
      const bounds = { largest, limitsOf: () => ({ tenant: {}, role: {}, user: limits }) }
      return [...findUsageFaults(server.persist), ...findBudgetFaults(server.persist, bounds)]
    }
    await server.start()
    await server.create()
    let hits = 0
    for (const n of POINTS) {
      const limits = limitsOf(readTokens())
      await server.arm(n)
      const isPlayed = await server.playRound(limits).then(
        () => true,
        () => false,
      )
      const isKilled = await server.isKilled()
      if (!isKilled && isPlayed) break
      expect(isKilled, `point ${n}`).toBe(true)
      hits += 1
      expect(findFaults(limits), `killed at point ${n}`).toEqual([])
      await server.start()
      await server.untilIdle()
      await server.playRound(limits)
      // There is one session, so the turn that uses up the budget is the last one.
      expect(readTokens(), `after point ${n}`).toBeLessThan(limitTokens(limits) + TURN_TOKENS)
      expect(Object.values(await server.readUsed()), `after point ${n}`).toContain(toUnit(limits, readTokens()))
    }
    expect(hits).toBeGreaterThan(Math.floor(20 / STEP))
    await server.stop()
  },
)

function toUnit(limits: UserLimits["user"], tokens: number): number {
  return limits.cost_per_month === undefined ? tokens : tokens * NANOS_PER_TOKEN
}

function limitTokens({ tokens_per_month = Infinity, cost_per_month = Infinity }: UserLimits["user"]): number {
  return Math.min(tokens_per_month, cost_per_month / NANOS_PER_TOKEN)
}
