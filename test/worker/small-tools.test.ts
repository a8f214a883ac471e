/**
 * small-tools.test.ts: tests the tools `timer` and `list`, and the cards of built-in tools in a session and its
 * exports.
 */

import { describe, expect, test } from "vitest"
import { createListTool } from "../../worker/tool/list-tool.ts"
import { createTimerTool } from "../../worker/tool/timer-tool.ts"
import { CLAIMS, connect, sessionOf } from "../support/socket.ts"
import { answerTo, beginTurn, expectSame, freshSession } from "./session-helpers.ts"
import { toolContext } from "./tools.ts"

const runTimer = (args: object) =>
  createTimerTool().execute(args as never, toolContext({ now: () => Date.UTC(2026, 4, 2, 14) }))
const runList = (args: object) => createListTool().execute(args as never, toolContext())

describe("the tool timer", () => {
  test("[BT2] ends the given time after the call", async () => {
    expect(await runTimer({ label: " Tea ", seconds: 300 })).toEqual({
      label: "Tea",
      ends_at: "2026-05-02T14:05:00.000Z",
      seconds: 300,
    })
  })

  test.each([0, -1, 1.5, 86_401, "60", null])("[BT2] %j seconds are refused", async (seconds) => {
    expect(await runTimer({ label: "Tea", seconds })).toMatchObject({ code: "tool_arguments" })
    expect(await runTimer({ label: "x".repeat(81), seconds: 5 })).toMatchObject({ code: "tool_arguments" })
  })
})

describe("the tool list", () => {
  test("[BT3] returns the items with their state, and counts the open ones", async () => {
    const items = [
      { text: "Pack", done: true },
      { text: "Book", note: "by Tuesday" },
      { text: "Call", done: false },
    ]
    expect(await runList({ title: "Trip", items })).toEqual({
      title: "Trip",
      open: 2,
      items: [
        { text: "Pack", done: true },
        { text: "Book", done: false, note: "by Tuesday" },
        { text: "Call", done: false },
      ],
    })
  })

  test("[BT3] a list without items, too many items and unknown fields are refused with a pointer to the fault", async () => {
    const detailsOf = async (items: unknown) => Object(await runList({ title: "Trip", items })).details
    expect(await detailsOf([])).toContain('"/items"')
    expect(await detailsOf(Array(101).fill({ text: "a" }))).toContain('"/items"')
    expect(await detailsOf([{ text: "a" }, { text: "" }])).toContain('"/items/1/text"')
    expect(await detailsOf([{ text: "a", html: "<b>" }])).toContain('"/items/0/html"')
  })
})

async function readMarkdown(id: string): Promise<string> {
  const exported = await sessionOf(id).export(CLAIMS, null, "markdown")
  if (!exported.ok) throw new Error(exported.fault.reason)
  return await new Response(exported.value.lines).text()
}

describe("cards of built-in tools", () => {
  test.each<[string, object, object, string]>([
    ["calculate", { expression: "6 * 7" }, { expression: "6 * 7", result: 42 }, "6 * 7"],
    ["timer", { label: "Tea", seconds: 300 }, { label: "Tea", seconds: 300 }, "Timer: Tea"],
    ["list", { title: "Trip", items: [{ text: "Pack <b>" }] }, { title: "Trip", open: 1 }, "Trip"],
    ["search", { query: "tides" }, { query: "tides", sample: true }, "Results for tides"],
  ])(
    "[BT10] %s has a card, both live and after a reload, and is readable in a Markdown export",
    async (name, args, payload, title) => {
      const id = await freshSession("builtin")
      const client = await connect(id)
      await beginTurn(client, "q1", `/call ${name} ${JSON.stringify(args)}`, 2)
      await client.untilEnd("q1")
      const card = answerTo(client, "q1")?.segments.find(({ type }) => type === "rich")
      expect(card).toMatchObject({
        tag: `${name}_1`,
        payload: expect.objectContaining(payload),
        view: expect.any(String),
      })
      await expectSame(id, client)
      const text = await readMarkdown(id)
      expect(text).toContain(title)
      expect(text).not.toContain("<span")
      if (name === "list") expect(text).toContain("- Pack \\<b\\> · Open")
    },
  )
})
