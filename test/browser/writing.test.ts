/** writing.test.ts: the composer's tools and the actions below answers, against a real server. */

import type { Page } from "playwright-core"
import { expect, test } from "vitest"
import { testInFull } from "../support/seeded.ts"
import { findViolations } from "./axe-violations.ts"
import { askQuestion, DESKTOP, FIELD, openIn, openPage, PHONE, untilSettled, untilStill } from "./page.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"

const setup = useServerAndBrowser({ vars: { SCRIPTED_DELAY_MS: "20" } })

const OUT = process.env["SHOTS"] ?? "test/browser/out"

async function shoot(page: Page, name: string): Promise<void> {
  await untilStill(page)
  await page.screenshot({ path: `${OUT}/writing-${name}.png` })
}

async function expectAccessible(page: Page): Promise<void> {
  expect(await findViolations(page)).toEqual([])
}

const lastAnswer = "article[data-role=assistant] >> nth=-1"

testInFull(
  "[WR1] [WR12] [WR14] [WR20] [WR22] [WR30] [WR40] [AP8] writing, rating, continuing and branching work on a desktop",
  async () => {
    const { browser, cuecard } = setup
    const { page, errors } = await openPage(browser, cuecard, { size: DESKTOP, bypassCSP: true })

    // A prompt is saved in the dialog, and inserted with `/`.
    await page.click("button[aria-label=Tools]")
    await shoot(page, "tools-menu")
    await page.click("text=Saved prompts…")
    await page.click("text=New prompt")
    await page.fill(".prompt-form input", "Greet")
    await page.fill(".prompt-form textarea", "/say Hello there, how are you?")
    await page.click(".prompt-form >> text=Save")
    await page.waitForSelector(".prompts >> text=Greet")
    await shoot(page, "prompts")
    await expectAccessible(page)
    await page.click("dialog >> text=Done")
    await page.click(FIELD)
    await page.keyboard.type("/gr")
    await page.waitForSelector("[role=option] >> text=Greet")
    await shoot(page, "suggestions")
    await expectAccessible(page)
    await page.keyboard.press("Enter")
    await expect.poll(() => page.inputValue(FIELD)).toBe("/say Hello there, how are you?")
    await page.keyboard.press("Enter")
    await untilSettled(page)

    // A rating is shown at once, in a second tab, and after a reload.
    const { page: second } = await openIn(page.context(), cuecard, new URL(page.url()).hash)
    await second.waitForSelector("[aria-label='Bad response']")
    await page.click("[aria-label='Bad response']")
    await page.waitForSelector("dialog.box")
    await shoot(page, "feedback")
    await expectAccessible(page)
    await page.click("text=Incomplete")
    await page.click("dialog >> text=Send")
    await page.waitForSelector("dialog", { state: "detached" })
    await second.waitForSelector("[aria-label='Bad response'][aria-pressed=true]")
    await second.close()
    await page.reload()
    await page.waitForSelector("[aria-label='Bad response'][aria-pressed=true]")
    await page.click("[aria-label=More]")
    await shoot(page, "answer-menu")
    await page.click("[role=menuitem] >> text=Usage")
    await page.waitForSelector("table.usage >> text=scripted")
    await shoot(page, "usage")
    await page.click("dialog >> text=Done")

    // A stopped answer continues in the middle of its text.
    const words = Array.from({ length: 150 }, (_, at) => `word${at}`).join(" ")
    await askQuestion(page, `/say ${words}`)
    await page.waitForFunction(() => document.querySelectorAll("article")[3]?.textContent?.includes("word5"))
    await page.click("button[aria-label=Stop]")
    await page.waitForSelector("[data-note=cancelled]")
    await shoot(page, "stopped")
    await page.click("[data-note=cancelled] >> text=Continue")
    await page.waitForSelector("text=2/2")
    await untilSettled(page, 2)
    expect((await page.textContent(`${lastAnswer} >> [data-segment=text]`))?.trim()).toBe(words)

    // A long paste becomes a file, which can be inserted as text.
    const long = "A line of a long text.\n".repeat(80)
    await page.click(FIELD)
    await page.evaluate((text) => {
      const clipboardData = new DataTransfer()
      clipboardData.setData("text/plain", text)
      const event = new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true })
      document.querySelector(".composer textarea")?.dispatchEvent(event)
    }, long)
    await page.waitForSelector(".chip >> text=Pasted text.txt")
    await shoot(page, "long-paste")
    await page.click("text=Insert as text")
    await expect.poll(() => page.inputValue(FIELD)).toBe(long)
    await page.fill(FIELD, "")

    // A tool is always allowed in this conversation.
    await askQuestion(page, "Rename this conversation to Rain")
    await page.waitForSelector("text=Always allow here")
    await shoot(page, "approval")
    await page.click("text=Always allow here")
    await untilSettled(page, 3)
    await askQuestion(page, "Rename this conversation to Shine")
    await untilSettled(page, 4)
    await page.click("button[aria-label=Tools]")
    await page.click("text=Always allowed here…")
    await page.waitForSelector("dialog code >> text=rename_conversation")
    await shoot(page, "allowed-tools")
    await page.click("dialog >> text=Done")

    // A branch opens as a new conversation.
    const before = page.url()
    await page.click("article[data-role=assistant] >> nth=0 >> [aria-label=More]")
    await page.click("text=Branch into a new conversation")
    await page.waitForURL((url) => url.href !== before)
    await untilSettled(page, 1)
    expect(await page.locator("[data-transcript] article").count()).toBe(2)
    expect(errors).toEqual([])
    await page.context().close()
  },
)

