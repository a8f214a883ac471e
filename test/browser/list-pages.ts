/** list-pages.ts: opens the list of conversations and a conversation's menu, as a user does. */

import type { Page } from "playwright-core"
import type { Cuecard } from "cuecard/testing"
import { askQuestion, DESKTOP, PHONE, sessionIn, untilSettled } from "./page.ts"

/** A timeout that is longer than any loopback request takes, in milliseconds. */
export const SOON = { timeout: 20_000 }

export const SIZES = [
  ["desktop", DESKTOP],
  ["phone", PHONE],
] as const

/** Opens the list if it is in a drawer, as on a phone. */
export async function showList(page: Page): Promise<void> {
  const isClosed = (await page.isVisible(".drawer-button")) && (await page.$(".sidebar[data-open]")) === null
  if (isClosed) await page.click("button[aria-label=Conversations]")
  await page.waitForSelector(".sidebar nav", { state: "visible", ...SOON })
}

export async function chooseFromMenu(page: Page, id: string, item: string): Promise<void> {
  await showList(page)
  await page.hover(`[data-session="${id}"]`)
  await page.click(`[data-session="${id}"] .more`)
  await page.click(`[role=menuitem]:text-is("${item}")`)
}

/** Starts a conversation whose first message is `text`, and returns its id. */
export async function beginConversation(cuecard: Cuecard, page: Page, text: string): Promise<string> {
  await page.goto(`${cuecard.url}/#/`)
  await page.waitForSelector(".welcome", SOON)
  await askQuestion(page, text)
  await untilSettled(page)
  return sessionIn(page)
}
