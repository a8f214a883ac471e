/** survive.test.ts: stopping, network loss, approval, retries and edits, in several windows of a real Chromium. */

import { type Cuecard, startCuecard } from "cuecard/testing"
import type { Browser, Page } from "playwright-core"
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest"
import { everyNth, testInFull } from "../support/seeded.ts"
import { closeContexts, openChromium } from "../support/chromium.ts"
import { withRoutedSockets } from "../support/reused-contexts.ts"
import {
  askQuestion,
  DESKTOP,
  FIELD,
  netOf,
  openPage,
  openIn,
  type Opened,
  PHONE,
  sessionIn,
  untilSettled,
  transcriptOf,
  untilStill,
} from "./page.ts"
import { END_OF_ANSWER, postRecords, START_OF_ANSWER } from "./program-answer.ts"

const SLOW = "/bench deltas=4000 delay_ms=10"

let cuecard: Cuecard
let browser: Browser
/** The windows that show the conversation of the running test. */
let windows: Page[] = []
let faults: string[] = []
/** Windows that tests share, because opening one takes most of a second of processor time. */
const sharedWindows = new Map<number, Opened>()
const WINDOW_SIZES = [DESKTOP, DESKTOP, PHONE, DESKTOP]
const PHONE_WINDOW = 2
/** The number of the window that opens each conversation last. */
const LATE_WINDOW = 3

beforeAll(async () => {
  cuecard = await startCuecard({ vars: { SCRIPTED_DELAY_MS: "5", PROBE_TOOLS: "on" } })
  browser = await openChromium()
})

afterAll(async () => {
  await closeContexts(browser)
  await cuecard?.close()
})

afterEach(async ({ task }) => {
  // The next test must not depend on what a failed test has left behind.
  if (task.result?.state !== "fail") return
  sharedWindows.clear()
  await closeContexts(browser)
})

/** Returns a shared window that shows a new conversation. */
async function takeWindow(at: number): Promise<Page> {
  const opened = sharedWindows.get(at) ?? (await openPage(browser, cuecard, { size: WINDOW_SIZES[at] ?? DESKTOP }))
  sharedWindows.set(at, opened)
  const { page, errors } = opened
  errors.length = 0
  await goTo(page, "#/")
  await page.waitForSelector(".welcome")
  windows.push(page)
  return page
}

/** Goes to a hash within the page, which stays loaded. */
async function goTo(page: Page, at: string): Promise<void> {
  await page.evaluate((hash) => {
    location.hash = hash
  }, at)
}

/** Returns a shared window that shows the conversation of another window. */
async function takeWindowOn(of: Page, at: number): Promise<Page> {
  const page = await takeWindow(at)
  await goTo(page, `#/s/${sessionIn(of)}`)
  await page.waitForSelector("article")
  return page
}

/** Returns two desktop windows and one phone window that show a conversation with one exchange. */
async function threeWindows(first = "/say hello"): Promise<[Page, Page, Page]> {
  windows = []
  faults = []
  const page = await takeWindow(0)
  await askQuestion(page, first)
  await untilSettled(page)
  return [page, await takeWindowOn(page, 1), await takeWindowOn(page, PHONE_WINDOW)]
}

const readStatus = (page: Page) => page.getAttribute("article[data-role=assistant] >> nth=-1", "data-status")
const untilShown = (pages: readonly Page[], selector: string) =>
  Promise.all(pages.map((page) => page.waitForSelector(selector, { timeout: 20_000 })))

/** Expects all windows, including one that opens the conversation only now, to show the same transcript. */
async function expectSame(answers: number): Promise<void> {
  await Promise.all(windows.map((page) => untilSettled(page, answers)))
  const late = await takeWindowOn(windows[0] as Page, LATE_WINDOW)
  await untilSettled(late, answers)
  const shown = await transcriptOf(late)
  for (const page of windows) expect(await transcriptOf(page)).toBe(shown)
  expect(await Promise.all(windows.map((page) => page.$(".typing")))).toEqual(windows.map(() => null))
  expectNoFaults()
  await closeOwnWindows()
}

function expectNoFaults(): void {
  expect([...faults, ...[...sharedWindows.values()].flatMap(({ errors }) => errors)]).toEqual([])
}

/** Closes the windows that a test opened for itself. */
async function closeOwnWindows(): Promise<void> {
  const shared = new Set([...sharedWindows.values()].map(({ page }) => page))
  await Promise.all(windows.filter((page) => !shared.has(page)).map((page) => page.context().close()))
}

