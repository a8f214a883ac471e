/** admin-sections.test.tsx: sections of the admin page, with an API scripted by each test. */

import { expect, test, vi } from "vitest"
import { BudgetMeters } from "../../client/account/budget-meters.tsx"
import type { AdminApi } from "../../client/admin/admin-api.ts"
import { UnpricedModels } from "../../client/admin/prices/unpriced-models.tsx"
import { UsersSection } from "../../client/admin/users-section.tsx"
import { UsageSection } from "../../client/admin/usage/usage-section.tsx"
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
  if (value === null) throw new Error("not the shape that the page expects")
  return value
}

const textOf = (root: Element): string => root.textContent ?? ""

test.each([
  [undefined, 0, 0],
  [{ turns_per_user: 7 }, 2, 1],
])("[MT14] sums that may lack turns say so, but rows of single users don't: %j", async (incomplete, sums, ofUsers) => {
  const createView = (path: string): UsageView => {
    const [from, to, by] = ["2026-01-01", "2026-01-31", new URLSearchParams(path.split("?")[1]).get("by")]
    const rows = [{ ...FIGURES, [String(by)]: by === "day" ? from : "one" }]
    const known = incomplete === undefined ? {} : { incomplete }
    return { from, to, by: by as UsageView["by"], rows, total: FIGURES, next: null, ...known }
  }
  const api = apiWith({ get: async (path, parse) => parseResponse(createView(path), parse) })
  const root = draw(<UsageSection api={api} identity={identity} />)
  const countNotes = (): number => textOf(root).split("may lack up to 7").length - 1
  await until(() => expect(root.querySelectorAll(".usage-totals, .usage-scroll")).toHaveLength(2))
  expect(countNotes()).toBe(sums)
  const select = [...root.querySelectorAll("select")].at(-1) as HTMLSelectElement
  select.value = "user"
  select.dispatchEvent(new Event("change", { bubbles: true }))
  await until(() => expect(root.querySelector(".usage-scroll")?.textContent).toMatch(/^User/))
  expect(countNotes()).toBe(ofUsers)
})

test("[AD2] choosing a role sends nothing until the button is pressed", async () => {
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
