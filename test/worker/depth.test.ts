/**
 * depth.test.ts: tests that deeply nested JSON from models, producers, files and clients can be stored, rendered and
 * exported, or is refused.
 */

import { evictDurableObject, runInDurableObject, SELF } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import { MAX_JSON_DEPTH } from "../../shared/json.ts"
import { MAX_PRINTED_JSON_CHARS } from "../../shared/json-depth.ts"
import { CLAIMS, connect, pageOf, sessionOf } from "../support/socket.ts"
import { call, HOST, makeSession, refusal, tokenOf } from "./http.ts"
import { importFile, toJsonl } from "./import-file.ts"
import { answerTo, beginTurn, freshSession, script, toolsIn } from "./session-helpers.ts"

const nestObjects = (levels: number, inner = "1"): string => '{"a":'.repeat(levels) + inner + "}".repeat(levels)

function measureJsonDepth(text: string): number {
  let [depth, deepest] = [0, 0]
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/g)) {
    if (token === "[" || token === "{") depth += 1
    else if (token === "]" || token === "}") depth -= 1
    deepest = Math.max(deepest, depth)
  }
  return deepest
}

/** Returns the records of an answer with one call. `result` is the data in the call's result. */
function recordsWith(args: unknown, result: unknown, card?: string): string {
  const base = { responseId: "answer", turnId: "turn" }
  return toJsonl(
    { type: "user_message", turnId: "turn", text: "Go" },
    { type: "tool_call", ...base, callId: "c1", toolName: "weather", arguments: args },
    { type: "tool_call_start", ...base, callId: "c1", toolName: "weather", channel: "user", ordinal: 1 },
    { type: "tool_result", ...base, callId: "c1", toolName: "weather", ok: true, result, card },
    { type: "text_delta", ...base, delta: "So: <span id='weather_1'>deep</span> Bye." },
    { type: "assistant_message", ...base, text: "", status: "completed" },
  )
}

async function readExport(id: string, format: "jsonl" | "markdown"): Promise<string> {
  const token = await tokenOf(CLAIMS.tenant, CLAIMS.user)
  const response = await SELF.fetch(`${HOST}/v1/sessions/${id}/events?format=${format}`, {
    headers: { authorization: `Bearer ${token}` },
  })
  return await response.text()
}

