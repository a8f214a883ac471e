/** read-only.test.ts: the page where the user can't write: shared conversations, and viewers. */

import { readFile } from "node:fs/promises"
import { describe, expect, test } from "vitest"
import { testInFull } from "../support/seeded.ts"
import { callApi, type Role, tokenFor } from "./admin-pages.ts"
import { findViolations } from "./axe-violations.ts"
import { askQuestion, FIELD, PHONE, sessionIn, untilSettled, transcriptOf } from "./page.ts"
import { expectReadOnly, openAsUser, type UserView } from "./read-only-pages.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"

const SOON = { timeout: 20_000 }

const setup = useServerAndBrowser({ vars: { SCRIPTED_DELAY_MS: "0" } })

const openAs = (user: string, view?: UserView) => openAsUser(setup, user, view)

const callApiAs = async (user: string, method: string, path: string, body?: object, role: Role = "member") =>
  await callApi(setup.cuecard, await tokenFor(setup.cuecard, user, role), method, path, body)

describe("sharing", () => {
  test("[SH12] [SH13] [SH14] the owner shares in a dialog; the viewer sees the same transcript, live, and can't change anything", async () => {
    const owner = await openAs("olga")
    const viewer = await openAs("vic", { role: "viewer" })
    expect(await viewer.page.locator(".composer, .suggestions button, .sidebar .new, .sidebar .import").count()).toBe(0)
    await expect.poll(() => viewer.page.textContent(".read-only")).toContain("what others share with you")
    await expect.poll(() => viewer.page.textContent(".welcome h2")).toBe("Nothing to read yet")
    await askQuestion(owner.page, "What's the weather in Oslo?")
    await untilSettled(owner.page)
    const session = sessionIn(owner.page)
    // The tenant knows only users who have written something or have received a token from its backend.
    const body = { name: "backend", roles: ["member", "viewer"] }
    const { key } = (await callApiAs("boss", "POST", "/v1/keys", body, "owner")).body as { key: string }
    const issued = await callApi(setup.cuecard, key, "POST", "/v1/tokens", { user: "vic", role: "viewer" })
    expect(issued.status).toBe(200)

    const menu = owner.page.locator(`[data-session="${session}"] .more`)
    await menu.click()
    await owner.page.getByRole("menuitem", { name: "Share…" }).click()
    const dialog = owner.page.locator("dialog[open]")
    await expect.poll(() => dialog.textContent()).toContain("Only you can read it.")
    await dialog.getByLabel("User ID").fill("nobody-here")
    await owner.page.keyboard.press("Enter")
    await expect.poll(() => dialog.locator(".fault").textContent()).toContain("user")
    await dialog.getByLabel("User ID").fill("vic")
    await dialog.getByRole("button", { name: "Add" }).click()
    await expect.poll(() => dialog.textContent()).toContain("vicRemove")
    expect(await findViolations(owner.page)).toEqual([])
    await owner.page.keyboard.press("Escape")
    await expect.poll(() => menu.evaluate((button) => button === document.activeElement)).toBe(true)

    await viewer.page.reload()
    const row = viewer.page.locator(".shared a")
    await row.waitFor(SOON)
    expect(await row.textContent()).toContain("by olga")
    await expect.poll(() => viewer.page.textContent(".welcome h2")).toBe("Choose a conversation")
    await row.click()
    await untilSettled(viewer.page)
    expect(viewer.page.url()).toContain(`#/s/olga/${session}`)
    const own = await transcriptOf(owner.page)
    const withoutButtons = (html: string): string =>
      html.replace(/\n *<footer class="acts"[\s\S]*?(?=\n<article|$)/g, "")
    expect(withoutButtons(await transcriptOf(viewer.page))).toBe(withoutButtons(own))
    expect(await viewer.page.title()).toBe(await owner.page.title())
    await expectReadOnly(viewer.page)
    expect(await viewer.page.textContent(".read-only")).toContain("olga shared this conversation with you.")
    expect(await findViolations(viewer.page)).toEqual([])
    await viewer.page.locator(".shared li").hover()
    await viewer.page.locator(".shared .more").click()
    const items = viewer.page.getByRole("menuitem")
    expect(await items.allTextContents()).toEqual(["Export as Markdown", "Export as data file (.jsonl)"])
    expect(await findViolations(viewer.page)).toEqual([])
    const download = viewer.page.waitForEvent("download")
    await items.first().click()
    expect(await readFile(await (await download).path(), "utf8")).toContain("Oslo")
    // The viewer sees the answer live, and Escape doesn't stop it.
    await askQuestion(owner.page, "Say hello world")
    await viewer.page.keyboard.press("Escape")
    await untilSettled(owner.page, 2)
    await untilSettled(viewer.page, 2)
    expect(await viewer.page.locator("article[data-role=assistant]").last().getAttribute("data-status")).toBe(
      "completed",
    )
    await viewer.page.reload()
    await untilSettled(viewer.page, 2)

    await menu.click()
    await owner.page.getByRole("menuitem", { name: "Share…" }).click()
    await dialog.getByRole("button", { name: "Remove vic" }).click()
    await expect.poll(() => dialog.textContent()).toContain("Only you can read it.")
    await expect.poll(() => viewer.page.textContent(".read-only"), SOON).toContain("doesn't share this conversation")
    await viewer.page.reload()
    await expect.poll(() => viewer.page.locator(".shared").count()).toBe(0)
    for (const { page, errors } of [owner, viewer]) {
      expect(errors).toEqual([])
      await page.context().close()
    }
  })

  test("[SH13] on a phone, a viewer isn't offered a new conversation", async () => {
    const { page, errors } = await openAs("nora", { role: "viewer", size: PHONE })
    await expect.poll(() => page.textContent(".welcome p")).toContain("When someone shares a conversation with you")
    expect(await page.locator("a[href='#/']:visible").count()).toBe(0)
    const box = await page.locator(".topbar .title").boundingBox()
    expect(Math.abs((box?.x ?? 0) + (box?.width ?? 0) / 2 - PHONE.width / 2)).toBeLessThan(2)
    expect(await findViolations(page)).toEqual([])
    expect(errors).toEqual([])
    await page.context().close()
  })

  testInFull(
    "[SH12] a member can read a conversation that another user shares, and still write in their own; more pages load on request",
    async () => {
      await callApiAs("mia", "POST", "/v1/sessions", { title: "Mine" })
      const otto = await tokenFor(setup.cuecard, "otto", "member")
      for (let i = 0; i < 101; i++) {
        const created = await callApi(setup.cuecard, otto, "POST", "/v1/sessions", { title: `Trip ${i}` })
        const { id } = created.body as { id: string }
        await callApi(setup.cuecard, otto, "PUT", `/v1/sessions/${id}/viewers/mia`)
      }
      const { page, errors } = await openAs("mia", { size: PHONE, theme: "dark" })
      await page.click(".drawer-button")
      // The list is collapsed, because the user has their own conversations.
      const rows = page.locator(".shared li")
      await page.locator(".shared summary").click(SOON)
      await expect.poll(() => rows.count()).toBe(100)
      expect(await rows.first().textContent()).toContain("Trip 100")
      await page.locator(".shared").getByRole("button", { name: "Show more" }).click()
      await expect.poll(() => rows.count()).toBe(101)
      expect(await findViolations(page)).toEqual([])
      await page.locator("[data-session]", { hasText: "Mine" }).locator("a").click()
      await page.waitForSelector(FIELD, SOON)
      expect(errors).toEqual([])
      await page.context().close()
    },
  )
})
