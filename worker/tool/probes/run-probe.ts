/**
 * run-probe.ts: runs the probe tools, which have countable effects, write live output, wait, fail and save files.
 * Loaded on the first call of a probe tool.
 */

import type { Json } from "../../../shared/json.ts"
import { pause } from "../../platform/pause.ts"
import { encodeWav } from "../render/wav-encoder.ts"
import {
  createCardTrailer,
  parseToolArgs,
  type ToolResult,
  type ToolArgs,
  type ToolContext,
  type ToolReturn,
  toolResult,
} from "../tool.ts"
import type { ProbeName } from "../probe-tools.ts"

/** Runs a probe tool. `url` is the URL of the server that counts effects. */
export function runProbe(
  name: ProbeName,
  url: string,
  args: ToolArgs,
  ctx: ToolContext,
): Promise<ToolReturn> | ToolReturn {
  switch (name) {
    case "probe_effect":
    case "probe_ask":
      return runEffect(url, args, ctx)
    case "probe_stream":
      return streamLines(args, ctx)
    case "probe_data":
      return returnText(args, ctx)
    case "probe_json":
      return parseToolArgs(String(args["json"])) ?? {}
    case "probe_save":
      return saveFiles(args, ctx)
    case "probe_slow":
      return waitAsTold(args, ctx)
    case "probe_fail":
      if (args["how"] === "throw") throw new Error("asked to throw")
      return { error: "It failed as asked.", details: `how: ${String(args["how"])}` }
  }
}

async function waitAsTold(args: ToolArgs, { signal }: ToolContext): Promise<ProbeResult> {
  await pause(readNumberArg(args, "ms"), signal)
  return { waited: readNumberArg(args, "ms") }
}

/** Returns the given text: as data, in a card, in a wrapper, or as live output. */
async function* returnText(args: ToolArgs, ctx: ToolContext): AsyncGenerator<string, ProbeResult> {
  const text = readTextArg(args, "text")
  if (args["as"] === "output") yield text
  if (args["as"] === "card") return toolResult(ctx, { text }, createCardTrailer)
  if (args["as"] !== "wrapped") return { text }
  const result = toolResult(ctx, { text }, createCardTrailer)
  const body = typeof result === "string" ? result : JSON.stringify(result)
  // The format of another system. No built-in tool returns it.
  return `[probe_data(${JSON.stringify(text)})]\n${body}\n[end:probe_data]` as ToolResult
}

/**
 * Saves a file for each label, then waits. `$0` in the trailer and the data is replaced by the id of the first file.
 */
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

/** Causes the effect and then pauses. The effect comes first, so that a test can kill the process after it. */
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
