/**
 * run.ts: one seeded run: a server, several sessions side by side with their plans, and the violations.
 */

import { playStage, settleStage } from "./act.ts"
import { createChance } from "./chance.ts"
import { checkSession, liveDifference } from "./checks.ts"
import { startClerk } from "./clerk.ts"
import { planRun, type RunPlan, type Size } from "./plan.ts"
import { readSessions } from "./rows.ts"
import { startServer } from "./server.ts"
import { closeStage, type Host, openStage, type Stage, TIME_SCALE, TURN_END_MS } from "./stage.ts"
import { startUpstream, type Upstream } from "./upstream.ts"
import type { Violation } from "./violation.ts"

export interface Report {
  readonly seed: number
  /** How often each fault was injected. */
  readonly faults: ReadonlyMap<string, number>
  /** Number of turns that ran when the process was killed. */
  readonly hits: number
  /** Exchanges with a cancel request, and those with an acknowledged one. */
  readonly cancels: { readonly asked: number; readonly stopped: number }
  readonly violations: readonly Violation[]
  readonly ms: number
}

/** Six sessions of six turns: enough that one kill meets turns in many states. */
export const USUAL_SIZE: Size = { sessions: 6, turns: 6 }

/** The variables of every server of the suite. */
const VARS = { SCRIPTED_DELAY_MS: "4", TIME_SCALE: String(TIME_SCALE) }

function varsFor({ model, contextTokens }: RunPlan, upstream: Upstream): Record<string, string> {
  const context = contextTokens === null ? {} : { MODEL_CONTEXT_TOKENS: String(contextTokens) }
  const usual = { ...VARS, ...context, PROBE_TOOLS: "on", PROBE_URL: upstream.url }
  if (model === "scripted") return usual
  return { ...usual, MODEL: "openai", MODEL_BASE_URL: `${upstream.url}/v1`, MODEL_NAME: "fake" }
}

/** Plays a seed. */
export function runSeed(seed: number, size: Size = USUAL_SIZE): Promise<Report> {
  return runPlan(planRun(seed, size))
}

/**
 * Plays a plan.
 *
 * Shapes  RunPlan → Report; `vars` override the usual ones (a mutant).
 * Errors  violations are values; throws if the server cannot be started.
 */
export async function runPlan(
  plan: RunPlan,
  vars: Readonly<Record<string, string>> = {},
  patienceMs: number = TURN_END_MS,
): Promise<Report> {
  const started = performance.now()
  const { seed } = plan
  const faults = new Map<string, number>()
  const count = (fault: string): void => void faults.set(fault, (faults.get(fault) ?? 0) + 1)
  const upstream = await startUpstream((play) => count(`model: ${play}`))
  const server = await startServer({ ...varsFor(plan, upstream), ...vars })
  const violations: Violation[] = []
  const stages: Stage[] = []
  let hits = 0
  const host: Host = {
    stages,
    server,
    patienceMs,
    model: plan.model,
    chance: createChance(seed + 1),
    report: (violation) => void violations.push(violation),
    count,
    hit: (turns) => {
      hits += turns
    },
  }
  try {
    stages.push(...(await Promise.all(plan.sessions.map((session) => openStage(host, session)))))
    const stopClerks = stages.map((stage) => startClerk(host, stage))
    await Promise.all(stages.map((stage) => playStage(host, stage)))
    await Promise.all(stages.map((stage) => settleStage(host, stage, liveDifference)))
    for (const stop of stopClerks) stop()
    await Promise.all(stages.map(closeStage))
    await server.stop()
    const stored = readSessions(server.persist, (error) => {
      violations.push({ rule: "rows_whole", session: "one of them", detail: String(error) })
    })
    const facts = {
      effects: upstream.effects,
      kills: server.kills(),
      readyAt: server.readyAt,
      hasSmallContext: plan.contextTokens !== null,
    }
    for (const stage of stages) violations.push(...checkSession(stage, stored.get(stage.session), facts))
  } finally {
    await server.stop()
    await server.remove()
    await upstream.close()
  }
  const cancels = {
    asked: stages.reduce((sum, { cancelAsked }) => sum + cancelAsked.size, 0),
    stopped: stages.reduce((sum, { cancelled }) => sum + cancelled.size, 0),
  }
  return { seed, faults, hits, cancels, violations, ms: performance.now() - started }
}
