/** long-answers.test.tsx: the parts and slices in which a long answer is rendered, and exceptions while rendering. */

import fc from "fast-check"
import { beforeEach, describe, expect, test, vi } from "vitest"
import { splitLongText } from "../../client/markdown/long-text.tsx"
import { Markdown } from "../../client/markdown/markdown.tsx"
import { markdownToText } from "../../client/markdown/markdown-to-text.ts"
import { PART_ITEMS, SLICE_ITEMS } from "../../client/markdown/slice-queue.ts"
import { FIRST_TASK_COST, MIN_FIRST_COST } from "../../client/markdown/use-text-part.ts"
import { measureText, PART_COST, SLICE_COST } from "../../client/markdown/text-part.ts"
import type { Segment } from "../../shared/protocol/segment.ts"
import { createCardSegment, createWeather } from "../support/page-fixtures/messages.ts"
import { assertProperty, everyNth } from "../support/seeded.ts"
import { delay, draw } from "./dom.ts"
import { transcript } from "./render-transcript.tsx"
import { answer, call, text, user } from "./sample-messages.ts"
import { ops } from "./fake-server.ts"

const MB = 1_000_000
const repeatToMegabyte = (part: string): string => part.repeat(Math.ceil(MB / part.length)).slice(0, MB)
/** Has a long timeout, because a simulated DOM is slow with text of this size. */
const waitUntil = (check: () => void): Promise<void> => vi.waitFor(check, { timeout: 100_000 })
const showMoreIn = (root: HTMLElement) => root.querySelector<HTMLButtonElement>(".show-more")

beforeEach(async () => {
  document.body.replaceChildren()
  // The budget for first slices is renewed in the next task.
  await delay(0)
})

/** Returns how many elements each slice added, until nothing more is rendered. */
async function countSlices(root: HTMLElement): Promise<readonly number[]> {
  const counts: number[] = []
  const countNodes = (): number => root.querySelectorAll("*").length
  counts.push(countNodes())
  const observer = new MutationObserver(() => counts.push(countNodes()))
  observer.observe(root, { childList: true, subtree: true, characterData: true })
  await waitUntil(() => expect(showMoreIn(root)).not.toBe(null))
  observer.disconnect()
  return counts.map((total, at) => total - (counts[at - 1] ?? 0))
}

const HOSTILE: readonly (readonly [string, string])[] = [
  ["paragraphs", repeatToMegabyte("a\n\n")],
  ["lines", repeatToMegabyte("a\n")],
  ["lists", repeatToMegabyte("- a\n")],
  ["numbered lists", repeatToMegabyte("1. a\n")],
  ["nested lists", repeatToMegabyte(Array.from({ length: 20 }, (_, at) => `${"  ".repeat(at)}- a\n`).join(""))],
  ["nested lists on one line", repeatToMegabyte(`${"- ".repeat(40)}a\n`)],
  ["nested starred lists on one line", repeatToMegabyte(`${"* ".repeat(40)}a\n`)],
  ["nested numbered lists on one line", repeatToMegabyte(`${"1. ".repeat(30)}a\n`)],
  ["lists after tabs", repeatToMegabyte(`${"-\t".repeat(20)}a\n`)],
  ["lists in quotes", repeatToMegabyte(`${"> - ".repeat(20)}a\n`)],
  ["tables", repeatToMegabyte("|a|b|\n|-|-|\n|c|d|\n\n")],
  ["one table", `|a|b|\n|-|-|\n${repeatToMegabyte("|**x**|`y`|\n")}`],
  ["fences", repeatToMegabyte("```\na\n```\n")],
  ["open fences", repeatToMegabyte("```\n")],
  ["headings", repeatToMegabyte("# a\n")],
  ["emphasis", repeatToMegabyte("*a* **b**\n\n")],
  ["links", repeatToMegabyte("[a](https://e.x)\n\n")],
  ["images", repeatToMegabyte("![a](https://e.x/a.png)\n\n")],
  ["quotes", repeatToMegabyte("> a\n\n")],
  ["deep quotes", repeatToMegabyte("> ")],
  ["raw tags", repeatToMegabyte("<b>a</b>\n\n")],
  ["combining marks", `a${repeatToMegabyte("\u0301")}`],
  ["replacement characters", repeatToMegabyte("\ufffd")],
  ["one word", repeatToMegabyte("a")],
]

