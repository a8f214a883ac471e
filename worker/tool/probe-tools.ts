/**
 * probe-tools.ts: tools for tests: they have an effect that can be counted, stream, dawdle, fail, and ask for leave.
 *
 * Only with PROBE_TOOLS=on, which a production deployment refuses (SPEC AU3). An effect is a POST to
 * `<PROBE_URL>/effect/<key>/<call id>`, where a test's own server counts it.
 */

import type { Json } from "../../shared/protocol/frame.ts"
import { pause } from "../platform/pause.ts"
import { cardTrailer, type Told, type Tool, type ToolArgs, type ToolContext, type ToolReturn, told } from "./tool.ts"

export interface ProbeEnv {
  readonly PROBE_TOOLS?: string
  readonly PROBE_URL?: string
}

const NUMBER: Json = { type: "number" }
const STRING: Json = { type: "string" }

export function probeTools(url: string): readonly Tool[] {
  return [
    probe("probe_effect", { key: STRING, ms: NUMBER }, false, (args, ctx) => effect(url, args, ctx)),
    {
      ...probe("probe_ask", { key: STRING, ms: NUMBER, text: STRING }, false, (args, ctx) => effect(url, args, ctx)),
      needsApproval: () => true,
    },
    probe("probe_stream", { lines: NUMBER, ms: NUMBER, burst: NUMBER }, true, stream),
    probe("probe_data", { text: STRING, as: STRING }, true, data),
    probe("probe_save", { labels: STRING, trailer: STRING, data: STRING, ms: NUMBER }, false, save),
    probe("probe_slow", { ms: NUMBER }, true, async (args, { signal }) => {
      await pause(numberIn(args, "ms"), signal)
      return { waited: numberIn(args, "ms") }
    }),
    probe("probe_fail", { how: STRING }, true, ({ how }) => {
      if (how === "throw") throw new Error("asked to throw")
      return { error: "It failed as asked.", details: `how: ${String(how)}` }
    }),
  ]
}

/** A tool that reads what others wrote: as its data, in a card, in the wrapper of a skill, or while it runs. */
async function* data(args: ToolArgs, ctx: ToolContext): AsyncGenerator<string, ToolData> {
  const text = typeof args["text"] === "string" ? args["text"] : ""
  if (args["as"] === "output") yield text
  if (args["as"] === "card") return told(ctx, { text }, cardTrailer)
  if (args["as"] !== "wrapped") return { text }
  const whole = told(ctx, { text }, cardTrailer)
  const body = typeof whole === "string" ? whole : JSON.stringify(whole)
  // As results of other systems look; no tool of ours makes one.
  return `[probe_data(${JSON.stringify(text)})]\n${body}\n[end:probe_data]` as Told
}

/** Keeps a file for each label, then waits; in its trailer and its data `$0` stands for the id of the first. */
async function save(args: ToolArgs, ctx: ToolContext): Promise<ToolData> {
  const words = (name: string): string => (typeof args[name] === "string" ? args[name] : "")
  const ids: string[] = []
  for (const label of words("labels").split(" ")) {
    const kept = await ctx.save(label.endsWith(".wav") ? silence() : new TextEncoder().encode(label), {
      ...{ label, mime_type: "text/plain" },
    })
    ids.push(kept.ok ? kept.value.id : "none")
  }
  await pause(numberIn(args, "ms"), ctx.signal)
  const filled = (text: string): string => text.replace(/\$(\d)/g, (_, n) => ids[Number(n)] ?? "none")
  return told(ctx, { data: filled(words("data")) }, () => filled(words("trailer")))
}

/** The shortest WAV file. */
function silence(): Uint8Array {
  const bytes = new Uint8Array(44)
  const text = new TextEncoder()
  for (const [at, word] of [
    [0, "RIFF"],
    [8, "WAVE"],
    [12, "fmt "],
    [36, "data"],
  ] as const)
    bytes.set(text.encode(word), at)
  return bytes
}

type ToolData = Told | { readonly [key: string]: Json }

function probe(
  name: string,
  properties: { readonly [key: string]: Json },
  repeatable: boolean,
  execute: (args: ToolArgs, ctx: ToolContext) => Promise<ToolReturn> | ToolReturn,
): Tool {
  const parameters = { type: "object", properties }
  return { name, description: `For tests: ${name}.`, parameters, repeatable, ephemeral: false, execute }
}

/** The effect comes first: a kill while it waits has had it. */
async function effect(
  url: string,
  args: ToolArgs,
  { call_id, signal }: ToolContext,
): Promise<{ readonly [key: string]: Json }> {
  const key = typeof args["key"] === "string" ? args["key"] : ""
  if (url !== "" && key !== "") {
    const reply = await fetch(`${url}/effect/${encodeURIComponent(key)}/${call_id}`, { method: "POST", signal })
    await reply.text()
  }
  await pause(numberIn(args, "ms"), signal)
  return { done: key }
}

async function* stream(args: ToolArgs, { signal }: ToolContext): AsyncGenerator<string, { readonly lines: number }> {
  const lines = numberIn(args, "lines")
  const burst = numberIn(args, "burst") || 1
  for (let line = 1; line <= lines; line++) {
    yield `line ${line} of ${lines}\n`
    if (line % burst === 0) await pause(numberIn(args, "ms"), signal)
  }
  return { lines }
}

function numberIn(args: ToolArgs, name: string): number {
  const value = args[name]
  return typeof value === "number" && value >= 0 ? value : 0
}
