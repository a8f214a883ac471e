/**
 * pseudo-language.test.ts: shows every state of the page, the widget and a shared copy in the pseudo-language, to find
 * text that isn't translated. The admin page is only in English.
 *
 * `npm test` checks every 3rd state, `RUNS=full` all. STATE=text checks the states whose names contain the text.
 */

import process from "node:process"
import type { Cuecard } from "cuecard/testing"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { startCuecard } from "../support/checked-cuecard.ts"
import { everyNth } from "../support/seeded.ts"
import { findBareTexts } from "./bare-texts.ts"
import { untilStill } from "./page.ts"
import { STATES } from "./page-states.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"
import { type StateConversations, writeConversations } from "./state-conversations.ts"
import { type StartedTools, writeToolConversations } from "./tool-conversations.ts"
import { allowSites, type Site, startSite } from "./widget-pages.ts"

const setup = useServerAndBrowser({ vars: { SCRIPTED_DELAY_MS: "0", PROBE_TOOLS: "on" } })
const CHOSEN = process.env["STATE"]
const CASES = STATES.filter(({ name }) => !name.includes("admin page") && name.includes(CHOSEN ?? ""))
/** The widget's button and panel have separate strings (shell-text.ts), which have no pseudo-language version. */
const SHELL_TEXT = /^(?:BUTTON|DIALOG)\[aria-label\] (?:(?:Open|Close) chat|Chat)$/
const VIEW = { width: 1280, direction: "ltr", theme: "light", language: "en-XA" } as const

let site: Site
let conversations: StateConversations
let tools: StartedTools
let signInServer: Promise<Cuecard> | null = null

beforeAll(async () => {
  site = await startSite(setup.cuecard)
  await allowSites(setup.cuecard, [site.origin])
  tools = await writeToolConversations(setup.cuecard)
  conversations = await writeConversations(setup.cuecard)
})
afterAll(async () => {
  await site?.close()
  await tools?.close()
  await (await signInServer)?.close()
})

function startSignInServer(): Promise<Cuecard> {
  signInServer ??= startCuecard({ onLog: console.log, vars: { AUTH: "jwt", PAGE_TENANT: "acme" } })
  return signInServer
}

describe("no text is missing in the languages in", () => {
  test.each(everyNth(CASES, CHOSEN === undefined ? 6 : 1))("[LG6] $name", async ({ open }) => {
    const page = await open({
      ...setup,
      site,
      conversations,
      tools: tools.conversations,
      view: VIEW,
      signInServer: startSignInServer,
    })
    if ((await page.$("[data-transcript]")) !== null) await untilStill(page)
    await expect.poll(async () => (await findBareTexts(page)).filter((text) => !SHELL_TEXT.test(text))).toEqual([])
    await page.context().close()
  })
})
