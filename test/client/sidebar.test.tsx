/** sidebar.test.tsx: the list in use: its menu by keyboard, renaming in place, and confirmation before deleting. */

import { signal } from "@preact/signals"
import { render } from "preact"
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest"
import { App } from "../../client/app/app.tsx"
import { SessionRouter } from "../../client/session/session-router.ts"
import { handleEscape } from "../../client/app/escape-key.ts"
import type { PageSettings, SessionSummary } from "../../shared/protocol/http-body.ts"
import { sessionActions } from "../../client/sidebar/deferred-actions.tsx"
import { setUp } from "./open-session.ts"
import { delay, until } from "./dom.ts"
import { settle } from "./wire.ts"

/** One time for all rows, so that their order does not depend on the clock. */
const NOW = Date.now()

const row = (id: string, more: Partial<SessionSummary> = {}): SessionSummary => ({
  id,
  title: `Title ${id}`,
  created: 1,
  active: NOW - 90_000,
  running: false,
  ...more,
})

async function page(rows: readonly SessionSummary[], settings: Partial<PageSettings> = {}, isViewer = false) {
  const { deps, api } = setUp()
  const rename = vi.fn((_id: string, title: string) => Promise.resolve(title))
  const erase = vi.fn((_id: string) => Promise.resolve())
  const stop = vi.fn()
  const router = new SessionRouter({
    ...deps,
    api: {
      ...api,
      renameSession: rename,
      eraseSession: erase,
      listSessions: () => Promise.resolve({ sessions: rows, next: null }),
    },
    settings: signal({ media_hosts: [], embed_origins: [], ...settings }),
    isReadOnly: signal(isViewer),
    readHash: () => "#/",
    writeHash() {},
  })
  await router.sessionList.refresh()
  const isDrawerOpen = signal(false)
  const root = document.body.appendChild(document.createElement("div"))
  render(<App router={router} announcement={signal("")} isDrawerOpen={isDrawerOpen} isOnline={signal(true)} />, root)
  const onKeyDown = (event: KeyboardEvent): void =>
    handleEscape(event, { isDrawerOpen, replyTo: signal(null), stopAnswer: stop })
  addEventListener("keydown", onKeyDown)
  ended.push(() => {
    removeEventListener("keydown", onKeyDown)
    render(null, root)
  })
  return { root, router, rename, erase, stop, isDrawerOpen }
}

let ended: (() => void)[] = []
beforeAll(() => sessionActions.load())
beforeEach(() => document.body.replaceChildren())
afterEach(() => {
  for (const end of ended) end()
  ended = []
})

const press = async (key: string): Promise<void> => {
  document.activeElement?.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }))
  await delay()
}
const more = (root: ParentNode, id: string) => root.querySelector<HTMLElement>(`[data-session="${id}"] .more`)
const focused = () => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent
const open = async (root: ParentNode, id: string): Promise<void> => {
  more(root, id)?.click()
  await delay()
}
const choose = async (name: string): Promise<void> => {
  const items = [...document.querySelectorAll<HTMLElement>("[role=menuitem], dialog button")]
  items.find(({ textContent }) => textContent === name)?.click()
  await delay()
}
const shown = (root: ParentNode) =>
  [...root.querySelectorAll("nav a")].map((one) => one.textContent?.replace(/\s+/g, " "))

describe("the list", () => {
  test("[PG31] shows titles with times; a running conversation has an indicator with a text for screen readers", async () => {
    const { root } = await page([row("a"), row("b", { running: true }), row("c", { title: "" })])
    expect(shown(root)).toEqual(["Title a1 min", "Title b, generating response", "Untitled1 min"])
    expect(root.querySelectorAll(".pulse")).toHaveLength(1)
    expect([...root.querySelectorAll("nav h2")].map((one) => one.textContent)).toEqual(["Today"])
  })

  test("[PG54] an empty list explains what will appear in it", async () => {
    const { root } = await page([])
    expect(root.querySelector("nav")?.textContent).toBe("Your conversations will appear here.")
  })

  test("[PG54] to a viewer, an empty list explains that shared conversations appear in it", async () => {
    const { root } = await page([], {}, true)
    expect(root.querySelector("nav")?.textContent).toBe("Conversations shared with you will appear here.")
  })

  test("[PG54] [PG85] an empty list has no explanation while the tenant is leaving", async () => {
    const { root } = await page([], { erases_at: NOW + 90_000 })
    expect(root.querySelector("nav")?.textContent).toBe("")
  })
})

describe("the menu", () => {
  test("[PG32] works with the keyboard alone, and returns the focus", async () => {
    const { root, stop } = await page([row("a")])
    more(root, "a")?.focus()
    await open(root, "a")
    expect(more(root, "a")?.getAttribute("aria-expanded")).toBe("true")
    expect(focused()).toBe("Rename")
    await press("ArrowDown")
    expect(focused()).toBe("Share…")
    await press("End")
    expect(focused()).toBe("Delete…")
    await press("ArrowDown")
    expect(focused()).toBe("Rename")
    await press("ArrowUp")
    expect(focused()).toBe("Delete…")
    await press("Home")
    expect(focused()).toBe("Rename")
    await press("Escape")
    expect(root.querySelector("[role=menu]")).toBe(null)
    expect(focused()).toBe("Options for Title a")
    expect(stop).not.toHaveBeenCalled()
  })

  test("[PG32] closes when the user clicks elsewhere", async () => {
    const { root } = await page([row("a")])
    await open(root, "a")
    // The listener is added after the first paint.
    await until(() => {
      root.querySelector("main")?.dispatchEvent(new Event("pointerdown", { bubbles: true }))
      expect(root.querySelector("[role=menu]")).toBe(null)
    })
  })
})

