/**
 * page-shell.test.ts: the page around the transcript, in a real Chromium: drafts, theme, titles, reading position, the
 * header of an agent's conversation, and copying without a clipboard.
 */

import type { BrowserContext, Page } from "playwright-core"
import { describe, expect, test } from "vitest"
import { askQuestion, DESKTOP, DESKTOP_AND_PHONE, FIELD, openIn, openPage, sessionIn, untilSettled } from "./page.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"

const SOON = { timeout: 20_000 }
const DARK_GROUND = "rgb(11, 11, 15)"
const LIGHT_GROUND = "rgb(251, 251, 252)"

const setup = useServerAndBrowser({ vars: { SCRIPTED_DELAY_MS: "0" } })

const url = (at: string): string => `${setup.cuecard.url}/${at}`

/** Makes the pages of a context receive tokens for another user. */
async function signInAs(context: BrowserContext, user: string): Promise<void> {
  await context.route("**/v1/dev/token", async (route) => {
    const headers = { "content-type": "application/json" }
    const response = await fetch(url("v1/dev/token"), { method: "POST", headers, body: JSON.stringify({ user }) })
    await route.fulfill({ json: await response.json() })
  })
}

/** Sends the first message of a new conversation, and returns the conversation's id. */
async function beginConversation(page: Page, text: string): Promise<string> {
  await page.goto(url("#/"))
  await page.waitForSelector(".welcome", SOON)
  await askQuestion(page, text)
  await untilSettled(page)
  return sessionIn(page)
}

async function goTo(page: Page, session: string): Promise<void> {
  await page.evaluate((id) => {
    location.hash = id === "" ? "#/" : `#/s/${id}`
  }, session)
  await page.waitForSelector(session === "" ? ".welcome" : "article", SOON)
}

describe("drafts", () => {
  test("[PG77] [PG90] a draft survives a reload in its own conversation, and is gone once it is sent", async () => {
    const { page, errors } = await openPage(setup.browser, setup.cuecard)
    const one = await beginConversation(page, "/say one")
    const two = await beginConversation(page, "/say two")
    await page.fill(FIELD, "half of two")
    await goTo(page, one)
    await page.fill(FIELD, "half of one\nمرحبا")
    await goTo(page, "")
    await page.fill(FIELD, "half of a new one")
    for (const [session, draft] of [
      ["", "half of a new one"],
      [one, "half of one\nمرحبا"],
      [two, "half of two"],
    ] as const) {
      await goTo(page, session)
      await page.reload()
      await expect.poll(() => page.inputValue(FIELD), SOON).toBe(draft)
    }
    await page.press(FIELD, "Enter")
    await untilSettled(page, 2)
    await page.reload()
    await untilSettled(page, 2)
    // At this point, the other drafts have been restored.
    await goTo(page, one)
    await expect.poll(() => page.inputValue(FIELD), SOON).toBe("half of one\nمرحبا")
    await goTo(page, two)
    expect(await page.inputValue(FIELD)).toBe("")
    expect(errors).toEqual([])
    await page.context().close()
  })

  test("[PG77] [PG90] one user's draft isn't shown to another user, and is erased with its conversation", async () => {
    const { page } = await openPage(setup.browser, setup.cuecard)
    const context = page.context()
    const id = await beginConversation(page, "/say one")
    await page.fill(FIELD, "a secret")
    await goTo(page, "")
    await page.fill(FIELD, "another secret")
    const stored = () => page.evaluate(() => JSON.stringify({ ...localStorage }))
    await expect.poll(stored, SOON).toContain("another secret")
    await signInAs(context, "somebody-else")
    const other = await openIn(context, setup.cuecard)
    await other.page.waitForSelector(".sidebar .none:not(:empty)", SOON)
    expect(await other.page.inputValue(FIELD)).toBe("")
    await other.page.close()
    await context.unroute("**/v1/dev/token")
    expect(await stored()).toContain("a secret")
    await page.hover(`[data-session="${id}"]`)
    await page.click(`[data-session="${id}"] .more`)
    await page.click('[role=menuitem]:text-is("Delete")')
    await expect.poll(stored, SOON).not.toContain("a secret")
    expect(await stored()).toContain("another secret")
    await context.close()
  })

  test("[PG92] the draft of a conversation that was deleted elsewhere moves to a new conversation", async () => {
    const { page } = await openPage(setup.browser, setup.cuecard)
    const id = await beginConversation(page, "/say one")
    await page.fill(FIELD, "still needed")
    const headers = { authorization: `Bearer ${setup.cuecard.token}` }
    expect((await fetch(url(`v1/sessions/${id}`), { method: "DELETE", headers })).ok).toBe(true)
    await page.click(".link a", SOON)
    await page.waitForSelector(".welcome", SOON)
    expect(await page.inputValue(FIELD)).toBe("still needed")
    await page.context().close()
  })

  test("[PG90] a draft that is sent in one tab disappears from the other tab", async () => {
    const { page } = await openPage(setup.browser, setup.cuecard)
    const id = await beginConversation(page, "/say one")
    await page.fill(FIELD, "/say two")
    const stored = () => page.evaluate(() => JSON.stringify({ ...localStorage }))
    await expect.poll(stored, SOON).toContain("/say two")
    const { page: second } = await openIn(page.context(), setup.cuecard, `#/s/${id}`)
    await expect.poll(() => second.inputValue(FIELD), SOON).toBe("/say two")
    await page.press(FIELD, "Enter")
    await expect.poll(() => second.inputValue(FIELD), SOON).toBe("")
    await page.context().close()
  })
})

