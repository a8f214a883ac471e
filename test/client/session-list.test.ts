/**
 * session-list.test.ts: the list of conversations: its local state, optimistic changes, and the outcomes of these
 * changes.
 */

import { describe, expect, test, vi } from "vitest"
import type { Api } from "../../client/net/api.ts"
import { RequestError } from "../../client/net/http-request.ts"
import { SessionRouter } from "../../client/session/session-router.ts"
import { SessionList } from "../../client/session/session-list.ts"
import { appendPage, mergeFirstPage, NO_SESSIONS } from "../../client/session/session-pages.ts"
import { createFileName } from "../../client/sidebar/save-session.ts"
import { groupByDate, formatRelativeTime } from "../../client/words/format/relative-time.ts"
import type { SessionPage, SessionSummary } from "../../shared/protocol/http-body.ts"
import { openSession, pageOf, setUp, user } from "./open-session.ts"
import { hello, messageFrame, settle, wireMessage } from "./fake-server.ts"

const createRow = (id: string, more: Partial<SessionSummary> = {}): SessionSummary => ({
  id,
  title: id,
  created: 1,
  active: 1,
  running: false,
  ...more,
})

function createSessionList(rows: SessionSummary[], more: Partial<Api> = {}) {
  const { api, clock } = setUp()
  let isVisible = true
  const sessionsOf = vi.fn(() => Promise.resolve<SessionPage>({ sessions: rows, next: null }))
  const deps = { ...clock, isVisible: () => isVisible, api: { ...api, listSessions: sessionsOf, ...more } }
  return {
    clock,
    rows,
    requests: sessionsOf,
    sessions: new SessionList(deps),
    hide: () => {
      isVisible = false
    },
  }
}
const listTitles = (sessions: SessionList) => sessions.sessions.value.map(({ title }) => title)
const listIds = (sessions: SessionList) => sessions.sessions.value.map(({ id }) => id)
const rejectRequest = () => Promise.reject(new RequestError(500, "Something went wrong on our side."))

describe("the list of conversations", () => {
  test("[PG31] the most recently used conversation comes first; sending a message moves its conversation up at once", async () => {
    const { sessions, clock } = createSessionList([createRow("a", { active: 5 }), createRow("b", { active: 9 })])
    expect(sessions.isLoaded.value).toBe(false)
    await sessions.refresh()
    expect(sessions.isLoaded.value).toBe(true)
    expect(listIds(sessions)).toEqual(["b", "a"])
    clock.pass(10)
    sessions.markActive("a")
    expect(listIds(sessions)).toEqual(["a", "b"])
  })

  test("[PG53] an open session's running state overrides the server's list, and is kept after the session is closed until the next refresh", async () => {
    const { sessions, rows } = createSessionList([createRow("a")])
    const isRunning = () => sessions.sessions.value[0]?.running
    await sessions.refresh()
    sessions.setLocalRunning("a", true)
    expect(isRunning()).toBe(true)
    await sessions.refresh()
    expect(isRunning()).toBe(true)
    sessions.clearLocalRunning("a")
    expect(isRunning()).toBe(true)
    rows[0] = createRow("a", { running: false })
    await sessions.refresh()
    expect(isRunning()).toBe(false)
  })

  test("[PG53] the list is refreshed often while another session is running, otherwise rarely, and never while the page is hidden", async () => {
    const { sessions, clock, requests, rows, hide } = createSessionList([createRow("a", { running: true })])
    await sessions.refresh()
    sessions.startPolling()
    clock.pass(5_000)
    await settle()
    expect(requests).toHaveBeenCalledTimes(2)
    rows[0] = createRow("a")
    clock.pass(5_000)
    await settle()
    expect(requests).toHaveBeenCalledTimes(3)
    clock.pass(5_000)
    await settle()
    const callCount = requests.mock.calls.length
    clock.pass(50_000)
    expect(requests.mock.calls.length).toBe(callCount)
    clock.pass(10_000)
    expect(requests.mock.calls.length).toBe(callCount + 1)
    hide()
    clock.pass(600_000)
    expect(requests.mock.calls.length).toBe(callCount + 1)
    sessions.refreshIfStale()
    expect(requests.mock.calls.length).toBe(callCount + 2)
  })

  test("[PG31] times are one or two words, under day headings", () => {
    const now = new Date(2026, 4, 13, 15, 0).getTime()
    const minutesAgo = (minutes: number) => now - minutes * 60_000
    const labels = [0.5, 5, 59, 61, 14 * 60, 16 * 60, 39 * 60].map((minutes) =>
      formatRelativeTime(minutesAgo(minutes), now),
    )
    expect(labels).toEqual(["now", "5 min", "59 min", "1 hr", "14 hr", "Yesterday", "Yesterday"])
    const noonOf = (year: number, month: number, day: number) => new Date(year, month, day, 12).getTime()
    expect(formatRelativeTime(noonOf(2026, 4, 9), now)).toBe("Sat")
    expect(formatRelativeTime(noonOf(2026, 2, 2), now)).toBe("Mar 2")
    expect(formatRelativeTime(noonOf(2025, 2, 2), now)).toBe("Mar 2, 2025")
    expect(formatRelativeTime(now + 60_000, now)).toBe("now")
    const all = [now, minutesAgo(16 * 60), noonOf(2026, 4, 9), noonOf(2026, 3, 20), noonOf(2025, 1, 1)]
    const groups = groupByDate(
      all.map((active, nth) => createRow(`s${nth}`, { active })),
      now,
    )
    expect(groups.map(({ name, sessions }) => [name, sessions.length])).toEqual([
      ["Today", 1] as const,
      ["Last 7 days", 2] as const,
      ["Last 30 days", 1] as const,
      ["Older", 1] as const,
    ])
  })
})

