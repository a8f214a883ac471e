/** shipped-templates.ts: the shipped templates. They are part of the section's code, so they need no connection. */

import barChart from "../../../shared/card/templates/bar-chart.json"
import calculation from "../../../shared/card/templates/calculation.json"
import facts from "../../../shared/card/templates/facts.json"
import form from "../../../shared/card/templates/form.json"
import gallery from "../../../shared/card/templates/gallery.json"
import lineChart from "../../../shared/card/templates/line-chart.json"
import list from "../../../shared/card/templates/list.json"
import news from "../../../shared/card/templates/news.json"
import page from "../../../shared/card/templates/page.json"
import place from "../../../shared/card/templates/place.json"
import product from "../../../shared/card/templates/product.json"
import progress from "../../../shared/card/templates/progress.json"
import search from "../../../shared/card/templates/search.json"
import table from "../../../shared/card/templates/table.json"
import timer from "../../../shared/card/templates/timer.json"

/** The shipped templates, by file name. */
export const SHIPPED_TEMPLATES: Readonly<Record<string, { readonly [field: string]: unknown }>> = {
  "bar-chart": barChart,
  calculation,
  facts,
  form,
  gallery,
  "line-chart": lineChart,
  list,
  news,
  page,
  place,
  product,
  progress,
  search,
  table,
  timer,
}
