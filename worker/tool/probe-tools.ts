/**
 * probe-tools.ts: tools for tests: they have countable effects, stream, wait, fail, and request approval.
 *
 * They exist only with PROBE_TOOLS=on, which a production deployment refuses (SPEC AU3). An effect is a POST to
 * `<PROBE_URL>/effect/<key>/<call id>`, which the test's server counts.
 */

import type { Json } from "../../shared/json.ts"
import type { Env } from "../env.ts"
import { pause } from "../platform/pause.ts"
import { encodeWav } from "./render/wav-encoder.ts"
import {
  createCardTrailer,
  parseToolArgs,
  type ToolResult,
  type Tool,
  type ToolArgs,
  type ToolContext,
  type ToolReturn,
  toolResult,
} from "./tool.ts"

export type ProbeEnv = Pick<Env, "PROBE_TOOLS" | "PROBE_URL">

const NUMBER: Json = { type: "number" }
const STRING: Json = { type: "string" }

export function createProbeTools(url: string): readonly Tool[] {
  return [
    createProbeTool("probe_effect", { key: STRING, ms: NUMBER }, false, (args, ctx) => runEffect(url, args, ctx)),
    {
      ...createProbeTool("probe_ask", { key: STRING, ms: NUMBER, text: STRING }, false, (args, ctx) =>
        runEffect(url, args, ctx),
      ),
      needsApproval: () => true,
    },
    createProbeTool("probe_stream", { lines: NUMBER, ms: NUMBER, burst: NUMBER }, true, streamLines),
    createProbeTool("probe_data", { text: STRING, as: STRING }, true, returnText),
    createProbeTool("probe_json", { json: STRING }, true, ({ json }) => parseToolArgs(String(json)) ?? {}),
    createProbeTool("probe_save", { labels: STRING, trailer: STRING, data: STRING, ms: NUMBER }, false, saveFiles),
    createProbeTool("probe_slow", { ms: NUMBER }, true, async (args, { signal }) => {
      await pause(readNumberArg(args, "ms"), signal)
      return { waited: readNumberArg(args, "ms") }
    }),
    createProbeTool("probe_fail", { how: STRING }, true, ({ how }) => {
      if (how === "throw") throw new Error("asked to throw")
      return { error: "It failed as asked.", details: `how: ${String(how)}` }
    }),
  ]
}

/** Returns the given text: as data, in a card, in a wrapper, or as live output. */
async function* returnText(args: ToolArgs, ctx: ToolContext): AsyncGenerator<string, ProbeResult> {
  const text = readTextArg(args, "text")
  if (args["as"] === "output") yield text
  if (args["as"] === "card") return toolResult(ctx, { text }, createCardTrailer)
  if (args["as"] !== "wrapped") return { text }
  const result = toolResult(ctx, { text }, createCardTrailer)
  const body = typeof result === "string" ? result : JSON.stringify(result)
  // The format of another system. None of our tools returns it.
  return `[probe_data(${JSON.stringify(text)})]\n${body}\n[end:probe_data]` as ToolResult
}

/** Saves a file for each label, then waits. `$0` in the trailer and the data is replaced by the id of the first file. */
async function saveFiles(args: ToolArgs, ctx: ToolContext): Promise<ProbeResult> {
  const ids: string[] = []
  for (const label of readTextArg(args, "labels").split(" ")) {
    const bytes = label.endsWith(".wav") ? SILENT_WAV : new TextEncoder().encode(label)
    const saved = await ctx.saveAsset(bytes, { label, mime_type: "text/plain" })
    ids.push(saved.ok ? saved.value.id : "none")
  }
  await pause(readNumberArg(args, "ms"), ctx.signal)
  const fillInIds = (text: string): string => text.replace(/\$(\d)/g, (_, n) => ids[Number(n)] ?? "none")
  return toolResult(ctx, { data: fillInIds(readTextArg(args, "data")) }, () => fillInIds(readTextArg(args, "trailer")))
}

/** The shortest WAV file. */
const SILENT_WAV = encodeWav(new Int16Array(), 8_000)

type ProbeResult = ToolResult | { readonly [key: string]: Json }

function createProbeTool(
  name: string,
  properties: { readonly [key: string]: Json },
  repeatable: boolean,
  execute: (args: ToolArgs, ctx: ToolContext) => Promise<ToolReturn> | ToolReturn,
): Tool {
  const parameters = { type: "object", properties }
  return { name, description: `For tests: ${name}.`, parameters, repeatable, ephemeral: false, execute }
}

/** The effect comes before the pause, so that a test can kill the process after it. */
async function runEffect(
  url: string,
  args: ToolArgs,
  { call_id, signal }: ToolContext,
): Promise<{ readonly [key: string]: Json }> {
  const key = readTextArg(args, "key")
  if (url !== "" && key !== "") {
    const response = await fetch(`${url}/effect/${encodeURIComponent(key)}/${call_id}`, { method: "POST", signal })
    await response.text()
  }
  await pause(readNumberArg(args, "ms"), signal)
  return { done: key }
}

async function* streamLines(
  args: ToolArgs,
  { signal }: ToolContext,
): AsyncGenerator<string, { readonly lines: number }> {
  const lines = readNumberArg(args, "lines")
  const burst = readNumberArg(args, "burst") || 1
  for (let line = 1; line <= lines; line++) {
    yield `line ${line} of ${lines}\n`
    if (line % burst === 0) await pause(readNumberArg(args, "ms"), signal)
  }
  return { lines }
}

function readTextArg(args: ToolArgs, name: string): string {
  const value = args[name]
  return typeof value === "string" ? value : ""
}

function readNumberArg(args: ToolArgs, name: string): number {
  const value = args[name]
  return typeof value === "number" && value >= 0 ? value : 0
}
