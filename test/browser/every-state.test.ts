/**
 * every-state.test.ts: checks every state of the page with axe, and checks the sizes of targets and the page's width,
 * in each theme, width and direction.
 *
 * `npm test` checks every 7th state in one view, `RUNS=full` every 2nd state in one view, and `RUNS=long` each state in
 * all views. STATE=text checks the states whose names contain the text, in all views. SHOTS=folder writes a screenshot
 * of each state.
 */

import { mkdirSync } from "node:fs"
import process from "node:process"
import { beforeAll, describe, expect, test } from "vitest"
import { everyNth, IS_LONG } from "../support/seeded.ts"
import { findViolations } from "./axe-violations.ts"
import { THEMES, untilStill } from "./page.ts"
import { findCoveredControls, findOverflow, findSmallTargets, MIN_TARGET_PX, MIN_TOUCH_PX } from "./page-measures.ts"
import { PHONE_PX, type StateView } from "./open-states.ts"
import { STATES } from "./page-states.ts"
import { useStage } from "./use-stage.ts"

const createStage = useStage()
const SHOTS = process.env["SHOTS"]
const CHOSEN = process.env["STATE"]
const WIDTHS = [PHONE_PX, 1280, 320, 640]
const VIEWS: readonly StateView[] = THEMES.flatMap((theme) =>
  WIDTHS.flatMap((width) => (["ltr", "rtl"] as const).map((direction) => ({ theme, width, direction }))),
)
/** The step through the views. With this step, neighbouring cases differ in width, direction and theme. */
const STEP = 5

beforeAll(() => {
  if (SHOTS !== undefined) mkdirSync(SHOTS, { recursive: true })
})

const CASES = STATES.flatMap((state, index) => {
  const view = VIEWS[(index * STEP) % VIEWS.length]
  const views = IS_LONG || CHOSEN !== undefined ? VIEWS : view === undefined ? [] : [view]
  return state.name.includes(CHOSEN ?? "") ? views.map((view) => ({ state, view })) : []
})

/** Cases that need the same kind of context are adjacent, because the context is reused. */
const SORTED = (CHOSEN === undefined ? everyNth(CASES, 9, 3) : CASES).toSorted(
  ({ view: a }, { view: b }) =>
    a.direction.localeCompare(b.direction) || Number(a.width === PHONE_PX) - Number(b.width === PHONE_PX),
)

describe("axe finds no violations, targets are large enough, and nothing overflows in", () => {
  test.each(
    SORTED.map(({ state, view }) => {
      const label = `${state.name}, ${view.width} ${view.theme} ${view.direction}`
      return [label, state, view] as const
    }),
  )("[AX1] [AX5] [AX9] [AX10] [AX12] [AX15] %s", async (label, state, view) => {
    const page = await state.open(createStage(view))
    if ((await page.$("[data-transcript]")) !== null) await untilStill(page)
    if (SHOTS !== undefined) await page.screenshot({ path: `${SHOTS}/${label.replaceAll(/\W+/g, "-")}.png` })
    expect(await findViolations(page)).toEqual([])
    expect(await findSmallTargets(page, view.width === PHONE_PX ? MIN_TOUCH_PX : MIN_TARGET_PX)).toEqual([])
    expect(await findOverflow(page)).toEqual([])
    expect(await findCoveredControls(page)).toEqual([])
    await page.context().close()
  })
})

/** The text settings that a reader may choose: WCAG 1.4.4 and 1.4.12. */
const TEXT_STYLES = {
  "200 % of the text size": "html { font-size: 200% !important }",
  "more space in the text":
    ":root * { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important } p { margin-block-end: 2em !important }",
}

describe("nothing is cut off or covered with", () => {
  const names = ["the welcome", "cards", "the settings", "a question from a server", "a full list", "the share dialog"]
  const cases = Object.entries(TEXT_STYLES).flatMap(([label, css]) =>
    STATES.filter(({ name }) => names.includes(name)).map((state) => [`${label}: ${state.name}`, state, css] as const),
  )
  test.each(everyNth(cases, 4))("[AX17] %s", async (label, state, css) => {
    const view = { theme: "light", width: 1280, direction: "ltr" } as const
    const page = await state.open(createStage(view))
    await page.addStyleTag({ content: css })
    if (SHOTS !== undefined) await page.screenshot({ path: `${SHOTS}/${label.replaceAll(/\W+/g, "-")}.png` })
    expect(await findOverflow(page)).toEqual([])
    expect(await findCoveredControls(page)).toEqual([])
    await page.context().close()
  })
})
