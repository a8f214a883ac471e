/** canvas.test.tsx: canvas documents: when the frame is created, which URL it loads, and which messages it may send. */

import { render } from "preact"
import { beforeEach, describe, expect, test, vi } from "vitest"
import { cycleTheme } from "../../client/ui/preferences/theme.ts"
import type { Segment } from "../../shared/protocol/segment.ts"
import { waitForElement, delay, until } from "./dom.ts"
import { answer, text } from "./sample-messages.ts"
import { transcript } from "./render-transcript.tsx"

const createCanvas = (url: string): Segment => ({
  type: "canvas",
  preview: { kind: "canvas", surface: "assistant_message", render: "url", url, title: "Plan", preferredHeight: 200 },
})

/** One function per observer. It tells the observer whether its element is in view. */
let reports: ((isIntersecting: boolean) => void)[] = []
let isNear = true

beforeEach(() => {
  document.body.replaceChildren()
  reports = []
  isNear = true
  vi.stubGlobal(
    "IntersectionObserver",
    class {
      readonly report: (isIntersecting: boolean) => void
      constructor(callback: (entries: readonly { readonly isIntersecting: boolean }[]) => void) {
        this.report = (isIntersecting) => callback([{ isIntersecting }])
      }
      observe() {
        reports.push(this.report)
        this.report(isNear)
      }
      disconnect() {}
    },
  )
})

