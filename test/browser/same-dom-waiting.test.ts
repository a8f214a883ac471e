/**
 * same-dom-waiting.test.ts: an answer that is waiting for the user has the same elements live, after a reload, in a
 * second tab, in the widget and in the widget's frame.
 *
 * The answers are waiting for an approval, for the reply to an MCP server's question and for a connected account. Other
 * answers show a card with a form, an app, and a document in two versions. A real server writes all of them.
 * same-dom.test.ts omits such answers, because it imports its conversations, and an import interrupts waiting calls.
 */

import type { BrowserContext, Frame, Page } from "playwright-core"
import { afterAll, beforeAll, expect, test } from "vitest"
import { everyNth } from "../support/seeded.ts"
import { DESKTOP, openIn, transcriptOf, untilStill } from "./page.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"
import { writeConversation } from "./state-conversations.ts"
import { type StartedTools, writeToolConversations } from "./tool-conversations.ts"
import { allowSites, findWidgetFrame, type Site, siteDocument, startSite } from "./widget-pages.ts"

const VIEW = { viewport: DESKTOP, colorScheme: "light", reducedMotion: "reduce" } as const

/** The conversations, each with the selectors of what shows that the last answer is complete. */
const SHOWN = {
  // The code of this button and the colours of the arguments are loaded after the code of the other buttons.
  approval: ['.ask button:has-text("Always allow here")', "figure.data .key"],
  question: ["form"],
  connection: ["button"],
  form: [".view-action button"],
  app: ["[data-segment=app] iframe"],
  canvas: [".canvas iframe"],
} as const

type Name = keyof typeof SHOWN

const setup = useServerAndBrowser({ vars: { SCRIPTED_DELAY_MS: "0", PROBE_TOOLS: "on" } })
const live = new Map<Name, Page>()
const ids = new Map<Name, string>()
let context: BrowserContext
let tools: StartedTools
let site: Site

beforeAll(async () => {
  context = await setup.browser.newContext(VIEW)
  site = await startSite(setup.cuecard)
  await allowSites(setup.cuecard, [site.origin])
  tools = await writeToolConversations(setup.cuecard, watch)
  await writeConversation(setup.cuecard, ["Rename this conversation to Plans."], {
    watch: async (id) => await watch("approval", id),
  })
})
afterAll(async () => {
  await site?.close()
  await tools?.close()
})

/** Opens the page of a conversation before its first question. */
async function watch(name: Name, id: string): Promise<void> {
  ids.set(name, id)
  live.set(name, (await openIn(context, setup.cuecard, `#/s/${id}`)).page)
}

/** Waits until a page is complete, and returns its transcript. */
async function shownBy(page: Page | Frame, name: Name): Promise<string> {
  for (const selector of SHOWN[name]) await page.locator(`article[data-role=assistant] ${selector}`).last().waitFor()
  // A document loads when it scrolls into view.
  await page.waitForFunction(
    () => {
      const root = document.querySelector("cuecard-chat")?.shadowRoot ?? document.body.shadowRoot ?? document
      const empty = root.querySelector(".pane:empty")
      empty?.scrollIntoView({ block: "center" })
      return empty === null
    },
    undefined,
    { polling: 100 },
  )
  await untilStill(page)
  return await transcriptOf(page)
}

async function shownInWidget(name: Name, isolate: "" | "isolate"): Promise<string> {
  const attributes = `session="${ids.get(name)}" language="en" ${isolate}`
  const page = await context.newPage()
  await page.goto(site.serve(siteDocument(setup.cuecard, attributes)))
  const shown = await shownBy(isolate === "" ? page : await findWidgetFrame(page), name)
  await page.close()
  return shown
}

test.each(everyNth(Object.keys(SHOWN) as Name[], 3))("[PG1] [WG4] [WG5] an answer with %s", async (name) => {
  const page = live.get(name)
  if (page === undefined) throw new Error(name)
  const shown = await shownBy(page, name)
  const { page: second } = await openIn(context, setup.cuecard, `#/s/${ids.get(name)}`)
  expect(await shownBy(second, name)).toBe(shown)
  await page.reload()
  expect(await shownBy(page, name)).toBe(shown)
  // The widget can't connect an account, so it has no button for that.
  const inWidget = shown.replace(/^ *<button class="\w+" type="button">\n *"Connect files"\n/m, "")
  expect(inWidget === shown).toBe(name !== "connection")
  expect(await shownInWidget(name, "")).toBe(inWidget)
  expect(await shownInWidget(name, "isolate")).toBe(inWidget)
})
