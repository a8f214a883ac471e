/** workers-ai.test.ts: tests Workers AI models, with a binding whose responses come from a loopback server. */

import { env } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import { createGatewayHeaders } from "../../worker/model/agent-model.ts"
import type { ModelEvent, ModelRequest } from "../../worker/model/model-adapter.ts"
import { createModel, getModelName } from "../../worker/model/model-registry.ts"
import { readUpstream, upstreamUrl } from "../support/upstream-client.ts"
import { generalTools } from "./tools.ts"

const MODEL_NAME = "@cf/meta/llama"

let runs = 0

/** Creates a binding that sends its requests to the loopback server. */
function createBinding(recording: string, run: string) {
  const options: object[] = []
  const ai = {
    async run(model: string, inputs: object, given: object = {}): Promise<Response> {
      const { signal, ...rest } = given as { readonly signal?: AbortSignal }
      options.push(rest)
      const body = JSON.stringify({ model, inputs })
      return await fetch(`${upstreamUrl(env)}/provider/${recording}/${run}`, {
        method: "POST",
        body,
        signal: signal ?? null,
      })
    },
  }
  return { ai, options }
}

async function play(recording: string, change: Partial<ModelRequest> = {}) {
  runs += 1
  const run = `wa${runs}`
  const { ai, options } = createBinding(recording, run)
  const model = createModel({ MODEL: "workers-ai", MODEL_NAME, AI: ai, TIME_SCALE: "0.05" })
  if (!model.ok) throw new Error(model.fault)
  const request: ModelRequest = {
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
  }
  const events: ModelEvent[] = []
  for await (const event of model.value.stream(request)) events.push(event)
  return { events, options, seen: await readUpstream(env, run), provider: model.value.provider }
}

function describeEvents(events: readonly ModelEvent[]): string[] {
  const text = events.flatMap((event) => (event.type === "text_delta" ? event.delta : [])).join("")
  const thinking = events.flatMap((event) => (event.type === "thinking_delta" ? event.delta : [])).join("")
  const others = events.flatMap((event) => {
    if (event.type === "tool_call") return `call ${event.name} ${JSON.stringify(JSON.parse(event.args))}`
    if (event.type === "fault") return `fault ${event.fault}`
    return event.type === "finish" ? "finish" : []
  })
  return [...(thinking === "" ? [] : [`thinking ${thinking}`]), ...(text === "" ? [] : [`text ${text}`]), ...others]
}

describe("Workers AI", () => {
  test.each<[string, readonly string[]]>([
    ["workers-ai.text", ["text Hello, world.", "finish"]],
    ["workers-ai.figures", ["text It is 42.", "finish"]],
    ["workers-ai.tools", ['call weather {"location":"London"}', 'call weather {"location":"Tokyo"}', "finish"]],
    ["workers-ai.broken", ["text And so it", "fault model_cut_off"]],
    ["workers-ai.error-in-stream", ["text And", "fault model_rate_limited"]],
    ["workers-ai-chat.text", ["text Hello, world.", "finish"]],
    ["workers-ai-chat.thinking", ["thinking Let me see.", "text Yes.", "finish"]],
    ["workers-ai-chat.tools", ['call weather {"location":"London"}', 'call weather {"location":"Tokyo"}', "finish"]],
    ["workers-ai-chat.cut-off", ["text And so it", "fault model_cut_off"]],
    ["workers-ai-chat.error-in-stream", ["text And", "fault model_rate_limited"]],
  ])(
    "[MO18] the recorded stream %s produces the same events as those of the other providers",
    async (recording, expected) => {
      const { events } = await play(recording)
      expect(describeEvents(events)).toEqual(expected)
    },
  )

  test.each(["workers-ai.text", "workers-ai-chat.text"])("[MO18] the tokens of %s are counted", async (recording) => {
    const { events, provider } = await play(recording)
    expect(events.findLast(({ type }) => type === "usage")).toMatchObject({ tokens: { input: 21, output: 7 } })
    expect(provider).toBe("workers-ai")
  })

  test("[MO18] a response with an error status is a fault that states when to retry", async () => {
    const { events } = await play("workers-ai.429")
    expect(events).toMatchObject([{ type: "fault", fault: "model_rate_limited", retry: { afterMs: 7_000 } }])
  })

  test("[MO18] the binding gets the model, the messages with one string each, and the tools, but no response format", async () => {
    const schema = { type: "object", properties: { title: { type: "string" } } }
    const { seen, options } = await play("workers-ai.text", { schema })
    const { model, inputs } = (seen[0]?.body ?? {}) as {
      readonly model: string
      readonly inputs: Record<string, unknown>
    }
    expect(model).toBe(MODEL_NAME)
    expect(inputs).toMatchObject({ stream: true, tools: expect.any(Array) })
    expect(Object.keys(inputs)).not.toContain("model")
    expect(Object.keys(inputs)).not.toContain("response_format")
    const messages = inputs["messages"] as readonly { readonly content: unknown }[]
    expect(messages.map(({ content }) => typeof content)).toEqual(["string", "string", "string", "string"])
    expect(options).toEqual([{ returnRawResponse: true }])
  })

  test("[MO18] an abort ends the call", async () => {
    const controller = new AbortController()
    controller.abort()
    await expect(play("workers-ai.text", { signal: controller.signal })).rejects.toThrow()
  })

  test("[MO18] agents can name Workers AI models; without the binding or a name, a fault is logged", () => {
    const { ai } = createBinding("workers-ai.text", "none")
    expect(getModelName({ MODEL: "workers-ai", MODEL_NAME, AI: ai }, "@cf/other")).toBe("@cf/other")
    expect(getModelName({ MODEL: "workers-ai", MODEL_NAME, AI: ai }, "scripted")).toBe("scripted")
    expect(createModel({ MODEL: "workers-ai", MODEL_NAME })).toMatchObject({
      ok: false,
      fault: expect.stringContaining("AI"),
    })
    expect(createModel({ MODEL: "workers-ai", AI: ai })).toMatchObject({ ok: false })
  })
})

test("[TM10] only AI Gateway receives the tenant and the agent", () => {
  const caller = { tenant: "acme", agent: "writer" }
  const { "cf-aig-metadata": metadata = "" } = createGatewayHeaders(
    "https://gateway.ai.cloudflare.com/v1/a/b/openai",
    caller,
  )
  expect(JSON.parse(metadata)).toEqual(caller)
  for (const url of ["https://api.openai.com/v1", "https://gateway.ai.cloudflare.com.example.com/v1"])
    expect(createGatewayHeaders(url, caller)).toEqual({})
})
