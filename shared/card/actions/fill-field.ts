/** fill-field.ts: fills a form field with its label and its initial value from the tool's result. Pure. */

import type { Json } from "../../json.ts"
import type { ViewComponent } from "../view/card-template.ts"
import { formatDynamic, readValue, type ViewScope } from "../view/format-value.ts"
import type { FieldOption, ViewNode } from "../view/view-node.ts"

/** Returns the filled field; null if the result lacks the field's label. */
export function fillField(component: ViewComponent, scope: ViewScope): ViewNode | null {
  const label = formatDynamic(component["label"], scope)
  if (label === null) return null
  const initial = readValue(component["value"], scope)
  return {
    type: "field",
    kind: getKind(component),
    name: String(component["name"]),
    label,
    initial: typeof initial === "object" || initial === undefined ? "" : String(initial),
    options: readOptions(component["options"]),
    isRequired: component["required"] === true,
  }
}

function getKind({ component, variant }: ViewComponent): Extract<ViewNode, { readonly type: "field" }>["kind"] {
  switch (component) {
    case "CheckBox":
      return "check"
    case "ChoicePicker":
      return "choice"
    case "DateTimeInput":
      return "date"
    default:
      return variant === "longText" ? "longText" : variant === "number" ? "number" : "text"
  }
}

/** The options aren't checked here, because they were checked together with the template. */
function readOptions(options: Json | undefined): readonly FieldOption[] {
  return Array.isArray(options) ? (options as unknown as readonly FieldOption[]) : []
}