describe("pages of the list", () => {
  const rowsFrom = (newest: number, count: number) =>
    Array.from({ length: count }, (_, at) => createRow(`s${newest - at}`, { active: newest - at }))
  const idsOf = (sessions: readonly SessionSummary[]) => sessions.map(({ id }) => id)
  const first: SessionPage = { sessions: rowsFrom(10, 3), next: "c8" }

  test("[PG75] each page is requested with the previous page's cursor, until there is none", async () => {
    const pages = vi.fn((after?: string) =>
      Promise.resolve(after === undefined ? first : { sessions: rowsFrom(7, 2), next: null }),
    )
    const { sessions } = createSessionList([], { listSessions: pages })
    await sessions.refresh()
    expect(sessions.more.value).toBe("available")
    const loading = sessions.loadMore()
    expect(sessions.more.value).toBe("loading")
    await Promise.all([loading, sessions.loadMore()])
    expect(listIds(sessions)).toEqual(["s10", "s9", "s8", "s7", "s6"])
    expect(sessions.more.value).toBe("none")
    await sessions.loadMore()
    expect(pages.mock.calls).toEqual([[], ["c8"]])
  })

  test("[PG75] after a failure, which is shown, the loaded sessions stay, and the next attempt continues from there", async () => {
    let isDown = true
    const pages = vi.fn((after?: string) => {
      if (after === undefined) return Promise.resolve(first)
      return isDown ? Promise.reject(new TypeError("no network")) : Promise.resolve({ sessions: [], next: null })
    })
    const { sessions } = createSessionList([], { listSessions: pages })
    await sessions.refresh()
    await sessions.loadMore()
    expect([sessions.more.value, sessions.sessions.value.length]).toEqual(["failed", 3])
    isDown = false
    await sessions.loadMore()
    expect(sessions.more.value).toBe("none")
  })

  test("[PG75] a refresh of the first page keeps older pages, and drops deleted sessions", () => {
    const loaded = appendPage(mergeFirstPage(NO_SESSIONS, first), { sessions: rowsFrom(7, 3), next: "c5" })
    const changed = [
      createRow("s6", { active: 12 }),
      createRow("s11", { active: 11 }),
      createRow("s10", { active: 10 }),
    ]
    const merged = mergeFirstPage(loaded, { sessions: changed, next: "c10" })
    // s9 and s8 were last active before the oldest session on the page, so the page doesn't show whether they still
    // exist.
    expect(idsOf(merged.sessions)).toEqual(["s6", "s11", "s10", "s9", "s8", "s7", "s5"])
    expect(merged.next).toBe("c5")
    const withoutNine = mergeFirstPage(merged, {
      sessions: [createRow("s10", { active: 10 }), createRow("s8", { active: 8 })],
      next: "c8",
    })
    expect(idsOf(withoutNine.sessions)).toEqual(["s10", "s8", "s7", "s5"])
    expect(idsOf(mergeFirstPage(merged, { sessions: rowsFrom(10, 1), next: null }).sessions)).toEqual(["s10"])
  })

  test("[PG75] if a whole page of new conversations has appeared, the list starts over rather than leaving a gap", () => {
    const loaded = appendPage(mergeFirstPage(NO_SESSIONS, first), { sessions: rowsFrom(7, 3), next: "c5" })
    const merged = mergeFirstPage(loaded, { sessions: rowsFrom(30, 3), next: "c28" })
    expect([idsOf(merged.sessions), merged.next]).toEqual([["s30", "s29", "s28"], "c28"])
  })

  test("[PG79] the list says that it can't be loaded, until loading succeeds", async () => {
    let isDown = true
    const { sessions } = createSessionList([], {
      listSessions: () => (isDown ? Promise.reject(new TypeError("no network")) : Promise.resolve(first)),
    })
    await sessions.refresh()
    expect(sessions.isUnreachable.value).toBe(true)
    isDown = false
    await sessions.refresh()
    expect(sessions.isUnreachable.value).toBe(false)
    isDown = true
    await sessions.refresh()
    expect(sessions.isUnreachable.value).toBe(false)
  })

  test("[PG93] a list that can't be loaded is requested again at once when the device is online, and soon in any case", async () => {
    let isDown = true
    const listSessions = () => (isDown ? Promise.reject(new TypeError("no network")) : Promise.resolve(first))
    const { sessions, clock } = createSessionList([], { listSessions })
    await sessions.refresh()
    sessions.startPolling()
    clock.pass(5_000)
    await settle()
    expect(sessions.isUnreachable.value).toBe(true)
    isDown = false
    clock.pass(5_000)
    await settle()
    expect(sessions.isUnreachable.value).toBe(false)

    isDown = true
    const other = createSessionList([], { listSessions }).sessions
    await other.refresh()
    isDown = false
    other.refreshIfStale()
    await settle()
    expect(other.isUnreachable.value).toBe(false)
  })
})

