/** tool.test.ts: tests tools with side effects, and the live output of a running tool. */

import { toolContext } from "./tools.ts"
import { describe, expect, test } from "vitest"
import { MAX_OUTPUT_CHARS, MAX_SHOWN_LINES, MAX_TITLE_CHARS } from "../../shared/limits.ts"
import { createRenameTool } from "../../worker/tool/rename-tool.ts"
import { CLAIMS, connect, pageOf, sessionOf } from "../support/socket.ts"
import { answerTo, beginTurn, call, expectSame, freshSession, say, script, toolsIn } from "./session-helpers.ts"
import { runInDurableObject } from "cloudflare:test"
import { createSessionStore } from "../../worker/store/session-store.ts"

const CTX = toolContext()

describe("renaming a conversation", () => {
  test("[TO10] asks for approval first, and then stores the title; an invalid title is an error without asking", async () => {
    const titles: string[] = []
    const tool = createRenameTool(async (title) => void titles.push(title))
    expect(tool.needsApproval?.({ title: "x" })).toBe(true)
    expect(await tool.execute({ title: "  Harbour \n trip " }, CTX)).toEqual({ title: "Harbour trip" })
    for (const title of ["", 7, "x".repeat(MAX_TITLE_CHARS + 1)]) {
      expect(tool.needsApproval?.({ title })).toBe(false)
      expect(await tool.execute({ title }, CTX)).toMatchObject({ error: expect.any(String) })
    }
    expect(titles).toEqual(["Harbour trip"])
  })

  test("[TO10] works in a session when the user asks for it in an ordinary sentence", async () => {
    const id = await freshSession("ren")
    const client = await connect(id)
    await beginTurn(client, "q1", "Rename this conversation to Harbour trip", 2)
    await client.untilTrue(() => answerTo(client, "q1")?.status === "waiting")
    const [tool] = toolsIn(answerTo(client, "q1"))
    client.say({ type: "approve", call_id: tool?.call_id ?? "", decision: "allow" })
    expect((await client.untilEnd("q1")).segments.at(-1)).toMatchObject({
      content: expect.stringContaining("Harbour trip"),
    })
    const title = await runInDurableObject(
      sessionOf(id),
      (_o, { storage }) => createSessionStore(storage.sql).readSession()?.title,
    )
    expect(title).toBe("Harbour trip")
    expect((await sessionOf(id).readHistoryPage(CLAIMS, { limit: 5 })).ok).toBe(true)
  })
})

describe("output while a tool is running", () => {
  test("[TO11] grows live in its segment, even with several tools in parallel, and is stored", async () => {
    const id = await freshSession("out")
    const client = await connect(id)
    const stream = call("probe_stream", { lines: 8, ms: 60 })
    client.say({ type: "send", id: "q1", content: script([say("Two. "), stream, stream], [say("Done.")]) })
    const answer = await client.untilEnd("q1")
    const outputs = toolsIn(answer).map((tool) => tool.output)
    expect(outputs).toEqual(Array(2).fill(Array.from({ length: 8 }, (_, i) => `line ${i + 1} of 8\n`).join("")))
    const grown = client.texts.filter((text) => text.includes('"op":"text"') && text.includes("of 8"))
    expect(grown.length).toBeGreaterThan(1)
    await expectSame(id, client)
  })

  test("[TO11] is truncated, with totals that include what isn't stored", async () => {
    const id = await freshSession("big")
    const client = await connect(id)
    const lines = Math.ceil((MAX_OUTPUT_CHARS * 1.2) / 17)
    client.say({
      type: "send",
      id: "q1",
      content: script([call("probe_stream", { lines, burst: 500 })], [say("Done.")]),
    })
    const answer = await client.untilEnd("q1")
    const [tool] = toolsIn(answer)
    const all = Array.from({ length: lines }, (_, i) => `line ${i + 1} of ${lines}\n`).join("")
    expect(tool?.truncated).toEqual({ lines: lines + 1, bytes: all.length })
    expect(tool?.output?.split("\n")).toHaveLength(MAX_SHOWN_LINES + 1)
    expect(all.startsWith(tool?.output ?? "?")).toBe(true)
    await expectSame(id, client)
    expect((await pageOf(id)).messages).toHaveLength(2)
  })

  test.each(["throw", "error"])(
    "[TU7] a tool that fails (%s) is reported to the model, and the turn continues",
    async (how) => {
      const id = await freshSession("fail")
      const client = await connect(id)
      client.say({ type: "send", id: "q1", content: script([call("probe_fail", { how })], [say("I see.")]) })
      const answer = await client.untilEnd("q1")
      expect(answer.status).toBe("completed")
      expect(toolsIn(answer)).toMatchObject([{ status: "failed", error: { code: "tool_failed" } }])
      await expectSame(id, client)
    },
  )
})
