/** tab-walk.test.ts: Tab reaches all controls of a conversation, and the focus is always visible. */

import type { Page } from "playwright-core"
import { beforeAll, expect, test } from "vitest"
import { openPage, untilStill } from "./page.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"
import { type StateConversations, writeConversations } from "./state-conversations.ts"

const setup = useServerAndBrowser({ vars: { SCRIPTED_DELAY_MS: "0", PROBE_TOOLS: "on" } })
/** Maximum number of Tab stops, which is more than any of these pages has. */
const MAX_STOPS = 150
let conversations: StateConversations

beforeAll(async () => {
  conversations = await writeConversations(setup.cuecard)
})

/** How long the focus may take to arrive in a frame with a process of its own, in milliseconds. */
const FOCUS_MS = 2_000

interface FocusedControl {
  readonly name: string
  /** The problem with how it is shown; empty if there is none. */
  readonly fault: string
}

function describeFocus(): FocusedControl {
  const one = document.activeElement
  if (one === null || one === document.body) return { name: "", fault: "" }
  const box = one.getBoundingClientRect()
  const isInside = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth
  const { outlineStyle, outlineWidth } = getComputedStyle(one)
  // The focus border of the message box is on the element around it.
  const isOutlined = (outlineStyle !== "none" && outlineWidth !== "0px") || one.matches("textarea, iframe")
  const fault = !isInside ? "is outside the window" : isOutlined ? "" : "has no outline"
  return { name: one.outerHTML.slice(0, 120), fault }
}

/** Describes the focused control. While the focus moves to a frame in another process, no element has it. */
async function readFocus(page: Page): Promise<FocusedControl> {
  const focus = await page.evaluate(describeFocus)
  if (focus.name !== "") return focus
  await page
    .waitForFunction(() => document.activeElement !== document.body, null, { timeout: FOCUS_MS })
    .catch(() => null)
  return await page.evaluate(describeFocus)
}

test.each(["cards", "approval", "media", "agents", "failed"] as const)(
  "[AX16] Tab reaches each control, in the window and with an outline, and returns to the first: %s",
  async (name) => {
    const { page } = await openPage(setup.browser, setup.cuecard, { at: `#/s/${conversations[name]}` })
    await page.waitForSelector("[data-transcript] article[data-role=assistant]", { timeout: 20_000 })
    // Elements that load later must not appear during the walk.
    for (const part of [".sidebar nav li .more", ".account-button", ".title-menu", ".composer textarea"])
      await page.waitForSelector(part, { state: "attached", timeout: 20_000 })
    await page.waitForLoadState("networkidle")
    await untilStill(page)
    await page.focus(".skip")
    const stops: string[] = []
    const faults: string[] = []
    for (let count = 0; count < MAX_STOPS; count++) {
      const stop = await readFocus(page)
      if (count > 0 && (stop.name === "" || stop.name === stops[0])) break
      stops.push(stop.name)
      if (stop.fault !== "") faults.push(`${stop.name} ${stop.fault}`)
      await page.keyboard.press("Tab")
    }
    expect(faults).toEqual([])
    expect(stops.length).toBeLessThan(MAX_STOPS)
    const reached = stops.join("\n")
    for (const part of ["account-button", "title-menu", "textarea", 'aria-haspopup="menu"'])
      expect(reached, `${part} in ${stops.length} stops`).toContain(part)
    if (name === "approval") expect(reached).toContain(">Deny<")
    await page.context().close()
  },
)