test("[WR21] [WR31] [WR36] agents and suggestions work on a phone, in the dark theme and from right to left", async () => {
  const { browser, cuecard } = setup
  const { page } = await openPage(browser, cuecard, { size: PHONE, theme: "dark", bypassCSP: true })
  const manifest = await (await fetch(`${cuecard.url}/manifest.webmanifest`)).json()
  for (const { src } of manifest.icons) expect((await fetch(cuecard.url + src)).status, src).toBe(200)
  expect(await page.getAttribute("link[rel=manifest]", "href")).toBe("/manifest.webmanifest")
  await page.evaluate(() => localStorage.setItem("cuecard.language", "ar"))
  await page.reload()
  await page.waitForSelector("html[dir=rtl]")
  await page.waitForSelector("button.tools")
  await page.click(FIELD)
  await page.keyboard.type("@re")
  await page.waitForSelector("[role=option] >> text=researcher")
  await shoot(page, "phone-agents")
  await expectAccessible(page)
  await page.keyboard.press("Tab")
  await page.waitForSelector(".chip.agent")
  await shoot(page, "phone-agent")
  await page.keyboard.type("/say hi")
  await page.keyboard.press("Enter")
  await untilSettled(page)
  await shoot(page, "phone-answer")
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
  await page.context().close()
})

test("[WR31] [VD4] [WS1] the tools menu chooses the agent of a new conversation, and the header names it", async () => {
  const { browser, cuecard } = setup
  const { page, errors } = await openPage(browser, cuecard, { size: DESKTOP, bypassCSP: true })
  await page.fill(FIELD, "/say hello")
  await page.click("button[aria-label=Tools]")
  await page.getByRole("menuitem", { name: "Choose an agent…" }).click()
  await page.getByRole("menuitem", { name: "researcher" }).waitFor()
  await shoot(page, "agent-list")
  await expectAccessible(page)
  await page.keyboard.press("End")
  await page.getByRole("menuitem", { name: "researcher" }).click()
  await page.waitForSelector(".chip.agent >> text=researcher")
  expect(await page.inputValue(FIELD)).toBe("/say hello")
  await page.press(FIELD, "Enter")
  await untilSettled(page)
  await page.waitForSelector(".topbar .agent >> text=researcher")
  await shoot(page, "agent-header")
  await page.reload()
  await page.waitForSelector(".topbar .agent >> text=researcher")
  await page.setViewportSize(PHONE)
  await shoot(page, "agent-header-phone")
  await expectAccessible(page)
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
  // A conversation with the general agent doesn't name it.
  await page.setViewportSize(DESKTOP)
  await page.click(".sidebar .new")
  await page.waitForSelector(".welcome")
  await askQuestion(page, "/say hello")
  await untilSettled(page)
  expect(await page.locator(".topbar .agent").count()).toBe(0)
  expect(errors).toEqual([])
  await page.context().close()
})
