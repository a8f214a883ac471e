/** telemetry.test.ts: tests trace ids, the log line at the end of a turn, and the spans of real turns. */

import { evictDurableObject, runInDurableObject } from "cloudflare:test"
import { tracing } from "cloudflare:workers"
import { describe, expect, onTestFinished, test, vi } from "vitest"
import { createMessage } from "../../shared/protocol/message.ts"
import { createSessionStore } from "../../worker/store/session-store.ts"
import { NO_SPAN } from "../../worker/telemetry/spans.ts"
import { createTraceId, isSampled } from "../../worker/telemetry/trace-id.ts"
import { TurnRecorder } from "../../worker/turn/turn-recorder.ts"
import { createTelemetry } from "../../worker/telemetry/telemetry.ts"
import { connect, pageOf, sessionOf } from "../support/socket.ts"
import { call as request, HOST, makeSession, tokenOf } from "./http.ts"
import { linesOf, recordLogLines } from "./log-lines.ts"
import { beginTurn, call, fault, freshSession, pause, say, script, toolsIn } from "./session-helpers.ts"

const TRACE = /^[0-9a-f]{32}$/
const CUT_TRACE = "ab".repeat(16)
const createTracedSession = (): Promise<string> => freshSession("ob")

function telemetryOf(env: Parameters<typeof createTelemetry>[0]["env"]) {
  return createTelemetry({ env, tenant: "acme", session: "s1", log: () => {}, now: Date.now })
}

describe("trace ids", () => {
  test("[OB1] an answer has a trace id, live and in history, at no cost in rows", async () => {
    const id = await createTracedSession()
    const client = await connect(id)
    const lines = recordLogLines(id)
    client.say({ type: "send", id: "q1", content: script([say("Hello.")]) })
    const answer = await client.untilEnd("q1")
    expect(answer.trace).toMatch(TRACE)
    const { messages } = await pageOf(id)
    expect(messages.map(({ trace }) => trace)).toEqual([undefined, answer.trace])
    const [end] = linesOf(lines, "turn_end")
    expect(end).toMatchObject({ trace: answer.trace, exchange: "q1", message: answer.id })
    await evictDurableObject(sessionOf(id))
    expect((await pageOf(id)).messages.at(-1)?.trace).toBe(answer.trace)
  })

  test("[OB1] no client can choose its trace id: one in a frame or a request is ignored", async () => {
    const id = await createTracedSession()
    const client = await connect(id)
    const own = "0".repeat(32)
    client.say(JSON.stringify({ type: "send", id: "q1", content: "/say a", trace: own }))
    expect((await client.untilEnd("q1")).trace).not.toBe(own)
    const token = await tokenOf("acme", "ada")
    const session = await makeSession(token)
    const body = JSON.stringify({ id: "q1", content: "/say a", trace: own, trace_id: own })
    const headers = { "trace-id": own, traceparent: `00-${own}-${"1".repeat(16)}-01` }
    const sent = await request(`/v1/sessions/${session}/messages`, { method: "POST", token, body, headers })
    expect(sent.headers.get("trace-id")).toMatch(TRACE)
    expect(sent.headers.get("trace-id")).not.toBe(own)
    const recent = await request(`/v1/sessions/${session}/conversation/recent`, { token })
    expect(recent.json.messages.at(-1).trace).toBe(sent.headers.get("trace-id"))
  })

  test("[OB1] a queued message keeps its trace id, and a new version of an answer gets a new one", async () => {
    const id = await createTracedSession()
    const client = await connect(id)
    await beginTurn(client, "q1", script([say("One. "), pause(300), say("Two.")]))
    client.say({ type: "send", id: "q2", content: "/say second" })
    const [first, second] = [await client.untilEnd("q1"), await client.untilEnd("q2")]
    expect(new Set([first.trace, second.trace]).size).toBe(2)
    client.say({ type: "regenerate", id: "v2", message: second.id })
    await client.untilTrue((frame) => frame.type === "ack" && frame.id === "v2")
    await expect.poll(async () => (await pageOf(id)).messages.at(-1)?.status).toBe("completed")
    const version = (await pageOf(id)).messages.at(-1)
    expect(version).toMatchObject({ id: "v2", trace: expect.stringMatching(TRACE) })
    expect(version?.trace).not.toBe(second.trace)
  })

  test("[OB1] the agents asked in a turn answer under the turn's trace", async () => {
    const id = await createTracedSession()
    const client = await connect(id)
    const lines = recordLogLines()
    client.say({ type: "send", id: "q1", content: "Ask the researcher about the weather in Oslo" })
    const answer = await client.untilEnd("q1")
    expect(toolsIn(answer)[0]).toMatchObject({ name: "agents_message", status: "ok" })
    const ends = linesOf(lines, "turn_end").filter(({ trace }) => trace === answer.trace)
    expect(ends.map(({ agent, trace }) => [agent, trace])).toEqual([
      ["researcher", answer.trace],
      ["general", answer.trace],
    ])
    expect(new Set(ends.map(({ session }) => session)).size).toBe(2)
  })
})

