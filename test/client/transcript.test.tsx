/** transcript.test.tsx: rendered segments and messages, from live frames and from a page of history. */

import { render } from "preact"
import { beforeAll, beforeEach, describe, expect, test, vi } from "vitest"
import { loadCards } from "../../client/cards/card-registry.tsx"
import { temperatureUnit } from "../../client/cards/temperature-unit.ts"
import {
  createCardSegment,
  createAllMessages,
  createMessage,
  createWeather,
} from "../support/page-fixtures/messages.ts"
import { SegmentView } from "../../client/transcript/segment-view.tsx"
import { formatSize } from "../../client/words/format/file-size.ts"
import { formatDuration } from "../../client/words/transcript-text.ts"
import { createHint } from "../../client/transcript/tool-call.tsx"
import type { Op, Segment } from "../../shared/protocol/segment.ts"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import type { CallStatus, MessageStatus } from "../../shared/protocol/message.ts"
import { delay } from "./dom.ts"
import { transcript } from "./render-transcript.tsx"
import { messageFrame, ops, wireMessage } from "./fake-server.ts"

const answer = (segments: readonly Segment[], more: Partial<WireMessage> = {}) =>
  transcript([wireMessage("a", { status: "completed", segments, ...more })])

const kindsIn = (root: HTMLElement) =>
  [...root.querySelectorAll("[data-segment]")].map((element) => element.getAttribute("data-segment"))

beforeAll(loadCards)
beforeEach(() => {
  document.body.replaceChildren()
  vi.restoreAllMocks()
  temperatureUnit.value = "C"
})

describe("a message", () => {
  test("[PG9] shows its segments in order, each in its own element", () => {
    const { root } = answer([
      { type: "thinking", content: "hm", ms: 400 },
      { type: "text", content: "a" },
      { type: "tool", call_id: "c", name: "weather", args: "{}", status: "ok" },
      createCardSegment(createWeather("Rain"), "wet"),
      { type: "text", content: "b" },
    ])
    expect(kindsIn(root)).toEqual(["thinking", "text", "tool", "rich", "text"])
    const article = root.querySelector("article")
    expect(article?.querySelectorAll(":scope > :not([data-segment], .calls, footer)")).toHaveLength(0)
    expect(article?.dataset).toMatchObject({ id: "a", role: "assistant", status: "completed" })
  })

  test("[PG13] a user's text is plain, with its line breaks", () => {
    const shownText = "<b>no</b>\n**none** [l](https://e.x)"
    const { root } = transcript([createMessage("user", [{ type: "text", content: shownText }])])
    expect(root.querySelector("article[data-role=user]")?.textContent).toBe(shownText)
    expect(root.querySelectorAll("b, strong, a")).toHaveLength(0)
  })

  test.each([
    ["without a text", [], "Spoken message, without a transcript"],
    ["with a transcript", [{ type: "text" as const, content: "Stop." }], "Stop.Spoken message"],
  ])("[IR4] a spoken question %s is labelled", (_name, segments, shownText) => {
    const { root } = transcript([{ ...createMessage("user", segments), mode: "spoken", content: "" }])
    expect(root.querySelector("article[data-role=user]")?.textContent).toBe(shownText)
  })

  test.each<[MessageStatus, string | null, string]>([
    ["cancelled", null, "You stopped this response. Continue"],
    ["interrupted", "process_restart", "The response was interrupted by a restart. Continue"],
    ["failed", "model_unreachable", "We couldn't reach the model. Try again"],
    ["failed", "a_newer_reason", "a_newer_reason Try again"],
    ["waiting", null, "Waiting for a response."],
  ])("[PG12] status %s (%s) is shown at its end", async (status, reason, shownText) => {
    const { root } = answer([{ type: "text", content: "a" }], { status, reason })
    expect(root.querySelector("article > .note")?.textContent).toBe(shownText)
    expect(root.querySelector("[data-typing]")).toBe(null)
  })

  test("[PG12] [MP34] a call that asks the user a question says that it is waiting for the answer, and no other call does", () => {
    const field = { name: "n", title: "Name", type: "string", required: true } as const
    const input = { id: "i", server: "trips", message: "Who?", fields: [field] } as never
    const call = { type: "tool", call_id: "c", name: "trips_ask", args: "{}", status: "waiting" } as const
    const { root } = answer([{ ...call, input }], { status: "waiting" })
    expect(root.querySelector("article > .note")?.textContent).toBe("Waiting for your answer.")
    expect(root.querySelector(".badge")?.textContent).toBe("Needs an answer")
    const approved = answer([{ ...call, approval: "asked" }], { status: "waiting" })
    expect(approved.root.querySelector("article > .note")?.textContent).toBe("Waiting for your approval.")
    expect(approved.root.querySelector(".badge")?.textContent).toBe("Needs approval")
  })

  test("[PG12] a completed message shows no status", () => {
    expect(answer([{ type: "text", content: "a" }]).root.querySelector(".note")).toBe(null)
  })
})

