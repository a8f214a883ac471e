/** admin-sections.test.tsx: the sections of the admin page. Each test scripts the API's responses. */

import { signal } from "@preact/signals"
import type { VNode } from "preact"
import { expect, test, vi } from "vitest"
import { BudgetMeters } from "../../client/account/budget-meters.tsx"
import type { AdminApi } from "../../client/admin/admin-api.ts"
import { notice } from "../../client/admin/admin-state.ts"
import { AnnouncedStatus, describeQuarter, useStateChange } from "../../client/admin/announced-status.tsx"
import { FeedbackSection } from "../../client/admin/feedback/feedback-section.tsx"
import { UnpricedModels } from "../../client/admin/prices/unpriced-models.tsx"
import { TenantBackups } from "../../client/admin/tenant/tenant-backups.tsx"
import { UsersSection } from "../../client/admin/users-section.tsx"
import { UsageSection } from "../../client/admin/usage/usage-section.tsx"
import { RequestError } from "../../client/net/http-request.ts"
import type { Identity } from "../../client/account/identity.ts"
import type { UsageView } from "../../shared/usage/usage-view.ts"
import { draw, until, waitForElement } from "./dom.ts"

const identity: Identity = { id: "olga", name: "Olga", role: "owner", tenant: "acme", source: "sign-in" }

const FIGURES = {
  calls: 3,
  unpriced_calls: 0,
  retries: 0,
  input_tokens: 5,
  cached_tokens: 0,
  cache_written_tokens: 0,
  output_tokens: 2,
  reasoning_tokens: 0,
  cost_nano_usd: 1_000,
}

/** Creates an API with only the methods that a test needs. */
const apiWith = (methods: Partial<AdminApi>): AdminApi => methods as AdminApi

/** Parses a body as the page's API does. */
function parseResponse<T>(body: unknown, parse: (value: unknown) => T | null): T {
  const value = parse(JSON.parse(JSON.stringify(body)))
  if (value === null) throw new Error("The body doesn't have the shape that the page expects")
  return value
}

const textOf = (root: Element): string => root.textContent ?? ""

test.each([
  [undefined, 0, 0],
  [{ turns_per_user: 7 }, 2, 1],
])(
  "[MT23] totals say if turns may be missing from them, but rows for single users don't: %j",
  async (incomplete, sums, ofUsers) => {
    const createView = (path: string): UsageView => {
      const [from, to, by] = ["2026-01-01", "2026-01-31", new URLSearchParams(path.split("?")[1]).get("by")]
      const rows = [{ ...FIGURES, [String(by)]: by === "day" ? from : "one" }]
      const known = incomplete === undefined ? {} : { incomplete }
      return { from, to, by: by as UsageView["by"], rows, total: FIGURES, next: null, ...known }
    }
    const api = apiWith({ get: async (path, parse) => parseResponse(createView(path), parse) })
    const root = draw(<UsageSection api={api} identity={identity} />)
    const countNotes = (): number => textOf(root).split("may be missing up to 7").length - 1
    await until(() => expect(root.querySelectorAll(".usage-totals, .usage-scroll")).toHaveLength(2))
    expect(countNotes()).toBe(sums)
    const select = [...root.querySelectorAll("select")].at(-1) as HTMLSelectElement
    select.value = "user"
    select.dispatchEvent(new Event("change", { bubbles: true }))
    await until(() => expect(root.querySelector(".usage-scroll")?.textContent).toMatch(/^User/))
    expect(countNotes()).toBe(ofUsers)
  },
)

test("[AD23] feedback is totalled per agent, for all months or for a single one", async () => {
  const counts = [
    { agent: "general", month: "2026-10", up: 2, down: 1, reasons: { slow: 1 } },
    { agent: "general", month: "2026-11", up: 1, down: 2, reasons: { incorrect: 3, slow: 1, invented: 1 } },
    { agent: "writer", month: "2026-11", up: 1, down: 0, reasons: {} },
    // All ratings of this agent were withdrawn.
    { agent: "quiet", month: "2026-11", up: 0, down: 0, reasons: {} },
  ]
  const api = apiWith({ get: async (_path, parse) => parseResponse({ counts }, parse) })
  const root = draw(<FeedbackSection api={api} identity={identity} />)
  const readRows = (): string[][] =>
    [...root.querySelectorAll("tbody tr")].map((row) => [...row.children].map((cell) => cell.textContent ?? ""))
  await until(() => expect(readRows()).toHaveLength(2))
  expect(readRows()).toEqual([
    ["general", "3", "3", "50%", "Incorrect: 3 · Too slow: 2 · invented: 1"],
    ["writer", "1", "0", "100%", ""],
  ])
  const select = await waitForElement<HTMLSelectElement>(root, "select")
  expect([...select.options].map(({ text }) => text)).toEqual(["All months", "November 2026", "October 2026"])
  select.value = "2026-10"
  select.dispatchEvent(new Event("change", { bubbles: true }))
  await until(() => expect(readRows()).toEqual([["general", "2", "1", "67%", "Too slow: 1"]]))
})

