/** export.test.ts: tests exports of a session as JSONL: complete, partial and sealed ones, and reading them back. */

import { env } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import { createAssembler } from "../../shared/ingest/assembler.ts"
import { toCanonicalJson } from "../../shared/json.ts"
import { parseRecord } from "../../shared/protocol/record.ts"
import { messageToWire } from "../../shared/segment/segmenter.ts"
import { createSeal, recordToSealedLine } from "../../worker/transfer/export-seal.ts"
import { deriveExportKey } from "../../worker/auth/verify-token.ts"
import { CLAIMS, pageOf } from "../support/socket.ts"
import { call as callRoute, makeSession, refusal, tokenOf } from "./http.ts"
import { exportOf, fillSession } from "./export-sample.ts"
import { freshSession } from "./session-helpers.ts"

async function linesOf(id: string, after: number | null = null): Promise<string[]> {
  return (await exportOf(id, after)).trimEnd().split("\n")
}

describe("an export", () => {
  test("[RE3] contains every version of every message; each record names its turn and message, and no trailer is included", async () => {
    const id = await freshSession("exp")
    await fillSession(id)
    const lines = await linesOf(id)
    const records = lines.map((line) => JSON.parse(line))
    for (const record of records.slice(0, -1)) {
      expect(record).toMatchObject({ timestamp: expect.any(String), sessionId: id, turnId: expect.any(String) })
      expect(record.responseId).toEqual(expect.any(String))
    }
    expect(lines.join("\n")).not.toContain("MUST wrap")
    expect(records.filter((record) => record.type === "tool_result").map((record) => record.card ?? null)).toEqual([
      "weather_1",
      "weather_2",
      null,
    ])
    expect(records.filter((record) => record.type === "user_message").map((record) => record.text.slice(0, 8))).toEqual(
      ["What's t", "/script ", "/say edi"],
    )
    expect(records.at(-1)).toMatchObject({ type: "signature", records: lines.length - 1 })
  })

  test("[RE3] can be read back, and then equals what history shows", async () => {
    const id = await freshSession("exp")
    await fillSession(id)
    const assembler = createAssembler()
    const assembled = (await linesOf(id)).flatMap((line, n) => {
      const record = parseRecord(JSON.parse(line))
      return record.ok ? assembler.addRecord(record.value, n) : []
    })
    const messages = [...assembled, ...assembler.end()].flatMap((item) =>
      item.kind === "message" ? [item.message] : [],
    )
    for (const shown of (await pageOf(id)).messages) {
      const found = messages.find((message) => message.id === shown.id)
      // Ignore the trace, because a trace id belongs to the server that ran the turn.
      const { versions: _, version: __, trace: _____, ...rest } = shown
      const { versions: ___, version: ____, ...back } = messageToWire(found ?? ({} as never))
      expect(toCanonicalJson(back)).toBe(toCanonicalJson(rest))
    }
    expect(messages).toHaveLength(6)
  })

  test("[RE4] is sealed with the tenant's key, whatever the session's id; another tenant's key doesn't verify it", async () => {
    const id = await freshSession("exp")
    await fillSession(id)
    const records = (await linesOf(id)).map((line) => JSON.parse(line))
    const { value, ...head } = records.pop()
    const seal = createSeal()
    seal.add([...records, head].map((record) => recordToSealedLine({ ...record, sessionId: "elsewhere" })))
    const sealed = await seal.sign(await deriveExportKey(String(env.JWT_SECRET), CLAIMS.tenant))
    expect(sealed).toBe(value)
    const other = createSeal()
    other.add([...records, head].map(recordToSealedLine))
    expect(await other.sign(await deriveExportKey(String(env.JWT_SECRET), "globex"))).not.toBe(value)
  })

  test("[RE5] can begin after a position, and then has no seal", async () => {
    const id = await freshSession("exp")
    await fillSession(id)
    const whole = await linesOf(id)
    const part = await linesOf(id, 2)
    expect(part).toEqual(whole.slice(whole.length - 1 - part.length, -1))
    expect(JSON.parse(part[0] ?? "")).toMatchObject({ type: "user_message", turnId: "q2" })
  })

  test("[RE5] is sent as JSONL over HTTP; another user's session is unknown", async () => {
    const token = await tokenOf("acme", "ada")
    const id = await makeSession(token, "Mine")
    const response = await callRoute(`/v1/sessions/${id}/events`, { token })
    expect(response.status).toBe(200)
    expect(response.headers.get("content-type")).toContain("application/jsonl")
    expect(JSON.parse(response.text)).toMatchObject({ type: "signature", title: "Mine", records: 0 })
    expect(await callRoute(`/v1/sessions/${id}/events?after=x`, { token })).toEqual(refusal(400, "field_invalid"))
    const eve = await tokenOf("acme", "eve")
    expect(await callRoute(`/v1/sessions/${id}/events`, { token: eve })).toEqual(refusal(404, "session_unknown"))
  })

  test("[RE22] contains only the active path if it is Markdown, in order, with each card as history shows it", async () => {
    const token = await tokenOf(CLAIMS.tenant, CLAIMS.user)
    const id = await freshSession("exp")
    await fillSession(id)
    const response = await callRoute(`/v1/sessions/${id}/events?format=markdown`, { token })
    expect(response.status).toBe(200)
    expect(response.headers.get("content-type")).toBe("text/markdown; charset=utf-8")
    expect(response.headers.get("content-disposition")).toBe(`attachment; filename="${id}.md"`)
    const { messages } = await pageOf(id)
    const headings = response.text.match(/^## .*$/gm)
    expect(headings).toEqual(
      messages.map(({ role, timestamp }) => `## ${role === "user" ? "User" : "Assistant"} · ${timestamp}`),
    )
    // The Markdown must not contain the inactive version.
    expect(response.text).not.toContain("/script")
    expect(response.text).toContain("```text\n/say edited\n```")
    for (const segment of messages[1]?.segments ?? []) {
      if (segment.type === "rich") expect(response.text).toContain(JSON.stringify(segment.payload, null, 2))
    }
    const rest = await callRoute(`/v1/sessions/${id}/events?format=markdown&after=2`, { token })
    expect(rest.text.match(/^## /gm)).toHaveLength((headings ?? []).length - 2)
    expect(await callRoute(`/v1/sessions/${id}/events?format=pdf`, { token })).toEqual(refusal(400, "field_invalid"))
    const eve = await tokenOf("acme", "eve")
    expect(await callRoute(`/v1/sessions/${id}/events?format=markdown`, { token: eve })).toEqual(
      refusal(404, "session_unknown"),
    )
  })
})
