/**
 * probe-tools.ts: tools for tests, which have countable effects, stream, wait, fail and request approval.
 *
 * They exist only with PROBE_TOOLS=on, which a production deployment refuses (SPEC AU3). An effect is a POST to
 * `<PROBE_URL>/effect/<key>/<call id>`, which the test's server counts. The code of the tools is in
 * probes/run-probe.ts.
 */

import type { Json } from "../../shared/json.ts"
import type { Env } from "../env.ts"
import type { Tool } from "./tool.ts"

export type ProbeEnv = Pick<Env, "PROBE_TOOLS" | "PROBE_URL">

const NUMBER: Json = { type: "number" }
const STRING: Json = { type: "string" }

/** The arguments of each probe tool, and whether it can be run again. */
const PROBES = {
  probe_effect: [{ key: STRING, ms: NUMBER }, false],
  probe_ask: [{ key: STRING, ms: NUMBER, text: STRING }, false],
  probe_stream: [{ lines: NUMBER, ms: NUMBER, burst: NUMBER }, true],
  probe_data: [{ text: STRING, as: STRING }, true],
  probe_json: [{ json: STRING }, true],
  probe_save: [{ labels: STRING, trailer: STRING, data: STRING, ms: NUMBER }, false],
  probe_slow: [{ ms: NUMBER }, true],
  probe_fail: [{ how: STRING }, true],
} as const

export type ProbeName = keyof typeof PROBES

export function createProbeTools(url: string): readonly Tool[] {
  return (Object.keys(PROBES) as ProbeName[]).map((name) => {
    const [properties, repeatable] = PROBES[name]
    return {
      name,
      description: `For tests: ${name}.`,
      parameters: { type: "object", properties },
      repeatable,
      ephemeral: false,
      ...(name === "probe_ask" && { needsApproval: () => true }),
      execute: async (args, ctx) => (await import("./probes/run-probe.ts")).runProbe(name, url, args, ctx),
    }
  })
}
