/** sidebar.test.tsx: using the list: the menu by keyboard, renaming in place, and undoing a deletion. */

import { signal } from "@preact/signals"
import { render } from "preact"
import { afterEach, beforeAll, beforeEach, describe, expect, type Mock, test, vi } from "vitest"
import { App } from "../../client/app/app.tsx"
import { SessionRouter } from "../../client/session/session-router.ts"
import { handleEscape } from "../../client/app/escape-key.ts"
import type { PageSettings, SessionSummary } from "../../shared/protocol/http-body.ts"
import { folders } from "../../client/sidebar/organizing/folders.ts"
import { sessionActions } from "../../client/sidebar/deferred-actions.tsx"
import { setUp } from "./open-session.ts"
import { delay, until } from "./dom.ts"
import { settle } from "./fake-server.ts"

/** One time for all rows, so that their order does not depend on the clock. */
const NOW = Date.now()

const createRow = (id: string, more: Partial<SessionSummary> = {}): SessionSummary => ({
  id,
  title: `Title ${id}`,
  created: 1,
  active: NOW - 90_000,
  running: false,
  ...more,
})

/** Answers requests for folders and requests that change sessions in the same way as a server that accepts them. */
function answerRequest(path: string, init?: RequestInit): Response {
  if (path === "/v1/folders") return Response.json({ folders: [] })
  if (path !== "/v1/sessions/bulk") return new Response()
  const { ids } = JSON.parse(String(init?.body)) as { ids: string[] }
  return Response.json({ results: ids.map((id) => ({ id, ok: true })) })
}

/** Returns the bodies of the requests that change sessions. */
const listBodies = (request: Mock<(path: string, init?: RequestInit) => Promise<Response>>) =>
  request.mock.calls.flatMap(([path, init]) =>
    path === "/v1/sessions/bulk" ? [JSON.parse(String(init?.body)) as unknown] : [],
  )

async function openPage(rows: readonly SessionSummary[], settings: Partial<PageSettings> = {}, isViewer = false) {
  const { deps, api } = setUp()
  const hashes = ["#/"]
  const rename = vi.fn((_id: string, title: string) => Promise.resolve(title))
  const erase = vi.fn((_id: string) => Promise.resolve())
  const stop = vi.fn()
  const request = vi.fn((path: string, init?: RequestInit) => Promise.resolve(answerRequest(path, init)))
  const router = new SessionRouter({
    ...deps,
    api: {
      ...api,
      renameSession: rename,
      eraseSession: erase,
      fetchAuthorized: request,
      listSessions: () => Promise.resolve({ sessions: rows, next: null }),
    },
    settings: signal({ media_hosts: [], embed_origins: [], ...settings }),
    isReadOnly: signal(isViewer),
    readHash: () => hashes.at(-1) ?? "",
    writeHash: (hash) => void hashes.push(hash),
  })
  await router.sessionList.refresh()
  const isDrawerOpen = signal(false)
  const root = document.body.appendChild(document.createElement("div"))
  render(
    <App router={router} commandContext={{ router, isDrawerOpen, getSidebar: () => null }} isOnline={signal(true)} />,
    root,
  )
  const onKeyDown = (event: KeyboardEvent): void =>
    handleEscape(event, { isDrawerOpen, replyTo: signal(null), stopAnswer: stop })
  addEventListener("keydown", onKeyDown)
  ended.push(() => {
    removeEventListener("keydown", onKeyDown)
    render(null, root)
  })
  return { root, router, rename, erase, request, stop, isDrawerOpen }
}

let ended: (() => void)[] = []
beforeAll(() => sessionActions.load())
beforeEach(() => document.body.replaceChildren())
afterEach(() => {
  for (const end of ended) end()
  ended = []
})

const pressKey = async (key: string): Promise<void> => {
  document.activeElement?.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }))
  await delay()
}
const findMoreButton = (root: ParentNode, id: string) => root.querySelector<HTMLElement>(`[data-session="${id}"] .more`)
const describeFocused = () => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent
const openMenu = async (root: ParentNode, id: string): Promise<void> => {
  findMoreButton(root, id)?.click()
  await delay()
}
const chooseItem = async (name: string): Promise<void> => {
  const findItem = (): HTMLElement | undefined =>
    [...document.querySelectorAll<HTMLElement>("[role=menuitem], dialog button")].find(
      ({ textContent }) => textContent === name,
    )
  await until(() => expect(findItem()).toBeDefined())
  findItem()?.click()
  await delay()
}
const listShown = (root: ParentNode) =>
  [...root.querySelectorAll("nav a")].map((element) => element.textContent?.replace(/\s+/g, " "))

