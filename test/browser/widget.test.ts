/** widget.test.ts: `<cuecard-chat>` on a page from another origin: both layouts, events and methods, and the frame. */

import { mkdirSync } from "node:fs"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { useServerAndBrowser } from "./server-and-browser.ts"
import {
  allowSites,
  EVENT_LOG,
  openSite,
  type Site,
  siteDocument,
  startSite,
  untilSeen,
  widgetTags,
} from "./widget-pages.ts"

const setup = useServerAndBrowser()
let site: Site

const SHOTS = process.env["SHOTS"]
if (SHOTS !== undefined) mkdirSync(SHOTS, { recursive: true })

/** Takes a screenshot if SHOTS names a folder. */
async function shoot(page: { screenshot(options: { path: string }): Promise<unknown> }, name: string): Promise<void> {
  if (SHOTS !== undefined) await page.screenshot({ path: `${SHOTS}/${name}.png` })
}

beforeAll(async () => {
  site = await startSite(setup.cuecard)
  await allowSites(setup.cuecard, [site.origin])
})
afterAll(async () => await site?.close())

const QUESTION = "What's the weather in London?"

describe("the inline layout", () => {
  test("[WG5] [WG6] [WG11] answers a question on a page from another origin, and reports the answer to that page", async () => {
    const { page, errors } = await openSite(
      setup.browser,
      site.serve(siteDocument(setup.cuecard, "", EVENT_LOG, "<input id=search autofocus>")),
    )
    const field = page.locator("cuecard-chat .composer textarea")
    await field.waitFor()
    await untilSeen(page, "ready")
    // The site keeps focus until the user goes to the widget.
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("search")
    const before = await page.evaluate(() => Object.keys(window).length)
    await field.fill(QUESTION)
    await field.press("Enter")
    const message = (await untilSeen(page, "message")) as { readonly status: string; readonly text: string }
    expect(message).toMatchObject({ status: "completed", text: expect.stringContaining("London") })
    await page.locator("cuecard-chat article .card").waitFor()
    await shoot(page, "inline-answer")
    expect(await page.evaluate(() => Object.keys(window).length)).toBe(before)
    expect(await page.evaluate(() => [document.cookie, location.hash, document.styleSheets.length])).toEqual([
      "",
      "",
      1,
    ])
    const keys = await page.evaluate(() => [...Object.keys(localStorage), ...Object.keys(sessionStorage)])
    expect(keys.filter((key) => !key.startsWith("cuecard-chat/"))).toEqual([])
    expect(errors).toEqual([])
    // The conversation is still open on the next page of the site.
    await page.reload()
    await page.locator("cuecard-chat article .card").waitFor()
    await page.context().close()
  })

  test("[WG6] attributes and methods take effect at once", async () => {
    const { page, errors } = await openSite(
      setup.browser,
      site.serve(siteDocument(setup.cuecard, 'theme="dark" language="de"', EVENT_LOG)),
    )
    await untilSeen(page, "ready")
    const box = page.locator("cuecard-chat .cuecard")
    expect(await box.getAttribute("data-theme")).toBe("dark")
    expect(await box.getAttribute("lang")).toContain("de")
    await shoot(page, "inline-dark-german")
    await page.evaluate(() => {
      const chat = document.querySelector("cuecard-chat")
      chat?.setAttribute("theme", "light")
      chat?.setAttribute("language", "ar")
    })
    await expect.poll(() => box.getAttribute("dir")).toBe("rtl")
    expect(await box.getAttribute("data-theme")).toBe("light")
    await shoot(page, "inline-arabic")
    await page.evaluate(() => {
      const chat = document.querySelector("cuecard-chat") as unknown as { send(text: string): void }
      chat.send("Hello")
    })
    await untilSeen(page, "message")
    await page.evaluate(() => {
      const chat = document.querySelector("cuecard-chat") as unknown as { newSession(): void }
      chat.newSession()
    })
    await page.locator("cuecard-chat .welcome").waitFor()
    expect(errors).toEqual([])
    await page.context().close()
  })

  test("[WG8] menus and dialogs are inside the widget, and keys don't reach the site", async () => {
    const { page } = await openSite(
      setup.browser,
      site.serve(
        siteDocument(
          setup.cuecard,
          "",
          `${EVENT_LOG}<script>window.keys = []; addEventListener("keydown", ({ key }) => keys.push(key))</script>`,
        ),
      ),
    )
    await untilSeen(page, "ready")
    const field = page.locator("cuecard-chat .composer textarea")
    await field.fill("Paint a sunset")
    await field.press("Enter")
    await untilSeen(page, "message")
    const picture = page.locator("cuecard-chat article .frame img").first()
    await picture.waitFor()
    await picture.click()
    const lightbox = page.locator("cuecard-chat dialog.lightbox")
    await lightbox.waitFor()
    expect(await page.evaluate(() => document.querySelector("dialog"))).toBeNull()
    await page.keyboard.press("Escape")
    await expect.poll(() => lightbox.count()).toBe(0)
    expect(await page.evaluate(() => Reflect.get(window, "keys"))).toEqual([])
    await page.context().close()
  })

  test("[WG6] a site that isn't allowed, or that provides no token, gets an error event with the reason", async () => {
    const other = await startSite(setup.cuecard)
    const denied = await openSite(setup.browser, other.serve(siteDocument(setup.cuecard, "", EVENT_LOG)))
    expect(await untilSeen(denied.page, "error")).toMatchObject({ code: "origin_denied" })
    await denied.page.context().close()
    await other.close()
    const html = siteDocument(setup.cuecard, "", EVENT_LOG).replace("/chat-token", "/nothing")
    const silent = await openSite(setup.browser, site.serve(html))
    expect(await untilSeen(silent.page, "error")).toMatchObject({ code: "token_failed" })
    await silent.page.context().close()
  })
})