describe("stopping", () => {
  test("[PG18] after Stop on a phone, every window shows the answer so far and that it was stopped", async () => {
    const [first, second, phone] = await threeWindows()
    await askQuestion(first, SLOW)
    await untilShown([first, second, phone], "article[data-status=running] [data-segment=text]")
    await phone.click("button[aria-label=Stop]")
    await untilShown(windows, "article[data-status=cancelled] [data-segment=text]")
    expect(await first.textContent("[data-note=cancelled]")).toBe("You stopped this response. Continue")
    await expectSame(2)
  })

  test("[PG18] Escape stops the answer and keeps the text in the composer; if the drawer is open, Escape first closes it", async () => {
    const page = await takeWindow(PHONE_WINDOW)
    await askQuestion(page, SLOW)
    await page.waitForSelector("article[data-status=running] [data-segment=text]")
    await page.click("button[aria-label=Conversations]")
    await page.keyboard.press("Escape")
    expect(await readStatus(page)).toBe("running")
    await page.fill(FIELD, "not sent")
    await page.press(FIELD, "Escape")
    await page.waitForSelector("article[data-status=cancelled]")
    expect(await page.inputValue(FIELD)).toBe("not sent")
    expect(await page.$("button[aria-label=Stop]")).toBe(null)
  })
})

describe("the network", () => {
  test.each(everyNth(["is stopped", "completes"], 2))(
    "[PG26] after being offline while an answer %s, a window shows the same as the other windows",
    async (ending) => {
      const [first, second] = await threeWindows()
      const context = await browser.newContext(withRoutedSockets())
      const net = await netOf(context)
      const { page: lost } = await openIn(context, cuecard, `#/s/${sessionIn(first)}`)
      windows.push(lost)
      // Also waits for the code of the buttons, which Chromium doesn't load again if the first attempt fails.
      await untilSettled(lost)
      // A program's answer ends only when the test ends it, however slow the machine is.
      if (ending === "is stopped") await askQuestion(first, SLOW)
      else await postRecords(cuecard, sessionIn(first), START_OF_ANSWER)
      await untilShown(windows, "article[data-status=running] [data-segment=text]")
      await net.cut()
      // At this point, the window has rendered everything that it has received.
      await lost.waitForSelector("footer .link")
      const before = await lost.textContent("article[data-status=running]")
      if (ending === "is stopped") await second.keyboard.press("Escape")
      else await postRecords(cuecard, sessionIn(first), END_OF_ANSWER)
      await askQuestion(lost, "/say written offline")
      // Waits until the answer has ended in the other windows.
      await Promise.all([untilSettled(first, 2), untilSettled(second, 2)])
      expect(await lost.textContent("article[data-status=running]")).toBe(before)
      await net.mend()
      await expectSame(3)
    },
  )

  test("[SO13] a message written offline arrives once, even if its window has been closed", async () => {
    const context = await browser.newContext(withRoutedSockets())
    const net = await netOf(context)
    const { page } = await openIn(context, cuecard)
    await askQuestion(page, "/say one")
    await untilSettled(page)
    await net.cut()
    await askQuestion(page, "/say two")
    await page.waitForSelector("article[data-status=sending]")
    const at = `#/s/${sessionIn(page)}`
    const beside = await openPage(browser, cuecard, { at })
    await untilSettled(beside.page)
    expect(await beside.page.$$("article")).toHaveLength(2)
    await page.close({ runBeforeUnload: false })
    await net.mend()
    const again = await openIn(context, cuecard)
    await untilSettled(beside.page, 2)
    const texts = await beside.page.$$eval("article[data-role=user]", (all) =>
      all.map((element) => element.textContent),
    )
    expect(texts).toEqual(["/say one", "/say two"])
    const unsent = await again.page.evaluate(() => Object.keys(localStorage).filter((key) => /\.send\b/.test(key)))
    expect(unsent).toEqual([])
    faults = [...again.errors, ...beside.errors]
    windows = [beside.page]
    await again.page.goto(`${cuecard.url}/${at}`)
    await again.page.waitForSelector("article")
    windows.push(again.page)
    await expectSame(2)
  })

  test("[SO13] [SO15] the first message of a conversation, written offline, is sent by the next window", async () => {
    const context = await browser.newContext()
    const { page } = await openIn(context, cuecard)
    await context.setOffline(true)
    await askQuestion(page, "/say first words")
    await page.waitForSelector("article[data-status=refused]")
    await page.close({ runBeforeUnload: false })
    await context.setOffline(false)
    const again = await openIn(context, cuecard)
    await untilSettled(again.page)
    expect(await again.page.$$("article")).toHaveLength(2)
    expect(sessionIn(again.page)).not.toBe("")
    await context.close()
  })
})