describe("the list", () => {
  test("[PG31] shows titles with times; a running conversation has an indicator with text for screen readers", async () => {
    const { root } = await openPage([createRow("a"), createRow("b", { running: true }), createRow("c", { title: "" })])
    expect(listShown(root)).toEqual(["Title a1 min", "Title b, generating response", "Untitled1 min"])
    expect(root.querySelectorAll(".pulse")).toHaveLength(1)
    expect([...root.querySelectorAll("nav h2")].map((element) => element.textContent)).toEqual(["Today"])
  })

  test.each([
    ["a user", {}, false, "Your conversations will appear here."],
    ["a viewer", {}, true, "Conversations shared with you will appear here."],
    ["a user whose tenant is leaving", { erases_at: NOW + 90_000 }, false, ""],
  ])("[PG54] [PG85] to %s, an empty list explains what will appear in it", async (_who, settings, isViewer, text) => {
    const { root } = await openPage([], settings, isViewer)
    expect(root.querySelector("nav")?.textContent).toBe(text)
  })
})

test("[PG75] a conversation that was created after the list was loaded is added to the list when it is opened", async () => {
  const rows = [createRow("a")]
  const { root, router } = await openPage(rows)
  rows.push(createRow("branch"))
  router.showSession("branch")
  await until(() => expect(root.querySelector("a[aria-current]")?.textContent).toContain("Title branch"))
  expect(router.heading.value.title).toBe("Title branch")
})

describe("the menu", () => {
  test("[PG32] works with the keyboard alone, and focus returns to its button", async () => {
    const { root, stop } = await openPage([createRow("a")])
    findMoreButton(root, "a")?.focus()
    await openMenu(root, "a")
    expect(findMoreButton(root, "a")?.getAttribute("aria-expanded")).toBe("true")
    expect(describeFocused()).toBe("Rename")
    await pressKey("ArrowDown")
    expect(describeFocused()).toBe("Share…")
    await pressKey("End")
    expect(describeFocused()).toBe("Delete")
    await pressKey("ArrowDown")
    expect(describeFocused()).toBe("Rename")
    await pressKey("ArrowUp")
    expect(describeFocused()).toBe("Delete")
    await pressKey("Home")
    expect(describeFocused()).toBe("Rename")
    await pressKey("Escape")
    expect(root.querySelector("[role=menu]")).toBe(null)
    expect(describeFocused()).toBe("Options for Title a")
    expect(stop).not.toHaveBeenCalled()
  })

  test("[PG32] closes when the user clicks elsewhere", async () => {
    const { root } = await openPage([createRow("a")])
    await openMenu(root, "a")
    // The listener is added after the first paint.
    await until(() => {
      root.querySelector("main")?.dispatchEvent(new Event("pointerdown", { bubbles: true }))
      expect(root.querySelector("[role=menu]")).toBe(null)
    })
  })
})

