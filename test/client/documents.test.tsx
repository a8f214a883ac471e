/** documents.test.tsx: canvases: when their frame is created, with which address, and which messages it may send. */

import { render } from "preact"
import { beforeEach, describe, expect, test, vi } from "vitest"
import { cycleTheme } from "../../client/ui/theme.ts"
import type { Segment } from "../../shared/protocol/segment.ts"
import { found, soon, until } from "./dom.ts"
import { answer, text } from "./said.ts"
import { transcript } from "./window.tsx"

const canvas = (url: string): Segment => ({
  type: "canvas",
  preview: { kind: "canvas", surface: "assistant_message", render: "url", url, title: "Plan", preferredHeight: 200 },
})

/** What is watched for coming near, and how it comes. */
let watched: ((isIntersecting: boolean) => void)[] = []
let isNear = true

beforeEach(() => {
  document.body.replaceChildren()
  watched = []
  isNear = true
  vi.stubGlobal(
    "IntersectionObserver",
    class {
      readonly tell: (isIntersecting: boolean) => void
      constructor(hear: (entries: readonly { readonly isIntersecting: boolean }[]) => void) {
        this.tell = (isIntersecting) => hear([{ isIntersecting }])
      }
      observe() {
        watched.push(this.tell)
        this.tell(isNear)
      }
      disconnect() {}
    },
  )
})

describe("documents", () => {
  test("[PG41] [PG64] a frame runs scripts and nothing else, is as high as it declares, and is created once", async () => {
    const first = answer("a", { status: "running", segments: [canvas("/canvas/documents/d/index.html"), text("So")] })
    const { root, store } = transcript([first])
    const frame = await found<HTMLIFrameElement>(root, "iframe")
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

  test("[PG41] [PG66] a remote one shows its host and needs no signature; a missing one says so", async () => {
    const { root, wishes, settings } = transcript([
      answer("a", { segments: [canvas("https://embed.example.com/x"), canvas("/canvas/documents/d/index.html")] }),
    ])
    // What was allowed once and is not any more is a link.
    expect(root.querySelector("iframe")).toBe(null)
    expect(root.querySelector<HTMLAnchorElement>(".canvas a")?.href).toBe("https://embed.example.com/x")
    settings.value = { media_hosts: [], embed_origins: ["https://embed.example.com"] }
    wishes.signUrls.mockImplementation(async (urls) => ({
      signed: urls.map((url) => ({ url, href: null })),
      expires: 4e9,
    }))
    await until(() => expect(root.textContent).toContain("No longer available."))
    expect(root.querySelector("iframe")?.getAttribute("src")).toBe("https://embed.example.com/x")
    expect(root.querySelector(".canvas header small")?.textContent).toBe("embed.example.com")
    expect(root.querySelectorAll("iframe")).toHaveLength(1)
    expect(root.querySelectorAll(".canvas")[1]?.textContent).toBe("PlanNo longer available. Try again")
  })

  test("[PG64] [PG38] a frame out of view requests no address: it gets a fresh one when it comes into view", async () => {
    isNear = false
    const { root, wishes } = transcript([answer("a", { segments: [canvas("/canvas/documents/d/index.html")] })])
    await soon()
    expect([wishes.signUrls.mock.calls, root.querySelector("iframe")]).toEqual([[], null])
    expect(root.querySelector<HTMLElement>(".pane")?.style.height).toBe("200px")
    for (const tell of watched) tell(true)
    const frame = await found(root, "iframe")
    expect(wishes.signUrls).toHaveBeenCalledTimes(1)
    expect(frame.getAttribute("src")).toBe("/canvas/documents/d/index.html?token=t")
  })

  test("[PG65] [PG66] [PG38] a missing document gets another address once, and then an error text", async () => {
    const { root, wishes } = transcript([answer("a", { segments: [canvas("/canvas/documents/d/index.html")] })])
    const first = await found(root, "iframe")
    // Its ears come with it.
    const sayGone = (isItsOwn = true): void => {
      const inner = { postMessage: vi.fn() }
      const frame = root.querySelector("iframe")
      if (frame !== null) Object.defineProperty(frame, "contentWindow", { get: () => inner, configurable: true })
      const source = isItsOwn ? inner : globalThis
      dispatchEvent(Object.assign(new Event("message"), { data: { type: "cuecard:gone" }, source }))
    }
    sayGone(false)
    await soon()
    expect(root.querySelector("iframe")).toBe(first)
    wishes.signUrls.mockResolvedValueOnce({
      signed: [{ url: "/canvas/documents/d/index.html", href: "/canvas/documents/d/index.html?token=t2" }],
      expires: 4e9,
    })
    sayGone()
    await until(() =>
      expect(root.querySelector("iframe")?.getAttribute("src")).toBe("/canvas/documents/d/index.html?token=t2"),
    )
    sayGone()
    await until(() => expect(root.querySelector(".canvas")?.textContent).toBe("PlanNo longer available. Try again"))
    expect(wishes.signUrls).toHaveBeenCalledTimes(2)
    root.querySelector<HTMLButtonElement>(".canvas button")?.click()
    await until(() => expect(root.querySelectorAll("iframe")).toHaveLength(1))
  })

  test("[PG65] only messages of its own window are handled, and only ready and missing", async () => {
    const { root, settings } = transcript([answer("a", { segments: [canvas("https://embed.example.com/x")] })])
    settings.value = { media_hosts: [], embed_origins: ["https://embed.example.com"] }
    const frame = await found<HTMLIFrameElement>(root, "iframe")
    const inner = { postMessage: vi.fn() }
    Object.defineProperty(frame, "contentWindow", { get: () => inner })
    const say = (data: unknown, source: unknown): void => {
      dispatchEvent(Object.assign(new Event("message"), { data, source }))
    }
    say({ type: "cuecard:ready" }, { postMessage: vi.fn() })
    say({ type: "cuecard:navigate", href: "https://evil.test" }, inner)
    say("cuecard:ready", inner)
    say(null, inner)
    expect(inner.postMessage).not.toHaveBeenCalled()
    say({ type: "cuecard:ready" }, inner)
    expect(inner.postMessage.mock.calls).toEqual([[{ type: "cuecard:theme", theme: "light" }, "*"]])
    cycleTheme()
    expect(inner.postMessage.mock.lastCall).toEqual([{ type: "cuecard:theme", theme: "dark" }, "*"])
    render(null, root)
    say({ type: "cuecard:ready" }, inner)
    cycleTheme()
    cycleTheme()
    expect(inner.postMessage).toHaveBeenCalledTimes(2)
  })
})
