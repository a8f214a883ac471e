/** sources.test.tsx: the numbered sources of an answer, and the numbers beside links to these sources. */

import { signal } from "@preact/signals"
import { describe, expect, test } from "vitest"
import { sourceViews } from "../../client/markdown/sources/deferred-sources.ts"
import { MessageView } from "../../client/transcript/message-view.tsx"
import { segmentsToCopyText } from "../../client/transcript/copy-text.ts"
import type { Segment } from "../../shared/protocol/segment.ts"
import { delay, draw } from "./dom.ts"
import { answer } from "./sample-messages.ts"

await sourceViews.load()

const source = (at: number, fields: object = {}): Segment => ({
  type: "source",
  url: `https://example.com/${at}`,
  title: `Page ${at}`,
  ...fields,
})

const drawAnswer = (...segments: Segment[]): HTMLElement =>
  draw(<MessageView message={signal(answer("a", { segments }))} isFresh={() => false} />)

describe("sources", () => {
  test("[SC4] a link to a source has the source's number and a card; other links have neither", () => {
    const content =
      "A [first](https://example.com/1), [second](https://EXAMPLE.com/2) and [other](https://example.com/3)."
    const root = drawAnswer({ type: "text", content }, source(2, { quote: "So it is." }), source(1))
    const links = [...root.querySelectorAll<HTMLElement>("p a")]
    expect(links.map((link) => link.textContent)).toEqual(["first2", "second1", "other"])
    expect(links[1]?.parentElement?.querySelector("[role=tooltip]")?.textContent).toBe("Page 2example.comSo it is.")
    expect(root.querySelectorAll("[role=tooltip]")).toHaveLength(2)
  })

  test("[SC3] the list shows numbers, titles, hosts and quotes, and only five entries until the user asks for more", async () => {
    const root = drawAnswer({ type: "text", content: "x" }, ...[1, 2, 3, 4, 5, 6, 7].map((at) => source(at)))
    const list = root.querySelector("[data-segment=source]")
    expect(list?.querySelectorAll("li")).toHaveLength(5)
    expect(list?.querySelector("li")?.textContent).toBe("Page 1 example.com")
    expect(list?.querySelector("button")?.textContent).toBe("Show 2 more")
    list?.querySelector("button")?.click()
    await delay()
    expect(list?.querySelectorAll("li")).toHaveLength(7)
  })

  test("[SC5] the title and quote of a source are never markup, and nothing is loaded from it", () => {
    const title = '<img src=x onerror="alert(1)">'
    const root = drawAnswer({ type: "text", content: "x" }, source(1, { title, quote: title }))
    expect(root.querySelector("img, script, iframe")).toBeNull()
    expect(root.querySelector("[data-segment=source] bdi")?.textContent).toBe(title)
  })

  test("[SC3] the copied text contains the sources as links", () => {
    expect(segmentsToCopyText([{ type: "text", content: "x" }, source(1, { title: "A [b]" })])).toBe(
      "x\n\n- [A \\[b\\]](<https://example.com/1>)",
    )
  })
})