/** Maximum number of elements that one slice may add. A slice of ordinary prose with the same cost adds about 500. */
const MAX_SLICE_ELEMENTS = 2_600

describe("1 MB of hostile text", () => {
  test.each(everyNth(HOSTILE, 4, 2))(
    "[PF1] [PF2] %s: bounded slices, one part, and a button",
    async (_name, content) => {
      const root = draw(<Markdown text={content} />)
      const slices = await countSlices(root)
      expect(Math.max(...slices)).toBeLessThanOrEqual(MAX_SLICE_ELEMENTS)
      const { end, cost } = measureText(content, PART_COST)
      expect(cost).toBeLessThanOrEqual(PART_COST)
      expect(showMoreIn(root)?.textContent).toBe(
        `Show more (${(MB - end + (content.length - MB)).toLocaleString("en")} more characters)`,
      )
      expect(root.querySelector(".prose")?.textContent?.length).toBeLessThanOrEqual(end)
    },
    60_000,
  )
})

describe("parts and slices", () => {
  const prose = "The **quick** brown `fox`.\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"

  test("[PF1] the button shows the next part, and disappears with the last; the view stops following", async () => {
    const content = `${"prose".repeat(15)}\n\n`.repeat(Math.ceil((1.4 * PART_COST) / 139))
    const { root, scrollAnchor } = transcript([answer("a", { segments: [text(content)] })])
    await waitUntil(() => expect(showMoreIn(root)).not.toBe(null))
    expect(scrollAnchor.isFollowing.value).toBe(true)
    const first = root.querySelectorAll(".prose > p").length
    showMoreIn(root)?.click()
    expect(scrollAnchor.isFollowing.value).toBe(false)
    await waitUntil(() => expect(root.querySelectorAll(".prose > p").length).toBeGreaterThan(1.3 * first))
    await waitUntil(() => expect(root.querySelector(".prose")?.textContent).toBe(content.replaceAll("\n\n", "")))
    expect(showMoreIn(root)).toBe(null)
  }, 60_000)

  test("[PF2] the elements are the same however the text arrived", async () => {
    const content = prose.repeat(150)
    const whole = draw(<Markdown text={content} />) as HTMLDivElement
    await waitUntil(() => expect(whole.querySelectorAll("table")).toHaveLength(150))
    const grown = draw(<Markdown text="" />) as HTMLDivElement
    for (let at = 0; at < content.length; at += 2_999) draw(<Markdown text={content.slice(0, at)} />, grown)
    draw(<Markdown text={content} />, grown)
    await waitUntil(() => expect(grown.innerHTML).toBe(whole.innerHTML))
  }, 30_000)

  test("[PF2] messages that are first drawn in the same task share a budget; each shows its beginning, and all become complete", async () => {
    const long = `${"prose".repeat(20)}\n\n`.repeat(120)
    const { root } = transcript(Array.from({ length: 24 }, (_, at) => answer(`a${at}`, { segments: [text(long)] })))
    const listSizes = () => [...root.querySelectorAll(".prose")].map((element) => element.textContent?.length ?? 0)
    expect(Math.min(...listSizes())).toBeGreaterThan(1_000)
    expect(listSizes().reduce((sum, size) => sum + size)).toBeLessThan(FIRST_TASK_COST + 24 * MIN_FIRST_COST)
    await waitUntil(() => expect(Math.min(...listSizes())).toBe(Math.max(...listSizes())))
    expect(listSizes()[0]).toBe(long.replaceAll("\n", "").length)
  })

  test("[PF4] text beyond the part isn't read, and an unchanged part isn't drawn again", async () => {
    const content = repeatToMegabyte("a\n\n")
    let lastRead = 0
    let reads = 0
    const readUnit = (at: number): number => {
      lastRead = Math.max(lastRead, at)
      reads++
      return content.charCodeAt(at)
    }
    const counted = { length: content.length, charCodeAt: readUnit } as string
    const { end } = measureText(counted, PART_COST)
    expect(lastRead).toBeLessThanOrEqual(end + 1)
    // The code unit before a line ending is read twice.
    expect(reads).toBeLessThanOrEqual(2 * (end + 1))
    const root = draw(<Markdown text={content} />) as HTMLDivElement
    await waitUntil(() => expect(showMoreIn(root)).not.toBe(null))
    const changes = vi.fn()
    const observer = new MutationObserver(changes)
    observer.observe(root.querySelector(".prose") as Element, { childList: true, subtree: true, characterData: true })
    draw(<Markdown text={`${content}more`} />, root)
    await delay()
    observer.disconnect()
    expect(changes).not.toHaveBeenCalled()
    expect(showMoreIn(root)?.textContent).toContain((MB - end + 4).toLocaleString("en"))
  })

  test("[PF4] the part that fits depends only on the beginning of the text, ends at a line ending if one is close, and splits no surrogate pair", () => {
    const content = fc.array(fc.constantFrom("a", " ", "\n", "\n\n", "- ", "é", "漢", "م", "\u0301", "😀", "*", "  "), {
      maxLength: 80,
    })
    assertProperty(
      fc.property(content, content, fc.integer({ min: 1, max: 900 }), (head, tail, maxCost) => {
        const beginning = head.join("")
        const { end, cost } = measureText(beginning, maxCost)
        expect(cost).toBeLessThanOrEqual(maxCost)
        expect(beginning.slice(0, end).isWellFormed()).toBe(true)
        if (end < beginning.length) expect(measureText(beginning + tail.join(""), maxCost)).toEqual({ end, cost })
        expect(measureText(beginning, Number.POSITIVE_INFINITY).end).toBe(beginning.length)
      }),
    )
  })

  test("[PF6] an answer with many segments is drawn in slices, and in parts", async () => {
    const segments: readonly Segment[] = Array.from({ length: PART_ITEMS + 20 }, (_, at) => text(`part ${at}`))
    const { root } = transcript([answer("a", { segments })])
    const countNodes = (): number => root.querySelectorAll("[data-segment]").length
    expect(countNodes()).toBe(SLICE_ITEMS)
    await waitUntil(() => expect(showMoreIn(root)?.textContent).toBe("Show more (20 more parts)"))
    expect(countNodes()).toBe(PART_ITEMS)
    showMoreIn(root)?.click()
    await waitUntil(() => expect(countNodes()).toBe(PART_ITEMS + 20))
    expect(showMoreIn(root)).toBe(null)
  }, 30_000)

  test("[PF7] only the beginning of a long answer is announced", () => {
    expect(markdownToText(repeatToMegabyte("word ")).length).toBeLessThanOrEqual(SLICE_COST)
  })
})