describe("changes", () => {
  test("[PG32] a new title appears at once, and an outdated list doesn't revert it", async () => {
    let done = (_title: string): void => {}
    const holdRename = () =>
      new Promise<string>((resolve) => {
        done = resolve
      })
    const { sessions, rows } = createSessionList([createRow("a")], { renameSession: holdRename })
    await sessions.refresh()
    const renamed = sessions.renameSession("a", "New")
    expect(listTitles(sessions)).toEqual(["New"])
    const late = sessions.refresh()
    rows[0] = createRow("a", { title: "New" })
    done("New")
    await Promise.all([renamed, late])
    expect(listTitles(sessions)).toEqual(["New"])
    expect(sessions.notice.value).toBe(null)
  })

  test("[PG32] a refused title reverts, and the reason is shown", async () => {
    const { sessions } = createSessionList([createRow("a", { title: "Old" })], { renameSession: rejectRequest })
    await sessions.refresh()
    await sessions.renameSession("a", "New")
    expect(listTitles(sessions)).toEqual(["Old"])
    expect(sessions.notice.value).toEqual({
      text: "Couldn't rename “Old”. Something went wrong on our side.",
      isFault: true,
      isSticky: false,
    })
  })

  test("[PG33] a deleted conversation disappears at once, and reappears if the deletion is refused", async () => {
    const { sessions } = createSessionList([createRow("a"), createRow("b")], { eraseSession: rejectRequest })
    await sessions.refresh()
    const erased = sessions.removeSession("a")
    expect(listIds(sessions)).toEqual(["b"])
    await expect(erased).rejects.toThrow("Something went wrong on our side.")
    expect(listIds(sessions)).toEqual(["a", "b"])
  })

  test("[PG33] deleting the open conversation shows a new one, and removes the draft and the unsent messages too", async () => {
    const setup = setUp()
    const hashes: string[] = []
    setup.storage.setItem("cuecard.send.s2.x", JSON.stringify({ id: "x", content: "other", at: 1, error: "no" }))
    let hash = "#/s/s1"
    const router = new SessionRouter({
      ...setup.deps,
      readHash: () => hash,
      writeHash: (next) => {
        hash = next
        hashes.push(next)
      },
    })
    router.openFromHash()
    await settle()
    router.controller.value?.sendMessage("never sent")
    router.draft.text.value = "half a thought"
    expect([...setup.storage.all.keys()]).toContain("cuecard.send.s1.n1")
    await router.eraseSession("s1")
    expect(router.controller.value).toBe(null)
    expect(hashes).toEqual(["#/"])
    expect(router.draft.text.value).toBe("")
    expect([...setup.storage.all.keys()]).toEqual(["cuecard.send.s2.x"])
    hash = "#/s/s1"
    router.openFromHash()
    expect(router.draft.text.value).toBe("")
  })

  test("[VD8] the settings stay open when the conversation behind them is closed", async () => {
    const setup = setUp()
    const writeHash = vi.fn()
    let hash = "#/s/s1"
    const router = new SessionRouter({ ...setup.deps, readHash: () => hash, writeHash })
    router.openFromHash()
    await settle()
    hash = "#/settings"
    router.closeSession("s1")
    expect(router.controller.value).toBe(null)
    expect(writeHash).not.toHaveBeenCalled()
  })

  test("[PG33] if a conversation can't be deleted, its unsent messages are kept", async () => {
    const setup = setUp()
    const api = { ...setup.api, eraseSession: rejectRequest }
    const router = new SessionRouter({ ...setup.deps, api, readHash: () => "#/s/s1", writeHash() {} })
    router.openFromHash()
    await settle()
    router.controller.value?.sendMessage("never sent")
    router.draft.text.value = "half a thought"
    await expect(router.eraseSession("s1")).rejects.toThrow("Something went wrong on our side.")
    router.openFromHash()
    await settle()
    expect(router.draft.text.value).toBe("half a thought")
    expect(router.controller.value?.outbox.entries.value).toMatchObject([{ content: "never sent" }])
  })

  test("[PG33] a conversation deleted elsewhere is reported, accepts no messages, and isn't retried", async () => {
    const { controller, server, clock, storage } = await openSession([pageOf([user("q", "hi")])])
    controller.sendMessage("on its way")
    controller.withdrawMessage("q")
    server.last().events.onClose(4404)
    expect(controller.link.value).toBe("gone")
    expect(controller.outbox.entries.value).toMatchObject([{ error: "This conversation was deleted." }])
    clock.pass(120_000)
    await settle()
    expect(server.sockets).toHaveLength(1)
    controller.moveToBackground()
    expect(controller.isClosed).toBe(true)
    expect(storage.all.size).toBe(1)
  })

  test("[PG53] the open session updates the list when an answer begins and ends", async () => {
    const { deps, api, server } = setUp()
    const listSessions = () => Promise.resolve({ sessions: [createRow("s1")], next: null })
    const router = new SessionRouter({
      ...deps,
      api: { ...api, listSessions },
      readHash: () => "#/s/s1",
      writeHash() {},
    })
    await router.sessionList.refresh()
    router.openFromHash()
    await settle()
    server.last().events.onOpen()
    server.last().say(hello())
    const isRunning = () => router.sessionList.sessions.value[0]?.running
    expect(isRunning()).toBe(false)
    server.last().say(messageFrame(11, 10, wireMessage("a")))
    expect(isRunning()).toBe(true)
    const end = [{ op: "end", status: "completed", reason: null, metrics: null }] as const
    server.last().say({ type: "ops", seq: 12, prev: 11, message: "a", ops: [...end] })
    expect(isRunning()).toBe(false)
  })
})

test("[PG34] an exported file is named after its conversation, with a name that any file system accepts", () => {
  expect(createFileName("Rain or shine", "markdown")).toBe("Rain or shine.md")
  expect(createFileName('a/b\\c: "d" <e>|*?\n\u202e', "jsonl")).toBe("a b c d e.jsonl")
  expect(createFileName("..", "jsonl")).toBe("conversation.jsonl")
  expect(createFileName("x".repeat(300), "jsonl").length).toBeLessThan(100)
})
