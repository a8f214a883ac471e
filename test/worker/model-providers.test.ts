/**
 * model-providers.test.ts: tests that the streams of all providers produce the same events, and that each provider gets
 * what its API requires.
 */

import { env } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import type { ModelEvent, ModelRequest } from "../../worker/model/model-adapter.ts"
import { ALL_FILE_KINDS } from "../../worker/model/model-files.ts"
import { loadProviderModel } from "../../worker/model/provider-loader.ts"
import { MODEL_PROVIDERS, type ModelProvider } from "../../worker/settings/model-config.ts"
import { SCENARIOS } from "../support/provider-streams.ts"
import { readUpstream, upstreamUrl } from "../support/upstream-client.ts"
import type { Seen } from "../support/upstreams.ts"
import { generalTools } from "./tools.ts"

/** Time limits that are longer than a test can take, in milliseconds. */
const PATIENT = { firstByteMs: 600_000, idleMs: 600_000 }

/** Model names that the packages recognise as those of thinking models. */
const MODEL_NAMES = {
  "openai-compatible": "a-model",
  openai: "gpt-5",
  anthropic: "claude-opus-4-6",
  google: "gemini-3-pro",
} as const

let runs = 0

interface Played {
  readonly events: readonly ModelEvent[]
  readonly seen: readonly Seen[]
}

async function play(provider: ModelProvider, scenario: string, change: Partial<ModelRequest> = {}): Promise<Played> {
  runs += 1
  const run = `p${runs}`
  const model = await loadProviderModel(provider, {
    baseUrl: `${upstreamUrl(env)}/provider/${provider}.${scenario}/${run}`,
    modelName: MODEL_NAMES[provider],
    apiKey: "secret-key",
    fileKinds: ALL_FILE_KINDS,
    ...PATIENT,
  })
  const request = {
    system: "Answer.",
    messages: [
      { role: "user", content: "What's the weather?" },
      {
        role: "assistant",
        parts: [{ type: "tool_call", call_id: "c0", name: "weather", args: '{"location":"Rome"}' }],
      },
      { role: "tool", call_id: "c0", name: "weather", result: '{"error":"unknown"}', ok: true },
    ],
    tools: generalTools(),
    signal: new AbortController().signal,
    ...change,
  } as const
  const events: ModelEvent[] = []
  for await (const event of model.stream(request)) events.push(event)
  return { events, seen: await readUpstream(env, run) }
}

/**
 * Returns the events as strings, without those that only metering reads. Adjacent deltas of the same kind are joined.
 */
function describeEvents(events: readonly ModelEvent[]): string[] {
  const lines: string[] = []
  for (const event of events) {
    if (event.type === "text_delta" || event.type === "thinking_delta") {
      const last = lines.at(-1)
      if (last?.startsWith(event.type) === true) lines[lines.length - 1] = last + event.delta
      else lines.push(`${event.type} ${event.delta}`)
    } else if (event.type === "tool_call") lines.push(`call ${event.name} ${JSON.stringify(JSON.parse(event.args))}`)
    else if (event.type === "fault") lines.push(`fault ${event.fault} ${event.retry?.afterMs ?? "-"}`)
    else if (event.type === "finish") lines.push("finish")
  }
  return lines
}

const EXPECTED: Readonly<Record<(typeof SCENARIOS)[number], readonly string[]>> = {
  text: ["text_delta Hello, world.", "finish"],
  thinking: ["thinking_delta Let me see.", "text_delta Yes.", "finish"],
  tools: ['call weather {"location":"London"}', 'call weather {"location":"Tokyo"}', "finish"],
  refusal: ["fault model_refused -"],
  "cut-off": ["text_delta And so it", "fault model_cut_off -"],
  "429": ["fault model_rate_limited 7000"],
  "error-in-stream": ["text_delta And", "fault model_rate_limited -"],
}

/**
 * Events that differ from those of the other providers. Google's package ignores an error in a stream, so the stream
 * ends without a finish.
 */
const EXCEPTIONS: Readonly<Record<string, readonly string[]>> = {
  "google error-in-stream": ["text_delta And", "fault model_cut_off -"],
}

describe.each(MODEL_PROVIDERS)("%s", (provider) => {
  test.each(SCENARIOS)(
    "[MO14] its recorded stream produces the same events as those of the other providers: %s",
    async (scenario) => {
      const { events } = await play(provider, scenario)
      expect(describeEvents(events)).toEqual(EXCEPTIONS[`${provider} ${scenario}`] ?? EXPECTED[scenario])
    },
  )

  test("[MO14] its tokens are counted", async () => {
    const { events } = await play(provider, "text")
    const usage = events.findLast((event) => event.type === "usage")
    expect(usage).toMatchObject({ tokens: { input: 21, output: 7 } })
  })

  test("[MO14] gets the key where its API expects it, the tools and their results, and the effort", async () => {
    const { seen } = await play(provider, "text", { effort: "high" })
    expect(seen).toHaveLength(1)
    const text = JSON.stringify(seen[0]?.body)
    for (const part of ["Answer.", "What's the weather?", "Rome", "unknown"]) expect(text).toContain(part)
    expect(text).toContain("location")
    expect(text).toMatch(/high|thinking_?[lL]evel|budget/)
    expect(text).not.toContain("secret-key")
    expect(seen[0]?.keys).toContain("secret-key")
  })
})

test.each(MODEL_PROVIDERS)("[OG22] %s gets the schema of a response", async (provider) => {
  const schema = {
    type: "object",
    properties: { title: { type: "string" } },
    required: ["title"],
    additionalProperties: false,
  }
  const { seen } = await play(provider, "text", { tools: [], schema })
  const body = Object(seen[0]?.body)
  const sent = {
    "openai-compatible": body.response_format?.json_schema?.schema,
    openai: body.text?.format?.schema,
    anthropic: body.output_config?.format?.schema ?? body.output_format?.schema ?? body.tools?.[0]?.input_schema,
    google: body.generationConfig?.responseJsonSchema ?? body.generationConfig?.responseSchema,
  }[provider]
  expect(sent).toMatchObject({
    properties: { title: { type: expect.stringMatching(/^string$/i) } },
    required: ["title"],
  })
})