describe("renaming", () => {
  const findRenameField = (root: ParentNode) => root.querySelector<HTMLInputElement>(".rename")
  async function startRenaming() {
    const it = await openPage([createRow("a")])
    await openMenu(it.root, "a")
    await chooseItem("Rename")
    expect(document.activeElement).toBe(findRenameField(it.root))
    return it
  }

  test("[PG32] happens in place and is saved with Enter", async () => {
    const { root, rename } = await startRenaming()
    const input = findRenameField(root) as HTMLInputElement
    expect(input.value).toBe("Title a")
    input.value = "  Rain \t or shine "
    await pressKey("Enter")
    expect(rename.mock.calls).toEqual([["a", "Rain or shine"]])
    expect(root.querySelector("nav a .title")?.textContent).toBe("Rain or shine")
    expect(describeFocused()).toBe("Options for Rain or shine")
  })

  test("[PG32] is cancelled with Escape, and nothing else handles the key", async () => {
    const { root, rename, stop } = await startRenaming()
    const input = findRenameField(root) as HTMLInputElement
    input.value = "Other"
    await pressKey("Escape")
    expect(findRenameField(root)).toBe(null)
    expect(rename).not.toHaveBeenCalled()
    expect(stop).not.toHaveBeenCalled()
    expect(root.querySelector("nav a .title")?.textContent).toBe("Title a")
  })

  test("[PG32] is saved when the user leaves the field, and focus stays where the user moved it", async () => {
    const { root, rename } = await startRenaming()
    const input = findRenameField(root) as HTMLInputElement
    input.value = "Other"
    root.querySelector<HTMLElement>(".composer textarea")?.focus()
    await delay()
    expect(rename.mock.calls).toEqual([["a", "Other"]])
    expect(document.activeElement?.localName).toBe("textarea")
  })

  test("[PG32] isn't disturbed when the list is updated", async () => {
    const rows = [createRow("b"), createRow("a", { active: Date.now() - 3 * 24 * 3_600_000 })]
    const { root, rename, router } = await openPage(rows)
    await openMenu(root, "a")
    await chooseItem("Rename")
    const input = findRenameField(root) as HTMLInputElement
    input.value = "Half ty"
    rows[1] = createRow("a", { active: Date.now() })
    await router.sessionList.refresh()
    await delay()
    expect(findRenameField(root)).toBe(input)
    expect(document.activeElement).toBe(input)
    expect(rename).not.toHaveBeenCalled()
    await pressKey("Escape")
    expect(listShown(root)).toEqual(["Title anow", "Title b1 min"])
  })

  test.each(["", "   ", "Title a"])("[PG32] %j isn't a title: the old title stays", async (newTitle) => {
    const { root, rename } = await startRenaming()
    const input = findRenameField(root) as HTMLInputElement
    input.value = newTitle
    await pressKey("Enter")
    expect(rename).not.toHaveBeenCalled()
    expect(root.querySelector("nav a .title")?.textContent).toBe("Title a")
  })
})

describe("deleting", () => {
  test("[PG33] [LB22] happens at once, with a notice that undoes it", async () => {
    const { root, request } = await openPage([createRow("a"), createRow("b")])
    await openMenu(root, "a")
    await chooseItem("Delete")
    expect(listShown(root)).toEqual(["Title b1 min"])
    expect(root.querySelector(".notice")?.textContent).toContain("Deleted “Title a”.")
    await settle()
    expect(listBodies(request)).toEqual([{ ids: ["a"], action: "delete", undo: true }])
    root.querySelector<HTMLElement>(".notice .undo")?.click()
    await until(() => expect(listBodies(request).length).toBe(2))
    await delay()
    expect(listBodies(request)[1]).toEqual({ ids: ["a"], action: "restore", undo: false })
    expect(listShown(root)).toHaveLength(2)
  })

  test("[PG33] [LB21] a conversation whose deletion the server refuses is listed again, with the error", async () => {
    const { root, request } = await openPage([createRow("a")])
    request.mockImplementation(() =>
      Promise.resolve(Response.json({ code: "internal", text: "It broke." }, { status: 500 })),
    )
    await openMenu(root, "a")
    await chooseItem("Delete")
    await until(() => expect(root.querySelector(".notice[role=alert]")).not.toBeNull())
    await delay()
    expect(listShown(root)).toEqual(["Title a1 min"])
    expect(root.querySelector(".notice")?.textContent).toContain("It broke.")
  })
})

