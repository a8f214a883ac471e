/** message-footer.test.tsx: the time of a message beside its buttons, and an answer's menu. */

import { beforeAll, beforeEach, describe, expect, test, vi } from "vitest"
import { formatMessageTime } from "../../client/transcript/message-actions.tsx"
import { answerTools } from "../../client/writing/deferred-writing.ts"
import { messageEditor } from "../../client/transcript/message-view.tsx"
import { buttonsIn, findButton, pressKey } from "./buttons.ts"
import { answer, user } from "./sample-messages.ts"
import { transcript } from "./render-transcript.tsx"

const TRACE = "0123456789abcdef0123456789abcdef"

beforeAll(async () => {
  await messageEditor.load()
  await answerTools.load()
})
beforeEach(() => document.body.replaceChildren())

describe("the time of a message", () => {
  test("[RD1] is beside the message's buttons, but not part of its text", () => {
    const { root } = transcript([user("q", "go"), answer("a", { timestamp: "2026-05-02T12:00:00.000Z" })])
    const times = [...root.querySelectorAll("footer time")]
    expect(times).toHaveLength(2)
    expect(times[1]?.getAttribute("datetime")).toBe("2026-05-02T12:00:00.000Z")
    expect(times[1]?.getAttribute("title")).toContain("May 2, 2026")
    expect(times[1]?.textContent).toBe("")
  })

  test.each([
    [new Date(2026, 4, 2, 14, 5), "2:05 PM"],
    [new Date(2026, 4, 1, 14, 5), "May 1, 2:05 PM"],
    [new Date(2025, 4, 2, 14, 5), "May 2, 2025, 2:05 PM"],
  ])("[RD1] on 2 May 2026, %s is %s", (at, shown) => {
    const text = formatMessageTime(at.getTime(), new Date(2026, 4, 2, 20, 0).getTime())
    expect(text.replace(/\s/g, " ")).toBe(shown)
  })

  test("[RD1] a time that can't be parsed is omitted", () => {
    expect(transcript([answer("a", { timestamp: "" })]).root.querySelector("time")).toBe(null)
  })
})

describe("an answer's menu", () => {
  async function openMenu() {
    const all = transcript([user("q", "go"), answer("a", { trace: TRACE })])
    findButton(all.root, "More").click()
    const menu = await vi.waitUntil(() => document.querySelector<HTMLElement>("[role=menu]"))
    return { ...all, menu }
  }

  test("[OB9] copies the trace id and says so; when the menu closes, focus returns to its button", async () => {
    const writeText = vi.fn(async () => {})
    vi.spyOn(navigator, "clipboard", "get").mockReturnValue({ writeText } as unknown as Clipboard)
    const { root, menu } = await openMenu()
    expect(findButton(root, "More").getAttribute("aria-expanded")).toBe("true")
    findButton(menu, "Copy trace ID").click()
    await vi.waitUntil(() => root.querySelector(".acts [role=status]")?.textContent === "Copied")
    expect(writeText.mock.calls).toEqual([[TRACE]])
    expect(buttonsIn(menu)).toEqual(["Copied"])
    pressKey(menu, "Escape")
    await vi.waitUntil(() => document.querySelector("[role=menu]") === null)
    expect(document.activeElement).toBe(findButton(root, "More"))
    expect(findButton(root, "More").getAttribute("aria-expanded")).toBe("false")
  })

  test("[OB9] an answer without a trace, such as an imported one, has no menu item", () => {
    const { root } = transcript([user("q", "go"), answer("a")])
    expect(buttonsIn(root)).not.toContain("More")
  })
})
