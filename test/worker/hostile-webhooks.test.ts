/**
 * hostile-webhooks.test.ts: tests that the effects of bad responses to webhook tool calls are bounded, and that each
 * response ends only its own call.
 */

import { env } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import { MAX_RESULT_BYTES } from "../../shared/limits.ts"
import { HOSTILE_PLAYS } from "../support/hostile-webhook.ts"
import { createToolCallbacks } from "../../worker/store/callbacks/tool-callbacks.ts"
import { createDatabase } from "../../worker/store/database.ts"
import type { SqlExecutor } from "../../worker/store/storage-gate.ts"
import { callWebhook } from "../../worker/webhook/call-webhook.ts"
import { answerTo, toolsIn } from "./session-helpers.ts"
import { toolContext } from "./tools.ts"
import { ORDER_SCHEMA, openToolSession, putTool, runTool, seenAt, setService } from "./webhook-helpers.ts"

/** Matches the responses that make a call fail: statuses, redirects, streams and bodies that aren't results at all. */
const FAILURES =
  /^(?:status-|redirect-|endless|too-large|silent|cut|slow-head|wrong-length|bad-encoding|not-json|half-json|deep|many-values|fake-|long-error)/

/** A database without rows. */
const NO_SQL = { exec: () => ({ toArray: () => [], rowsRead: 0, rowsWritten: 0 }) } as unknown as SqlExecutor

describe("a hostile service", () => {
  test("[TW7] the table contains many kinds of bad responses", () => {
    expect(HOSTILE_PLAYS.length).toBeGreaterThanOrEqual(60)
  })

  test.each(["silent", "slow-head"])("[TW7] a service that is %s is abandoned after the time limit", async (play) => {
    const run = `hostile-${play}`
    const secret = await putTool(run, run)
    await setService(run, secret, play)
    const row = { tenant: run, user: "ada", id: "s1", created: 1 }
    const tool = { name: "order_status", description: "", schema: JSON.stringify(ORDER_SCHEMA), asks: false }
    const callbacks = { ...createToolCallbacks(createDatabase(NO_SQL, (write) => write())), read: () => null }
    const context = toolContext({ call_id: "call_1_0" })
    const result = await callWebhook({ ...env, TIME_SCALE: "0.005" }, { row, callbacks }, tool, { order: "7" }, context)
    expect(result).toMatchObject({ code: "tool_timeout" })
    expect(await seenAt(run)).toHaveLength(1)
  })

  test.each(HOSTILE_PLAYS.filter((play) => play !== "silent" && play !== "slow-head"))(
    "[TW7] a service that answers with %s ends the call, not the turn",
    async (play) => {
      const run = `hostile-${play}`
      const secret = await putTool(run, run)
      const client = await openToolSession(run)
      await setService(run, secret, play)
      const tool = await runTool(client, "q1")
      const answer = answerTo(client, "q1")
      expect(answer?.status).toBe("completed")
      expect(tool?.status).toBe(FAILURES.test(play) ? "failed" : "ok")
      expect(tool?.result?.length ?? 0).toBeLessThanOrEqual(MAX_RESULT_BYTES + 1_000)
      if (tool?.status === "failed") {
        expect(["tool_failed", "tool_timeout"]).toContain(tool.error?.code)
        expect(tool.result?.length ?? 0).toBeLessThan(10_000)
      }
      // The result is only data, so it must not show a card, a file or a document, and must not call anything.
      const kinds = answer?.segments.map(({ type }) => type) ?? []
      expect(kinds.filter((kind) => !["tool", "text", "thinking", "source"].includes(kind))).toEqual([])
      expect(toolsIn(answer)).toHaveLength(1)
      for (const segment of answer?.segments ?? [])
        if (segment.type === "source") expect(segment.url).toMatch(/^https:/)
      const seen = await seenAt(run)
      expect(new Set(seen.map(({ id }) => id)).size).toBe(1)
      expect(seen.length).toBeLessThanOrEqual(3)
      expect(await seenAt("elsewhere")).toEqual([])
      expect(Object.prototype).not.toHaveProperty("polluted")
    },
  )
})
