/**
 * chart-card.test.tsx: a chart is drawn from its payload, can be read point by point, and has a table with all values.
 */

import { beforeEach, describe, expect, test } from "vitest"
import { findRangeWithZero, formatFigure, toPercent } from "../../client/cards/chart/chart-figures.ts"
import type { Json } from "../../shared/json.ts"
import type { Segment } from "../../shared/protocol/segment.ts"
import { delay, waitForElement } from "./dom.ts"
import { wireMessage } from "./fake-server.ts"
import { transcript } from "./render-transcript.tsx"

const DATA = [
  { label: "tea", value: 4 },
  { label: "coffee", value: 12_345.5 },
  { label: "debt", value: -2 },
]
const createChart = (more: object = {}, synthesis = "Coffee leads."): Segment => {
  const payload = { title: "Drinks", kind: "bar", unit: "km", data: DATA, ...more } as unknown as Json
  return { type: "rich", tag: "chart_1", payload, synthesis }
}
const show = (...segments: Segment[]) => transcript([wireMessage("a", { status: "completed", segments })]).root

beforeEach(() => document.body.replaceChildren())

describe("a chart", () => {
  test("[CA11] shows each value beside its bar, and all of them in a table", async () => {
    const card = await waitForElement(show(createChart()), ".chart")
    expect(card.getAttribute("aria-label")).toBe("Chart: Drinks")
    expect(card.querySelector(".plot")?.getAttribute("aria-label")).toBe(
      "tea 4\u00a0km, coffee 12,345.5\u00a0km, debt -2\u00a0km",
    )
    expect([...card.querySelectorAll(".figure")].map((element) => element.textContent)).toEqual([
      "4\u00a0km",
      "12,345.5\u00a0km",
      "-2\u00a0km",
    ])
    expect([...card.querySelectorAll("tbody tr")].map((element) => element.textContent)).toEqual([
      "tea4\u00a0km",
      "coffee12,345.5\u00a0km",
      "debt-2\u00a0km",
    ])
    expect(card.querySelector("details")?.open).toBe(false)
    expect(card.querySelector(".synthesis")?.textContent).toBe("Coffee leads.")
    const widths = [...card.querySelectorAll(".bar")].map((element) =>
      Number.parseFloat(element.getAttribute("width") ?? ""),
    )
    expect(Math.max(...widths)).toBeLessThanOrEqual(100)
    expect(Math.min(...widths)).toBeGreaterThan(0.5)
  })

  test("[CA11] the arrow keys move from point to point on a line, and show the value of each", async () => {
    const line = await waitForElement(show(createChart({ kind: "line" })), ".chart .line")
    const readPoint = (): string | undefined => line.querySelector(".point")?.textContent ?? undefined
    const press = async (key: string): Promise<void> => {
      line.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }))
      await delay()
    }
    expect(line.tabIndex).toBe(0)
    expect(readPoint()).toBe("debt -2\u00a0km")
    await press("ArrowLeft")
    expect(readPoint()).toBe("coffee 12,345.5\u00a0km")
    await press("Home")
    await press("ArrowLeft")
    expect(readPoint()).toBe("tea 4\u00a0km")
    await press("End")
    expect(readPoint()).toBe("debt -2\u00a0km")
  })

  test("[CA10] a card with an invalid payload shows its text, and a line with a single point is drawn as a bar", async () => {
    const root = show(createChart({ kind: "pie" }, "just this"), createChart({ kind: "line", data: DATA.slice(0, 1) }))
    await waitForElement(root, ".chart .bars")
    expect(root.querySelectorAll(".chart")).toHaveLength(1)
    expect(root.querySelector("[data-segment=text]")?.textContent).toBe("just this")
  })
})

describe("values", () => {
  test.each([
    [1_234.5, "", "1,234.5"],
    [12, "%", "12%"],
    [3, "km", "3\u00a0km"],
  ])("[CA11] %d with the unit %j is %j", (value, unit, text) => {
    expect(formatFigure(value, unit)).toBe(text)
  })

  test.each([[[0]], [[-1e15, 1e15]], [[-3]], [[5, 5]]])("[CA11] the points %j are within the drawing", (values) => {
    const data = values.map((value) => ({ label: "a", value }))
    const range = findRangeWithZero({ title: "", kind: "bar", unit: "", data })
    for (const value of [0, ...values]) {
      expect(toPercent(value, range)).toBeGreaterThanOrEqual(0)
      expect(toPercent(value, range)).toBeLessThanOrEqual(100)
    }
  })
})
