/**
 * every-state.test.ts: axe, the sizes of targets and the width, in every state of the page × theme × width × direction.
 *
 * `npm test` checks every 4th state in one view, `RUNS=full` each state in one view, `RUNS=long` each state in all views.
 * STATE=text checks the states whose names contain the text, in all views. SHOTS=folder writes a picture of each.
 */

import { mkdirSync } from "node:fs"
import process from "node:process"
import type { Cuecard } from "cuecard/testing"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { startCuecard } from "../support/checked-cuecard.ts"
import { everyNth, IS_LONG } from "../support/seeded.ts"
import { findViolations } from "./axe-violations.ts"
import { THEMES, untilStill } from "./page.ts"
import { findOverflow, findSmallTargets, MIN_TARGET_PX, MIN_TOUCH_PX } from "./page-measures.ts"
import { PHONE_PX, type Stage, type StateView } from "./open-states.ts"
import { STATES } from "./page-states.ts"
import { useServerAndBrowser } from "./server-and-browser.ts"
import { type StateConversations, writeConversations } from "./state-conversations.ts"
import { allowSites, type Site, startSite } from "./widget-pages.ts"

const setup = useServerAndBrowser({ vars: { SCRIPTED_DELAY_MS: "0", PROBE_TOOLS: "on" } })
const SHOTS = process.env["SHOTS"]
const CHOSEN = process.env["STATE"]
const WIDTHS = [PHONE_PX, 1280, 320]
const VIEWS: readonly StateView[] = THEMES.flatMap((theme) =>
  WIDTHS.flatMap((width) => (["ltr", "rtl"] as const).map((direction) => ({ theme, width, direction }))),
)
/** Neighbours differ in width, direction and theme. */
const STEP = 5

let site: Site
let conversations: StateConversations
let signInServer: Promise<Cuecard> | null = null

beforeAll(async () => {
  if (SHOTS !== undefined) mkdirSync(SHOTS, { recursive: true })
  site = await startSite(setup.cuecard)
  await allowSites(setup.cuecard, [site.origin])
  conversations = await writeConversations(setup.cuecard)
})
afterAll(async () => {
  await site?.close()
  await (await signInServer)?.close()
})

function startSignInServer(): Promise<Cuecard> {
  signInServer ??= startCuecard({ onLog: console.log, vars: { AUTH: "jwt", PAGE_TENANT: "acme" } })
  return signInServer
}

const CASES = STATES.flatMap((state, index) => {
  const view = VIEWS[(index * STEP) % VIEWS.length]
  const views = IS_LONG || CHOSEN !== undefined ? VIEWS : view === undefined ? [] : [view]
  return state.name.includes(CHOSEN ?? "") ? views.map((one) => ({ state, view: one })) : []
})

/** Cases of the same kind of context follow each other, because a context is reused for the next one. */
const SORTED = everyNth(CASES, CHOSEN === undefined ? 7 : 1).toSorted(
  ({ view: one }, { view: other }) =>
    one.direction.localeCompare(other.direction) || Number(one.width === PHONE_PX) - Number(other.width === PHONE_PX),
)

describe("axe finds nothing, targets are large enough, and nothing overflows in", () => {
  test.each(
    SORTED.map(({ state, view }) => {
      const label = `${state.name}, ${view.width} ${view.theme} ${view.direction}`
      return [label, state, view] as const
    }),
  )("[AX1] [AX5] [AX9] [AX10] [AX12] %s", async (label, state, view) => {
    const stage: Stage = { ...setup, site, conversations, view, signInServer: startSignInServer }
    const page = await state.open(stage)
    if ((await page.$("[data-transcript]")) !== null) await untilStill(page)
    if (SHOTS !== undefined) await page.screenshot({ path: `${SHOTS}/${label.replaceAll(/\W+/g, "-")}.png` })
    expect(await findViolations(page)).toEqual([])
    expect(await findSmallTargets(page, view.width === PHONE_PX ? MIN_TOUCH_PX : MIN_TARGET_PX)).toEqual([])
    expect(await findOverflow(page)).toEqual([])
    await page.context().close()
  })
})
