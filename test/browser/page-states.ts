/**
 * page-states.ts: the states of the page, the widget, the shared copy and the admin page, and how to reach each state.
 */

import type { Page } from "playwright-core"
import {
  chooseCommand,
  findEllipsis,
  hoverMessage,
  isNarrow,
  openAdmin,
  openAnswerMenu,
  openContext,
  openConversation,
  openCopy,
  openDialogOfRow,
  openPage,
  openPalette,
  openRowMenu,
  openSettled,
  openSidebar,
  openWidget,
  SOON,
  type Stage,
  WIDGET_FIELD,
} from "./open-states.ts"
import { FIELD, untilStill } from "./page.ts"
import { writeConversation } from "./state-conversations.ts"
import { TOOL_STATES } from "./tool-states.ts"

export interface State {
  readonly name: string
  readonly open: (stage: Stage) => Promise<Page>
}

const LISTS: readonly State[] = [
  { name: "the welcome", open: (stage) => openPage(stage) },
  {
    name: "an empty list",
    open: async (stage) => {
      const page = await openPage(stage, "", "nobody")
      if (isNarrow(stage)) await page.click(".drawer-button", SOON)
      return page
    },
  },
  {
    name: "a full list",
    open: async (stage) => {
      const page = await openSettled(stage, "short")
      await openSidebar(stage, page)
      return page
    },
  },
  { name: "the menu of a conversation", open: openRowMenu },
  {
    name: "renaming in the list",
    open: async (stage) => {
      const page = await openRowMenu(stage)
      // Chooses the first command of the menu.
      await chooseCommand(page, 0)
      await page.waitForSelector(".sidebar .rename", SOON)
      return page
    },
  },
  { name: "the share dialog", open: (stage) => openDialogOfRow(stage, findEllipsis(0)) },
  { name: "the folder dialog", open: (stage) => openDialogOfRow(stage, findEllipsis(1)) },
  {
    name: "a deletion that can be undone",
    open: async (stage) => {
      // The newest conversation is the first in the list.
      await writeConversation(stage.cuecard, ["/say Goodbye."])
      const page = await openRowMenu(stage)
      await page.click(".menu .grave")
      await page.waitForSelector(".notice .undo", SOON)
      return page
    },
  },
  {
    name: "the import dialog",
    open: async (stage) => {
      const page = await openPage(stage)
      if (isNarrow(stage)) await page.click(".drawer-button", SOON)
      await page.click(".import-slot > button", SOON)
      await page.waitForSelector("dialog[open]", SOON)
      return page
    },
  },
  {
    name: "the account panel",
    open: async (stage) => {
      const page = await openPage(stage, "", "limited")
      if (isNarrow(stage)) await page.click(".drawer-button", SOON)
      await page.click(".account-button", SOON)
      await page.waitForSelector(".account-panel .budgets", SOON)
      return page
    },
  },
]

const ANSWERS: readonly State[] = [
  { name: "cards", open: (stage) => openSettled(stage, "cards") },
  {
    name: "opened tool calls",
    open: async (stage) => {
      const page = await openSettled(stage, "cards")
      await page.click(".calls > button", SOON)
      await page.click(".calls summary", SOON)
      return page
    },
  },
  { name: "charts", open: (stage) => openSettled(stage, "charts") },
  { name: "text with code, tables and formulas", open: (stage) => openSettled(stage, "texts") },
  { name: "images, sound and documents", open: (stage) => openSettled(stage, "media") },
  { name: "another agent and sources", open: (stage) => openSettled(stage, "agents") },
  { name: "a call that needs approval", open: (stage) => openConversation(stage, "approval") },
  { name: "a failed answer", open: (stage) => openSettled(stage, "failed") },
  { name: "a running answer and a queued message", open: (stage) => openConversation(stage, "running") },
  {
    name: "a used-up budget",
    open: async (stage) => {
      const page = await openPage(stage, "", "limited")
      await page.fill(FIELD, "/say hello")
      await page.press(FIELD, "Enter")
      await page.waitForSelector("[data-role=user] .note", SOON)
      return page
    },
  },
  {
    name: "a page without a connection",
    open: async (stage) => {
      const page = await openSettled(stage, "short")
      await page.context().setOffline(true)
      await page.waitForSelector("footer .link", SOON)
      return page
    },
  },
  {
    name: "an unknown conversation",
    open: async (stage) => {
      const page = await openPage(stage, `#/s/${"x".repeat(21)}`)
      await page.waitForSelector(".note, .fault, [role=alert]", SOON)
      return page
    },
  },
]

