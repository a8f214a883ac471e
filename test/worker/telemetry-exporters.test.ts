/** telemetry-exporters.test.ts: tests exporters that fail, and the data points of requests, sockets and turns. */

import { describe, expect, onTestFinished, test, vi } from "vitest"
import { createMessage } from "../../shared/protocol/message.ts"
import { writeRequestPoint } from "../../worker/telemetry/data-points.ts"
import { createTrace, type SinkSpan, type SpanSink } from "../../worker/telemetry/spans.ts"
import { createTelemetry, type TurnEnd } from "../../worker/telemetry/telemetry.ts"
import { connect } from "../support/socket.ts"
import { call as request, makeSession, openSocket, tokenOf } from "./http.ts"
import { linesOf, recordLogLines } from "./log-lines.ts"
import { call, freshSession, say, script, textIn } from "./session-helpers.ts"

const createTracedSession = (): Promise<string> => freshSession("ob")

function telemetryOf(env: Parameters<typeof createTelemetry>[0]["env"]) {
  return createTelemetry({ env, tenant: "acme", session: "s1", log: () => {}, now: Date.now })
}

describe("exporters that fail", () => {
  const throwExporterError = (..._: unknown[]): never => {
    throw new Error("the exporter is broken")
  }
  const BROKEN_SPAN: SinkSpan = {
    setAttributes: throwExporterError,
    setError: throwExporterError,
    end: throwExporterError,
  }

  test.each<[string, SpanSink]>([
    ["throws before it opens a span", { open: throwExporterError }],
    ["never opens a span", { open() {} }],
    ["throws after it opened a span", { open: (...opening) => throwExporterError(opening[2](BROKEN_SPAN)) }],
    ["opens a span twice", { open: (...opening) => [1, 2].forEach(() => void opening[2](BROKEN_SPAN)) }],
    ["throws with every attribute", { open: (_name, _parent, work) => work(BROKEN_SPAN) }],
  ])(
    "[OB4] a sink that %s changes nothing: the work runs once, and its result or error is the caller's",
    async (_name, sink) => {
      const work = vi.fn(async () => "result")
      expect(await createTrace(sink).run("chat", () => ({ a: 1 }), work)).toBe("result")
      expect(work).toHaveBeenCalledTimes(1)
      const failing = vi.fn(() => Promise.reject(new Error("its own")))
      await expect(createTrace(sink).run("chat", () => ({}), failing)).rejects.toThrow("its own")
      expect(failing).toHaveBeenCalledTimes(1)
    },
  )

  test("[OB4] attributes that cannot be computed are omitted", async () => {
    const sink: SpanSink = { open: (_name, _parent, work) => work({ setAttributes() {}, setError() {}, end() {} }) }
    expect(await createTrace(sink).run("chat", throwExporterError, async () => 1)).toBe(1)
  })

  test("[OB4] a turn ends as it would without telemetry, even if writing each log line throws", async () => {
    const id = await createTracedSession()
    const client = await connect(id)
    const spy = vi.spyOn(console, "log").mockImplementation((line: unknown) => {
      if (/"event":"(?:span|point)"/.test(String(line))) throwExporterError()
    })
    onTestFinished(() => spy.mockRestore())
    client.say({ type: "send", id: "q1", content: script([call("probe_ok", {})], [say("Fine.")]) })
    const answer = await client.untilEnd("q1")
    expect([answer.status, textIn(answer)]).toEqual(["completed", expect.stringContaining("Fine.")])
  })

  test("[OB4] a request is answered without a data set, or with one that throws", async () => {
    for (const METRICS of [undefined, { writeDataPoint: throwExporterError }])
      expect((await request("/healthz", { env: { METRICS } })).status).toBe(200)
    const turn = createMessage({ id: "a", role: "assistant", exchange_id: "q", timestamp: "2026-01-01T00:00:00Z" })
    const end: TurnEnd = {
      message: { ...turn, status: "completed" },
      agent: "general",
      model: null,
      calls: [],
      ms: 1,
      firstDeltaMs: null,
      rows: { read: 0, written: 0 },
      drift: {},
    }
    telemetryOf({ METRICS: { writeDataPoint: throwExporterError } }).reportTurnEnd(end)
  })
})

describe("data points", () => {
  test("[OB5] each request writes one, with tenant, method, route pattern, status and time, but never the path", async () => {
    const points: unknown[] = []
    const METRICS = { writeDataPoint: (point: unknown) => void points.push(point) }
    const token = await tokenOf("acme", "ada")
    const session = await makeSession(token)
    const requestAt = async (path: string, options: object = {}) =>
      await request(path, { ...options, env: { METRICS } })
    await requestAt(`/v1/sessions/${session}/conversation/recent?limit=5`, { token })
    await requestAt("/v1/sessions/secret-name/conversation/recent", { token })
    await requestAt("/v1/unknown/secret-name", { token })
    await requestAt("/media/secret-name?token=secret", {})
    await requestAt("/healthz", { method: "HEAD" })
    await requestAt("/v1/secret-page", { method: "PROPFIND" })
    const RECENT = "/v1/sessions/:id/conversation/recent"
    const createPoint = (tenant: string, method: string, route: string, status: number) => ({
      indexes: [tenant],
      blobs: ["request", method, route],
      doubles: [status, expect.any(Number)],
    })
    expect(points).toEqual([
      createPoint("acme", "GET", RECENT, 200),
      createPoint("acme", "GET", RECENT, 404),
      createPoint("", "GET", "other", 404),
      createPoint("", "GET", "/media/:id", 403),
      createPoint("", "HEAD", "/healthz", 200),
      createPoint("", "OTHER", "other", 404),
    ])
    expect(JSON.stringify(points)).not.toContain("secret")
  })

  test("[OB5] each opened socket and each turn writes one", async () => {
    const lines = recordLogLines()
    const token = await tokenOf("acme", "ada")
    const session = await makeSession(token)
    await openSocket(session, token)
    const body = JSON.stringify({ id: "q1", content: script([say("Hi.")]) })
    await request(`/v1/sessions/${session}/messages`, { method: "POST", token, body })
    const listBlobs = () => linesOf(lines, "point").map((line) => line["blobs"])
    await expect.poll(listBlobs).toContainEqual(["turn", "general", "scripted", "scripted", "completed", ""])
    expect(listBlobs()).toContainEqual(["request", "GET", "/v1/sessions/:id/socket"])
    const turn = linesOf(lines, "point").find((line) => (line["blobs"] as string[])[0] === "turn")
    expect(turn?.["doubles"]).toHaveLength(6)
  })

  test("[OB5] a deployment without a data set writes none", () => {
    const lines = recordLogLines()
    writeRequestPoint({}, { tenant: "acme", method: "GET", route: "/", status: 200, ms: 1 })
    expect(lines).toEqual([])
  })
})
