/**
 * state-sheets.test.ts: takes screenshots of every state in page-states.ts for docs/pictures, with six states per
 * sheet.
 *
 * Each state is shown on a desktop and on a phone, in both themes, and from right to left. SHEET=text draws only the
 * sheets whose names contain the text.
 */

import { existsSync, readFileSync } from "node:fs"
import process from "node:process"
import { fileURLToPath } from "node:url"
import type { Browser } from "playwright-core"
import { describe, expect, test } from "vitest"
import { PHONE_PX, type Stage, type StateView } from "./open-states.ts"
import { untilStill } from "./page.ts"
import { GROUPS, type State } from "./page-states.ts"
import { useStage } from "./use-stage.ts"

const DOCS = new URL("../../docs/pictures/", import.meta.url)
const README = new URL("README.md", DOCS)
const IS_DRAWN = process.env["PICTURES"] === "docs"
const DESK_PX = 1280
const STATES_PER_SHEET = 6
/** The height of each screenshot on a sheet, and the width of a sheet, in CSS pixels. */
const PICTURE_PX = 560
const SHEET_PX = 2800

/** The views for states with an even and with an odd number. */
const VIEWS: readonly (readonly StateView[])[] = [
  [
    { width: DESK_PX, theme: "light", direction: "ltr" },
    { width: PHONE_PX, theme: "dark", direction: "ltr" },
    { width: PHONE_PX, theme: "light", direction: "rtl" },
  ],
  [
    { width: DESK_PX, theme: "dark", direction: "ltr" },
    { width: PHONE_PX, theme: "light", direction: "ltr" },
    { width: PHONE_PX, theme: "dark", direction: "rtl" },
  ],
]

interface Sheet {
  readonly name: string
  readonly states: readonly State[]
}

const SHEETS: readonly Sheet[] = Object.entries(GROUPS)
  .flatMap(([group, states]) =>
    Array.from({ length: Math.ceil(states.length / STATES_PER_SHEET) }, (_, nth) => ({
      name: `states-${group}-${nth + 1}`,
      states: states.slice(nth * STATES_PER_SHEET, (nth + 1) * STATES_PER_SHEET),
    })),
  )
  .filter(({ name }) => name.includes(process.env["SHEET"] ?? ""))

async function takePicture(state: State, stage: Stage): Promise<string> {
  const page = await state.open(stage)
  if ((await page.$("[data-transcript]")) !== null) await untilStill(page)
  const picture = await page.screenshot({ animations: "disabled" })
  await page.context().close()
  return `<img src="data:image/png;base64,${picture.toString("base64")}" height="${PICTURE_PX}">`
}

async function drawFigure(state: State, nth: number, createStage: (view: StateView) => Stage): Promise<string> {
  const images: string[] = []
  for (const view of VIEWS[nth % VIEWS.length] ?? []) images.push(await takePicture(state, createStage(view)))
  return `<figure><figcaption>${state.name}</figcaption><div>${images.join("")}</div></figure>`
}

const STYLE = `
  body { margin: 0; padding: 20px; background: #8a8a8a; font: 600 22px/1.4 system-ui, sans-serif }
  body { display: grid; grid-template-columns: 1fr 1fr; gap: 20px; box-sizing: border-box }
  figure { margin: 0 } figcaption { padding-block-end: 6px; color: #fff } div { display: flex; gap: 8px }`

async function writeSheet(browser: Browser, name: string, figures: readonly string[]): Promise<void> {
  const page = await browser.newPage({ viewport: { width: SHEET_PX, height: 100 } })
  await page.setContent(`<!doctype html><style>${STYLE}</style>${figures.join("")}`)
  await page.evaluate(() => Promise.all([...document.images].map((image) => image.decode())))
  await page.screenshot({
    path: fileURLToPath(new URL(`${name}.jpg`, DOCS)),
    type: "jpeg",
    quality: 80,
    fullPage: true,
  })
  await page.close()
}

test("[AX1] the documentation shows every state on a sheet", () => {
  const readme = readFileSync(README, "utf8")
  for (const { name, states } of SHEETS) {
    expect(readme).toContain(`${name}.jpg`)
    expect(existsSync(new URL(`${name}.jpg`, DOCS)), name).toBe(true)
    for (const state of states) expect(readme).toContain(state.name)
  }
})

/** every-state.test.ts opens the same states in every test run, so the sheets are drawn only for the documentation. */
describe.runIf(IS_DRAWN)("sheets of the states for the documentation", () => {
  const createStage = useStage()
  test.each(SHEETS)("[AX1] $name", async ({ name, states }) => {
    const figures: string[] = []
    for (const [nth, state] of states.entries()) figures.push(await drawFigure(state, nth, createStage))
    const first = VIEWS[0]?.[0]
    if (first !== undefined) await writeSheet(createStage(first).browser, name, figures)
  })
})
