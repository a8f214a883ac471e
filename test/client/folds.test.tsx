/** folds.test.tsx: the collapsible sections above and inside an answer. */

import { beforeEach, describe, expect, test } from "vitest"
import { formatSize } from "../../client/words/format/file-size.ts"
import { formatTruncation } from "../../client/words/parts/call-text.ts"
import type { Segment } from "../../shared/protocol/segment.ts"
import { delay } from "./dom.ts"
import { answer, call, user } from "./sample-messages.ts"
import { transcript } from "./render-transcript.tsx"
import { ops } from "./fake-server.ts"

beforeEach(() => document.body.replaceChildren())

test("[PG30] an unverified answer is marked as such above its content", () => {
  const { root } = transcript([user("q", "go"), answer("a", { origin: "import" }), user("p", "on"), answer("b")])
  const [imported, own] = [...root.querySelectorAll<HTMLElement>("article[data-role=assistant]")]
  expect(imported?.dataset["origin"]).toBe("import")
  expect(imported?.firstElementChild?.textContent).toContain("haven't been verified")
  expect(own?.textContent).not.toContain("verified")
})

describe("folds", () => {
  test("[PG24] a summary is shown collapsed above the answer that it was made for, and replaces nothing", async () => {
    const { root, store } = transcript([user("q", "go"), answer("a", { status: "running" })])
    store.applyFrame(ops(2, 1, "a", [{ op: "meta", summary: "They spoke of **weather**." }]))
    await delay()
    const fold = root.querySelector("article[data-id=a]")?.firstElementChild as HTMLDetailsElement
    expect(fold.querySelector("summary")?.textContent).toBe("Summary of earlier messages")
    expect(fold.open).toBe(false)
    expect(fold.querySelector("strong")?.textContent).toBe("weather")
    expect(root.querySelectorAll("article")).toHaveLength(2)
  })

  test("[PG25] a running tool's output is shown unchanged and grows in an open section, with a note that says how much is omitted", async () => {
    const running = call({ status: "running", output: '{"a":1}' })
    const { root, store } = transcript([answer("a", { status: "running", segments: [running] })])
    const fold = root.querySelector("details") as HTMLDetailsElement
    fold.open = true
    const findCode = () => root.querySelectorAll(".data code")[1] as HTMLElement
    const element = findCode()
    expect(findCode().textContent).toBe('{"a":1}')
    store.applyFrame(ops(2, 1, "a", [{ op: "text", at: 0, offset: 7, text: "\nmore" }]))
    store.applyFrame(ops(3, 2, "a", [{ op: "set", at: 0, fields: { truncated: { lines: 2500, bytes: 60_000 } } }]))
    await delay()
    expect(findCode()).toBe(element)
    expect(findCode().textContent).toBe('{"a":1}\nmore')
    expect(fold.open).toBe(true)
    expect(root.textContent).toContain(`Showing part of 2,500 lines (${formatSize(60_000)}) so far.`)
    store.applyFrame(ops(4, 3, "a", [{ op: "set", at: 0, fields: { status: "ok", result: "done" } }]))
    await delay()
    expect(root.textContent).toContain(`2,500 lines (${formatSize(60_000)}).`)
  })

  test("[PG25] the output keeps its scroll position, and follows its end once the user has scrolled there", async () => {
    const { root, store } = transcript([
      answer("a", { status: "running", segments: [call({ status: "running", output: "x" })] }),
    ])
    const box = root.querySelectorAll("pre")[1] as HTMLElement
    const size = { scrollHeight: 500, clientHeight: 100 }
    for (const name of ["scrollHeight", "clientHeight"] as const) {
      Object.defineProperty(box, name, { get: () => size[name] })
    }
    const growText = async (offset: number) => {
      store.applyFrame(ops(offset + 1, offset, "a", [{ op: "text", at: 0, offset, text: "y" }]))
      size.scrollHeight += 100
      await delay()
    }
    const scrollTo = (top: number) => {
      box.scrollTop = top
      box.dispatchEvent(new Event("scroll"))
    }
    scrollTo(200)
    await growText(1)
    expect(box.scrollTop).toBe(200)
    scrollTo(500)
    await growText(2)
    expect(box.scrollTop).toBe(700)
  })

  test("[PG9] two periods of thinking with tools between them keep their order and durations", async () => {
    const { root, store } = transcript([answer("a", { status: "running", segments: [] })])
    const createDone = (at: number): Segment => call({ call_id: `c${at}`, status: "ok" })
    store.applyFrame(ops(2, 1, "a", [{ op: "open", at: 0, segment: { type: "thinking", content: "one" } }]))
    store.applyFrame(ops(3, 2, "a", [{ op: "set", at: 0, fields: { ms: 1200 } }]))
    store.applyFrame(ops(4, 3, "a", [{ op: "open", at: 1, segment: createDone(1) }]))
    store.applyFrame(ops(5, 4, "a", [{ op: "open", at: 2, segment: { type: "thinking", content: "two" } }]))
    await delay()
    const listFolds = () =>
      [...root.querySelectorAll("article [data-segment]")].map((element) => element.querySelector("summary"))
    expect(listFolds().map((fold) => fold?.textContent)).toEqual(["Thought for 1.2 s", "probe_asknowDone", "Thinking…"])
    store.applyFrame(ops(6, 5, "a", [{ op: "set", at: 2, fields: { ms: 14_000 } }]))
    store.applyFrame(ops(7, 6, "a", [{ op: "open", at: 3, segment: createDone(2) }]))
    await delay()
    expect(listFolds()[2]?.textContent).toBe("Thought for 14 s")
    expect(root.querySelectorAll("details[open]")).toHaveLength(0)
  })
})

test("[IH8] a note below a shortened result says how long the whole result is, if that is known", () => {
  expect(formatTruncation(12_000, 800_000, true)).toBe("Showing part of 12,000 lines (781 KB).")
  expect(formatTruncation(0, 800_000, true)).toBe("Showing part of 781 KB.")
  expect(formatTruncation(12_000, 0, false)).toBe("Showing part of 12,000 lines so far.")
  expect(formatTruncation(0, 0, true)).toBe("Showing only a part.")
})
