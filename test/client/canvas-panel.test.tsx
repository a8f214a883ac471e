/** canvas-panel.test.tsx: the panel that shows a canvas document: its versions, code, download, width and focus. */

import { render } from "preact"
import { beforeEach, describe, expect, test, vi } from "vitest"
import type { Segment } from "../../shared/protocol/segment.ts"
import {
  createHtmlFileName,
  findSavingArgs,
  listVersions,
  readSource,
} from "../../client/transcript/canvas/canvas-versions.ts"
import {
  keyToWidth,
  pointToWidth,
  setPanelWidth,
  panelWidthPercent,
} from "../../client/transcript/canvas/panel-width.ts"
import type { CanvasSegment } from "../../client/words/media-descriptions.ts"
import { until, waitForElement } from "./dom.ts"
import { answer } from "./sample-messages.ts"
import { transcript } from "./render-transcript.tsx"

const createCanvas = (id: string, title = "Plan"): CanvasSegment => ({
  type: "canvas",
  preview: {
    kind: "canvas",
    surface: "assistant_message",
    render: "url",
    url: `/canvas/documents/${id}/index.html`,
    viewId: id,
    title,
  },
})

const createCall = (id: string, html: string): Segment => ({
  type: "tool",
  call_id: `call-${id}`,
  name: "canvas_create",
  args: JSON.stringify({ title: "Plan", html }),
  status: "ok",
  result: `{"ref":"${id}","title":"Plan"}`,
})

beforeEach(() => {
  render(null, document.body)
  document.body.replaceChildren()
  localStorage.clear()
  vi.stubGlobal(
    "IntersectionObserver",
    class {
      readonly callback: (entries: readonly { readonly isIntersecting: boolean }[]) => void
      constructor(callback: (entries: readonly { readonly isIntersecting: boolean }[]) => void) {
        this.callback = callback
      }
      observe() {
        this.callback([{ isIntersecting: true }])
      }
      disconnect() {}
    },
  )
})

async function openPanel() {
  const rendered = transcript([
    answer("a", { segments: [createCall("one", "<p>1</p>"), createCanvas("one")] }),
    answer("b", { segments: [createCall("two", "<p>2</p>"), createCanvas("two"), createCanvas("x", "Other")] }),
  ])
  const button = await waitForElement(rendered.root, '.canvas [aria-label="Open in panel"]')
  button.focus()
  button.click()
  const panel = await waitForElement<HTMLDialogElement>(rendered.root, ".canvas-panel")
  const press = (label: string): void => panel.querySelector<HTMLElement>(`[aria-label="${label}"]`)?.click()
  return { ...rendered, button, panel, press }
}

describe("the panel", () => {
  test("[CP1] [CP3] it contains the answer's frame, and shows the versions of its document", async () => {
    const { root, store, panel, press } = await openPanel()
    expect(root.querySelectorAll(".canvas-panel")).toHaveLength(1)
    const frame = await waitForElement<HTMLIFrameElement>(panel, "iframe")
    expect(frame.getAttribute("sandbox")).toBe("allow-scripts")
    expect(frame.getAttribute("src")).toBe("/canvas/documents/one/index.html?token=t")
    expect(panel.querySelector(".versions")?.textContent).toBe("Version 1 of 2")
    press("Previous version")
    press("Next version")
    await until(() => expect(panel.querySelector(".versions")?.textContent).toBe("Version 2 of 2"))
    await until(() =>
      expect(panel.querySelector("iframe")?.getAttribute("src")).toBe("/canvas/documents/two/index.html?token=t"),
    )
    store.applyFrame({
      type: "ops",
      seq: 2,
      prev: 1,
      message: "b",
      ops: [{ op: "open", at: 3, segment: createCanvas("three") }],
    })
    await until(() => expect(panel.querySelector(".versions")?.textContent).toBe("Version 2 of 3"))
  })

  test("[CP4] [CP5] the code view shows the source as text, and the download saves it", async () => {
    const { panel, press } = await openPanel()
    const saved: Blob[] = []
    const names: string[] = []
    vi.spyOn(URL, "createObjectURL").mockImplementation((blob) => {
      saved.push(blob as Blob)
      return "blob:x"
    })
    vi.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(function (this: HTMLAnchorElement) {
      names.push(this.download)
    })
    press("Download")
    expect(names).toEqual(["Plan.html"])
    expect(await saved[0]?.text()).toBe("<p>1</p>\n")
    panel.querySelector<HTMLElement>(".views button:last-child")?.click()
    await until(() => expect(panel.querySelector("pre code")?.textContent).toContain("<p>1</p>"))
    expect(panel.querySelector("iframe")).toBe(null)
  })

  test("[CP6] Escape closes the panel without reaching the page's own handler, and focus returns to the button that opened it", async () => {
    const { root, button, panel } = await openPanel()
    await until(() => expect(document.activeElement?.getAttribute("aria-label")).toBe("Close"))
    const event = new KeyboardEvent("keydown", { key: "Escape", bubbles: true, cancelable: true })
    panel.dispatchEvent(event)
    expect(event.defaultPrevented).toBe(true)
    await until(() => expect(root.querySelector(".canvas-panel")).toBe(null))
    expect(document.activeElement).toBe(button)
  })

  test("[CP2] the keyboard and the pointer change the width within limits, and the browser stores it", async () => {
    const { panel } = await openPanel()
    const edge = await waitForElement(panel, "[role=separator]")
    edge.dispatchEvent(new KeyboardEvent("keydown", { key: "End", bubbles: true, cancelable: true }))
    await until(() => expect(edge.getAttribute("aria-valuenow")).toBe("65"))
    expect(localStorage.getItem("cuecard.panel-width")).toBe("65")
    setPanelWidth(1)
    expect(panelWidthPercent.value).toBe(25)
    expect([keyToWidth("ArrowLeft", 40, false), keyToWidth("ArrowLeft", 40, true)]).toEqual([42, 38])
    expect(keyToWidth("a", 40, false)).toBe(null)
    expect([pointToWidth(600, 1000, false), pointToWidth(400, 1000, true)]).toEqual([40, 40])
  })
})

test("[CP3] [CP4] pages from other sites and documents with other titles aren't listed as versions, and have no source code", () => {
  const other = createCanvas("x")
  const opened: CanvasSegment = { ...other, preview: { ...other.preview, url: "https://embed.example.com/x" } }
  const lists = [[createCanvas("one"), opened, createCall("one", "<p>1</p>")]]
  expect(listVersions(lists, opened)).toEqual([opened])
  expect(listVersions(lists, createCanvas("gone", "Gone"))).toEqual([createCanvas("gone", "Gone")])
  expect(findSavingArgs(lists, opened)).toBe(null)
  expect(["{", "null", '{"html":1}', '{"html":" <p> "}'].map(readSource)).toEqual([null, null, null, "<p>"])
})

test("[CP5] a file name contains only letters, digits and hyphens", () => {
  expect(createHtmlFileName("../a/b: c.exe\u202e")).toBe("a-b-c-exe.html")
  expect(createHtmlFileName("📈")).toBe("document.html")
  expect(createHtmlFileName("日程 表")).toBe("日程-表.html")
  expect(createHtmlFileName("x".repeat(500))).toHaveLength(65)
})
