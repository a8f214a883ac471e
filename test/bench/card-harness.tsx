/** card-harness.tsx: draws a card of MAX_VIEW_COMPONENTS components repeatedly, in the page of card-drawing.ts. */

import { render } from "preact"
import { ViewNodes } from "../../client/cards/view/view-nodes.tsx"
import { type CardView, MAX_VIEW_COMPONENTS, type ViewComponent } from "../../shared/card/view/card-template.ts"
import { fillView } from "../../shared/card/view/fill-view.ts"
import { ENGLISH_LABELS } from "../../shared/card/view/view-labels.ts"
import type { Json } from "../../shared/json.ts"

declare global {
  var cardBench: { readonly drawCards: typeof drawCards }
}

const GROUP = 5
const LOCALE = { locale: "en", timeZone: "UTC", labels: ENGLISH_LABELS }

/** Creates a column of rows, each with an icon, a name, a number and a badge. */
function createView(): CardView {
  const rows = Array.from({ length: Math.floor((MAX_VIEW_COMPONENTS - 1) / GROUP) }, (_, at) => at)
  const spare = MAX_VIEW_COMPONENTS - 1 - rows.length * GROUP
  const dividers = Array.from({ length: spare }, (_, at): ViewComponent => ({ id: `d${at}`, component: "Divider" }))
  const children = [...rows.map((at) => `r${at}`), ...dividers.map(({ id }) => id)]
  const view = rows.flatMap((at): ViewComponent[] => [
    { id: `r${at}`, component: "Row", children: [`i${at}`, `t${at}`, `n${at}`, `b${at}`], justify: "spaceBetween" },
    { id: `i${at}`, component: "Icon", name: "star" },
    { id: `t${at}`, component: "Text", text: { path: `/items/${at}/name` } },
    {
      ...{ id: `n${at}`, component: "Text" as const },
      text: { call: "formatCurrency", args: { value: { path: `/items/${at}/price` }, currency: "EUR" } },
    },
    { id: `b${at}`, component: "Badge", text: { path: `/items/${at}/state` }, tone: "good" },
  ])
  return { title: "Bench", view: [{ id: "root", component: "Column", children }, ...view, ...dividers] }
}

/** Draws the card once per round. Returns the duration of each round, in milliseconds. */
export function drawCards(rounds: number): number[] {
  const view = createView()
  const box = document.body.appendChild(document.createElement("div"))
  return Array.from({ length: rounds }, (_, round) => {
    const items = view.view.map((_one, at) => ({ name: `Item ${at}`, price: at + round / 100, state: `in ${round}` }))
    const result: Json = { items }
    const started = performance.now()
    const filled = fillView(view, result, LOCALE)
    if (filled !== null) render(<ViewNodes node={filled.root} />, box)
    if (box.offsetHeight === 0) throw new Error("Nothing was drawn.")
    const ms = performance.now() - started
    render(null, box)
    return ms
  })
}