describe("renaming", () => {
  const field = (root: ParentNode) => root.querySelector<HTMLInputElement>(".rename")
  async function renaming() {
    const it = await page([row("a")])
    await open(it.root, "a")
    await choose("Rename")
    expect(document.activeElement).toBe(field(it.root))
    return it
  }

  test("[PG32] happens in place and is saved with Enter", async () => {
    const { root, rename } = await renaming()
    const input = field(root) as HTMLInputElement
    expect(input.value).toBe("Title a")
    input.value = "  Rain \t or shine "
    await press("Enter")
    expect(rename.mock.calls).toEqual([["a", "Rain or shine"]])
    expect(root.querySelector("nav a .title")?.textContent).toBe("Rain or shine")
    expect(focused()).toBe("Options for Rain or shine")
  })

  test("[PG32] is cancelled with Escape, and nothing else handles the key", async () => {
    const { root, rename, stop } = await renaming()
    const input = field(root) as HTMLInputElement
    input.value = "Other"
    await press("Escape")
    expect(field(root)).toBe(null)
    expect(rename).not.toHaveBeenCalled()
    expect(stop).not.toHaveBeenCalled()
    expect(root.querySelector("nav a .title")?.textContent).toBe("Title a")
  })

  test("[PG32] is saved when the user leaves the field, and the focus stays where the user moved it", async () => {
    const { root, rename } = await renaming()
    const input = field(root) as HTMLInputElement
    input.value = "Other"
    root.querySelector<HTMLElement>(".composer textarea")?.focus()
    await delay()
    expect(rename.mock.calls).toEqual([["a", "Other"]])
    expect(document.activeElement?.localName).toBe("textarea")
  })

  test("[PG32] isn't disturbed by updates of the list", async () => {
    const rows = [row("b"), row("a", { active: Date.now() - 3 * 24 * 3_600_000 })]
    const { root, rename, router } = await page(rows)
    await open(root, "a")
    await choose("Rename")
    const input = field(root) as HTMLInputElement
    input.value = "Half ty"
    rows[1] = row("a", { active: Date.now() })
    await router.sessionList.refresh()
    await delay()
    expect(field(root)).toBe(input)
    expect(document.activeElement).toBe(input)
    expect(rename).not.toHaveBeenCalled()
    await press("Escape")
    expect(shown(root)).toEqual(["Title anow", "Title b1 min"])
  })

  test.each(["", "   ", "Title a"])("[PG32] %j isn't a title: the old one stays", async (newTitle) => {
    const { root, rename } = await renaming()
    const input = field(root) as HTMLInputElement
    input.value = newTitle
    await press("Enter")
    expect(rename).not.toHaveBeenCalled()
    expect(root.querySelector("nav a .title")?.textContent).toBe("Title a")
  })
})

describe("deleting", () => {
  test("[PG33] asks for confirmation, with Cancel focused", async () => {
    const { root, erase, stop } = await page([row("a"), row("b")])
    await open(root, "a")
    await choose("Delete…")
    const box = root.querySelector("dialog")
    expect(box?.getAttribute("role")).toBe("alertdialog")
    expect(box?.textContent).toContain("Title a")
    expect(focused()).toBe("Cancel")
    await press("Escape")
    expect(root.querySelector("dialog")).toBe(null)
    expect(focused()).toBe("Options for Title a")
    expect(erase).not.toHaveBeenCalled()
    expect(stop).not.toHaveBeenCalled()
    await open(root, "a")
    await choose("Delete…")
    await choose("Delete")
    await settle()
    expect(erase.mock.calls).toEqual([["a"]])
    expect(shown(root)).toEqual(["Title b1 min"])
  })
})

test("[PG32] a refused change is reported once, and the notice can be dismissed", async () => {
  const { root, router } = await page([row("a")])
  router.sessionList.showNotice("It could not be.", true)
  await delay()
  const notice = root.querySelector(".notice")
  expect(notice?.getAttribute("role")).toBe("alert")
  expect(notice?.textContent).toBe("It could not be.")
  notice?.querySelector("button")?.click()
  await delay()
  expect(notice?.textContent).toBe("")
})

test("[PG34] an export in progress is shown until it has ended", async () => {
  const { root, router } = await page([row("a")])
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
  try {
    router.sessionList.showNotice("Exporting…", false, true)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(root.querySelector(".notice")?.textContent).toBe("Exporting…")
    router.sessionList.showNotice("It was exported.")
    await vi.advanceTimersByTimeAsync(1_000)
    expect(root.querySelector(".notice")?.textContent).toBe("It was exported.")
    await vi.advanceTimersByTimeAsync(4_000)
    expect(root.querySelector(".notice")?.textContent).toBe("")
  } finally {
    vi.useRealTimers()
  }
})
