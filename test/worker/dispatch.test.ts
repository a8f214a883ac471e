/** dispatch.test.ts: tests tool calls from beginning to end, whatever the tool does. */

import { describe, expect, test } from "vitest"
import { MAX_RESULT_BYTES } from "../../shared/limits.ts"
import type { ToolCall } from "../../shared/protocol/message.ts"
import { assignOrdinals } from "../../worker/turn/next-action.ts"
import { dispatchCall } from "../../worker/turn/dispatch-tool.ts"
import { createCardTrailer, type ToolResult, type Tool, type ToolContext, toolResult } from "../../worker/tool/tool.ts"
import { answerOf, callOf, startOf, TIMES } from "../support/turn.ts"
import { saveNothing } from "./tools.ts"

/** Casts text to a result, because the types do not allow a tool to return such text. */
const asToolResult = (text: string): ToolResult => text as ToolResult

describe("tools", () => {
  const queued: ToolCall = {
    call_id: "c1",
    name: "probe",
    args: "{}",
    status: "queued",
    ordinal: null,
    channel: null,
    card: null,
    output: "",
    result: null,
    error: null,
    approval: null,
    outputSize: null,
    ephemeral: false,
    media: [],
  }
  function runTool(execute: Tool["execute"], call: Partial<ToolCall> = {}, signal = new AbortController().signal) {
    const tool: Tool = { name: "probe", description: "", parameters: {}, repeatable: true, ephemeral: false, execute }
    const progress: string[] = []
    const result = dispatchCall({
      call: { ...queued, ...call },
      exchange_id: "q",
      nth: 1,
      tool,
      ordinal: 1,
      channel: "user",
      signal,
      now: () => 0,
      toolMs: TIMES.toolMs,
      onOutput: (delta) => progress.push(delta),
      log: () => {},
      saveAsset: saveNothing,
    })
    return result.then((event) => ({ ...event, progress }))
  }

  test("[TU7] if a tool throws, its call fails, and the failure is reported to the model", async () => {
    const result = await runTool(() => {
      throw new Error("no luck")
    })
    expect(result).toMatchObject({ status: "failed", card: null, error: { code: "tool_failed" } })
    // The model must not see the error's message, because it may contain URLs and keys.
    expect(JSON.stringify(result)).not.toContain("no luck")
  })

  test.each(["{", "[1]", "null", '"x"'])(
    "[TU7] the arguments %s are refused before the tool receives them",
    async (args) => {
      let ran = false
      const result = await runTool(
        () => {
          ran = true
          return {}
        },
        { args },
      )
      expect(result).toMatchObject({ status: "failed", error: { code: "tool_arguments" } })
      expect(ran).toBe(false)
    },
  )

  test("[TU7] a call to an unknown tool fails as unknown", async () => {
    const signal = new AbortController().signal
    const options = {
      call: queued,
      exchange_id: "q",
      nth: 1,
      tool: undefined,
      ordinal: 1,
      channel: "user",
      signal,
      now: () => 0,
      toolMs: TIMES.toolMs,
    } as const
    const result = await dispatchCall({ ...options, onOutput: () => {}, log: () => {}, saveAsset: saveNothing })
    expect(result).toMatchObject({ status: "failed", error: { code: "tool_unknown" } })
  })

  test("[TU7] a call whose result is over the limit fails with the reason; a result at the limit is stored whole", async () => {
    expect(await runTool(() => asToolResult("é".repeat(MAX_RESULT_BYTES / 2 + 1)))).toMatchObject({
      status: "failed",
      error: { code: "tool_result_too_large" },
    })
    const whole = "x".repeat(MAX_RESULT_BYTES)
    expect(await runTool(() => asToolResult(whole))).toMatchObject({ result: whole })
  })

  test("[TU7] a tool that never returns is interrupted with the turn", async () => {
    const abort = new AbortController()
    const result = runTool(() => new Promise(() => {}), {}, abort.signal)
    abort.abort()
    expect(await result).toMatchObject({ status: "interrupted", error: { code: "tool_interrupted" } })
  })

  test("[CN1] a stopped call can no longer save an asset", async () => {
    const abort = new AbortController()
    const { promise: stopped, resolve } = Promise.withResolvers<void>()
    const { promise: over, resolve: end } = Promise.withResolvers<unknown>()
    const result = runTool(
      async (_args, { saveAsset: save }) => {
        await stopped
        await save(new Uint8Array(1), { label: "late", mime_type: "text/plain" }).then(end, end)
        return {}
      },
      {},
      abort.signal,
    )
    abort.abort(new Error("stopped"))
    expect(await result).toMatchObject({ status: "interrupted" })
    resolve()
    // The asset doesn't even reach `saveNothing`, which would throw a different error.
    expect(await over).toEqual(new Error("stopped"))
  })

  test("[TU7] output is streamed, and the iterable's return value is the result", async () => {
    const result = await runTool(async function* () {
      yield "one "
      yield "two \ud83d"
      yield "\ude00 \ud800"
      return { done: true }
    })
    expect(result).toMatchObject({ status: "ok", progress: ["one ", "two ", "😀 "], result: '{"done":true}' })
  })

  test("[TU7] `{error}` makes a call fail; a card's payload with an error field is still a card", async () => {
    expect(await runTool(() => ({ error: "City not found" }))).toMatchObject({
      status: "failed",
      error: { code: "tool_failed", message: "City not found" },
    })
    const carded = await runTool((_args, ctx) => toolResult(ctx, { error: "x" }, createCardTrailer))
    expect(carded).toMatchObject({ status: "ok", card: "probe_1" })
  })

  test("[TU2] a tag is offered only on the user channel", async () => {
    const seen: ToolContext["card"][] = []
    const tool: Tool = {
      name: "probe",
      description: "",
      parameters: {},
      repeatable: true,
      ephemeral: false,
      execute(_args, ctx) {
        seen.push(ctx.card)
        return asToolResult(`{}\n\n${createCardTrailer("probe_1")}`)
      },
    }
    const shared = {
      call: queued,
      exchange_id: "q",
      nth: 1,
      tool,
      ordinal: 1,
      signal: new AbortController().signal,
      now: () => 0,
      toolMs: TIMES.toolMs,
      onOutput: () => {},
      log: () => {},
      saveAsset: saveNothing,
    }
    const user = await dispatchCall({ ...shared, channel: "user" })
    const subagent = await dispatchCall({ ...shared, channel: "subagent" })
    expect(seen).toEqual(["probe_1", null])
    expect([user, subagent]).toMatchObject([{ card: "probe_1" }, { card: null }])
  })

  test("[TU2] ordinals continue from the turn's highest, per tool, and skip other channels", () => {
    const message = answerOf(
      callOf("a", "c1"),
      startOf("c1", 1),
      callOf("a", "c2"),
      startOf("c2", null),
      callOf("b", "c3"),
      startOf("c3", 1),
    )
    const createNext = (name: string): ToolCall => ({ ...queued, name })
    expect(assignOrdinals(message, [createNext("a"), createNext("b"), createNext("a"), createNext("c")])).toEqual([
      2, 2, 3, 1,
    ])
  })
})
