/**
 * probe-runs.ts: what the tools for tests do. An effect is a POST to `<PROBE_URL>/effect/<key>/<call id>`, which the test's
 * server counts.
 */

import type { Json } from "../../shared/json.ts"
import { pause } from "../platform/pause.ts"
import { encodeWav } from "./render/wav-encoder.ts"
import {
  createCardTrailer,
  parseToolArgs,
  type ToolArgs,
  type ToolContext,
  type ToolResult,
  type ToolReturn,
  toolResult,
} from "./tool.ts"

type ProbeRun = (args: ToolArgs, context: ToolContext, url: string) => Promise<ToolReturn> | ToolReturn

export const PROBE_RUNS = {
  probe_effect: (args, context, url) => runEffect(url, args, context),
  probe_ask: (args, context, url) => runEffect(url, args, context),
  probe_stream: streamLines,
  probe_data: returnText,
  probe_json: ({ json }) => parseToolArgs(String(json)) ?? {},
  probe_save: saveFiles,
  async probe_slow(args, { signal }) {
    await pause(readNumberArg(args, "ms"), signal)
    return { waited: readNumberArg(args, "ms") }
  },
  probe_fail({ how }) {
    if (how === "throw") throw new Error("asked to throw")
    return { error: "It failed as asked.", details: `how: ${String(how)}` }
  },
} satisfies Record<string, ProbeRun>

export type ProbeName = keyof typeof PROBE_RUNS

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