describe("thinking", () => {
  test("[PG9] is collapsed, and shows its duration", () => {
    const label = (segments: Segment[], status: MessageStatus) =>
      answer(segments, { status }).root.querySelector("details[data-segment=thinking]:not([open]) > summary")
        ?.textContent
    expect(label([{ type: "thinking", content: "x", ms: 1240 }], "completed")).toBe("Thought for 1.2 s")
    expect(label([{ type: "thinking", content: "x" }], "running")).toBe("Thinking…")
    expect(label([{ type: "thinking", content: "x" }], "interrupted")).toBe("Thought")
    expect(
      label(
        [
          { type: "thinking", content: "x" },
          { type: "text", content: "y" },
        ],
        "running",
      ),
    ).toBe("Thought")
    expect([0, 940, 14_000, 59_800, 75_000].map(formatDuration)).toEqual([
      "0.1 s",
      "0.9 s",
      "14 s",
      "1 min 0 s",
      "1 min 15 s",
    ])
  })

  test("[PG9] stays open while it grows if the user opened it", async () => {
    const { root, store } = answer([{ type: "thinking", content: "one" }], { status: "running" })
    const details = root.querySelector("details") as HTMLDetailsElement
    details.open = true
    store.applyFrame(ops(2, 1, "a", [{ op: "text", at: 0, offset: 3, text: " two" }]))
    await delay()
    expect(details.open).toBe(true)
    expect(details.textContent).toContain("one two")
  })
})

describe("tools", () => {
  test.each<[CallStatus, string]>([
    ["queued", "Queued"],
    ["running", "Running"],
    ["waiting", "Waiting"],
    ["ok", "Done"],
    ["failed", "Failed"],
    ["interrupted", "Interrupted"],
  ])("[PG10] a call with the status %s is labelled %s", (status, badge) => {
    const { root } = answer([{ type: "tool", call_id: "c", name: "weather", args: '{"city":"London"}', status }])
    expect(root.querySelector("summary")?.textContent).toBe(`WeatherLondon${badge}`)
    expect(root.querySelector<HTMLElement>("[data-segment=tool]")?.dataset["state"]).toBe(status)
  })

  test("[PG10] arguments and results are indented JSON; once the call is opened, they are highlighted, but their text doesn't change", async () => {
    const tool: Segment = {
      type: "tool",
      call_id: "c",
      name: "weather",
      args: '{"city":"Lon\\"don","days":-2.5e3,"ok":[true,null]}',
      status: "ok",
      result: "plain, not JSON {",
      output: "asking…",
      truncated: { lines: 3000, bytes: 99_999 },
    }
    const { root } = answer([tool])
    const before = root.textContent
    expect(before).toContain('{\n  "city": "Lon\\"don",\n  "days": -2500,\n')
    expect(before).toContain("plain, not JSON {")
    expect(before).toContain("asking…")
    expect(before).toContain(`3,000 lines (${formatSize(99_999)})`)
    expect(root.querySelector(".key")).toBe(null)
    const details = root.querySelector("details") as HTMLDetailsElement
    details.open = true
    details.dispatchEvent(new Event("toggle"))
    await expect.poll(() => root.querySelector(".key")).not.toBe(null)
    expect([...root.querySelectorAll(".key")].map((key) => key.textContent)).toEqual(['"city"', '"days"', '"ok"'])
    expect(root.querySelector(".string")?.textContent).toBe('"Lon\\"don"')
    expect([...root.querySelectorAll(".word")].map((word) => word.textContent)).toEqual(["true", "null"])
    expect(root.textContent).toBe(before)
  })

  test("[PG10] an error is shown as text", () => {
    const error = { code: "tool_timeout", message: "The tool took too long." }
    const { root } = answer([{ type: "tool", call_id: "c", name: "t", args: "{}", status: "failed", error }])
    expect(root.querySelector(".fault")?.textContent).toBe("The tool took too long.")
  })

  test("[PG10] the hint lists the plain values of the arguments", () => {
    expect(createHint('{"city":"London","days":2,"deep":{"a":1}}')).toBe("London, 2")
    expect(createHint("[1")).toBe("")
    expect(createHint('{"kind":"chart","prompt":"a, b","title":"a, b"}')).toBe("chart, a, b")
    expect(createHint(JSON.stringify({ title: "Clock", html: "<!doctype html>\n<p>" }))).toBe("Clock")
    expect(createHint(JSON.stringify({ title: "Clock", html: "<p>".repeat(99) }))).toBe("Clock")
    expect(createHint(JSON.stringify({ text: "a\nb" }))).toBe("a b")
    expect(createHint("null")).toBe("")
    expect(createHint(JSON.stringify({ q: "x".repeat(99) }))).toHaveLength(61)
  })
})

