/** admin-pages.ts: opens the admin page as a user of a given role, and calls the API behind it. */

import type { Cuecard } from "cuecard/testing"
import type { Browser, BrowserContext, Page } from "playwright-core"
import { expect } from "vitest"
import { everyNth } from "../support/seeded.ts"
import { DESKTOP, PHONE, type View } from "./page.ts"

export type Role = "owner" | "admin" | "member" | "viewer"

export interface AdminView extends Pick<View, "size" | "theme" | "bypassCSP"> {
  readonly role?: Role
  readonly user?: string
}

export interface OpenedAdmin {
  readonly page: Page
  /** Uncaught exceptions, and console errors except those about refused requests. */
  readonly errors: string[]
}

const VIEWS = [
  ["desk-light", DESKTOP, "light", "ltr"],
  ["desk-dark", DESKTOP, "dark", "ltr"],
  ["phone-light", PHONE, "light", "ltr"],
  ["phone-dark-rtl", PHONE, "dark", "rtl"],
] as const
/**
 * The name, size, theme and direction of each view in which screenshots of an admin section are taken. A short run uses
 * only one view.
 */
export const PICTURED_VIEWS = everyNth(VIEWS, 4)

/** Requests a development token for the tenant `demo`. */
export async function tokenFor({ url }: Cuecard, user: string, role: Role): Promise<string> {
  const headers = { "content-type": "application/json" }
  const response = await fetch(`${url}/v1/dev/token`, { method: "POST", headers, body: JSON.stringify({ user, role }) })
  return ((await response.json()) as { token: string }).token
}

/**
 * Makes the pages of a context request this user's tokens. A route could do the same, but it would turn off the
 * browser's cache.
 */
export async function requestTokensAs(context: BrowserContext, user: string, role: Role): Promise<void> {
  await context.addInitScript(
    (identity) => {
      const { fetch } = globalThis
      globalThis.fetch = (input, init) =>
        fetch(input, String(input).endsWith("/v1/dev/token") ? { ...init, body: JSON.stringify(identity) } : init)
    },
    { user, role },
  )
}

export async function callApi(cuecard: Cuecard, token: string, method: string, path: string, body?: object) {
  const response = await fetch(`${cuecard.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, body: text === "" ? null : JSON.parse(text) }
}

/** Registers a user by creating the user's first conversation. */
export async function addUser(cuecard: Cuecard, user: string, role: Role = "member"): Promise<void> {
  const token = await tokenFor(cuecard, user, role)
  const created = await callApi(cuecard, token, "POST", "/v1/sessions", { title: "First" })
  if (created.status !== 201) throw new Error(`${user}: ${created.status}`)
}

/** Opens a section of the admin page. For a role other than owner, the page gets a token with that role. */
export async function openAdmin(
  browser: Browser,
  cuecard: Cuecard,
  section: string,
  view: AdminView = {},
): Promise<OpenedAdmin> {
  const { role = "owner", user = "you", size = DESKTOP, theme = "light", bypassCSP = false } = view
  const context = await browser.newContext({ viewport: size, colorScheme: theme, bypassCSP })
  await requestTokensAs(context, user, role)
  const page = await context.newPage()
  const errors: string[] = []
  page.on("pageerror", (error) => errors.push(String(error)))
  page.on("console", (message) => {
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) errors.push(message.text())
  })
  await page.goto(`${cuecard.url}/admin#${section}`)
  await page.waitForSelector(".admin h1")
  return { page, errors }
}

/** Finds the list row that contains the given text. */
export function rowWith(page: Page, text: string) {
  return page.locator(".rows > li", { hasText: text })
}

/** Finds a button in the open dialog. */
export function dialogButton(page: Page, name: string) {
  return page.locator("dialog[open]").getByRole("button", { name, exact: true })
}

/** Clicks the link to the chat, expects the browser to ask for confirmation, and stays on the page. */
export async function tryToLeave(page: Page): Promise<void> {
  const asked: string[] = []
  page.once("dialog", (dialog) => {
    asked.push(dialog.type())
    void dialog.dismiss()
  })
  await page.evaluate(() => document.querySelector<HTMLAnchorElement>(".admin > header a")?.click())
  await expect.poll(() => asked).toEqual(["beforeunload"])
}