describe("the theme", () => {
  test.each([
    ["dark", "light", DARK_GROUND, "dark"],
    ["light", "dark", LIGHT_GROUND, "light"],
  ] as const)(
    "[PG80] %s on a %s system is shown before the page's code runs",
    async (theme, system, ground, metaTheme) => {
      const context = await setup.browser.newContext({ viewport: DESKTOP, colorScheme: system })
      await context.addInitScript((name) => localStorage.setItem("cuecard.theme", name), theme)
      let release = (): void => {}
      const held = new Promise<void>((resolve) => {
        release = resolve
      })
      // The scripts in the head, which apply the theme, are not held back.
      await context.route(/\/assets\/(?!theme-|start-requests-).*\.js$/, async (route) => {
        await held
        await route.continue()
      })
      const page = await context.newPage()
      const errors: string[] = []
      page.on("console", (message) => {
        if (message.type() === "error") errors.push(message.text())
      })
      await page.goto(url(""), { waitUntil: "commit" })
      await page.waitForSelector("#app", { state: "attached" })
      const look = () =>
        page.evaluate(() => ({
          ground: getComputedStyle(document.documentElement).backgroundColor,
          // The browser paints the page in this scheme until the style sheet has loaded.
          scheme: document.querySelector<HTMLMetaElement>("meta[name=color-scheme]")?.content,
          colors: [...document.querySelectorAll<HTMLMetaElement>("meta[name=theme-color]")]
            .filter(({ media }) => matchMedia(media).matches)
            .map(({ content }) => content),
        }))
      const expected = { ground, scheme: metaTheme, colors: [theme === "dark" ? "#0b0b0f" : "#fbfbfc"] }
      await expect.poll(look, SOON).toEqual(expected)
      expect(await page.$("textarea")).toBe(null)
      release()
      await page.waitForSelector("textarea")
      expect(await look()).toEqual(expected)
      expect(errors).toEqual([])
      await context.close()
    },
  )

  test("[PG80] changing the theme changes the browser's own colours at once, and the choice is stored", async () => {
    const { page } = await openPage(setup.browser, setup.cuecard, { theme: "light" })
    const colors = () =>
      page.evaluate(() =>
        [...document.querySelectorAll<HTMLMetaElement>("meta[name=theme-color]")]
          .filter(({ media }) => matchMedia(media).matches)
          .map(({ content }) => content),
      )
    expect(await colors()).toEqual(["#fbfbfc"])
    await page.click('.sidebar a[href="#/settings"]')
    await page.click(".settings label:has-text('Dark')")
    expect(await colors()).toEqual(["#0b0b0f"])
    await page.reload()
    expect(await page.isChecked(".settings label:has-text('Dark') input")).toBe(true)
    expect(await colors()).toEqual(["#0b0b0f"])
    await page.click(".settings label:has-text('System')")
    expect(await colors()).toEqual(["#fbfbfc"])
    await page.emulateMedia({ colorScheme: "dark" })
    expect(await colors()).toEqual(["#0b0b0f"])
    await page.context().close()
  })
})

