/**
 * tool-states.ts: states in which a tool, a card or a document needs the user, and states of the dialogs around the
 * list.
 */

import type { Page } from "playwright-core"
import {
  chooseCommand,
  findEllipsis,
  openPage,
  openPalette,
  openRowMenu,
  openSidebar,
  openSettled,
  SOON,
  type Stage,
} from "./open-states.ts"
import type { ToolConversations } from "./tool-conversations.ts"
import { FIELD, untilStill } from "./page.ts"

interface State {
  readonly name: string
  readonly open: (stage: Stage) => Promise<Page>
}

/** Opens a conversation of the agent `guide` and waits for what its last answer shows. */
async function openTool(stage: Stage, name: keyof ToolConversations, shown: string): Promise<Page> {
  const page = await openPage(stage, `#/s/${stage.tools[name]}`)
  await page.locator(`article ${shown}`).last().waitFor(SOON)
  return page
}

async function openPanel(stage: Stage): Promise<Page> {
  const page = await openTool(stage, "canvas", '.canvas [data-icon="panel"]')
  await page.locator('.canvas [data-icon="panel"]').last().click()
  await page.waitForSelector(".canvas-panel .versions", SOON)
  await page.waitForSelector(".canvas-panel iframe", SOON)
  return page
}

const TOOLS: readonly State[] = [
  { name: "a document in the panel", open: openPanel },
  {
    name: "the code of a document in the panel",
    open: async (stage) => {
      const page = await openPanel(stage)
      await page.locator(".canvas-panel .views button").last().click()
      await page.waitForSelector(".canvas-panel pre", SOON)
      return page
    },
  },
  { name: "a form in a card", open: (stage) => openTool(stage, "form", ".view-action button.primary") },
  {
    name: "an invalid field of a form in a card",
    open: async (stage) => {
      const page = await openTool(stage, "form", ".view-action button.primary")
      await page.click(".view-action button.primary")
      await page.waitForSelector("[aria-invalid=true]", SOON)
      return page
    },
  },
  { name: "a question from a server", open: (stage) => openTool(stage, "question", "form.ask") },
  { name: "an app of a server", open: (stage) => openTool(stage, "app", ".canvas iframe") },
  {
    name: "what an app asks",
    open: async (stage) => {
      const page = await openTool(stage, "app", ".canvas iframe")
      await page.frameLocator(".canvas iframe").frameLocator("iframe").locator("#link").click(SOON)
      await page.locator(".canvas .ask").waitFor(SOON)
      return page
    },
  },
  { name: "a call that needs the user's account", open: (stage) => openTool(stage, "connection", "fieldset.ask") },
]

const DIALOGS: readonly State[] = [
  {
    name: "the selection of several conversations",
    open: async (stage) => {
      const page = await openRowMenu(stage)
      const at = await page.$$eval(".menu [role=menuitem]", (all) =>
        all.findIndex((element) => /Select several|تحديد/.test(element.textContent ?? "")),
      )
      await chooseCommand(page, at)
      await page.waitForSelector(".selection", SOON)
      return page
    },
  },
  {
    name: "the archive",
    open: async (stage) => {
      const page = await openSettled(stage, "short")
      await openSidebar(stage, page)
      await page.click(".library-slot button:first-child", SOON)
      await page.waitForSelector("dialog[open]", SOON)
      return page
    },
  },
  {
    name: "a palette without hits",
    open: async (stage) => {
      const page = await openPalette(stage, "zzqqxy")
      await page.waitForSelector(".palette [role=option]", { state: "detached", ...SOON })
      await untilStill(page)
      return page
    },
  },
  {
    name: "the prompts to choose from",
    open: async (stage) => {
      const page = await openPage(stage)
      await page.waitForSelector("button.tools", SOON)
      await page.click(FIELD)
      await page.keyboard.type("/")
      await page.waitForSelector(".completions [role=option]", SOON)
      return page
    },
  },
  {
    name: "a new prompt",
    open: async (stage) => {
      const page = await openPage(stage)
      await page.click(".composer button.tools", SOON)
      await chooseCommand(page, await findEllipsis(0)(page))
      await page.click("dialog[open] .ways [data-first]", SOON)
      await page.waitForSelector(".prompt-form textarea", SOON)
      return page
    },
  },
  {
    name: "a temporary conversation",
    open: async (stage) => {
      const page = await openPage(stage)
      await page.click(".temporary-switch button", SOON)
      await untilStill(page)
      return page
    },
  },
]

export const TOOL_STATES: readonly State[] = [...TOOLS, ...DIALOGS]