test("[AD23] the section says so if no answer has been rated", async () => {
  const api = apiWith({ get: async (_path, parse) => parseResponse({ counts: [] }, parse) })
  const root = draw(<FeedbackSection api={api} identity={identity} />)
  await until(() => expect(textOf(root)).toContain("No answer has been rated yet."))
})

test("[AD2] choosing a role sends no request until the button is pressed", async () => {
  const user = { id: "bob", name: "Bob", role: "member", issuer: null, status: "active", created: 0 }
  const sent: unknown[] = []
  const api = apiWith({
    get: async (_path, parse) => parseResponse({ users: [user], next: null }, parse),
    send: async (method, path, body, parse) => {
      sent.push([method, path, body])
      return parseResponse({ ...user, ...body }, parse)
    },
  })
  const root = draw(<UsersSection api={api} identity={identity} />)
  const select = await waitForElement<HTMLSelectElement>(root, ".row-actions select")
  const findButton = (): HTMLButtonElement | null => root.querySelector(".row-actions button.firm")
  for (const role of ["viewer", "admin"]) {
    select.value = role
    select.dispatchEvent(new Event("change", { bubbles: true }))
    await until(() => expect(findButton()?.textContent).toBe("Change role"))
  }
  expect(sent).toEqual([])
  findButton()?.click()
  await until(() => expect(findButton()).toBeNull())
  expect(sent).toEqual([["PATCH", "/v1/users/bob", { role: "admin" }]])
  expect(root.querySelector<HTMLSelectElement>(".row-actions select")?.value).toBe("admin")
})

test("[AD16] a user who is being erased is removed from the list once the erasure is done; the other loaded pages stay", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] })
  const createUser = (id: string, status = "active") => ({
    id,
    name: null,
    role: "member",
    issuer: null,
    status,
    created: 0,
  })
  const requests: string[] = []
  let isErased = false
  const recordRequest: AdminApi["get"] = async (path, parse) => {
    requests.push(path)
    if (path.startsWith("/v1/users/")) {
      if (isErased) throw new RequestError(404, "No such user.", "user_unknown")
      return parseResponse(createUser("bob", "erasing"), parse)
    }
    const isFirst = path.endsWith("after=")
    const users = isFirst ? [createUser("ada"), createUser("bob", "erasing")] : [createUser("cleo")]
    return parseResponse({ users, next: isFirst ? "bob" : null }, parse)
  }
  const root = draw(<UsersSection api={apiWith({ get: recordRequest })} identity={identity} />)
  const listIds = (): string[] => [...root.querySelectorAll(".rows > li .row-main > code")].map(textOf)
  await until(() => expect(listIds()).toEqual(["ada", "bob"]))
  ;(root.querySelector(".more-rows") as HTMLButtonElement).click()
  await until(() => expect(listIds()).toEqual(["ada", "bob", "cleo"]))
  await vi.advanceTimersByTimeAsync(4_000)
  expect(listIds()).toEqual(["ada", "bob", "cleo"])
  isErased = true
  await vi.advanceTimersByTimeAsync(2_000)
  await until(() => expect(listIds()).toEqual(["ada", "cleo"]))
  expect(notice.value).toBe("bob has been erased.")
  const count = requests.length
  await vi.advanceTimersByTimeAsync(10_000)
  expect(requests.length).toBe(count)
  expect(requests.filter((path) => path.startsWith("/v1/users/"))).toEqual(Array(3).fill("/v1/users/bob"))
  vi.useRealTimers()
})