const ACTIONS: readonly State[] = [
  {
    name: "the menu of the header",
    open: async (stage) => {
      const page = await openSettled(stage, "short")
      await page.click(".title-menu", SOON)
      await page.waitForSelector(".menu", SOON)
      return page
    },
  },
  { name: "the menu of an answer", open: openAnswerMenu },
  {
    name: "the reason for a rating",
    open: async (stage) => {
      const page = await openSettled(stage, "short")
      await hoverMessage(page, "assistant")
      await page.locator("article[data-role=assistant] .acts .act[aria-pressed]").last().click()
      await page.waitForSelector("dialog[open]", SOON)
      return page
    },
  },
  {
    name: "the tokens of an answer",
    open: async (stage) => {
      const page = await openAnswerMenu(stage)
      const count = await page.$$eval(".menu [role=menuitem]", (all) => all.length)
      for (let nth = count - 1; nth >= 0; nth--) {
        const label = (await page.textContent(`.menu [role=menuitem] >> nth=${nth}`)) ?? ""
        if (!/Usage|الاستخدام|الاستهلاك/.test(label)) continue
        await chooseCommand(page, nth)
        await page.waitForSelector("dialog[open] table", SOON)
        break
      }
      return page
    },
  },
  {
    name: "an open editor",
    open: async (stage) => {
      const page = await openSettled(stage, "short")
      await hoverMessage(page, "user")
      await page.locator("article[data-role=user] [data-focus-key=edit]").last().click()
      await page.waitForSelector(".editor textarea", SOON)
      return page
    },
  },
  {
    name: "a reply in the composer",
    open: async (stage) => {
      const page = await openSettled(stage, "short")
      await hoverMessage(page, "assistant")
      await page.locator("article[data-role=assistant] [data-focus-key=reply]").last().click()
      return page
    },
  },
  {
    name: "an open image",
    open: async (stage) => {
      const page = await openSettled(stage, "media")
      await page.click(".frame img", SOON)
      await page.waitForSelector(".lightbox", SOON)
      return page
    },
  },
  { name: "the palette", open: (stage) => openPalette(stage, "") },
  {
    name: "hits of the palette",
    open: async (stage) => {
      const page = await openPalette(stage, "rowing")
      await page.waitForSelector(".palette mark", SOON)
      return page
    },
  },
  {
    name: "the search in a conversation",
    open: async (stage) => {
      const page = await openSettled(stage, "short")
      await page.keyboard.press("Control+Shift+F")
      await page.fill(".find-bar input", "rowing")
      await page.waitForSelector('.find-bar [role=status] + button[aria-disabled="false"]', SOON)
      await untilStill(page)
      return page
    },
  },
  {
    name: "the shortcuts",
    open: async (stage) => {
      const page = await openSettled(stage, "short")
      await page.keyboard.press("Control+/")
      await page.waitForSelector("dialog .shortcuts", SOON)
      return page
    },
  },
]

const WRITING: readonly State[] = [
  {
    name: "the tools of the composer",
    open: async (stage) => {
      const page = await openPage(stage)
      await page.click(".composer button.tools", SOON)
      await page.waitForSelector(".menu", SOON)
      return page
    },
  },
  {
    name: "the saved prompts",
    open: async (stage) => {
      const page = await openPage(stage)
      await page.click(".composer button.tools", SOON)
      await chooseCommand(page, await findEllipsis(0)(page))
      await page.waitForSelector("dialog[open]", SOON)
      return page
    },
  },
  {
    name: "the agents to ask",
    open: async (stage) => {
      const page = await openPage(stage)
      await page.waitForSelector("button.tools", SOON)
      await page.click(FIELD)
      await page.keyboard.type("@")
      await page.waitForSelector(".completions [role=option]", SOON)
      return page
    },
  },
  {
    name: "attached files",
    open: async (stage) => {
      const page = await openSettled(stage, "short")
      await page.setInputFiles("input[type=file]", [
        { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("rowing") },
        { name: "too-large.bin", mimeType: "application/x-unknown", buffer: Buffer.alloc(10) },
      ])
      await page.waitForSelector(".chip", SOON)
      await untilStill(page)
      return page
    },
  },
]

const PAGES: readonly State[] = [
  {
    name: "the settings",
    open: async (stage) => {
      const page = await openPage(stage, "#/settings")
      await page.waitForSelector(".settings h1", SOON)
      return page
    },
  },
  {
    name: "deleting everything",
    open: async (stage) => {
      const page = await openPage(stage, "#/settings")
      await page.click(".settings .grave", SOON)
      await page.waitForSelector(".confirm-word input", SOON)
      return page
    },
  },
  {
    name: "a conversation that can only be read",
    open: async (stage) => await openPage(stage, "", "reader"),
  },
  {
    name: "the sign-in",
    open: async (stage) => {
      const page = await (await openContext(stage)).newPage()
      await page.goto((await stage.signInServer()).url)
      await page.waitForSelector(".sign-in", SOON)
      return page
    },
  },
  {
    name: "a shared copy",
    open: async (stage) => {
      const page = await openCopy(stage, stage.conversations.copyUrl)
      await page.waitForSelector("[data-transcript] article", SOON)
      return page
    },
  },
  {
    name: "a shared copy that isn't available",
    open: (stage) => openCopy(stage, `${stage.cuecard.url}/share/nobody.${"x".repeat(22)}`),
  },
  {
    name: "the widget",
    open: async (stage) => {
      const page = await openWidget(stage, `session="${stage.conversations.cards}"`)
      await page.locator("cuecard-chat article .card").first().waitFor(SOON)
      return page
    },
  },
  {
    name: "the widget's welcome",
    open: async (stage) => {
      const page = await openWidget(stage, "")
      await page.locator(WIDGET_FIELD).waitFor(SOON)
      return page
    },
  },
  {
    name: "the widget's panel",
    open: async (stage) => {
      const page = await openWidget(stage, 'layout="button"')
      await page.locator("cuecard-chat button").first().click()
      await page.locator(WIDGET_FIELD).waitFor(SOON)
      return page
    },
  },
  { name: "the users on the admin page", open: (stage) => openAdmin(stage, "users") },
  { name: "the settings on the admin page", open: (stage) => openAdmin(stage, "settings") },
]

/** The states, grouped by the names of their sheets in docs/pictures. */
export const GROUPS = {
  lists: LISTS,
  answers: ANSWERS,
  actions: ACTIONS,
  writing: WRITING,
  pages: PAGES,
  tools: TOOL_STATES,
} as const

export const STATES: readonly State[] = Object.values(GROUPS).flat()
