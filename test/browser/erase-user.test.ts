/**
 * erase-user.test.ts: erases a user on the admin page. The test waits until no isolate can still trust the user's
 * tokens.
 */

import { expect } from "vitest"
import { testInFull } from "../support/seeded.ts"
import { addUser, dialogButton, openAdmin, rowWith } from "./admin-pages.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"

const SOON = { timeout: 20_000 }

const setup = useServerAndBrowser({ vars: { SCRIPTED_DELAY_MS: "0" } })

testInFull("[AD2] [AD7] a user is erased after their id is typed, and the receipt is listed", async () => {
  await addUser(setup.cuecard, "to-erase")
  const { page, errors } = await openAdmin(setup.browser, setup.cuecard, "users")
  await page.getByLabel("Search by name or ID").fill("to-erase")
  await expect.poll(() => page.locator(".rows > li").count()).toBe(1)
  await page.getByRole("button", { name: "Erase…" }).click()
  const confirm = dialogButton(page, "Erase this user")
  expect(await confirm.isDisabled()).toBe(true)
  await page.getByLabel("To confirm, type").fill("to-eras")
  expect(await confirm.isDisabled()).toBe(true)
  await page.getByLabel("To confirm, type").fill("to-erase")
  await confirm.click()
  await expect.poll(() => page.textContent(".rows > li")).toContain("Being erased")
  await page.click("nav >> text=Export & deletion")
  const receipt = rowWith(page, "User to-erase")
  await receipt.waitFor(SOON)
  // The erasure starts only once no isolate still accepts the user's tokens.
  await expect
    .poll(() => receipt.textContent(), { timeout: 90_000 })
    .toMatch(/Done.*1 conversation · .*Recoverable by the platform's operator until/s)
  expect(errors).toEqual([])
  await page.context().close()
})
