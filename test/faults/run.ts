/**
 * run.ts: performs a seeded run: starts a server, plays the plans of several sessions concurrently, and returns the
 * violations.
 */

import type { Build } from "../../testing/built-worker.ts"
import { playSession, settleSession } from "./act.ts"
import { createChance } from "./chance.ts"
import { checkSession, liveDifference } from "./checks.ts"
import { startApprover } from "./approver.ts"
import { startBusyMeter } from "./busy-meter.ts"
import { planRun, type RunPlan, type Size } from "./plan.ts"
import { readSessions } from "./rows.ts"
import { startServer } from "./server.ts"
import {
  closeTestSession,
  type Host,
  openTestSession,
  type TestSession,
  TIME_SCALE,
  TURN_END_MS,
} from "./test-session.ts"
import { startUpstream, type Upstream } from "./upstream.ts"
import { findMixedUsageFaults, findUsageFaults } from "./usage-rows.ts"
import type { Violation } from "./violation.ts"

export interface Report {
  readonly seed: number
  /** How often each fault was injected. */
  readonly faults: ReadonlyMap<string, number>
  /** Number of turns that were running when the process was killed. */
  readonly hits: number
  /** Number of exchanges for which a cancel was requested, and number for which a cancel was acknowledged. */
  readonly cancels: { readonly requested: number; readonly stopped: number }
  readonly violations: readonly Violation[]
  readonly ms: number
}

/** Large enough that one kill interrupts turns in many states. */
export const DEFAULT_SIZE: Size = { sessions: 6, turns: 6 }

/** The variables that all servers of the suite have in common. */
export const VARS = { SCRIPTED_DELAY_MS: "4", TIME_SCALE: String(TIME_SCALE) }

function varsFor({ model, contextTokens }: RunPlan, upstream: Upstream): Record<string, string> {
  const context = contextTokens === null ? {} : { MODEL_CONTEXT_TOKENS: String(contextTokens) }
  const common = { ...VARS, ...context, PROBE_TOOLS: "on", PROBE_URL: upstream.url }
  if (model === "scripted") return common
  return { ...common, MODEL: "openai", MODEL_BASE_URL: `${upstream.url}/v1`, MODEL_NAME: "fake" }
}

/** Generates the plan of a seed and runs it. */
export function runSeed(seed: number, size: Size = DEFAULT_SIZE): Promise<Report> {
  return runPlan(planRun(seed, size))
}

/**
 * Runs a plan.
 *
 * Shapes: RunPlan → Report. `vars` override the default variables, for example to select a mutant. Each kill deploys
 * the next build in `builds`.
 * Errors: violations are returned; throws if the server cannot be started.
 */
export async function runPlan(
  plan: RunPlan,
  vars: Readonly<Record<string, string>> = {},
  patienceMs: number = TURN_END_MS,
  builds: readonly Build[] = [],
): Promise<Report> {
  const started = performance.now()
  const { seed } = plan
  const faults = new Map<string, number>()
  const count = (fault: string): void => void faults.set(fault, (faults.get(fault) ?? 0) + 1)
  const upstream = await startUpstream((play) => count(`model: ${play}`))
  const server = await startServer({ ...varsFor(plan, upstream), ...vars }, builds)
  const meter = startBusyMeter(server.url)
  const violations: Violation[] = []
  const sessions: TestSession[] = []
  let hits = 0
  const host: Host = {
    sessions,
    server,
    patienceMs,
    model: plan.model,
    chance: createChance(seed + 1),
    effects: upstream.effects,
    countBusyMs: meter.countBusyMs,
    report: (violation) => void violations.push(violation),
    count,
    hit: (turns) => {
      hits += turns
    },
  }
  try {
    sessions.push(...(await Promise.all(plan.sessions.map((session) => openTestSession(host, session)))))
    const stopApprovers = sessions.map((session) => startApprover(host, session))
    await Promise.all(sessions.map((session) => playSession(host, session)))
    await Promise.all(sessions.map((session) => settleSession(host, session, liveDifference)))
    for (const stop of stopApprovers) stop()
    await Promise.all(sessions.map(closeTestSession))
    meter.stop()
    await server.stop()
    const stored = readSessions(server.persist, (error) => {
      violations.push({ rule: "rows_whole", session: "(unreadable)", detail: String(error) })
    })
    const findFaults = builds.length === 0 ? findUsageFaults : findMixedUsageFaults
    for (const detail of findFaults(server.persist)) {
      violations.push({ rule: "ledger_is_sum", session: "(all)", detail })
    }
    const facts = {
      effects: upstream.effects,
      kills: server.kills(),
      readyAt: server.readyAt,
      hasSmallContext: plan.contextTokens !== null,
      countBusyMs: meter.countBusyMs,
    }
    for (const session of sessions) violations.push(...checkSession(session, stored.get(session.id), facts))
  } finally {
    meter.stop()
    await server.stop()
    await server.remove()
    await upstream.close()
  }
  const cancels = {
    requested: sessions.reduce((sum, { cancelRequested }) => sum + cancelRequested.size, 0),
    stopped: sessions.reduce((sum, { cancelled }) => sum + cancelled.size, 0),
  }
  return { seed, faults, hits, cancels, violations, ms: performance.now() - started }
}
