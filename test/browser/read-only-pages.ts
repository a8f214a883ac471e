/** read-only-pages.ts: opens the page as a given user, and checks that the user can't write anything. */

import type { Cuecard } from "cuecard/testing"
import type { Browser, Page } from "playwright-core"
import { expect } from "vitest"
import { requestTokensAs, type Role } from "./admin-pages.ts"
import { DESKTOP } from "./page.ts"

const SOON = { timeout: 20_000 }

export interface UserView {
  readonly role?: Role
  readonly size?: typeof DESKTOP
  readonly theme?: "light" | "dark"
  readonly at?: string
}

/** Opens the page as a user of `demo`. */
export async function openAsUser(
  { browser, cuecard }: { readonly browser: Browser; readonly cuecard: Cuecard },
  user: string,
  { role = "member", size = DESKTOP, theme = "light", at = "" }: UserView = {},
) {
  const context = await browser.newContext({ viewport: size, colorScheme: theme, bypassCSP: true })
  await requestTokensAs(context, user, role)
  const page = await context.newPage()
  const errors: string[] = []
  page.on("pageerror", (error) => errors.push(String(error)))
  await page.goto(`${cuecard.url}/${at}`)
  await page.waitForSelector(".account-button", { ...SOON, state: "attached" })
  return { page, errors }
}

const CHANGES = ["Edit", "Reply", "Regenerate", "Allow", "Deny", "Try again", "Continue", "Stop"]

export async function expectReadOnly(page: Page): Promise<void> {
  expect(await page.locator(".composer").count()).toBe(0)
  for (const name of CHANGES) expect(await page.getByRole("button", { name, exact: true }).count(), name).toBe(0)
  expect(await page.getByRole("button", { name: "Copy", exact: true }).count()).toBeGreaterThan(0)
}