test("[PG82] the document's title names the open conversation", async () => {
  const { page } = await openPage(setup.browser, setup.cuecard)
  expect(await page.title()).toBe("Cuecard")
  await beginConversation(page, "/say the title")
  await expect.poll(() => page.title(), SOON).toBe("/say the title · Cuecard")
  await goTo(page, "")
  await expect.poll(() => page.title(), SOON).toBe("Cuecard")
  await page.context().close()
})

describe("the header of an agent's conversation", () => {
  test.each(DESKTOP_AND_PHONE)(
    "[PG78] on a %s it says who asked, and links back to the conversation from which the user came",
    async (name, size) => {
      const { page, errors } = await openPage(setup.browser, setup.cuecard, { size })
      await askQuestion(page, "Ask the researcher to compare the weather in Oslo and Lima")
      await untilSettled(page)
      const own = sessionIn(page)
      expect(await page.isVisible(".drawer-button")).toBe(name === "phone")
      await page.click("section.agent header a")
      await expect.poll(() => page.textContent(".topbar .title"), SOON).toBe("Asked by general")
      expect(await page.isVisible(".topbar")).toBe(true)
      expect(await page.title()).toBe("Asked by general · Cuecard")
      expect(await page.getAttribute(`[data-session="${own}"]`, "data-current")).toBe("")
      // In a longer conversation, the first page of history may not name the agent.
      await page.route("**/conversation/recent*", async (route) => {
        const response = await route.fetch()
        const { messages, ...rest } = (await response.json()) as { messages: { agent?: unknown }[] }
        await route.fulfill({ json: { ...rest, messages: messages.filter(({ agent }) => agent === undefined) } })
      })
      await page.reload()
      await expect.poll(() => page.textContent(".topbar .title"), SOON).toBe("Agent conversation")
      expect(await page.isVisible(".topbar button[aria-label=Back]")).toBe(true)
      expect(await page.getAttribute(`[data-session="${own}"]`, "data-current")).toBe("")
      await page.unrouteAll({ behavior: "wait" })
      await page.reload()
      await expect.poll(() => page.isVisible(".topbar button[aria-label=Back]"), SOON).toBe(true)
      expect(await page.getAttribute(`[data-session="${own}"]`, "data-current")).toBe("")
      const agentSession = sessionIn(page)
      await page.click(".topbar button[aria-label=Back]")
      await expect.poll(() => sessionIn(page), SOON).toBe(own)
      await untilSettled(page)
      // If the conversation is opened by its URL, there is nothing to link back to.
      const { page: direct } = await openIn(page.context(), setup.cuecard, `#/s/${agentSession}`)
      await direct.setViewportSize(size)
      await expect.poll(() => direct.textContent(".topbar .title"), SOON).toBe("Asked by general")
      expect(await direct.isVisible(".topbar button[aria-label=Back]")).toBe(false)
      expect(errors).toEqual([])
      await page.context().close()
    },
  )
})