describe("approval", () => {
  test("[PG20] if a call is allowed in one window and denied in another at the same time, only one decision counts, and every window shows it", async () => {
    const [first, second, phone] = await threeWindows()
    await askQuestion(first, '/call probe_ask {"text":"now"}')
    await untilShown([first, second, phone], ".ask")
    expect(await phone.textContent(".ask")).toContain("Allow Cuecard to run probe_ask?")
    expect(await phone.isVisible('[data-segment=tool] >> text="now"')).toBe(true)
    expect(await first.$(".typing")).toBe(null)
    // The second click may find no button. It must not wait for one, because it would then press a later test's button.
    const press = (page: Page, name: string) =>
      page.$eval(`.ask button >> text="${name}"`, (button) => (button as HTMLElement).click()).catch(() => {})
    await Promise.all([press(second, "Allow"), press(phone, "Deny")])
    await untilSettled(first, 2)
    const badge = await first.textContent("[data-segment=tool] summary")
    expect(badge).toMatch(/AllowedDone|Denied/)
    await expectSame(2)
  })

  test("[PG20] [PG28] on a phone, a long argument and a long line in the composer are fully visible", async () => {
    const page = await takeWindow(PHONE_WINDOW)
    const long = "/etc/very/long/path/that/goes/on".repeat(4)
    await askQuestion(page, `/call probe_ask {"text":"${long}"}`)
    await page.waitForSelector(".ask")
    const box = page.locator(".data pre").first()
    expect(await box.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0)
    expect(await box.textContent()).toContain(long)
    await page.screenshot({ path: "test/browser/out/phone-ask.png" })
    await page.fill(FIELD, "one line that fits beside a single butt")
    await page.click('.ask button >> text="Deny"')
    await page.waitForSelector(".badge:text-is('Denied')")
    const hidden = () => page.locator(FIELD).evaluate((element) => element.scrollHeight - element.clientHeight)
    expect(await hidden()).toBeLessThanOrEqual(1)
    await page.setViewportSize({ width: 320, height: 700 })
    expect(await hidden()).toBeLessThanOrEqual(1)
    await page.setViewportSize(PHONE)
  })

  test("[PG20] approval works with the keyboard alone", async () => {
    const [first] = await threeWindows()
    await askQuestion(first, '/call probe_ask {"text":"now"}')
    // The middle button, which allows all further calls of the tool, loads later.
    await first.locator(".ask button").nth(2).waitFor()
    await first.focus(".ask .firm")
    const isOnDeny = () => first.evaluate(() => document.activeElement?.textContent === "Deny")
    for (let tabs = 0; tabs < 3 && !(await isOnDeny()); tabs += 1) await first.keyboard.press("Tab")
    await first.keyboard.press("Enter")
    await untilShown(windows, ".badge:text-is('Denied')")
    expect(await first.evaluate(() => document.activeElement?.localName)).toBe("summary")
    await expectSame(2)
  })

  test("[PG20] Escape stops a waiting answer; its call is interrupted and no longer asks for approval", async () => {
    const [first, second] = await threeWindows()
    await askQuestion(first, '/call probe_ask {"text":"now"}')
    await untilShown([first, second], ".ask")
    await second.keyboard.press("Escape")
    await untilShown(windows, ".badge:text-is('Interrupted')")
    expect(await first.$(".ask")).toBe(null)
    await expectSame(2)
  })
})