describe("the focus", () => {
  test("[AX14] the widget doesn't take the focus from a field of the site when one of its controls disappears", async () => {
    const { page } = await openSite(
      setup.browser,
      site.serve(siteDocument(setup.cuecard, "", EVENT_LOG, "<input id=search>")),
    )
    await untilSeen(page, "ready")
    const field = page.locator("cuecard-chat .composer textarea")
    await field.fill(QUESTION)
    await field.press("Enter")
    await untilSeen(page, "message")
    const focused = await page.evaluate(async () => {
      const foot = document.querySelector("cuecard-chat")?.shadowRoot?.querySelector(".foot")
      const removed: string[] = []
      for (const next of ["search", "none"]) {
        const button = document.createElement("button")
        foot?.append(button)
        button.focus()
        if (next === "search") document.getElementById(next)?.focus()
        button.remove()
        await new Promise((resolve) => setTimeout(resolve, 100))
        removed.push(document.activeElement?.id || (document.activeElement?.localName ?? ""))
      }
      return removed
    })
    expect(focused).toEqual(["search", "cuecard-chat"])
    await page.context().close()
  })
})

describe("the button", () => {
  test("[WG9] opens a panel; Escape closes it, and the focus returns; on a phone, the panel covers the whole screen", async () => {
    const address = site.serve(
      `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
      <title>Site</title>${EVENT_LOG}</head><body><h1>Site</h1>${widgetTags(setup.cuecard, 'layout="button"')}</body></html>`,
    )
    for (const viewport of [
      { width: 1280, height: 800 },
      { width: 390, height: 844 },
    ]) {
      const { page, errors } = await openSite(setup.browser, address, { viewport })
      const tokensBefore = site.tokens
      const button = page.getByRole("button", { name: "Open chat" })
      await button.click()
      await untilSeen(page, "ready")
      expect(site.tokens).toBeGreaterThan(tokensBefore)
      const panel = page.getByRole("dialog", { name: "Chat" })
      const box = await panel.boundingBox()
      if (viewport.width === 390) expect(box).toEqual({ x: 0, y: 0, ...viewport })
      else expect(box?.width).toBe(400)
      const field = page.locator("cuecard-chat .composer textarea")
      await expect.poll(() => field.evaluate((element) => element.matches(":focus"))).toBe(true)
      await shoot(page, `button-${viewport.width}`)
      await page.keyboard.press("Escape")
      await untilSeen(page, "close")
      expect(await panel.isVisible()).toBe(false)
      expect(await button.evaluate((element) => element.matches(":focus"))).toBe(true)
      expect(errors).toEqual([])
      await page.context().close()
    }
  })
})

describe("isolate", () => {
  test("[WG4] shows the conversation in a frame served by the server, with the site's token", async () => {
    const { page, errors } = await openSite(
      setup.browser,
      site.serve(siteDocument(setup.cuecard, 'isolate theme="light"', EVENT_LOG)),
    )
    const field = page.frameLocator("cuecard-chat iframe").locator(".composer textarea")
    await field.waitFor()
    await untilSeen(page, "ready")
    await field.fill(QUESTION)
    await field.press("Enter")
    expect(await untilSeen(page, "message")).toMatchObject({ status: "completed" })
    await shoot(page, "isolate")
    expect(errors).toEqual([])
    await page.context().close()
  })

  test("[WG4] a site that isn't allowed can't frame the conversation, whatever origin it claims", async () => {
    const other = await startSite(setup.cuecard)
    const source = (origin: string): string =>
      `${setup.cuecard.url}/embed?tenant=${setup.cuecard.tenant}&origin=${encodeURIComponent(origin)}`
    const frames = [other.origin, site.origin].map((origin) => `<iframe src="${source(origin)}"></iframe>`).join("")
    const address = other.serve(
      `<!doctype html><script>window.said = []; addEventListener("message", ({ data }) => said.push(data))</script>${frames}`,
    )
    const { page, errors } = await openSite(setup.browser, address)
    await expect.poll(() => errors.length).toBeGreaterThanOrEqual(2)
    expect(errors.every((text) => text.includes("frame-ancestors"))).toBe(true)
    expect(await page.evaluate(() => Reflect.get(window, "said"))).toEqual([])
    await page.context().close()
    await other.close()
  })
})
