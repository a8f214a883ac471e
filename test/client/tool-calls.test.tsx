/** tool-calls.test.tsx: adjacent calls form one group; a question to another agent and the answer form one block. */

import { beforeEach, describe, expect, test } from "vitest"
import { parseAgentCall } from "../../client/transcript/agent-exchange.tsx"
import { groupCalls, getGroupStatus, summarizeCalls } from "../../client/transcript/tool-call-group.tsx"
import { groupExchanges } from "../../client/transcript/transcript-rows.tsx"
import type { Segment } from "../../shared/protocol/segment.ts"
import type { CallStatus } from "../../shared/protocol/message.ts"
import { delay } from "./dom.ts"
import { answer, call, text, user } from "./sample-messages.ts"
import { transcript } from "./render-transcript.tsx"
import { messageFrame, ops, wireMessage } from "./fake-server.ts"

const createTool = (n: number, status: CallStatus = "ok", more: object = {}): Segment =>
  call({ call_id: `c${n}`, name: `tool_${n}`, status, ...more })
const createPlainTool = (n: number, status: CallStatus = "ok") => {
  const { approval: _, ...rest } = createTool(n, status) as Extract<Segment, { type: "tool" }>
  return rest as Segment
}

beforeEach(() => document.body.replaceChildren())

describe("arguments and results", () => {
  const nestObjects = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`
  const codeOf = (root: ParentNode) => root.querySelector(".data code")?.textContent ?? ""

  test("[BD4] of 5,000 nested levels, only a limited number is drawn", () => {
    const { root } = transcript([answer("a", { segments: [createTool(1, "ok", { args: nestObjects(5_000) })] })])
    expect(codeOf(root)).toContain("(deeper levels omitted)")
    expect(codeOf(root).split("\n").length).toBeLessThan(200)
  })

  test("[BD4] a wide and deep value is drawn on one line", () => {
    const args = nestObjects(60).replace("1", `[${"0,".repeat(20_000)}0]`)
    const { root } = transcript([answer("a", { segments: [createTool(1, "ok", { args })] })])
    root.querySelector<HTMLElement>(".data .show-all")?.click()
    expect(codeOf(root).length).toBeLessThanOrEqual(args.length)
  })

  test("[BD4] the first lines of a long value are shown, with a button for the rest", async () => {
    const args = JSON.stringify(Array.from({ length: 5_000 }, (_, n) => `line ${n}`))
    const { root } = transcript([answer("a", { segments: [createTool(1, "ok", { args })] })])
    expect(codeOf(root)).toMatch(/^\[\n {2}"line 0",[\s\S]*\d",$/)
    expect(codeOf(root).length).toBeLessThanOrEqual(20_000)
    const button = root.querySelector<HTMLElement>(".data .show-all")
    expect(button?.textContent).toMatch(/^Show all \([\d,]+ more characters\)$/)
    button?.click()
    await delay(20)
    expect(codeOf(root)).toBe(JSON.stringify(JSON.parse(args), null, 2))
    expect(root.querySelector(".data .show-all")).toBe(null)
  })

  test("[BD4] a call that needs approval shows all lines at once", () => {
    const args = JSON.stringify(Array.from({ length: 5_000 }, (_, n) => `line ${n}`))
    const { root } = transcript([answer("a", { segments: [call({ args, status: "waiting", approval: "asked" })] })])
    expect(codeOf(root)).toBe(JSON.stringify(JSON.parse(args), null, 2))
  })
})

describe("adjacent calls", () => {
  const findHeading = (root: ParentNode) => root.querySelector(".calls > button")
  const listVisible = (root: ParentNode) =>
    [...root.querySelectorAll<HTMLElement>(".list > div:not([hidden]) [data-segment=tool] summary > code")].map(
      (element) => element.textContent,
    )

  test("[PG36] form one group that shows their number and combined status; a single call has no heading", () => {
    const { root } = transcript([
      answer("a", { segments: [createPlainTool(1), text("and"), createPlainTool(2), createPlainTool(3, "failed")] }),
    ])
    const [one, two] = [...root.querySelectorAll<HTMLElement>(".calls")]
    expect(one?.querySelector("button[aria-expanded]")).toBe(null)
    expect(one?.querySelectorAll("[data-segment=tool]")).toHaveLength(1)
    expect(two?.querySelector("button")?.textContent).toBe("2 tool calls · 1 failedtool_2, tool_3Done")
    expect([...root.querySelectorAll("[data-segment]")].map((each) => each.getAttribute("data-segment"))).toEqual([
      "tool",
      "text",
      "tool",
      "tool",
    ])
    expect(listVisible(root)).toEqual(["tool_1"])
  })

  test.each<[CallStatus[], CallStatus]>([
    [["ok", "ok"], "ok"],
    [["ok", "queued"], "running"],
    [["failed", "running", "waiting"], "running"],
    [["failed", "waiting"], "waiting"],
    [["interrupted", "failed"], "failed"],
    [["interrupted", "failed", "ok"], "interrupted"],
    [["failed", "ok"], "ok"],
    [["ok", "interrupted"], "interrupted"],
  ])("[PG36] %j together are %s", (statuses, joint) => {
    const calls = statuses.map((status, n) => createPlainTool(n, status)) as Parameters<typeof getGroupStatus>[0]
    expect(getGroupStatus(calls)).toBe(joint)
  })

  test("[PG36] a group grows in place; existing elements, collapsed parts and focus stay as they are", async () => {
    const { root, store } = transcript([
      answer("a", { status: "running", segments: [text("go"), createPlainTool(1, "running")] }),
    ])
    const first = root.querySelector<HTMLElement>("[data-segment=tool]")
    const fold = first?.querySelector("details") as HTMLDetailsElement
    fold.open = true
    fold.querySelector("summary")?.focus()
    store.applyFrame(ops(2, 1, "a", [{ op: "open", at: 2, segment: createPlainTool(2, "running") }]))
    await delay()
    expect(findHeading(root)?.textContent).toContain("2 tool calls")
    expect(root.querySelector("[data-segment=tool]")).toBe(first)
    expect(fold.open).toBe(true)
    expect(document.activeElement).toBe(fold.querySelector("summary"))
    for (const at of [1, 2]) store.applyFrame(ops(at + 2, at + 1, "a", [{ op: "set", at, fields: { status: "ok" } }]))
    await delay()
    // Focus is inside the group, so the group isn't collapsed.
    expect(findHeading(root)?.getAttribute("aria-expanded")).toBe("true")
    expect(document.activeElement).toBe(fold.querySelector("summary"))
  })

  test("[PG36] a group is open while a call is running, and is collapsed at the end; the user's choice takes precedence", async () => {
    const { root, store } = transcript([
      answer("a", { status: "running", segments: [createPlainTool(1, "running"), createPlainTool(2, "running")] }),
    ])
    expect(listVisible(root)).toEqual(["tool_1", "tool_2"])
    store.applyFrame(ops(2, 1, "a", [{ op: "set", at: 0, fields: { status: "ok" } }]))
    await delay()
    expect(listVisible(root)).toEqual(["tool_1", "tool_2"])
    store.applyFrame(ops(3, 2, "a", [{ op: "set", at: 1, fields: { status: "ok" } }]))
    await delay()
    expect(listVisible(root)).toEqual([])
    expect(findHeading(root)?.textContent).toBe("2 tool callstool_1, tool_2Done")
    ;(findHeading(root) as HTMLElement).click()
    await delay()
    expect(listVisible(root)).toEqual(["tool_1", "tool_2"])
    store.applyFrame(ops(4, 3, "a", [{ op: "open", at: 2, segment: createPlainTool(3) }]))
    await delay()
    expect(listVisible(root)).toEqual(["tool_1", "tool_2", "tool_3"])
  })

  test("[PG36] a call that needs approval is visible even in a group that the user has collapsed", async () => {
    const { root } = transcript([
      answer("a", {
        status: "waiting",
        segments: [createPlainTool(1), createTool(2, "waiting", { approval: "asked" }), createPlainTool(3)],
      }),
    ])
    expect(listVisible(root)).toEqual(["tool_1", "tool_2", "tool_3"])
    ;(findHeading(root) as HTMLElement).click()
    await delay()
    expect(listVisible(root)).toEqual(["tool_2"])
    expect(root.querySelector(".list > div:not([hidden]) .ask")).not.toBe(null)
  })

  test("[PG36] [PG6] a delta re-renders only its own call", async () => {
    const { root, store } = transcript([
      answer("a", { status: "running", segments: [createPlainTool(1, "running"), createPlainTool(2, "running")] }),
    ])
    const changed = new Set<Node>()
    const tools = [...root.querySelectorAll("[data-segment=tool]")]
    const watch = new MutationObserver((all) => {
      for (const { target } of all) changed.add(tools.find((tool) => tool.contains(target)) ?? target)
    })
    watch.observe(root, { subtree: true, childList: true, characterData: true, attributes: true })
    store.applyFrame(ops(2, 1, "a", [{ op: "text", at: 1, offset: 0, text: "line" }]))
    await delay()
    watch.disconnect()
    expect([...changed]).toEqual([tools[1]])
  })

  test("[PG36] adjacent calls form a group; other segments are separate", () => {
    const ask = call({ name: "agents_message", args: '{"agent":"r","message":"m"}', status: "ok" })
    const runs = groupCalls([
      createPlainTool(1),
      createPlainTool(2),
      ask,
      createPlainTool(3),
      text("t"),
      text("u"),
      createPlainTool(4),
    ])
    expect(runs.map(({ at, calls }) => [at, calls.length])).toEqual([
      [0, 2] as const,
      [2, 0] as const,
      [3, 1] as const,
      [4, 0] as const,
      [5, 0] as const,
      [6, 1] as const,
    ])
  })
})

describe("a quiet line", () => {
  const toolOf = (more: object) => call({ status: "ok", ...more }) as Parameters<typeof getGroupStatus>[0][number]

  test("[VD2] a call has an icon, its label or name, its arguments in short form, and its state in words", () => {
    const { root } = transcript([
      answer("a", {
        segments: [
          toolOf({ call_id: "1", name: "weather", args: '{"location":"Oslo"}', approval: undefined }),
          text("and"),
          toolOf({ call_id: "2", name: "constructor", args: "{}", approval: undefined }),
        ],
      }),
    ])
    const [known, unknown] = [...root.querySelectorAll("[data-segment=tool] summary")]
    expect(known?.textContent).toBe("WeatherOsloDone")
    expect(known?.querySelector("b")?.title).toBe("weather")
    expect(known?.querySelector("svg")?.getAttribute("aria-hidden")).toBe("true")
    expect(unknown?.textContent).toBe("constructorDone")
    expect(unknown?.querySelector("svg path")?.getAttribute("d")).toMatch(/^M/)
  })

  test("[VD2] a group of calls to one tool shows their arguments", () => {
    const weather = (location: string) => toolOf({ name: "weather", args: JSON.stringify({ location }) })
    expect(summarizeCalls([weather("London"), weather("Tokyo"), weather("London")])).toBe("Weather: London, Tokyo")
    expect(summarizeCalls([weather("London"), toolOf({ name: "look" })])).toBe("Weather, look")
    expect(summarizeCalls([toolOf({ name: "look", args: "{}" }), toolOf({ name: "look", args: "x" })])).toBe("look")
    expect(summarizeCalls("abcdef".split("").map(weather))).toBe("Weather: a, b, c, d…")
    expect(summarizeCalls([weather("x".repeat(900)), weather("Oslo")])).toBe("Weather: Oslo")
  })
})

describe("agents", () => {
  const pendingCall = (more: object = {}): Segment => {
    const args = JSON.stringify({ agent: "researcher", message: "**Compare** them", mode: "async" })
    return { type: "tool", call_id: "c1", name: "agents_message", args, status: "running", ...more } as Segment
  }
  const createReceived = (exchange: string, content = "Where is it **warm**?") =>
    wireMessage(exchange, {
      role: "agent",
      status: "completed",
      exchange_id: exchange,
      agent: { direction: "received", name: "general", exchange },
      segments: [{ type: "agent", direction: "received", name: "general", exchange, content }],
    })
  const createSent = (id: string, exchange: string) =>
    answer(id, { exchange_id: exchange, agent: { direction: "sent", name: "general", exchange } })

  test("[PG37] a question forms a block, which its answer joins", async () => {
    const { root, store } = transcript([createReceived("x")])
    const block = root.querySelector<HTMLElement>("section.exchange")
    const first = block?.querySelector("article")
    expect(block?.getAttribute("aria-label")).toBe("Exchange with general")
    expect(first?.textContent).toContain("Message from generalWhere is it warm?")
    expect(first?.querySelector("strong")?.textContent).toBe("warm")
    expect(first?.querySelector(".acts")).toBe(null)
    store.applyFrame(messageFrame(2, 1, createSent("a", "x")))
    await delay()
    expect(root.querySelector("section.exchange")).toBe(block)
    expect(block?.querySelector("article")).toBe(first)
    expect([...(block?.querySelectorAll("article") ?? [])].map((element) => element.dataset["id"])).toEqual(["x", "a"])
    expect(block?.querySelectorAll("article")[1]?.textContent).toContain("Reply to generalyes")
    store.applyFrame(messageFrame(3, 2, user("q", "thanks", { timestamp: "2026-05-02T15:00:00.000Z" })))
    await delay()
    expect(root.querySelector("article[data-id=q]")?.closest(".exchange")).toBe(null)
  })

  test("[PG37] an agent's late answer is a separate block, and an ordinary answer follows", () => {
    const createTag = (direction: "received" | "sent", exchange: string) =>
      ({ direction, name: "r", exchange }) as const
    const tags = {
      a: createTag("received", "1"),
      b: undefined,
      c: createTag("received", "2"),
      d: createTag("sent", "2"),
      e: createTag("sent", "3"),
    }
    const blocks = groupExchanges(Object.keys(tags), (id) => tags[id as keyof typeof tags])
    expect(blocks.map(({ agent, ids }) => [agent?.exchange ?? null, ids.join("")])).toEqual([
      ["1", "a"] as const,
      [null, "b"] as const,
      ["2", "cd"] as const,
      [null, "e"] as const,
    ])
  })

  test("[PG37] a call to an agent shows the agent, the question and the answer; a waiting call doesn't ask the user for anything", async () => {
    const queued = { mode: "async", status: "queued", responseId: "r", session: "agent-1" }
    const { root, store, actions } = transcript([answer("a", { segments: [pendingCall()] })])
    const block = root.querySelector<HTMLElement>("section.agent")
    expect(block?.querySelector("header")?.textContent).toBe("Asked researcherRunning")
    expect(block?.querySelector("strong")?.textContent).toBe("Compare")
    const waits = { status: "waiting", result: JSON.stringify(queued) } as const
    store.applyFrame(ops(2, 1, "a", [{ op: "set", at: 0, fields: waits }]))
    await delay()
    expect(block?.querySelector(".badge")?.textContent).toBe("Waiting")
    expect(block?.textContent).toContain("Waiting for researcher…")
    expect(block?.querySelector("a")?.getAttribute("href")).toBe("#/s/agent-1")
    expect(block?.querySelectorAll("button")).toHaveLength(0)
    expect(root.textContent).not.toContain("Waiting for your approval.")
    expect(actions.decideApproval).not.toHaveBeenCalled()
    const result = JSON.stringify({ agent: "researcher", session: "agent-1", answer: "Lima is *warm*." })
    store.applyFrame(ops(3, 2, "a", [{ op: "set", at: 0, fields: { status: "ok", result } }]))
    await delay()
    expect(root.querySelector("section.agent")).toBe(block)
    expect(block?.querySelector(".badge")?.textContent).toBe("Done")
    expect(block?.querySelector(".reply em")?.textContent).toBe("warm")
  })

  test("[PG37] a call whose arguments have an unexpected shape is shown like any other call", () => {
    for (const args of ["{}", "[1]", "nonsense", '{"agent":"r"}', '{"agent":1,"message":"m"}']) {
      const { root } = transcript([answer("a", { segments: [pendingCall({ args, status: "ok" })] })])
      expect(root.querySelector("section.agent")).toBe(null)
      expect(root.querySelector(".calls [data-segment=tool] summary > code")?.textContent).toBe("agents_message")
      document.body.replaceChildren()
    }
    const args = '{"agent":"r","message":"m"}'
    expect(parseAgentCall({ args, result: '{"session":"../evil","answer":7}' })).toMatchObject({
      answer: null,
      session: null,
    })
    expect(parseAgentCall({ args, result: "null" })).toMatchObject({ answer: null, session: null })
  })

  test("[PG37] the excerpt of collapsed text contains no markup", () => {
    const { root } = transcript([
      createReceived("x", `## Findings\n\n- It is **wet** in [Oslo](https://e.x).\n${"- more\n".repeat(200)}`),
    ])
    expect(root.querySelector("section.exchange summary")?.textContent).toMatch(
      /^Findings It is wet in Oslo\. more more/,
    )
  })

  test("[PG37] long text is collapsed, but short text isn't", () => {
    const { root } = transcript([createReceived("x", "long ".repeat(200)), createReceived("y")])
    const [long, short] = [...root.querySelectorAll("section.exchange")]
    expect(long?.querySelector("details")?.open).toBe(false)
    expect(short?.querySelector("details")).toBe(null)
  })
})