describe("live and after a reload", () => {
  const weatherTurn: readonly (readonly Op[])[] = [
    [{ op: "open", at: 0, segment: { type: "thinking", content: "Two" } }],
    [
      { op: "text", at: 0, offset: 3, text: " cities" },
      { op: "set", at: 0, fields: { ms: 300 } },
    ],
    [{ op: "open", at: 1, segment: { type: "text", content: "Let me **lo" } }],
    [{ op: "text", at: 1, offset: 11, text: "ok**.\n\n- a" }],
    [
      {
        op: "open",
        at: 2,
        segment: { type: "tool", call_id: "c", name: "weather", args: '{"city":"London"}', status: "running" },
      },
    ],
    [{ op: "set", at: 2, fields: { status: "ok", result: "{}" } }],
    [{ op: "open", at: 3, segment: createCardSegment(createWeather("Snow", { temperature_c: -12.4 }), "") }],
    [{ op: "text", at: 3, offset: 0, text: "Cold *and" }],
    [{ op: "text", at: 3, offset: 9, text: "* white." }],
    [{ op: "open", at: 4, segment: { type: "text", content: "lost" } }],
    [
      { op: "cut", to: 4 },
      { op: "open", at: 4, segment: { type: "text", content: "Bye." } },
    ],
    [{ op: "end", status: "completed", reason: null, metrics: null }],
  ]

  test("[PG1] after every frame, the page shows what a reload would show", async () => {
    const { store, root } = transcript([])
    store.applyFrame(messageFrame(2, 1, wireMessage("a")))
    for (const [at, list] of weatherTurn.entries()) {
      store.applyFrame(ops(3 + at, 2 + at, "a", list))
      await delay(at >= 6 ? 600 : 20)
      const now = store.getMessageSignal("a")?.value as WireMessage
      expect(root.innerHTML).toBe(transcript([now]).root.innerHTML)
    }
  }, 20_000)

  test("[CA4] a card animates once, when it arrives; in loaded history it doesn't move", async () => {
    const played: unknown[] = []
    HTMLElement.prototype.animate = (frames) => {
      played.push(frames)
      return {} as Animation
    }
    const shown = createCardSegment(createWeather("Snow", { temperature_c: 30 }), "")
    answer([shown])
    expect(played).toHaveLength(0)
    const { store, root } = transcript([])
    store.applyFrame(messageFrame(2, 1, wireMessage("a")))
    store.applyFrame(ops(3, 2, "a", [{ op: "open", at: 0, segment: shown }]))
    await delay(5)
    expect(played).toEqual([
      [
        { opacity: 0, transform: "translateY(8px)" },
        { opacity: 1, transform: "none" },
      ],
    ])
    expect(root.querySelector(".degrees")?.textContent, "the true figure at once").toBe("30°C")
    store.applyFrame(ops(4, 3, "a", [{ op: "text", at: 0, offset: 0, text: "more" }]))
    await delay(600)
    expect(root.querySelector(".degrees")?.textContent).toBe("30°C")
    expect(played).toHaveLength(1)
    expect(root.querySelector("[style]")).toBe(null)
  })

  test("[CA5] with reduced motion, nothing is animated", async () => {
    vi.spyOn(globalThis, "matchMedia").mockImplementation(
      (query) => ({ matches: query.includes("reduce") }) as MediaQueryList,
    )
    const animate = vi.fn()
    HTMLElement.prototype.animate = animate
    const { store, root } = transcript([])
    store.applyFrame(messageFrame(2, 1, wireMessage("a")))
    store.applyFrame(
      ops(3, 2, "a", [
        { op: "open", at: 0, segment: createCardSegment(createWeather("Snow", { temperature_c: 30 }), "") },
      ]),
    )
    await delay()
    expect(animate).not.toHaveBeenCalled()
    expect(root.querySelector(".degrees")?.textContent).toBe("30°C")
  })

  test("[PG6] a delta changes only the elements of its own segment", async () => {
    const { root, store } = transcript([
      ...createAllMessages(),
      wireMessage("live", {
        segments: [
          { type: "text", content: "x" },
          { type: "text", content: "y" },
        ],
      }),
    ])
    await vi.waitFor(() => expect(root.querySelectorAll("article")).toHaveLength(store.messageIds.value.length))
    const touched: Node[] = []
    const watch = new MutationObserver((records) => touched.push(...records.map(({ target }) => target)))
    watch.observe(root, { subtree: true, childList: true, characterData: true, attributes: true })
    store.applyFrame(ops(2, 1, "live", [{ op: "text", at: 1, offset: 1, text: "z" }]))
    await delay()
    touched.push(...watch.takeRecords().map(({ target }) => target))
    const own = root.querySelectorAll("[data-id=live] [data-segment]")[1]
    expect(touched.length).toBeGreaterThan(0)
    expect(touched.every((node) => own?.contains(node))).toBe(true)
    expect(own?.textContent).toBe("yz")
  })

  test("[PG6] a delta re-renders only its own segment", async () => {
    const live = wireMessage("live", {
      segments: [
        { type: "text", content: "x" },
        { type: "text", content: "y" },
      ],
    })
    const { root, store } = transcript([...createAllMessages(), live])
    await vi.waitFor(() => expect(root.querySelectorAll("article")).toHaveLength(store.messageIds.value.length))
    const drawn = vi.spyOn(SegmentView.prototype, "render")
    store.applyFrame(ops(2, 1, "live", [{ op: "text", at: 1, offset: 1, text: "z" }]))
    await delay()
    expect(drawn).toHaveBeenCalledTimes(1)
  })

  test("[PG7] the pending indicator is shown for unsent messages and a running answer, and then disappears", async () => {
    const { log, entries, store } = transcript([], [{ id: "u", content: "hi", at: 1, error: null }])
    expect(log.lastElementChild?.hasAttribute("data-typing")).toBe(true)
    entries.value = [{ id: "u", content: "hi", at: 1, error: "no" }]
    await delay()
    expect(log.querySelector("[data-typing]")).toBe(null)
    expect(log.querySelector("[role=alert]")?.textContent).toBe("no Retry Discard")
    entries.value = []
    store.applyFrame(messageFrame(2, 1, wireMessage("a")))
    store.applyFrame(
      messageFrame(3, 2, createMessage("user", [{ type: "text", content: "next" }], { status: "queued" })),
    )
    await delay()
    expect(log.querySelector("[data-typing]")).not.toBe(null)
    expect(log.textContent).toContain("Queued")
  })

  test("[PG7] the indicator is below the answer being written and above queued messages, and disappears while the connection is lost", async () => {
    const running = wireMessage("a", { exchange_id: "q", timestamp: "2026-01-01T00:00:01.000Z" })
    const question = createMessage("user", [{ type: "text", content: "one" }], { id: "q", exchange_id: "q" })
    const queued = createMessage("user", [{ type: "text", content: "two" }], {
      id: "p",
      exchange_id: "p",
      status: "queued",
      timestamp: "2026-01-01T00:00:02.000Z",
    })
    const { log, link, isOnline } = transcript([question, running, queued])
    const order = () =>
      [...log.querySelectorAll("article, .typing")].map((element) => element.getAttribute("data-id") ?? "typing")
    expect(order()).toEqual(["q", "a", "typing", "p"])
    for (const state of ["waiting", "connecting"] as const) {
      link.value = state
      await delay()
      expect(log.querySelector("[data-typing]")).toBe(null)
      expect(log.getAttribute("aria-busy")).toBe("false")
    }
    link.value = "live"
    await delay()
    expect(log.querySelectorAll("[data-typing]")).toHaveLength(1)
    // The device is offline; the socket detects this only later.
    isOnline.value = false
    await delay()
    expect(log.querySelector("[data-typing]")).toBe(null)
    expect(log.getAttribute("aria-busy")).toBe("false")
  })

  test("[PG17] the transcript is a log that is not announced as it grows", () => {
    const { log } = transcript([])
    expect(log.getAttribute("role")).toBe("log")
    expect(log.getAttribute("aria-live")).toBe("off")
  })

  test("[PG3] no element of a transcript has a style attribute or an inline event handler", () => {
    const { root } = transcript(createAllMessages())
    for (const element of root.querySelectorAll("*")) {
      expect([...element.attributes].filter(({ name }) => name === "style" || name.startsWith("on"))).toEqual([])
    }
    expect(root.querySelectorAll("script, img, iframe, style, object, embed")).toHaveLength(0)
    render(null, root)
  })
})
