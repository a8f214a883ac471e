/** leaving-tenant.test.ts: a tenant's page while the tenant's deletion is requested and then cancelled. */

import { expect } from "vitest"
import { testInFull } from "../support/seeded.ts"
import { callApi, type Role, tokenFor } from "./admin-pages.ts"
import { findViolations } from "./axe-violations.ts"
import { askQuestion, FIELD, untilSettled } from "./page.ts"
import { expectReadOnly, openAsUser } from "./read-only-pages.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"

const SOON = { timeout: 20_000 }

const setup = useServerAndBrowser({ vars: { SCRIPTED_DELAY_MS: "0" } })

const openAs = (user: string, role: Role = "member") => openAsUser(setup, user, { role })

const callApiAs = async (user: string, method: string, path: string, body?: object, role: Role = "member") =>
  await callApi(setup.cuecard, await tokenFor(setup.cuecard, user, role), method, path, body)

testInFull(
  "[PG85] a tenant that is leaving: the page shows the date, keeps unsent messages, and sends them if the tenant is kept",
  async () => {
    const { page, errors } = await openAs("lea")
    await askQuestion(page, "Say hello world")
    await untilSettled(page)
    // The page doesn't know yet that the tenant is leaving. The server refuses the message, which then waits.
    const left = await callApiAs("boss", "DELETE", "/v1/tenant", { confirm: "demo" }, "owner")
    expect(left.status).toBe(202)
    await page.fill(FIELD, "Say one more thing")
    await page.reload()
    await page.waitForSelector(".read-only", SOON)
    expect(await page.textContent(".read-only")).toMatch(
      /will be deleted on .*\d{4}.*An owner can still cancel the deletion\./,
    )
    expect(await page.textContent(".read-only")).toContain("What you haven't sent yet stays in this browser.")
    await untilSettled(page)
    await expectReadOnly(page)
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" })
      expect(await findViolations(page)).toEqual([])
    }
    const owner = await openAs("boss", "owner")
    await owner.page.waitForSelector(".read-only", SOON)
    expect(await owner.page.locator(".welcome, .composer").count()).toBe(0)
    await owner.page.getByRole("link", { name: "Cancel the deletion in the admin settings" }).click()
    await owner.page.waitForURL(`${setup.cuecard.url}/admin#tenant`)
    await callApiAs("boss", "POST", "/v1/tenant/restore", {}, "owner")
    // When the user comes back to the page, the page reloads the settings.
    await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")))
    await page.waitForSelector(FIELD, SOON)
    expect(await page.inputValue(FIELD)).toBe("Say one more thing")
    await page.press(FIELD, "Enter")
    // The socket is still read-only. Once every isolate knows that the deletion was cancelled, the server closes the
    // socket, and the message is sent.
    await page.waitForSelector("article[data-role=assistant] >> nth=1", { timeout: 60_000 })
    await untilSettled(page, 2)
    expect(errors).toEqual([])
    for (const tab of [page, owner.page]) await tab.context().close()
  },
)