test("[AD13] the scheduled backups are listed with their retention; the page says so if the server makes none", async () => {
  const tally = { users: 2, sessions: 3, agent_sessions: 0, files: 1, bytes: 10 }
  const createBackup = (at: number) => ({
    ...{ id: `b${at}`, created: at, updated: at, tally, fault: null, state: "done", parts: 1, expires: at + 1 },
    folder: `2026-11-0${at}/acme/b${at}/`,
  })
  const drawBackups = (body: object) =>
    draw(<TenantBackups api={apiWith({ get: async (_path, parse) => parseResponse(body, parse) })} />)
  const backups = [7, 6, 5, 4, 3, 2, 1].map(createBackup)
  const root = drawBackups({ backups, kept_days: 14 })
  await until(() => expect(textOf(root)).toContain("deleted after 14 days"))
  const listFolders = (): string[] => [...root.querySelectorAll("li code")].map(textOf)
  expect(listFolders()).toEqual(backups.slice(0, 5).map(({ folder }) => folder))
  ;(root.querySelector(".more-rows") as HTMLButtonElement).click()
  await until(() => expect(listFolders()).toEqual(backups.map(({ folder }) => folder)))
  const none = drawBackups({ backups: [], kept_days: null })
  await until(() => expect(textOf(none)).toContain("makes no scheduled backups"))
  const empty = drawBackups({ backups: [], kept_days: 1 })
  await until(() => expect(textOf(empty)).toContain("deleted after 1 day. "))
  expect(textOf(empty)).toContain("No backup has been made yet.")
})

test("[AD14] a transfer is announced at the start and after each quarter, not after every file", () => {
  const texts = Array.from({ length: 101 }, (_, n) => describeQuarter("Uploading", n, 100))
  expect([...new Set(texts)]).toEqual([
    "Uploading",
    "Uploading: 25%",
    "Uploading: 50%",
    "Uploading: 75%",
    "Uploading: 100%",
  ])
  expect(describeQuarter("Uploading", 0, 0)).toBe("Uploading")
})

test("[AD14] the end of a job is announced once; jobs that had already ended when the list was loaded aren't announced", async () => {
  type Job = { readonly id: string; readonly state: "running" | "done" }
  const jobs = signal<readonly Job[]>([{ id: "old", state: "done" }])
  const texts = { running: "It is in progress.", done: "It is ready." }
  const Jobs = (): VNode => <AnnouncedStatus text={useStateChange(jobs.value, texts)} />
  const root = draw(<Jobs />)
  const announced: string[] = []
  const showJobs = async (next: readonly Job[]): Promise<void> => {
    jobs.value = next
    await new Promise((drawn) => requestAnimationFrame(drawn))
    announced.push(textOf(root))
  }
  await showJobs([{ id: "new", state: "running" }, ...jobs.value])
  for (let i = 0; i < 3; i++) await showJobs([...jobs.value])
  await showJobs([{ id: "new", state: "done" }])
  await showJobs([{ id: "newer", state: "running" }, ...jobs.value])
  await showJobs([{ id: "newer", state: "done" }, ...jobs.value.slice(1)])
  expect(announced).toEqual(["", "", "", "", "It is ready.", "", "It is ready."])
})

const retryIn = (root: Element): HTMLButtonElement | undefined =>
  [...root.querySelectorAll("button")].find((button) => textOf(button) === "Try again")

test("[AD11] if the models without a price can't be loaded, the page says so and offers a retry", async () => {
  let requests = 0
  const countRequest: AdminApi["get"] = async () => {
    requests++
    throw new Error("down")
  }
  const root = draw(<UnpricedModels api={apiWith({ get: countRequest })} range="month" />)
  await until(() => expect(retryIn(root)).toBeDefined())
  expect(root.querySelector(".fault")).not.toBeNull()
  retryIn(root)?.click()
  await until(() => expect(requests).toBe(2))
})

test("[BU13] if the budgets can't be loaded, the menu says so and offers a retry", async () => {
  const left = { budget: "sessions", scope: "user", limit: 3, used: 1, left: 2, resets: null }
  const fetched = vi.spyOn(globalThis, "fetch").mockRejectedValueOnce(new TypeError("down"))
  fetched.mockResolvedValueOnce(Response.json({ budgets: [left] }))
  const root = draw(<BudgetMeters />)
  await until(() => expect(textOf(root)).toContain("couldn’t be loaded"))
  retryIn(root)?.click()
  await until(() => expect(textOf(root)).toContain("2 of 3 left"))
  expect(retryIn(root)).toBeUndefined()
  fetched.mockRestore()
})
