/** view-text.ts: the labels in cards that tenants define. All other text comes from the template and the result. */

import { ENGLISH_LABELS, type ViewLabels } from "../../../shared/card/view/view-labels.ts"
import { formatPlural } from "../format/plural.ts"
import { translate } from "../languages/language.ts"

export const viewText = translate("view", {
  fillIn: "Fill in this field.",
  sending: "Sending…",
  done: "Done",
  refused: "Not done",
  choose: "Choose…",
  /** `#` stands for a value from the result. */
  labels: ENGLISH_LABELS as ViewLabels,
  more: (count: number) => formatPlural<"en">(count, { one: "and # more", other: "and # more" }),
})
