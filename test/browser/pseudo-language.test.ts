/**
 * pseudo-language.test.ts: shows every state of the page, the widget and a shared copy in the pseudo-language, to find
 * text that isn't translated. The admin page is only in English.
 *
 * `npm test` checks every 6th state, `RUNS=full` every 2nd, and `RUNS=long` all. STATE=text checks the states whose
 * names contain the text.
 */

import process from "node:process"
import { describe, expect, test } from "vitest"
import { everyNth } from "../support/seeded.ts"
import { findBareTexts } from "./bare-texts.ts"
import { untilStill } from "./page.ts"
import { STATES } from "./page-states.ts"
import { useStage } from "./use-stage.ts"

const getStage = useStage()
const CHOSEN = process.env["STATE"]
const CASES = STATES.filter(({ name }) => !name.includes("admin page") && name.includes(CHOSEN ?? ""))
/** The widget's button and panel have separate strings (shell-text.ts), which have no pseudo-language version. */
const SHELL_TEXT = /^(?:BUTTON|DIALOG)\[aria-label\] (?:(?:Open|Close) chat|Chat)$/
const VIEW = { width: 1280, direction: "ltr", theme: "light", language: "en-XA" } as const

describe("all text is translated in", () => {
  test.each(CHOSEN === undefined ? everyNth(CASES, 8, 3) : CASES)("[LG6] $name", async ({ open }) => {
    const page = await open(getStage(VIEW))
    if ((await page.$("[data-transcript]")) !== null) await untilStill(page)
    await expect.poll(async () => (await findBareTexts(page)).filter((text) => !SHELL_TEXT.test(text))).toEqual([])
    await page.context().close()
  })
})
