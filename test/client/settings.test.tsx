/** settings.test.tsx: the settings page: choices, and exporting and deleting all conversations. */

import { signal } from "@preact/signals"
import { render } from "preact"
import { beforeEach, describe, expect, test, vi } from "vitest"
import { temperatureUnit } from "../../client/cards/temperature-unit.ts"
import type { SessionRouter } from "../../client/session/session-router.ts"
import { deleteAllSessions, exportAllSessions } from "../../client/settings/all-sessions.ts"
import { isSettingsOpen, openSettingsFromHash, settingsPage } from "../../client/settings/deferred-settings.ts"
import { SettingsPage } from "../../client/settings/settings-page.tsx"
import { ZipWriter } from "../../client/settings/zip-file.ts"
import type { SessionSummary } from "../../shared/protocol/http-body.ts"
import { crc32 } from "../../shared/crc32.ts"
import { theme } from "../../client/ui/preferences/theme.ts"
import { delay, draw, until } from "./dom.ts"

const createSession = (id: string, title = `Title ${id}`) => ({ id, title, created: 1, active: 1e12, running: false })

/** Creates an API with these lists, which have a page for each array. */
function createApi(
  listed: readonly string[][],
  archived: readonly string[][],
  failing: readonly string[] = [],
  prompts: unknown = [],
) {
  const requests: string[] = []
  const deleted: string[] = []
  const readPage = (query: string): Response => {
    const pages = query.includes("archived=1") ? archived : listed
    const at = Number(/after=(\d+)/.exec(query)?.[1] ?? 0)
    const sessions = (pages[at] ?? []).map((id) => createSession(id, "The same"))
    return Response.json({ sessions, next: at + 1 < pages.length ? String(at + 1) : null })
  }
  const fetchAuthorized = vi.fn(async (path: string, init?: RequestInit): Promise<Response> => {
    requests.push(path)
    if (path === "/v1/sessions/bulk") {
      const { ids, action } = JSON.parse(String(init?.body)) as { ids: string[]; action: string }
      expect(action).toBe("delete")
      expect(ids.length).toBeLessThanOrEqual(100)
      deleted.push(...ids.filter((id) => !failing.includes(id)))
      return Response.json({ results: ids.map((id) => ({ id, ok: !failing.includes(id) })) })
    }
    if (path === "/v1/prompts") return Response.json({ prompts })
    const [, id] = /^\/v1\/sessions\/(\w+)\/events/.exec(path) ?? []
    if (id === undefined) return readPage(path)
    return failing.includes(id)
      ? Response.json({ code: "session_unknown" }, { status: 404 })
      : new Response(`{"${id}":1}\n`)
  })
  return { api: { fetchAuthorized }, requests, deleted }
}

/** Reads the names and contents of a ZIP file's entries by means of its central directory. */
async function readZip(file: Blob): Promise<Record<string, string>> {
  const bytes = new Uint8Array(await file.arrayBuffer())
  const view = new DataView(bytes.buffer)
  const end = bytes.length - 22
  expect(view.getUint32(end, true)).toBe(0x06054b50)
  const files: Record<string, string> = {}
  let at = view.getUint32(end + 16, true)
  for (let left = view.getUint16(end + 10, true); left > 0; left--) {
    expect(view.getUint32(at, true)).toBe(0x02014b50)
    const [crc, size, nameLength] = [
      view.getUint32(at + 16, true),
      view.getUint32(at + 24, true),
      view.getUint16(at + 28, true),
    ]
    const local = view.getUint32(at + 42, true)
    expect(view.getUint32(local, true)).toBe(0x04034b50)
    expect(view.getUint32(local + 14, true)).toBe(crc)
    const start = local + 30 + view.getUint16(local + 26, true)
    const content = bytes.slice(start, start + size)
    expect(crc32(content)).toBe(crc)
    files[new TextDecoder().decode(bytes.slice(at + 46, at + 46 + nameLength))] = new TextDecoder().decode(content)
    at += 46 + nameLength
  }
  expect(at).toBe(end)
  return files
}

