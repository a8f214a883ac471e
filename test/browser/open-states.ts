/** open-states.ts: the steps that lead to the states in page-states.ts. No step depends on the page's language. */

import type { Cuecard } from "cuecard/testing"
import type { Browser, BrowserContext, Page } from "playwright-core"
import { requestTokensAs } from "./admin-pages.ts"
import type { StateConversations } from "./state-conversations.ts"
import type { ToolConversations } from "./tool-conversations.ts"
import { untilSettled } from "./page.ts"
import { type Site, siteDocument } from "./widget-pages.ts"

export const SOON = { timeout: 20_000 }

export interface StateView {
  readonly width: number
  readonly direction: "ltr" | "rtl"
  readonly theme: "light" | "dark"
  /** The language. By default, Arabic if the page runs from right to left, and English otherwise. */
  readonly language?: string
}

/** The server, the browser and the view that are used to reach a state. */
export interface Stage {
  readonly cuecard: Cuecard
  /** A server whose users sign in with a provider. */
  readonly signInServer: () => Promise<Cuecard>
  readonly browser: Browser
  readonly site: Site
  readonly conversations: StateConversations
  readonly tools: ToolConversations
  readonly view: StateView
}

/** Windows up to this width have a drawer, in CSS pixels (narrow-screen.css). */
const NARROW_PX = 800
/** The width of a phone. The widths 640 and 320 are those of a desktop, which has a mouse, zoomed to 200 and 400 %. */
export const PHONE_PX = 390
/** The heights of windows by width, in CSS pixels. The default is 900. */
const HEIGHTS_PX: Readonly<Record<number, number>> = { [PHONE_PX]: 844, 640: 512, 320: 256 }

export const isNarrow = ({ view }: Stage): boolean => view.width <= NARROW_PX

export async function openContext({ browser, view }: Stage): Promise<BrowserContext> {
  const isPhone = view.width === PHONE_PX
  const context = await browser.newContext({
    viewport: { width: view.width, height: HEIGHTS_PX[view.width] ?? 900 },
    hasTouch: isPhone,
    isMobile: isPhone,
    locale: view.direction === "rtl" ? "ar" : "en-US",
    colorScheme: view.theme,
    reducedMotion: "reduce",
    // The policy would block axe's script.
    bypassCSP: true,
  })
  const { language } = view
  if (language !== undefined)
    await context.addInitScript((chosen) => localStorage.setItem("cuecard.language", chosen), language)
  return context
}

/**
 * Opens a path of the chat page and waits until the page is shown in its language. `user` is a member; by default, the
 * page is opened as the server's user.
 */
export async function openPage(stage: Stage, at = "", user?: string): Promise<Page> {
  const context = await openContext(stage)
  if (user !== undefined) await requestTokensAs(context, user, user === "reader" ? "viewer" : "member")
  const page = await context.newPage()
  await page.goto(`${stage.cuecard.url}/${at}`)
  await page.waitForSelector(`html[dir=${stage.view.direction}]`, { state: "attached", ...SOON })
  await page.waitForSelector(".account-button", { state: "attached", ...SOON })
  return page
}

export async function openConversation(stage: Stage, name: keyof StateConversations): Promise<Page> {
  const page = await openPage(stage, `#/s/${stage.conversations[name]}`)
  await page.waitForSelector("[data-transcript] article[data-role=assistant]", SOON)
  return page
}

export async function openSettled(stage: Stage, name: keyof StateConversations): Promise<Page> {
  const page = await openConversation(stage, name)
  await untilSettled(page)
  await page.waitForSelector(".account-button", { state: "attached", ...SOON })
  return page
}

export async function openSidebar(stage: Stage, page: Page): Promise<void> {
  if (isNarrow(stage)) await page.click(".drawer-button", SOON)
  await page.waitForSelector(".sidebar nav li .more", SOON)
}

/** Opens the menu of the newest conversation in the list. */
export async function openRowMenu(stage: Stage): Promise<Page> {
  const page = await openSettled(stage, "short")
  await openSidebar(stage, page)
  await page.hover(".sidebar nav li[data-session]")
  await page.click(".sidebar nav li[data-session] .more")
  await page.waitForSelector(".menu", SOON)
  return page
}

/** Chooses the nth command of the open menu. */
export async function chooseCommand(page: Page, nth: number): Promise<void> {
  await page.click(`.menu [role=menuitem] >> nth=${nth}`)
}

export async function openDialogOfRow(stage: Stage, findCommand: (page: Page) => Promise<number>): Promise<Page> {
  const page = await openRowMenu(stage)
  await chooseCommand(page, await findCommand(page))
  await page.waitForSelector("dialog[open]", SOON)
  return page
}

/** Finds the nth command whose label ends in an ellipsis. */
export const findEllipsis =
  (nth: number) =>
  async (page: Page): Promise<number> => {
    const labels = await page.$$eval(".menu [role=menuitem]", (all) => all.map((element) => element.textContent ?? ""))
    return labels.flatMap((label, at) => (label.includes("…") ? [at] : []))[nth] ?? 0
  }

export async function hoverMessage(page: Page, role: "user" | "assistant"): Promise<void> {
  await page.locator(`article[data-role=${role}]`).last().hover()
}

export async function openAnswerMenu(stage: Stage): Promise<Page> {
  const page = await openSettled(stage, "short")
  await hoverMessage(page, "assistant")
  await page.locator("article[data-role=assistant] .acts [aria-haspopup=menu]").last().click()
  await page.waitForSelector(".menu", SOON)
  return page
}

export async function openPalette(stage: Stage, word: string): Promise<Page> {
  const page = await openSettled(stage, "short")
  await page.keyboard.press("Control+K")
  await page.waitForSelector(".palette [role=option]", SOON)
  if (word !== "") await page.keyboard.type(word)
  return page
}

export async function openWidget(stage: Stage, attributes: string): Promise<Page> {
  const { view, site, cuecard } = stage
  const context = await openContext(stage)
  const page = await context.newPage()
  const language = view.language ?? (view.direction === "rtl" ? "ar" : "en")
  const style = `<style>cuecard-chat { width: 100% !important; max-width: 640px } h1 { font-size: 1rem }</style>`
  const body = `<header>Site</header><main><h1>Site</h1></main><footer>Site</footer>`
  await page.goto(
    site.serve(siteDocument(cuecard, `${attributes} theme="${view.theme}" language="${language}"`, style, body)),
  )
  return page
}

export const WIDGET_FIELD = "cuecard-chat .composer textarea"

export async function openAdmin(stage: Stage, section: string): Promise<Page> {
  const context = await openContext(stage)
  await requestTokensAs(context, "you", "owner")
  const page = await context.newPage()
  await page.goto(`${stage.cuecard.url}/admin#${section}`)
  await page.waitForSelector(".admin h1")
  await page.waitForLoadState("networkidle")
  // The admin page is English only.
  await page.evaluate((dir) => (document.documentElement.dir = dir), stage.view.direction)
  return page
}

export async function openCopy(stage: Stage, url: string): Promise<Page> {
  const page = await (await openContext(stage)).newPage()
  await page.goto(url)
  await page.waitForSelector("h1", SOON)
  return page
}