describe("organising", () => {
  test("[LB20] [LB21] a pinned conversation is listed first at once, and moves back if the server refuses the change", async () => {
    const { root, request } = await openPage([createRow("a"), createRow("b", { active: NOW - 120_000 })])
    await openMenu(root, "b")
    const refusals: ((response: Response) => void)[] = []
    request.mockImplementation(() => new Promise<Response>((resolve) => refusals.push(resolve)))
    await chooseItem("Pin")
    expect([...root.querySelectorAll("nav h2")].map((element) => element.textContent)).toEqual(["Pinned", "Today"])
    expect(listShown(root)[0]).toContain("Title b")
    await until(() => expect(listBodies(request)).toHaveLength(1))
    const refusal = { results: [{ id: "b", ok: false, code: "session_unknown", text: "No such session." }] }
    for (const refuse of refusals) refuse(Response.json(refusal))
    await until(() => expect(root.querySelector(".notice[role=alert]")).not.toBeNull())
    await delay()
    expect(listShown(root)[0]).toContain("Title a")
  })

  test("[LB25] an unread conversation is marked, including for screen readers", async () => {
    const { root } = await openPage([createRow("a", { unread: true }), createRow("b")])
    expect(listShown(root)).toEqual(["Title a, unread", "Title b1 min"])
    expect(root.querySelectorAll("[data-unread]")).toHaveLength(1)
  })

  test("[LB23] conversations in a folder are below that folder, and those in an unknown folder are in the list", async () => {
    const rows = [createRow("a", { folder: "f" }), createRow("b", { folder: "gone" }), createRow("c")]
    const { root } = await openPage(rows)
    await until(() => {
      // The page's own request may still overwrite the folders.
      folders.value = [{ id: "f", name: "Work" }]
      expect(root.querySelector(".folder a")).not.toBeNull()
    })
    expect([...root.querySelectorAll(".folder a")].map((element) => element.textContent)).toEqual(["Title a1 min"])
    expect(listShown(root)).toHaveLength(3)
    root.querySelector<HTMLElement>(".fold")?.click()
    await until(() => expect(root.querySelector(".folder a")).toBeNull())
    expect(listShown(root)).toHaveLength(2)
    root.querySelector<HTMLElement>(".fold")?.click()
    folders.value = []
  })

  test("[LB24] opening a folder adds those of its conversations that the loaded part of the list doesn't contain", async () => {
    const { root, router, request } = await openPage([createRow("a", { folder: "f" })])
    await delay()
    const older = [createRow("a", { folder: "f" }), createRow("old", { folder: "f", active: NOW - 9e9 })]
    request.mockImplementation((path) =>
      Promise.resolve(path.includes("folder=f") ? Response.json({ sessions: older, next: null }) : Response.json({})),
    )
    router.sessionList.more.value = "available"
    folders.value = [{ id: "f", name: "Work" }]
    await until(() => expect(root.querySelectorAll(".folder [data-session]").length).toBe(2))
    root.querySelector<HTMLElement>(".fold")?.click()
    expect(localStorage.getItem("cuecard.folders")).toBe("f")
    root.querySelector<HTMLElement>(".fold")?.click()
    folders.value = []
  })

  test("[LB30] the archive is fetched only after a pending change that archives a conversation has been saved", async () => {
    const { root, request } = await openPage([createRow("a"), createRow("b")])
    const bulk = Promise.withResolvers<Response>()
    const isArchiveFetched = () => request.mock.calls.some(([path]) => path.startsWith("/v1/sessions?archived=1"))
    request.mockImplementation((path) =>
      path === "/v1/sessions/bulk"
        ? bulk.promise
        : Promise.resolve(Response.json({ folders: [], sessions: [createRow("a")], next: null })),
    )
    await openMenu(root, "a")
    await chooseItem("Archive")
    root.querySelector<HTMLElement>(".library-slot button")?.click()
    expect(root.querySelector(".notice")?.textContent).toContain("Archived “Title a”.")
    await until(() => expect(document.querySelector("dialog .places")).not.toBeNull())
    await settle()
    expect(isArchiveFetched()).toBe(false)
    bulk.resolve(Response.json({ results: [{ id: "a", ok: true }] }))
    await until(() => expect(document.querySelector("dialog .places")?.textContent).toContain("Title a"))
  })

  test("[LB26] several conversations are selected and archived in one request; Undo restores them", async () => {
    const { root, request } = await openPage([createRow("a"), createRow("b"), createRow("c")])
    await openMenu(root, "a")
    await chooseItem("Select several")
    await until(() => expect(document.activeElement?.getAttribute("aria-label")).toBe("Select Title a"))
    root.querySelector<HTMLElement>("[data-session=c] input")?.click()
    await until(() => expect(root.querySelector(".selection p")?.textContent).toBe("2 selected"))
    const archive = [...root.querySelectorAll<HTMLElement>(".selection button")].find(
      (element) => element.textContent === "Archive",
    )
    archive?.click()
    await until(() => expect(root.querySelector(".notice")?.textContent).toContain("Archived 2 conversations."))
    expect(listBodies(request)).toEqual([{ ids: ["a", "c"], action: "archive", undo: false }])
    expect(listShown(root)).toEqual(["Title b1 min"])
    root.querySelector<HTMLElement>(".notice .undo")?.click()
    await until(() => expect(listBodies(request).length).toBe(2))
    await until(() => expect(listShown(root)).toHaveLength(3))
    await openMenu(root, "a")
    await chooseItem("Select several")
    // The page adds the handler for Escape when it moves focus to the checkbox.
    await until(() => expect(document.activeElement?.getAttribute("aria-label")).toBe("Select Title a"))
    await pressKey("Escape")
    expect(root.querySelector(".selection")).toBeNull()
  })
})

test("[PG32] a refused change is reported once, and the notice can be dismissed", async () => {
  const { root, router } = await openPage([createRow("a")])
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
  const { root, router } = await openPage([createRow("a")])
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