describe("retries and versions", () => {
  test("[PG21] a failed answer shows the reason and can be retried; the attempts are versions", async () => {
    const [first, second] = await threeWindows()
    await askQuestion(first, "/fault model_refused")
    await untilShown(windows, "[data-note=failed]")
    expect(await first.textContent("[data-note=failed]")).toMatch(/ Try again$/)
    await second.click("text=Try again")
    await untilShown(windows, "text=2/2")
    await untilShown(windows, "[data-note=failed]")
    await first.click("button[aria-label='Previous version']")
    await untilShown(windows, "text=1/2")
    await expectSame(2)
  })

  test("[PG22] [PG23] an edited message and its earlier version are the same in every window and after a reload", async () => {
    const [first, second, phone] = await threeWindows("/say one")
    await askQuestion(first, "/say two")
    await untilSettled(first, 2)
    await first.hover("article[data-role=user] >> nth=0")
    await first.click("button[aria-label=Edit] >> nth=0")
    await first.fill(".editor textarea", "/say other")
    await first.keyboard.press("Control+Enter")
    await untilShown(windows, "p:text-is('other')")
    await untilSettled(first)
    expect(await first.$(".editor")).toBe(null)
    expect(await second.$$("article")).toHaveLength(2)
    expect(await second.textContent("article[data-role=user] .versions")).toBe("2/2")
    await phone.click("button[aria-label='Previous version']")
    await untilShown(windows, "p:text-is('two')")
    expect(await phone.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe("Previous version")
    await first.reload()
    await untilSettled(first, 2)
    expect(await first.textContent("article[data-role=user] .versions")).toBe("1/2")
    await expectSame(2)
  })

  testInFull("[PG23] switching versions far up in the transcript doesn't move the switch on the screen", async () => {
    const [first] = await threeWindows('/say "a\\n\\nb\\n\\nc"')
    for (let at = 2; at <= 16; at++) {
      await askQuestion(first, `/say "${"line\\n\\n".repeat(12)}${at}"`)
      await first.waitForSelector(`article[data-status=completed] p:text-is("${at}")`)
    }
    const target = first.locator("article[data-role=user]").nth(2)
    await target.scrollIntoViewIfNeeded()
    await first.mouse.wheel(0, -40)
    await target.hover()
    await target.locator("button[aria-label=Edit]").click()
    await first.fill(".editor textarea", "/say short")
    await first.keyboard.press("Control+Enter")
    await first.waitForSelector("p:text-is('short')")
    await untilSettled(first, 3)
    const way = first.locator("article[data-role=user]").nth(2).locator("[data-focus-key=back]")
    const before = (await way.boundingBox())?.y ?? 0
    await first.evaluate(() => Reflect.set(window, "kept", document.querySelectorAll("article")[1]))
    await way.click()
    await first.waitForSelector('p:text-is("16")', { state: "attached" })
    await untilStill(first)
    const on = first.locator("article[data-role=user]").nth(2).locator("[data-focus-key=on]")
    expect(Math.abs(((await on.boundingBox())?.y ?? 0) - before)).toBeLessThan(2)
    expect(await first.evaluate(() => Reflect.get(window, "kept") === document.querySelectorAll("article")[1])).toBe(
      true,
    )
    await untilShown(windows, 'p:text-is("16")')
    expectNoFaults()
  })

  test("[PG19] a withdrawn message returns to the composer of one window and disappears from all windows", async () => {
    const [first, second, phone] = await threeWindows()
    await askQuestion(first, SLOW)
    await first.waitForSelector("article[data-status=running] [data-segment=text]")
    await askQuestion(first, "/say later")
    await askQuestion(first, "/say last")
    await untilShown([first, second, phone], "article[data-status=queued] >> nth=1")
    await phone.click("[data-status=queued] >> text=Cancel >> nth=0")
    await Promise.all(
      windows.map((page) => page.waitForFunction(() => document.querySelectorAll("[data-status=queued]").length === 1)),
    )
    expect(await phone.inputValue(FIELD)).toBe("/say later")
    expect(await first.inputValue(FIELD)).toBe("")
    await second.keyboard.press("Escape")
    await expectSame(3)
  })

  test("[PG20] a message that is sent while an answer is waiting for approval denies the call and is answered", async () => {
    const [first, second] = await threeWindows()
    await askQuestion(first, '/call probe_ask {"text":"now"}')
    await untilShown(windows, ".ask")
    await askQuestion(second, "/say never mind")
    await untilShown(windows, ".badge:text-is('Denied')")
    await untilShown(windows, "p:text-is('never mind')")
    await expectSame(3)
  })

  test("[PG25] the output of a running tool grows while its details are open", async () => {
    const page = await takeWindow(0)
    await askQuestion(page, '/call probe_stream {"lines":200,"ms":15}')
    await page.waitForSelector("[data-state=running] summary")
    await page.click("[data-segment=tool] summary")
    await page.waitForSelector("text=line 20 of 200")
    const box = page.locator(".data pre").nth(1)
    await box.evaluate((item) => {
      item.scrollTop = 40
    })
    await page.waitForSelector("text=line 60 of 200")
    expect(await box.evaluate((item) => item.scrollTop)).toBe(40)
    await box.evaluate((element) => {
      element.scrollTop = element.scrollHeight
    })
    await page.waitForSelector("text=line 120 of 200")
    expect(
      await box.evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight),
    ).toBeLessThan(9)
    await untilSettled(page)
    expect(await page.getAttribute("[data-segment=tool] details", "open")).toBe("")
  })
})