describe("all conversations", () => {
  test("[VD7] are exported as one file each, including archived ones; one that fails doesn't stop the others", async () => {
    const { api } = createApi([["a", "b"], ["c"]], [["d"]], ["b"])
    const progress: number[] = []
    const outcome = await exportAllSessions(api, (done) => progress.push(done))
    expect(outcome).toMatchObject({ done: 3, failed: 1 })
    expect(progress).toEqual([1, 2, 3, 4])
    expect(await readZip(outcome?.file ?? new Blob())).toEqual({
      "The same.jsonl": '{"a":1}\n',
      "The same (2).jsonl": '{"c":1}\n',
      "The same (3).jsonl": '{"d":1}\n',
    })
    expect(await exportAllSessions(createApi([[]], [[]]).api, () => {})).toBe(null)
  })

  test("[VD7] are exported with the saved prompts; if these can't be loaded, the export omits them and counts a failure", async () => {
    const prompt = { id: "p", name: "Reply", text: "Answer:", changed: 1e12 }
    const { api } = createApi([["a"]], [[]], [], [prompt])
    const outcome = await exportAllSessions(api, () => {})
    expect(outcome).toMatchObject({ done: 1, failed: 0 })
    const { "saved-prompts.json": saved, ...others } = await readZip(outcome?.file ?? new Blob())
    expect(JSON.parse(saved ?? "")).toEqual([prompt])
    expect(Object.keys(others)).toEqual(["The same.jsonl"])
    const broken = createApi([["a"]], [[]], [], "none")
    expect(await exportAllSessions(broken.api, () => {})).toMatchObject({ done: 1, failed: 1 })
  })

  test("[VD8] are deleted a hundred at a time, including archived ones; failures are counted", async () => {
    const ids = Array.from({ length: 130 }, (_, n) => `s${n}`)
    const { api, deleted, requests } = createApi([ids.slice(0, 100), ids.slice(100)], [["old"]], ["s7"])
    const reported: string[] = []
    const outcome = await deleteAllSessions(
      api,
      () => {},
      (some) => reported.push(...some),
    )
    expect(outcome).toEqual({ done: 130, failed: 1 })
    expect(reported).toEqual(deleted)
    expect(deleted).toEqual([...ids, "old"].filter((id) => id !== "s7"))
    expect(requests.filter((path) => path.endsWith("/bulk"))).toHaveLength(2)
  })

  test("[VD7] a ZIP file has the checksums of its files", async () => {
    expect(crc32(new TextEncoder().encode("123456789"))).toBe(0xcbf43926)
    const zip = new ZipWriter()
    await zip.addFile("ä/١.txt", new Blob(["one"]), new Date(2026, 0, 2))
    expect(await readZip(zip.finish())).toEqual({ "ä/١.txt": "one" })
    expect(await readZip(new ZipWriter().finish())).toEqual({})
  })
})

const closeSession = vi.fn()

function openPage() {
  const { api, deleted } = createApi([["a"]], [[]])
  const refresh = vi.fn(async () => {})
  /** The list, from which deleted sessions disappear before it is refreshed. */
  let rows: SessionSummary[] = [createSession("a"), createSession("b")]
  const editRows = (update: (shown: SessionSummary[]) => SessionSummary[]): void => {
    rows = update(rows)
  }
  const router = {
    api,
    controller: signal(null),
    isReadOnly: signal(false),
    closeSession: closeSession.mockClear(),
    forgetStored: vi.fn(),
    sessionList: { refresh, showNotice: vi.fn(), editRows, archived: signal([createSession("a"), createSession("b")]) },
  } as unknown as SessionRouter
  const root = draw(<SettingsPage router={router} />)
  const findButton = (label: string): HTMLButtonElement => {
    const found = [...document.querySelectorAll("button")].find((element) => element.textContent === label)
    if (found === undefined) throw new Error(`no button ${label}`)
    return found
  }
  const listIds = () => [rows, router.sessionList.archived.value].map((list) => list.map(({ id }) => id))
  return { root, deleted, refresh, findButton, listIds }
}

describe("the settings page", () => {
  beforeEach(() => {
    for (const child of document.body.children) render(null, child)
    document.body.replaceChildren()
    localStorage.clear()
    temperatureUnit.value = "C"
  })

  test("[VD6] opens with its hash, and its code is loaded then", async () => {
    expect(settingsPage.module.value).toBe(null)
    expect(openSettingsFromHash("#/s/one")).toBe(false)
    expect(openSettingsFromHash("#/settings")).toBe(true)
    expect(isSettingsOpen.value).toBe(true)
    await until(() => expect(settingsPage.module.value).not.toBe(null))
    openSettingsFromHash("#/")
    expect(isSettingsOpen.value).toBe(false)
  })

  test("[VD6] its heading has focus; a choice is applied and stored", async () => {
    const { root } = openPage()
    await until(() => expect(document.activeElement?.textContent).toBe("Settings"))
    const choose = async (label: string): Promise<void> => {
      const option = [...root.querySelectorAll("label")].find((element) => element.textContent === label)
      option?.querySelector("input")?.click()
      await delay()
    }
    await choose("Dark")
    expect([theme.value, localStorage.getItem("cuecard.theme")]).toEqual(["dark", "dark"])
    await choose("Fahrenheit (°F)")
    expect([temperatureUnit.value, localStorage.getItem("cuecard.temperature-unit")]).toEqual(["F", "F"])
    expect([...root.querySelectorAll("input:checked")].map((element) => element.parentElement?.textContent)).toEqual([
      "Dark",
      "Fahrenheit (°F)",
    ])
    await choose("System")
    await choose("Celsius (°C)")
  })

  test("[VD8] deletes conversations only after the confirmation word has been typed", async () => {
    const { root, deleted, refresh, findButton, listIds } = openPage()
    findButton("Delete all…").click()
    await delay()
    expect(findButton("Delete everything").disabled).toBe(true)
    const field = document.querySelector<HTMLInputElement>(".confirm-word input")
    if (field === null) throw new Error("no field")
    field.value = " Delete "
    field.dispatchEvent(new InputEvent("input", { bubbles: true }))
    await delay()
    expect(deleted).toEqual([])
    findButton("Delete everything").click()
    await until(() => expect(root.textContent).toContain("1 conversation deleted."))
    expect(deleted).toEqual(["a"])
    expect(listIds()).toEqual([["b"], ["b"]])
    expect(closeSession.mock.calls).toEqual([["a"]])
    expect(refresh).toHaveBeenCalledTimes(1)
  })
})