describe("deep JSON is stored to a bounded depth", () => {
  test("[BD2] a call whose arguments are 5,000 levels deep fails, and what is stored can be rendered", async () => {
    const id = await freshSession("deep")
    const client = await connect(id)
    const deep = { type: "tool_call", name: "weather", args: nestObjects(5_000) }
    await beginTurn(client, "q", script([deep, { type: "finish" }], [{ type: "text_delta", delta: "Done." }]), 2)
    await client.untilTrue(() => answerTo(client, "q")?.status === "completed")
    const [tool] = toolsIn(answerTo(client, "q"))
    expect(tool).toMatchObject({ status: "failed", error: { code: "tool_arguments" } })
    expect(measureJsonDepth(tool?.args ?? "")).toBe(MAX_JSON_DEPTH)
    expect(JSON.parse(tool?.args ?? "")).toMatchObject({ a: { a: {} } })
  })

  test("[BD2] deep arguments and results from an external producer are stored to a bounded depth, as text and as objects", async () => {
    const token = await tokenOf(CLAIMS.tenant, CLAIMS.user)
    const id = await makeSession(token)
    const issued = await call(`/v1/sessions/${id}/external-token`, { method: "POST", token, body: "{}" })
    const toRecord = (fields: object): string => JSON.stringify(fields)
    const lines = [
      toRecord({ type: "tool_call", callId: "c1", toolName: "run", arguments: nestObjects(5_000) }),
      `{"type":"tool_result","callId":"c1","toolName":"run","ok":true,"result":${nestObjects(5_000)}}`,
      toRecord({ type: "assistant_message", text: "", status: "completed" }),
    ]
    const sent = await call(`/external/sessions/${id}/events?responseId=r1`, {
      method: "POST",
      token: issued.json.token,
      body: `${lines.join("\n")}\n`,
    })
    expect(sent).toMatchObject({ status: 200, json: { applied: 3, skipped: 0 } })
    const page = await call(`/v1/sessions/${id}/conversation/recent`, { token })
    const [tool] = toolsIn(page.json.messages[0])
    expect(tool?.status).toBe("ok")
    for (const text of [tool?.args ?? "", tool?.result ?? ""]) {
      expect(measureJsonDepth(text)).toBeLessThanOrEqual(MAX_JSON_DEPTH)
      expect(JSON.parse(text)).toMatchObject({ a: { a: {} } })
    }
  })

  test("[BD2] an imported card 30,000 levels deep can be shown, exported in both formats, and imported again", async () => {
    const id = await freshSession("deep")
    const file = recordsWith(nestObjects(30_000), nestObjects(30_000), "weather_1")
    expect(await importFile(id, file)).toMatchObject({ ok: true, value: { state: "done", skipped: 0 } })
    const { messages } = await pageOf(id)
    const segments = messages[1]?.segments ?? []
    expect(segments.map(({ type }) => type)).toEqual(["tool", "text", "rich", "text"])
    expect(measureJsonDepth(JSON.stringify(segments[2]))).toBeLessThanOrEqual(MAX_JSON_DEPTH + 1)
    const jsonl = await readExport(id, "jsonl")
    expect(jsonl.trimEnd().split("\n").at(-1)).toContain('"signature"')
    expect(await readExport(id, "markdown")).toMatch(/Bye\.\n$/)
    const again = await freshSession("deep")
    expect(await importFile(again, jsonl)).toMatchObject({ ok: true, value: { isSealed: true, skipped: 0 } })
    expect((await pageOf(again)).messages[1]?.segments).toEqual(segments)
  })

  test("[BD3] deep data that an earlier version stored can be shown in history and live, and exported", async () => {
    const id = await freshSession("deep")
    await importFile(id, recordsWith("{}", { a: 1 }, "weather_1"))
    await runInDurableObject(sessionOf(id), (_object, state) => {
      state.storage.sql.exec("UPDATE tool_calls SET args = ?, result = ?", nestObjects(5_000), nestObjects(30_000))
      // Set seqs, because an import assigns none, and without them a resume from 0 would send nothing.
      state.storage.sql.exec("UPDATE transcript SET seq = pos")
    })
    await evictDurableObject(sessionOf(id))
    const { messages, epoch } = await pageOf(id)
    expect(messages[1]?.segments.map(({ type }) => type)).toEqual(["tool", "text", "rich", "text"])
    const client = await connect(id, CLAIMS, { epoch, after: 0 })
    await client.untilTrue(() => [...client.messages.values()].some(({ segments }) => segments.length === 4))
    expect(await readExport(id, "markdown")).toMatch(/Bye\.\n$/)
    expect(await readExport(id, "jsonl")).toContain('"signature"')
  })

  test("[BD5] a wide and deep payload stays small in a Markdown export", async () => {
    const id = await freshSession("deep")
    const payload = nestObjects(60, `[${"0,".repeat(22_000)}0]`)
    await importFile(id, recordsWith("{}", payload, "weather_1"))
    expect((await readExport(id, "markdown")).length).toBeLessThan(MAX_PRINTED_JSON_CHARS + 2 * payload.length)
  })
})

describe("a fault in an export", () => {
  test.each(["markdown", "jsonl"] as const)("[BD6] makes a %s export break off", async (format) => {
    const id = await freshSession("deep")
    await importFile(id, recordsWith("{}", { a: 1 }, "weather_1"))
    await runInDurableObject(sessionOf(id), (_object, state) => {
      state.storage.sql.exec("ALTER TABLE tool_calls RENAME TO lost")
    })
    await expect(readExport(id, format)).rejects.toThrow()
  })
})

describe("deep JSON from clients", () => {
  test("[BD1] a deep frame is refused", async () => {
    const client = await connect(await freshSession("deep"))
    client.socket.send(`{"type":"send","id":"q","content":"x","extra":${nestObjects(MAX_JSON_DEPTH)}}`)
    await client.untilTrue((frame) => frame.type === "error" && frame.code === "frame_malformed")
  })

  test("[BD1] a deep body is refused", async () => {
    const token = await tokenOf(CLAIMS.tenant, CLAIMS.user)
    const body = `{"title":"x","extra":${nestObjects(MAX_JSON_DEPTH)}}`
    expect(await call("/v1/sessions", { method: "POST", token, body })).toEqual(refusal(400, "body_malformed"))
  })

  test("[BD1] a line of 1.9 million brackets in an imported file is reported as a bad line", async () => {
    const id = await freshSession("deep")
    const brackets = "[".repeat(1_900_000)
    const file = `${toJsonl({ type: "user_message", text: "kept" })}${brackets}\n`
    expect(await importFile(id, file)).toMatchObject({ ok: true, value: { records: 1, skipped: 1 } })
  })
})
