/** admin-tenant.test.ts: exports, imports and deletes a tenant on the admin page, in a real Chromium. */

import { readFile } from "node:fs/promises"
import type { Download } from "playwright-core"
import { describe, expect, test } from "vitest"
import { testInFull } from "../support/seeded.ts"
import { addUser, callApi, dialogButton, openAdmin, tokenFor, tryToLeave } from "./admin-pages.ts"
import { DESKTOP, FIELD, sessionIn, untilSettled, transcriptOf } from "./page.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"

const SOON = { timeout: 20_000 }

const setup = useServerAndBrowser({ vars: { SCRIPTED_DELAY_MS: "0" } })

const callApiAs = async (method: string, path: string, body?: object) =>
  await callApi(setup.cuecard, await tokenFor(setup.cuecard, "you", "owner"), method, path, body)

describe("export and deletion", () => {
  test("[AD7] an export is started, shows its progress, and is downloaded and deleted", async () => {
    await addUser(setup.cuecard, "exported")
    const { page, errors } = await openAdmin(setup.browser, setup.cuecard, "tenant")
    await page.getByRole("button", { name: "Start an export" }).click()
    const row = page.getByRole("list", { name: "Exports" }).locator("> li")
    await expect.poll(() => row.first().textContent()).toContain("Ready")
    expect(await row.first().textContent()).toMatch(/conversations? from \d+ users?/)
    expect(await page.textContent("main")).toContain("This server makes no scheduled backups")
    const download = page.waitForEvent("download")
    await row.first().getByText("Individual files").click()
    await row.first().getByRole("button", { name: "Download: Manifest" }).click()
    const manifest = JSON.parse(await readFile(await (await download).path(), "utf8")) as object
    expect(JSON.stringify(manifest)).toContain("demo")
    const part = page.waitForEvent("download")
    await row.first().getByRole("button", { name: "Download: Part 1" }).click()
    expect((await part).suggestedFilename()).toMatch(/-1\.cuecard$/)
    const saved: string[] = []
    page.on("download", (file) => saved.push(file.suggestedFilename()))
    await row.first().getByRole("button", { name: "Download all (2 files)" }).click()
    await expect.poll(() => page.textContent(".notice")).toBe("All 2 files are saved. An import needs all of them.")
    expect(saved.map((name) => name.replace(/^.*-(?=manifest|\d)/, ""))).toEqual(["manifest.json", "1.cuecard"])
    await row.first().getByRole("button", { name: "Delete export…" }).click()
    await dialogButton(page, "Delete export").click()
    await expect.poll(() => row.count()).toBe(0)
    expect(errors).toEqual([])
    await page.context().close()
  })

  testInFull(
    "[AD9] another tenant's archive is chosen, uploaded and imported; the upload can be stopped, resumed and cancelled",
    async () => {
      const { cuecard, browser } = setup
      const { port } = new URL(cuecard.url)
      const page = await (await browser.newContext({ viewport: DESKTOP })).newPage()
      const pageOf = (tenant: string): string => `http://${tenant}.localhost:${port}`
      // Creates a conversation with a card in the source tenant.
      await page.goto(pageOf("source"))
      await page.fill(FIELD, "What's the weather in Oslo?")
      await page.press(FIELD, "Enter")
      await untilSettled(page)
      const session = sessionIn(page)
      const before = await transcriptOf(page)
      await page.goto(`${pageOf("source")}/admin#tenant`)
      await page.getByRole("button", { name: "Start an export" }).click()
      const row = page.getByRole("list", { name: "Exports" }).locator("> li")
      await expect.poll(() => row.first().textContent(), { timeout: 20_000 }).toContain("Ready")
      const downloads: Download[] = []
      page.on("download", (download) => downloads.push(download))
      await row.first().getByRole("button", { name: "Download all (2 files)" }).click()
      await expect.poll(() => downloads.length).toBe(2)
      const chosen = await Promise.all(
        downloads.reverse().map(async (file) => ({
          name: file.suggestedFilename(),
          mimeType: "application/octet-stream",
          buffer: await readFile(await file.path()),
        })),
      )
      const [part, manifest] = chosen
      if (part === undefined || manifest === undefined) throw new Error("no archive")

      await page.goto(`${pageOf("target")}/admin#tenant`)
      const field = page.getByLabel("Files of the archive")
      const imports = page.getByRole("list", { name: "Imports" }).locator("> li")
      await page.getByRole("button", { name: "Import an archive…" }).waitFor(SOON)
      await field.setInputFiles([part])
      await expect.poll(() => page.textContent("main .fault")).toContain("None of these files is the manifest")
      await field.setInputFiles([manifest])
      await expect.poll(() => page.textContent("main .fault")).toContain("Missing: part 1.")
      // The part is held back while the upload is stopped and its import is cancelled.
      let isHeld = true
      await page.route("**/v1/tenant/imports/*/files/1", async (route) => {
        while (isHeld) await new Promise((done) => setTimeout(done, 50))
        await route.continue().catch(() => {})
      })
      await field.setInputFiles(chosen)
      await expect.poll(() => imports.locator(".tag").textContent()).toBe("Uploading")
      await tryToLeave(page)
      await page.getByRole("button", { name: "Stop" }).click()
      await expect.poll(() => imports.locator(".tag").textContent()).toBe("Waiting for files")
      await expect.poll(() => imports.textContent()).toContain("Its part is still missing.")
      await imports.getByRole("button", { name: "Cancel import…" }).click()
      await dialogButton(page, "Cancel the import").click()
      await expect.poll(() => imports.count()).toBe(0)
      isHeld = false
      await page.unroute("**/v1/tenant/imports/*/files/1")
      // The second upload loses its connection once.
      await page.route("**/v1/tenant/imports/*/files/1", (route) => route.abort(), { times: 1 })
      await field.setInputFiles(chosen)
      await expect
        .poll(() => imports.textContent(), { timeout: 60_000 })
        .toMatch(/Imported.*From source.*1 conversation/)
      // The target tenant's page shows the same conversation.
      await page.goto(`${pageOf("target")}/#/s/${session}`)
      await untilSettled(page)
      expect(await transcriptOf(page)).toBe(before)
      // A second import is refused, and the page shows the server's error text.
      await page.goto(`${pageOf("target")}/admin#tenant`)
      await page.getByRole("button", { name: "Import an archive…" }).waitFor(SOON)
      await field.setInputFiles(chosen)
      await expect.poll(() => page.textContent("main .fault")).toContain("conversations")
      await page.context().close()
    },
  )

  test("[AD7] the tenant is deleted only after its id is typed, and the deletion can be undone; an admin can do neither", async () => {
    const admin = await openAdmin(setup.browser, setup.cuecard, "tenant", { role: "admin", user: "an-admin" })
    expect(await admin.page.textContent("main")).toContain("Only owners can export or delete the organization.")
    await admin.page.context().close()
    const { page, errors } = await openAdmin(setup.browser, setup.cuecard, "tenant")
    await page.getByRole("button", { name: "Delete the organization…" }).click()
    const confirm = dialogButton(page, "Delete everything in 7 days")
    expect(await confirm.isDisabled()).toBe(true)
    await page.getByLabel("To confirm, type").fill("demo")
    await confirm.click()
    await page.waitForSelector(".warning", SOON)
    expect((await callApiAs("GET", "/v1/tenant")).body).toMatchObject({ id: "demo", status: "leaving" })
    await page.reload()
    await page.getByRole("button", { name: "Keep the organization" }).click()
    await expect.poll(() => page.locator(".warning").count()).toBe(0)
    expect((await callApiAs("GET", "/v1/tenant")).body).toMatchObject({ status: "open" })
    expect(errors).toEqual([])
    await page.context().close()
  })
})
