/** chart-text.ts: the strings of the chart card. */

import { translate } from "../languages/language.ts"

export const chartText = translate("chart", {
  chartOf: (title: string) => `Chart: ${title}`,
  showTable: "Show as table",
  label: "Name",
  value: "Value",
  moveAlong: "Points on the line. Use the arrow keys to read them.",
})
