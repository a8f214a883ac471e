/**
 * ops-queries.test.ts: runs the queries of ops/ on data points that the Worker's own code has written.
 *
 * Analytics Engine itself cannot run here. SQLite stands in for it, with the Analytics Engine functions that the
 * queries use. A query that uses any other function fails.
 */

import { readdirSync, readFileSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { describe, expect, test } from "vitest"
import { writeRequestPoint, writeTurnPoint } from "../../worker/telemetry/data-points.ts"

const OPS = new URL("../../ops/", import.meta.url)
const readOpsFile = (path: string): string => readFileSync(new URL(path, OPS), "utf8")
const NAMES = readdirSync(new URL("queries/", OPS)).map((file) => file.replace(/\.sql$/, ""))

/** Time of the last point, in seconds since 1970. Points are a minute apart. */
const NOW = 1_790_000_000

/** Creates a data set whose points are stored as the platform stores them, all with the same sample interval. */
function createDataset(sampleInterval = 1) {
  const database = new DatabaseSync(":memory:")
  const columns = [1, 2, 3, 4, 5, 6].flatMap((n) => [`blob${n} TEXT`, `double${n} REAL`])
  database.exec(`CREATE TABLE cuecard (timestamp REAL, _sample_interval REAL, index1 TEXT, ${columns.join(", ")})`)
  defineFunctions(database)
  let minutes = 0
  const METRICS = {
    writeDataPoint({
      indexes = [],
      blobs = [],
      doubles = [],
    }: {
      indexes?: unknown[]
      blobs?: unknown[]
      doubles?: unknown[]
    } = {}) {
      const names = [...blobs.map((_, i) => `blob${i + 1}`), ...doubles.map((_, i) => `double${i + 1}`)]
      const values = [NOW - 60 * minutes++, sampleInterval, indexes[0], ...blobs, ...doubles] as (string | number)[]
      const marks = values.map(() => "?").join(", ")
      database
        .prepare(`INSERT INTO cuecard (timestamp, _sample_interval, index1, ${names.join(", ")}) VALUES (${marks})`)
        .run(...values)
    },
  }
  const runQuery = (name: string): Record<string, unknown>[] =>
    database.prepare(toSqlite(readOpsFile(`queries/${name}.sql`))).all()
  return { env: { METRICS }, run: runQuery }
}

/** Rewrites syntax that SQLite lacks: intervals, and functions with two argument lists. */
function toSqlite(sql: string): string {
  const seconds = { MINUTE: 60, HOUR: 3600, DAY: 86_400 }
  return sql
    .replace(/INTERVAL '(\d+)' (MINUTE|HOUR|DAY)/g, (_, n, unit: keyof typeof seconds) =>
      String(Number(n) * seconds[unit]),
    )
    .replace(/quantileExactWeighted\(([\d.]+)\)\(/g, "quantileExactWeighted($1, ")
    .replace(/\bIF\(/g, "iif(")
}

function defineFunctions(database: DatabaseSync): void {
  database.function("NOW", () => NOW)
  database.function("toStartOfInterval", (at, step) => Math.floor(Number(at) / Number(step)) * Number(step))
  database.aggregate("quantileExactWeighted", {
    start: () => [] as unknown as number,
    step: (rows: unknown, level: unknown, value: unknown, weight: unknown) =>
      [...(rows as unknown[]), [level, value, weight]] as unknown as number,
    result: (rows: unknown) => findQuantile(rows as [number, number, number][]),
  } as never)
}

/** Returns the weighted quantile, as ClickHouse defines it. */
function findQuantile(rows: readonly [number, number, number][]): number {
  const sorted = [...rows].sort((a, b) => a[1] - b[1])
  const total = sorted.reduce((sum, [, , weight]) => sum + weight, 0)
  let passed = 0
  for (const [level, value, weight] of sorted) {
    passed += weight
    if (passed >= level * total) return value
  }
  return sorted.at(-1)?.[1] ?? 0
}

const REQUEST = { tenant: "acme", method: "GET", route: "/v1/sessions", status: 200, ms: 10 }
const TURN = {
  tenant: "acme",
  agent: "general",
  provider: "openai",
  model: "gpt-5",
  status: "completed",
  reason: null,
  ms: 2_000,
  firstDeltaMs: 400,
  inputTokens: 100,
  outputTokens: 20,
  cost: 2_000_000,
  rowsWritten: 20,
}

/** Returns a data set that contains some requests and turns. Each row represents `sampleInterval` points. */
function recordRequests(sampleInterval?: number) {
  const dataset = createDataset(sampleInterval)
  const { env } = dataset
  for (const ms of [10, 20, 30]) writeRequestPoint(env, { ...REQUEST, ms })
  writeRequestPoint(env, { ...REQUEST, status: 500, ms: 900 })
  writeRequestPoint(env, { ...REQUEST, method: "POST", status: 429, tenant: "" })
  writeTurnPoint(env, TURN)
  writeTurnPoint(env, { ...TURN, firstDeltaMs: 600, rowsWritten: 30 })
  writeTurnPoint(env, {
    ...TURN,
    model: "new",
    cost: null,
    firstDeltaMs: null,
    status: "failed",
    reason: "model_timeout",
  })
  writeTurnPoint(env, { ...TURN, tenant: "other", agent: "researcher", status: "cancelled" })
  return dataset
}

describe("queries", () => {
  test.each([1, 10])("[OB7] return requests by route: counts, failures, times; each row is for %d points", (n) => {
    expect(recordRequests(n).run("requests-by-route")).toEqual([
      {
        method: "GET",
        route: "/v1/sessions",
        requests: 4 * n,
        server_errors: n,
        rate_limited: 0,
        p50_ms: 20,
        p95_ms: 900,
      },
      { method: "POST", route: "/v1/sessions", requests: n, server_errors: 0, rate_limited: n, p50_ms: 10, p95_ms: 10 },
    ])
  })

  test("[OB7] return the share of failed requests over time", () => {
    const rows = recordRequests().run("errors-over-time")
    expect(rows.reduce((sum, { requests }) => sum + Number(requests), 0)).toBe(5)
    expect(
      rows.reduce((sum, { requests, error_share }) => sum + Number(requests) * Number(error_share), 0),
    ).toBeCloseTo(1)
    for (const { time } of rows) expect(Number(time) % 300).toBe(0)
  })

  test.each([1, 10])("[OB7] return turns by model: ends, tokens, cost; an unknown cost doesn't count as zero", (n) => {
    const known = { provider: "openai", model: "gpt-5", turns: 3 * n, completed: 2 * n, failed: 0 }
    const unknown = { provider: "openai", model: "new", turns: n, completed: 0, failed: n }
    expect(recordRequests(n).run("turns-by-model")).toEqual([
      { ...known, input_tokens: 300 * n, output_tokens: 60 * n, known_cost_usd: 0.006 * n, turns_of_unknown_cost: 0 },
      { ...unknown, input_tokens: 100 * n, output_tokens: 20 * n, known_cost_usd: 0, turns_of_unknown_cost: n },
    ])
  })

  test("[OB7] return the time to the first text, excluding turns without text", () => {
    const times = recordRequests().run("first-text")
    for (const { p50_ms, p95_ms } of times) expect([p50_ms, p95_ms].every((ms) => ms === 400 || ms === 600)).toBe(true)
    expect(times.length).toBeGreaterThan(0)
  })

  test("[OB7] return the reasons why turns did not complete", () => {
    expect(recordRequests().run("failed-turns")).toEqual(
      expect.arrayContaining([
        { agent: "general", model: "new", status: "failed", reason: "model_timeout", turns: 1 },
        { agent: "researcher", model: "gpt-5", status: "cancelled", reason: "", turns: 1 },
      ]),
    )
  })

  test("[OB7] return the tenants by number of turns, with the rows per turn", () => {
    const [first, second] = recordRequests().run("tenants")
    expect(first).toMatchObject({ tenant: "acme", turns: 3, p95_ms: 2_000 })
    expect(first?.["rows_per_turn"]).toBeCloseTo(70 / 3)
    expect(second).toMatchObject({ tenant: "other", turns: 1 })
  })

  test("[OB7] every query has a test here, and returns no rows for an empty data set", () => {
    const source = readFileSync(new URL(import.meta.url), "utf8")
    for (const name of NAMES) {
      expect(source, name).toContain(`run("${name}")`)
      expect(createDataset().run(name), name).toEqual([])
    }
  })
})

test("[OB7] the dashboard has a panel for each query, with exactly the query's text", () => {
  const { panels } = JSON.parse(readOpsFile("dashboard.json")) as { panels: { targets: { query: string }[] }[] }
  const shown = panels.flatMap(({ targets }) => targets.map(({ query }) => query))
  expect(shown.sort()).toEqual(NAMES.map((name) => readOpsFile(`queries/${name}.sql`)).sort())
})

test("[OB7] the README names the columns of the data points", () => {
  const readme = readOpsFile("README.md")
  for (const column of ["index1", ...[1, 2, 3, 4, 5, 6].flatMap((n) => [`blob${n}`, `double${n}`])])
    expect(readme).toContain(`\`${column}\``)
})