describe("the log line at the end of a turn", () => {
  test("[OB2] contains the ids, the model, the tokens, the rows and the times", async () => {
    const id = await createTracedSession()
    const client = await connect(id)
    const lines = recordLogLines(id)
    client.say({ type: "send", id: "q1", content: "What's the weather in Oslo?" })
    const answer = await client.untilEnd("q1")
    const ends = linesOf(lines, "turn_end")
    expect(ends).toHaveLength(1)
    expect(ends[0]).toMatchObject({
      tenant: "acme",
      session: id,
      exchange: "q1",
      message: answer.id,
      trace: answer.trace,
      agent: "general",
      provider: "scripted",
      model: "scripted",
      model_calls: 2,
      cost_nano_usd: 0,
      mode: "chat",
      status: "completed",
      reason: null,
      steps: 2,
      tool_calls: 1,
      drift: {},
    })
    for (const name of ["ms", "first_delta_ms", "rows_written", "rows_read", "input_tokens", "output_tokens"])
      expect(ends[0]?.[name], name).toBeTypeOf("number")
    expect(Number(ends[0]?.["rows_written"])).toBeGreaterThan(5)
  })

  test.each([
    ["a model fault", [[say("a"), fault("model_rate_limited")]], { status: "failed", reason: "model_rate_limited" }],
    ["text that does not fit", [[say("<span id='nothing_1'>secret words</span>")]], { drift: { mark_orphan: 1 } }],
    ["a tool that throws", [[call("probe_throw", { text: "secret words" })], [say("b")]], { status: "completed" }],
  ])("[OB2] [OB6] %s: there is one line, and no line contains the turn's text", async (_name, steps, expected) => {
    const id = await createTracedSession()
    const client = await connect(id)
    const lines = recordLogLines(id)
    client.say({ type: "send", id: "q1", content: script(...steps) })
    const answer = await client.untilEnd("q1")
    const ends = linesOf(lines, "turn_end")
    expect(ends).toHaveLength(1)
    expect(ends[0]).toMatchObject(expected)
    for (const line of lines) expect(line).toMatchObject({ trace: answer.trace })
    expect(JSON.stringify(lines)).not.toContain("secret")
  })

  test("[OB2] is written once for a cancelled turn, and once for a turn that a restart cut off", async () => {
    const id = await createTracedSession()
    const client = await connect(id)
    const lines = recordLogLines(id)
    await beginTurn(client, "q1", script([say("One. "), pause(10_000)]))
    client.say({ type: "cancel", exchange_id: "q1" })
    const cancelled = await client.untilEnd("q1")
    // Recreate the state after the process has ended, when only the turn's rows remain.
    await runInDurableObject(sessionOf(id), (_object, { storage }) => {
      const store = createSessionStore(storage.sql, (write) => storage.transactionSync(write))
      const head = { id: "a2", role: "assistant", exchange_id: "q2", timestamp: new Date().toISOString() } as const
      const parent = store.readTip()
      const pos = store.readNewestPos() + 1
      const seq = store.readLastSeq() + 1
      const stored = { pos, parent, seq, deadline: null, message: createMessage({ ...head, trace: CUT_TRACE }) }
      store.insertMessage(stored)
      const recorder = new TurnRecorder(store, stored, () => seq + 1)
      recorder.feed({ type: "step_start" })
      recorder.feed({ type: "text_delta", delta: "Cut o" })
      recorder.flush()
    })
    await evictDurableObject(sessionOf(id))
    await expect.poll(async () => (await pageOf(id)).messages.at(-1)?.status).toBe("interrupted")
    const ends = linesOf(lines, "turn_end").map(({ exchange, status, reason, trace }) => [
      exchange,
      status,
      reason,
      trace,
    ])
    expect(ends).toEqual([
      ["q1", "cancelled", null, cancelled.trace],
      ["q2", "interrupted", "process_restart", CUT_TRACE],
    ])
  })

  test("[OB2] is written for a refused message, and the client receives the message's trace", async () => {
    const id = await createTracedSession()
    const client = await connect(id)
    const lines = recordLogLines(id)
    client.say({ type: "send", id: "q1", content: "  " })
    const refused = await client.untilTrue((frame) => frame.type === "error")
    expect(refused).toMatchObject({ code: "message_empty", id: "q1", trace: expect.stringMatching(TRACE) })
    const trace = refused.type === "error" ? refused.trace : null
    expect(linesOf(lines, "message_refused")).toEqual([
      { event: "message_refused", tenant: "acme", session: id, exchange: "q1", trace, code: "message_empty" },
    ])
  })

  test("[OB2] is also written for a message that is refused over HTTP", async () => {
    const token = await tokenOf("acme", "ada")
    const session = await makeSession(token)
    const lines = recordLogLines(session)
    const body = JSON.stringify({ content: "  " })
    const headers = { origin: HOST }
    const sent = await request(`/v1/sessions/${session}/messages`, { method: "POST", token, body, headers })
    expect(sent.status).toBe(400)
    expect(linesOf(lines, "message_refused")).toMatchObject([{ trace: sent.headers.get("trace-id") }])
    // A page of another origin must be able to read the trace.
    expect(sent.headers.get("access-control-expose-headers")).toContain("trace-id")
  })
})