test("[PG81] the reading position is restored when the user comes back to a conversation, even if it is far above the end", async () => {
  const { page } = await openPage(setup.browser, setup.cuecard)
  const other = await beginConversation(page, "/say other")
  const long = await beginConversation(page, "/say 1")
  for (let turn = 2; turn <= 16; turn++) {
    await askQuestion(page, `/say "${"line\\n\\n".repeat(14)}${turn}"`)
    await untilSettled(page, turn)
  }
  const view = page.locator(".view")
  const wheelTo = async (article: number): Promise<void> => {
    await page.locator("article").nth(article).scrollIntoViewIfNeeded()
    await page.hover(".view")
    await page.mouse.wheel(0, -30)
    await page.waitForTimeout(300)
  }
  /** Returns the message at the top of the view, and its distance from the top. */
  const place = () =>
    view.evaluate((element) => {
      const { top } = element.getBoundingClientRect()
      const article = [...element.querySelectorAll("article")].find((item) => item.getBoundingClientRect().bottom > top)
      return [article?.dataset["id"], Math.round((article?.getBoundingClientRect().top ?? 0) - top)] as const
    })
  await page.reload()
  await untilSettled(page, 12)
  // Scrolling up loads the older page.
  await wheelTo(0)
  await page.waitForFunction(() => document.querySelectorAll("article").length === 32, null, SOON)
  await wheelTo(3)
  const before = await place()
  await goTo(page, other)
  await goTo(page, long)
  await expect.poll(async () => (await place())[0], SOON).toBe(before[0])
  await expect.poll(async () => Math.abs((await place())[1] - before[1]), SOON).toBeLessThan(3)
  await page.waitForTimeout(300)
  expect(Math.abs((await place())[1] - before[1])).toBeLessThan(3)
  expect(await page.isVisible(".jump")).toBe(true)
  await page.click(".jump")
  await goTo(page, other)
  await goTo(page, long)
  await untilSettled(page, 10)
  const distance = await view.evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight)
  expect(distance).toBeLessThan(24)
  await page.context().close()
})

describe("copying", () => {
  test.each([
    ["without a clipboard", "undefined", false],
    ["with a clipboard that refuses", "{ writeText: () => Promise.reject(new Error('no')) }", false],
    ["with no way to copy", "undefined", true],
  ])("[PG83] %s, the page copies in another way, or says that it couldn't copy", async (_, clipboard, isBlocked) => {
    const context = await setup.browser.newContext({ viewport: DESKTOP })
    await context.addInitScript(`Object.defineProperty(navigator, "clipboard", { value: ${clipboard} })`)
    if (isBlocked) await context.addInitScript("document.execCommand = () => false")
    const { page } = await openIn(context, setup.cuecard)
    await beginConversation(page, "/say copied words")
    await page.click("article[data-role=assistant] button[aria-label=Copy]")
    const label = isBlocked ? "Couldn't copy" : "Copied"
    await page.waitForSelector(`article[data-role=assistant] button[aria-label="${label}"]`, SOON)
    expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe(label)
    await page.focus(FIELD)
    if (!isBlocked) {
      await page.keyboard.press("Control+V")
      expect(await page.inputValue(FIELD)).toBe("copied words")
    }
    await context.close()
  })
})

test("[PG84] text that is typed in a right-to-left script is laid out from right to left", async () => {
  const { page } = await openPage(setup.browser, setup.cuecard)
  await page.fill(FIELD, "ما هو الطقس في لندن؟")
  const direction = (selector: string) => page.$eval(selector, (element) => getComputedStyle(element).direction)
  expect(await direction(FIELD)).toBe("rtl")
  await page.fill(FIELD, "/say שלום")
  expect(await direction(FIELD)).toBe("ltr")
  await page.fill(FIELD, "שלום, מה שלומך?")
  await page.press(FIELD, "Enter")
  await untilSettled(page)
  await page.waitForSelector("[data-session] .title:text-is('שלום, מה שלומך?')", SOON)
  expect(await direction("[data-current] .title")).toBe("rtl")
  // A short title is aligned to the start edge of the list, like the others.
  const gapPx = await page.$eval("[data-current] .title", (title) => {
    const range = document.createRange()
    range.selectNodeContents(title)
    return range.getBoundingClientRect().left - title.getBoundingClientRect().left
  })
  expect(gapPx).toBeLessThan(1)
  await page.context().close()
})