describe("long runs", () => {
  test("[PF3] the joined pieces equal the text, and each piece is bounded", () => {
    const part = fc.tuple(
      fc.constantFrom("a", "\ufffd", "漢", "é", "😀", "word ", "\u0301", " "),
      fc.integer({ min: 1, max: 9_000 }),
    )
    assertProperty(
      fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
        const content = parts.map(([unit, count]) => unit.repeat(Math.ceil(count / unit.length))).join("")
        const pieces = splitLongText(content)
        expect(pieces.join("")).toBe(content)
        expect(Math.max(0, ...pieces.map(({ length }) => length))).toBeLessThanOrEqual(12_000)
        for (const piece of pieces) expect(piece.isWellFormed()).toBe(true)
      }),
    )
  })

  test("[PF3] a very long word is divided, but an ordinary paragraph isn't", () => {
    expect(splitLongText("\ufffd".repeat(5_000)).map(({ length }) => length)).toEqual([
      1_000, 1_000, 1_000, 1_000, 1_000,
    ])
    expect(splitLongText("word ".repeat(1_500))).toHaveLength(1)
    expect(splitLongText("漢字仮名".repeat(1_500))).toHaveLength(1)
    const root = draw(<Markdown text={"a".repeat(3_500)} />)
    expect(root.querySelectorAll("p > .piece")).toHaveLength(4)
    const question = transcript([user("q", "\ufffd".repeat(3_500))]).root.querySelector("p[data-segment]")
    expect(question?.textContent).toBe("\ufffd".repeat(3_500))
    expect(question?.querySelectorAll(".piece")).toHaveLength(4)
  })
})