describe("spans", () => {
  test("[OB3] a turn's span contains those of its model calls and tool calls, with GenAI names", async () => {
    const id = await createTracedSession()
    const client = await connect(id)
    const lines = recordLogLines(id)
    client.say({ type: "send", id: "q1", content: "What's the weather in Oslo?" })
    const { trace } = await client.untilEnd("q1")
    await expect.poll(() => linesOf(lines, "span").map(({ name }) => name)).toContain("invoke_agent")
    const spans = linesOf(lines, "span").filter((span) => span["trace"] === trace)
    const turn = spans.find(({ name }) => name === "invoke_agent")
    expect(turn).toMatchObject({
      parent: null,
      error: null,
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": "general",
      "gen_ai.conversation.id": id,
      "cuecard.tenant": "acme",
      "cuecard.trace": trace,
      "cuecard.turn.status": "completed",
      "cuecard.rows.written": expect.any(Number),
      "cuecard.drift": 0,
    })
    const below = spans.filter(({ parent }) => parent === turn?.["span"])
    expect(below.map(({ name }) => name)).toEqual(["chat", "execute_tool", "chat"])
    expect(below[0]).toMatchObject({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "scripted",
      "gen_ai.request.model": "scripted",
      "gen_ai.response.model": "scripted",
      "gen_ai.response.time_to_first_chunk": expect.any(Number),
      "gen_ai.usage.input_tokens": expect.any(Number),
      "gen_ai.usage.output_tokens": expect.any(Number),
      "gen_ai.usage.cache_read.input_tokens": 0,
      "gen_ai.usage.cache_creation.input_tokens": 0,
      "gen_ai.usage.reasoning.output_tokens": expect.any(Number),
      "cuecard.retries": 0,
    })
    expect(below[1]).toMatchObject({ "gen_ai.tool.name": "weather", "gen_ai.tool.call.id": expect.any(String) })
    expect(spans).toHaveLength(4)
  })

  test("[OB3] a failed model call and a failed tool call are errors, and a tool name that the model invented is not reported", async () => {
    const id = await createTracedSession()
    const client = await connect(id)
    const lines = recordLogLines(id)
    const steps = [[call("invented_by_the_model")], [fault("model_refused")]]
    client.say({ type: "send", id: "q1", content: script(...steps) })
    await client.untilEnd("q1")
    await expect.poll(() => linesOf(lines, "span")).toHaveLength(4)
    const errors = linesOf(lines, "span").map((span) => [span["name"], span["error"], span["gen_ai.tool.name"]])
    expect(errors).toContainEqual(["execute_tool", "tool_unknown", "unknown"])
    expect(errors).toContainEqual(["chat", "model_refused", undefined])
    expect(JSON.stringify(lines)).not.toContain("invented")
  })

  test("[OB3] without SPANS there are no spans, and nothing is computed for them", async () => {
    const { startTrace } = telemetryOf({})
    const trace = createTraceId()
    expect(startTrace(trace)).toBe(NO_SPAN)
    expect(telemetryOf({ SPANS: "log", SPAN_SAMPLING: "0" }).startTrace(trace)).toBe(NO_SPAN)
    expect(telemetryOf({ SPANS: "log", SPAN_SAMPLING: "1" }).startTrace(undefined)).toBe(NO_SPAN)
    const describe = vi.fn(() => ({}))
    expect(await NO_SPAN.run("chat", describe, async (span) => span === NO_SPAN)).toBe(true)
    expect(describe).not.toHaveBeenCalled()
  })

  test("[OB3] a share of the traces is sampled, with either all turns of a trace or none; an invalid share is ignored", () => {
    const traces = Array.from({ length: 2_000 }, createTraceId)
    const sampled = traces.filter((trace) => isSampled(trace, 0.25)).length
    expect(sampled).toBeGreaterThan(380)
    expect(sampled).toBeLessThan(620)
    const always = "f".repeat(32)
    expect(isSampled(always, 1)).toBe(true)
    expect(isSampled("0".repeat(32), 0)).toBe(false)
    for (const SPAN_SAMPLING of ["", " ", "NaN", "-1", "2", "all"])
      expect(telemetryOf({ SPANS: "log", SPAN_SAMPLING }).startTrace(always), SPAN_SAMPLING).toBe(NO_SPAN)
  })

  test("[OB3] with SPANS=platform, spans are platform spans", async () => {
    const opened: string[] = []
    const attributes: Record<string, unknown>[] = []
    const open = vi.spyOn(tracing, "startActiveSpan").mockImplementation(((
      name: string,
      work: (span: unknown) => void,
    ) => {
      opened.push(name)
      work({
        setAttributes: (set: Record<string, unknown>) => attributes.push(set),
        setStatus() {},
        end: () => opened.push("end"),
      })
    }) as never)
    onTestFinished(() => open.mockRestore())
    const root = telemetryOf({ SPANS: "platform", SPAN_SAMPLING: "1" }).startTrace(createTraceId())
    await root.run(
      "invoke_agent",
      () => ({ a: 1 }),
      (span) =>
        span.run(
          "chat",
          () => ({ b: 2 }),
          async () => null,
        ),
    )
    expect(opened).toEqual(["invoke_agent", "chat", "end", "end"])
    expect(attributes).toEqual([{ a: 1 }, { b: 2 }])
  })
})
