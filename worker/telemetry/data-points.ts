/**
 * data-points.ts: one data point per request and one per turn, for Analytics Engine.
 *
 * Columns are identified by position, so new ones are only added at the end. ops/README.md lists them for queries, and
 * `test/shared/ops-queries.test.ts` runs those queries on points that this module writes.
 */

import { log } from "../platform/log.ts"

/** The variables of `Env` that are used here. */
export interface MetricsEnv {
  readonly METRICS?: { writeDataPoint(point: DataPoint): void }
  readonly POINTS?: string
}

export interface DataPoint {
  /** The tenant. Sampling is by index, so that a large tenant does not displace a small one. */
  readonly indexes: string[]
  readonly blobs: string[]
  readonly doubles: number[]
}

export interface RequestFigures {
  /** Empty if the request has no token. */
  readonly tenant: string
  readonly method: string
  /** The pattern of the route, never the path. */
  readonly route: string
  readonly status: number
  readonly ms: number
}

export function writeRequestPoint(env: MetricsEnv, figures: RequestFigures): void {
  const { tenant, method, route, status, ms } = figures
  writePoint(env, { indexes: [tenant], blobs: ["request", method, route], doubles: [status, ms] })
}

export interface TurnFigures {
  readonly tenant: string
  readonly agent: string
  readonly provider: string
  readonly model: string
  readonly status: string
  readonly reason: string | null
  readonly ms: number
  /** Milliseconds from the acceptance of the question to the first text; null if there was none. */
  readonly firstDeltaMs: number | null
  readonly inputTokens: number
  readonly outputTokens: number
  /** In units of 1e-9 USD; null if a price is unknown. */
  readonly cost: number | null
  readonly rowsWritten: number
}

/** Writes the data point of a turn. An absent number is written as -1. */
export function writeTurnPoint(env: MetricsEnv, figures: TurnFigures): void {
  const { tenant, agent, provider, model, status, reason, ms } = figures
  const { firstDeltaMs, inputTokens, outputTokens, cost, rowsWritten } = figures
  writePoint(env, {
    indexes: [tenant],
    blobs: ["turn", agent, provider, model, status, reason ?? ""],
    doubles: [ms, firstDeltaMs ?? -1, inputTokens, outputTokens, cost ?? -1, rowsWritten],
  })
}

/** Writes a point. Never throws, because a data set that fails must not affect the request or the turn (SPEC OB4). */
function writePoint({ METRICS, POINTS }: MetricsEnv, point: DataPoint): void {
  try {
    METRICS?.writeDataPoint(point)
    if (POINTS === "log") log("point", { ...point })
  } catch {}
}