describe("documents", () => {
  test("[PG41] [PG64] a frame has a sandbox, a referrer policy, a signed URL and its declared height, and is created once", async () => {
    const first = answer("a", {
      status: "running",
      segments: [createCanvas("/canvas/documents/d/index.html"), text("So")],
    })
    const { root, store } = transcript([first])
    const frame = await waitForElement<HTMLIFrameElement>(root, "iframe")
    expect(frame.getAttribute("sandbox")).toBe("allow-scripts")
    expect(frame.getAttribute("referrerpolicy")).toBe("no-referrer")
    expect(frame.title).toBe("Plan")
    expect(frame.getAttribute("src")).toBe("/canvas/documents/d/index.html?token=t")
    expect(root.querySelector<HTMLElement>(".pane")?.style.height).toBe("200px")
    store.applyFrame({
      type: "ops",
      seq: 2,
      prev: 1,
      message: "a",
      ops: [{ op: "text", at: 1, offset: 2, text: " on" }],
    })
    await until(() => expect(root.textContent).toContain("So on"))
    expect(root.querySelector("iframe")).toBe(frame)
  })

  test("[PG41] [PG66] a remote canvas shows its host and needs no signature; a missing document is reported", async () => {
    const { root, actions, settings } = transcript([
      answer("a", {
        segments: [createCanvas("https://embed.example.com/x"), createCanvas("/canvas/documents/d/index.html")],
      }),
    ])
    // A canvas whose origin isn't allowed is shown as a link.
    expect(root.querySelector("iframe")).toBe(null)
    expect(root.querySelector<HTMLAnchorElement>(".canvas a")?.href).toBe("https://embed.example.com/x")
    settings.value = { media_hosts: [], embed_origins: ["https://embed.example.com"] }
    actions.signUrls.mockImplementation(async (urls) => ({
      signed: urls.map((url) => ({ url, href: null })),
      expires: 4e9,
    }))
    await until(() => expect(root.textContent).toContain("No longer available."))
    expect(root.querySelector("iframe")?.getAttribute("src")).toBe("https://embed.example.com/x")
    expect(root.querySelector(".canvas header small")?.textContent).toBe("embed.example.com")
    expect(root.querySelectorAll("iframe")).toHaveLength(1)
    expect(root.querySelectorAll(".canvas")[1]?.textContent).toBe("PlanNo longer available. Try again")
  })

  test("[PG64] [PG38] a canvas out of view requests no signed URL, and requests one when it scrolls into view", async () => {
    isNear = false
    const { root, actions } = transcript([answer("a", { segments: [createCanvas("/canvas/documents/d/index.html")] })])
    await until(() => expect(reports).not.toEqual([]))
    await delay()
    expect([actions.signUrls.mock.calls, root.querySelector("iframe")]).toEqual([[], null])
    expect(root.querySelector<HTMLElement>(".pane")?.style.height).toBe("200px")
    for (const report of reports) report(true)
    const frame = await waitForElement(root, "iframe")
    expect(actions.signUrls).toHaveBeenCalledTimes(1)
    expect(frame.getAttribute("src")).toBe("/canvas/documents/d/index.html?token=t")
  })

  test("[PG65] [PG66] [PG38] a missing document gets a new signed URL once, and then shows an error", async () => {
    const { root, actions } = transcript([answer("a", { segments: [createCanvas("/canvas/documents/d/index.html")] })])
    const first = await waitForElement(root, "iframe")
    // The message listener is added together with the frame.
    const sayGone = (isItsOwn = true): void => {
      const inner = { postMessage: vi.fn() }
      const frame = root.querySelector("iframe")
      if (frame !== null) Object.defineProperty(frame, "contentWindow", { get: () => inner, configurable: true })
      const source = isItsOwn ? inner : globalThis
      dispatchEvent(Object.assign(new Event("message"), { data: { type: "cuecard:gone" }, source }))
    }
    sayGone(false)
    await delay()
    expect(root.querySelector("iframe")).toBe(first)
    actions.signUrls.mockResolvedValueOnce({
      signed: [{ url: "/canvas/documents/d/index.html", href: "/canvas/documents/d/index.html?token=t2" }],
      expires: 4e9,
    })
    sayGone()
    await until(() =>
      expect(root.querySelector("iframe")?.getAttribute("src")).toBe("/canvas/documents/d/index.html?token=t2"),
    )
    sayGone()
    await until(() => expect(root.querySelector(".canvas")?.textContent).toBe("PlanNo longer available. Try again"))
    expect(actions.signUrls).toHaveBeenCalledTimes(2)
    root.querySelector<HTMLButtonElement>(".canvas button")?.click()
    await until(() => expect(root.querySelectorAll("iframe")).toHaveLength(1))
  })

  test("[PG65] only messages from the frame's own window are handled, and unknown ones are ignored", async () => {
    const { root, settings } = transcript([answer("a", { segments: [createCanvas("https://embed.example.com/x")] })])
    settings.value = { media_hosts: [], embed_origins: ["https://embed.example.com"] }
    const frame = await waitForElement<HTMLIFrameElement>(root, "iframe")
    const inner = { postMessage: vi.fn() }
    Object.defineProperty(frame, "contentWindow", { get: () => inner })
    const postData = (data: unknown, source: unknown): void => {
      dispatchEvent(Object.assign(new Event("message"), { data, source }))
    }
    postData({ type: "cuecard:ready" }, { postMessage: vi.fn() })
    postData({ type: "cuecard:navigate", href: "https://evil.test" }, inner)
    postData("cuecard:ready", inner)
    postData(null, inner)
    expect(inner.postMessage).not.toHaveBeenCalled()
    postData({ type: "cuecard:ready" }, inner)
    expect(inner.postMessage.mock.calls).toEqual([[{ type: "cuecard:theme", theme: "light" }, "*"]])
    cycleTheme()
    expect(inner.postMessage.mock.lastCall).toEqual([{ type: "cuecard:theme", theme: "dark" }, "*"])
    render(null, root)
    postData({ type: "cuecard:ready" }, inner)
    cycleTheme()
    cycleTheme()
    expect(inner.postMessage).toHaveBeenCalledTimes(2)
  })

  test("[CD6] a flood of messages removes the frame before the messages' data is read, and the frame stays removed when the session is opened again", async () => {
    const messages = [answer("a", { segments: [createCanvas("/canvas/documents/flood/index.html"), text("after")] })]
    const { root } = transcript(messages)
    const frame = await waitForElement<HTMLIFrameElement>(root, "iframe")
    const inner = { postMessage: vi.fn() }
    Object.defineProperty(frame, "contentWindow", { get: () => inner })
    let reads = 0
    const sendMessage = (timeStamp: number): void => {
      const event = Object.assign(new Event("message"), { source: inner })
      Object.defineProperty(event, "timeStamp", { value: timeStamp })
      Object.defineProperty(event, "data", { get: () => void reads++ })
      dispatchEvent(event)
    }
    // Simulates 5,000 messages in half a second, however long this machine takes to send them.
    for (let at = 0; at < 5_000; at++) sendMessage(at / 10)
    expect(reads).toBeLessThan(100)
    await until(() => expect(root.querySelector("iframe")).toBe(null))
    expect(root.querySelector(".canvas .note")?.textContent).toBe(
      "Paused because it was sending too many messages. Resume",
    )
    expect(root.querySelector<HTMLElement>(".canvas .note")?.style.height).toBe("200px")
    render(null, root)
    const again = transcript(messages).root
    await delay()
    expect(again.querySelector("iframe")).toBe(null)
    again.querySelector<HTMLButtonElement>(".canvas .note button")?.click()
    await waitForElement(again, "iframe")
  })

  test("[CD6] an ordinary number of messages is handled", async () => {
    const { root } = transcript([answer("a", { segments: [createCanvas("/canvas/documents/d/index.html")] })])
    const frame = await waitForElement<HTMLIFrameElement>(root, "iframe")
    const inner = { postMessage: vi.fn() }
    Object.defineProperty(frame, "contentWindow", { get: () => inner })
    for (let at = 0; at < 300; at++) {
      const event = Object.assign(new Event("message"), { data: { type: "cuecard:ready" }, source: inner })
      Object.defineProperty(event, "timeStamp", { value: at * 200 })
      dispatchEvent(event)
    }
    await delay()
    expect(root.querySelector("iframe")).toBe(frame)
    expect(inner.postMessage).toHaveBeenCalledTimes(300)
  })
})