describe("an exception while drawing", () => {
  const createBrokenSegment = (type: string, more: object = {}): Segment =>
    Object.defineProperty({ type, ...more }, type === "rich" ? "payload" : "content", {
      enumerable: true,
      get() {
        throw new Error("injected")
      },
    }) as unknown as Segment

  test("[PF5] a segment that throws becomes a labelled note; the segments and messages around it stay", async () => {
    const log = vi.spyOn(console, "error").mockImplementation(() => {})
    const segments = [
      text("before"),
      createBrokenSegment("text"),
      createBrokenSegment("rich", { tag: "weather_1", synthesis: "It is **wet**." }),
      Object.defineProperty(call({ name: "ledger", result: `total ${"9".repeat(40_000)}` }), "args", {
        get() {
          throw new Error("injected")
        },
      }),
      text("after"),
    ]
    const { root } = transcript([
      user("q", "go"),
      answer("a", { segments }),
      answer("b", { segments: [createCardSegment(createWeather("Rain"), "wet"), call({ status: "ok" })] }),
    ])
    await delay()
    const notes = [...root.querySelectorAll(".broken")]
    expect(notes.map((note) => note.getAttribute("aria-label"))).toEqual(
      Array(3).fill("This part of the response couldn't be displayed."),
    )
    expect(notes[1]?.querySelector("pre")?.textContent).toBe("It is **wet**.")
    expect(notes[2]?.querySelector("pre")?.textContent).toMatch(/^ledger\ntotal 9{9,30000}$/)
    expect(root.querySelector("article[data-id=a]")?.textContent).toMatch(/^before.*after$/s)
    expect(root.querySelectorAll("article")).toHaveLength(3)
    expect(root.querySelectorAll("article[data-id=b] [data-segment]")).toHaveLength(2)
    expect(log).toHaveBeenCalledTimes(3)
    log.mockRestore()
  })

  test("[PF5] a message that throws becomes a note, and the next change draws it again", async () => {
    const log = vi.spyOn(console, "error").mockImplementation(() => {})
    const faulty = answer("a", { status: "running", segments: [text("one")] })
    Object.defineProperty(faulty, "summary", {
      configurable: true,
      get() {
        throw new Error("injected")
      },
    })
    const { root, store } = transcript([user("q", "go"), faulty, user("p", "on")])
    await delay()
    expect(root.querySelector("article[data-id=a]")?.textContent).toBe("This message couldn't be displayed.")
    expect(root.querySelectorAll("article")).toHaveLength(3)
    Object.defineProperty(faulty, "summary", { value: undefined, configurable: true, enumerable: true })
    store.applyFrame(ops(2, 1, "a", [{ op: "text", at: 0, offset: 3, text: " two" }]))
    await waitUntil(() => expect(root.querySelector("article[data-id=a]")?.textContent).toContain("one two"))
    log.mockRestore()
  })
})
