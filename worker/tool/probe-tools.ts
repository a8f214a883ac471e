/**
 * probe-tools.ts: tools for tests: they have countable effects, stream, wait, fail, and request approval.
 *
 * They exist only with PROBE_TOOLS=on, which a production deployment refuses (SPEC AU3). What they do is in probe-runs.ts.
 */

import type { Json } from "../../shared/json.ts"
import type { Env } from "../env.ts"
import type { ProbeName } from "./probe-runs.ts"
import type { Tool } from "./tool.ts"

export type ProbeEnv = Pick<Env, "PROBE_TOOLS" | "PROBE_URL">

const NUMBER: Json = { type: "number" }
const STRING: Json = { type: "string" }

export function createProbeTools(url: string): readonly Tool[] {
  const create = (name: ProbeName, properties: { readonly [key: string]: Json }, repeatable: boolean): Tool => ({
    name,
    description: `For tests: ${name}.`,
    parameters: { type: "object", properties },
    repeatable,
    ephemeral: false,
    async execute(args, context) {
      const { PROBE_RUNS } = await import("./probe-runs.ts")
      return await PROBE_RUNS[name](args, context, url)
    },
  })
  return [
    create("probe_effect", { key: STRING, ms: NUMBER }, false),
    { ...create("probe_ask", { key: STRING, ms: NUMBER, text: STRING }, false), needsApproval: () => true },
    create("probe_stream", { lines: NUMBER, ms: NUMBER, burst: NUMBER }, true),
    create("probe_data", { text: STRING, as: STRING }, true),
    create("probe_json", { json: STRING }, true),
    create("probe_save", { labels: STRING, trailer: STRING, data: STRING, ms: NUMBER }, false),
    create("probe_slow", { ms: NUMBER }, true),
    create("probe_fail", { how: STRING }, true),
  ]
}
