/** admin-layout.test.ts: the admin page is accessible, and nothing overflows, in all sizes, themes and directions. */

import type { Page } from "playwright-core"
import { beforeAll, describe, expect, test } from "vitest"
import { everyNth, IS_FULL, IS_LONG } from "../support/seeded.ts"
import { addUser, callApi, openAdmin, tokenFor } from "./admin-pages.ts"
import { findViolations } from "./axe-violations.ts"
import { DESKTOP, PHONE, THEMES } from "./page.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"

const SOON = { timeout: 20_000 }
const SECTIONS = [
  "users",
  "keys",
  "issuers",
  "agents",
  "models",
  "tools",
  "servers",
  "feedback",
  "usage",
  "prices",
  "settings",
  "audit",
  "tenant",
] as const

const setup = useServerAndBrowser({ vars: { SCRIPTED_DELAY_MS: "0" } })

/** Returns the elements that overflow the window sideways. */
function findOverflow(page: Page): Promise<string[]> {
  return page.$$eval(".admin main *, .admin > header *, dialog[open] *", (all) =>
    all
      .filter(
        (element) =>
          (element as HTMLElement).checkVisibility() && !element.matches(".visually-hidden, .visually-hidden *, .skip"),
      )
      .filter((element) => {
        const box = element.getBoundingClientRect()
        return box.width > 0 && (box.right > innerWidth + 1 || box.left < -1)
      })
      .map((element) => element.outerHTML.slice(0, 120)),
  )
}

describe("every section", () => {
  beforeAll(async () => {
    await addUser(setup.cuecard, "ada")
    const token = await tokenFor(setup.cuecard, "you", "owner")
    for (const [method, path, body] of [
      ["POST", "/v1/keys", { name: "ci backend" }],
      ["PUT", "/v1/agents/poet", { description: "يكتب الشعر", prompt: "Answer in verse." }],
      ["PUT", "/v1/models/fast", { provider: "openai", model: "gpt-5-mini", key: "sk-0123456789abcdef" }],
      ["POST", "/v1/tenant/export", {}],
    ] as const)
      expect((await callApi(setup.cuecard, token, method, path, body)).status, path).toBeLessThan(300)
  })

  // A short run checks every other section, in only one size and theme. Only a long run checks each size in both
  // themes.
  test.each(
    everyNth(
      SECTIONS.map((section, index) => [section, index] as const),
      2,
    ),
  )(
    "[AD8] %s: axe finds no violations, and nothing overflows, in all sizes, themes and directions",
    async (section, index) => {
      for (const size of IS_FULL ? [DESKTOP, PHONE] : [index % 8 < 4 ? DESKTOP : PHONE]) {
        const { page, errors } = await openAdmin(setup.browser, setup.cuecard, section, { size, bypassCSP: true })
        await page.waitForLoadState("networkidle")
        const isLight = IS_FULL ? (index % 2 === 0) === (size === DESKTOP) : index % 4 === 0
        const themes = IS_LONG ? THEMES : ([isLight ? "light" : "dark"] as const)
        for (const colorScheme of themes) {
          await page.emulateMedia({ colorScheme, reducedMotion: "reduce" })
          expect(await findViolations(page), `${section} ${size.width} ${colorScheme}`).toEqual([])
        }
        for (const direction of ["ltr", "rtl"]) {
          await page.evaluate((dir) => (document.documentElement.dir = dir), direction)
          expect(await findOverflow(page), `${section} ${size.width} ${direction}`).toEqual([])
        }
        expect(errors).toEqual([])
        await page.context().close()
      }
    },
  )

  test.each(
    everyNth(
      [
        ["keys", "Create an API key"],
        ["issuers", "Add a provider"],
        ["agents", "Add an agent"],
        ["models", "Add a model"],
        ["tools", "Add a tool"],
        ["servers", "Add a server"],
      ],
      2,
    ),
  )(
    "[AD8] the form of %s: axe finds no violations; the keyboard focus stays inside, and returns to the button that opened the form",
    async (section, name) => {
      for (const size of IS_FULL ? [DESKTOP, PHONE] : [DESKTOP]) {
        const { page } = await openAdmin(setup.browser, setup.cuecard, section, { size, bypassCSP: true })
        await page.emulateMedia({ reducedMotion: "reduce" })
        const opener = page.getByRole("button", { name })
        await opener.focus()
        await page.keyboard.press("Enter")
        await page.waitForSelector("dialog[open]", SOON)
        expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("INPUT")
        expect(await findViolations(page)).toEqual([])
        expect(await findOverflow(page)).toEqual([])
        await page.keyboard.press("Escape")
        await expect.poll(() => opener.evaluate((button) => button === document.activeElement)).toBe(true)
        await page.context().close()
      }
    },
  )
})

describe("the account panel", () => {
  test.each([DESKTOP, PHONE])(
    "[AD8] stays on the screen in both directions, and doesn't link to the admin page itself",
    async (size) => {
      const { page } = await openAdmin(setup.browser, setup.cuecard, "users", { size, bypassCSP: true })
      await page.click(".account-button", SOON)
      for (const direction of ["ltr", "rtl"]) {
        await page.evaluate((dir) => (document.documentElement.dir = dir), direction)
        expect(await findOverflow(page)).toEqual([])
      }
      expect(await page.locator(".account-panel a").count()).toBe(0)
      await page.context().close()
    },
  )
})
