/**
 * convert-component.ts: converts one A2UI 0.9 component to a card component. A component that cards don't have is
 * replaced with the closest one, and a note says so. Pure.
 */

import { isJsonObject, type Json } from "../../shared/json.ts"
import { ALIGN, IMAGE_VARIANTS, JUSTIFY, TEXT_VARIANTS } from "../../shared/card/view/card-template.ts"
import { parseIconName } from "../../shared/card/view/icon-name.ts"
import { isLinkAddress } from "../../shared/card/view/link-address.ts"
import type { A2uiComponent } from "./a2ui-surface.ts"
import { type CardForm, convertButton, convertField, findLabel } from "./convert-form.ts"
import { convertText, type Note } from "./convert-text.ts"

type Fields = { readonly [field: string]: Json }

/** A component of the card, without its `id` and `weight`. */
export type ConvertedFields = Fields & { readonly component: string }

/** Adds a component of the surface to the card, and returns its id in the card. */
export type PlaceComponent = (id: string) => string

const PLAIN_ICON = "info"

export function convertComponent(
  component: A2uiComponent,
  form: CardForm,
  place: PlaceComponent,
  note: Note,
): ConvertedFields {
  const text = (field: string): Json => convertText(component[field], note) as unknown as Json
  switch (component.component) {
    case "Text":
      return { component: "Text", text: text("text"), ...pick(component, "variant", TEXT_VARIANTS) }
    case "Image":
      return convertImage(component, note)
    case "Icon":
      return { component: "Icon", name: convertIcon(component["name"], note) }
    case "Row":
    case "Column":
      return convertBox(component, place, {
        ...pick(component, "justify", JUSTIFY),
        ...pick(component, "align", ALIGN),
      })
    case "List":
      return convertBox(component, place, pick(component, "direction", ["vertical", "horizontal"]))
    case "Card":
      return { component: "Card", child: place(String(component["child"])) }
    case "Tabs":
      return convertTabs(component, place, note)
    case "Divider":
      return { component: "Divider" }
    case "Button":
      return convertButton(component, form, note)
    case "TextField":
    case "CheckBox":
    case "ChoicePicker":
    case "DateTimeInput":
      return convertField(component, form, note)
    case "Slider":
      note("a slider is shown as progress")
      return { component: "Progress", label: text("label"), value: text("value"), ...readMax(component) }
    default:
      return convertOther(component, form, place, note)
  }
}

function pick(component: A2uiComponent, field: string, names: readonly string[]): Fields {
  const value = component[field]
  return typeof value === "string" && names.includes(value) ? { [field]: value } : {}
}

/**
 * Converts a row, a column or a list. The component contains either named components or one component for each item of
 * an array.
 */
function convertBox(component: A2uiComponent, place: PlaceComponent, more: Fields): ConvertedFields {
  const { component: kind, children } = component
  if (!isJsonObject(children)) {
    const ids = Array.isArray(children) ? children.map(String) : []
    return { component: kind, children: ids.map(place), ...more }
  }
  const { componentId, path } = children as Fields
  return { component: kind, children: { componentId: place(String(componentId)), path: String(path) }, ...more }
}

function convertTabs(component: A2uiComponent, place: PlaceComponent, note: Note): ConvertedFields {
  const list = Array.isArray(component["tabs"]) ? component["tabs"] : []
  const tabs = list.filter(isJsonObject).map(({ title, child }) => ({
    title: convertText(title as Json, note) as unknown as Json,
    child: place(String(child)),
  }))
  return { component: "Tabs", tabs }
}

function convertImage(component: A2uiComponent, note: Note): ConvertedFields {
  const url = convertText(component["url"], note)
  const description = convertText(component["description"], note) as unknown as Json
  const isBound = typeof url === "object" && "path" in url
  if (!isBound && !(typeof url === "string" && isLinkAddress(url) && url.startsWith("https:"))) {
    note("the address of an image must be an https literal or a path: its description is shown")
    return { component: "Text", text: description }
  }
  if (description === "") note("an image has no description")
  const bound = isBound ? { path: url.path } : url
  return { component: "Image", url: bound, description, ...pick(component, "variant", IMAGE_VARIANTS) }
}

function convertIcon(name: Json | undefined, note: Note): Json {
  if (isJsonObject(name) && typeof name["path"] === "string") return { path: name["path"] }
  if (parseIconName(name) !== null) return name ?? PLAIN_ICON
  note(`there is no icon ${typeof name === "string" ? name : "of a path"}: "${PLAIN_ICON}" is shown`)
  return PLAIN_ICON
}

function readMax({ max }: A2uiComponent): Fields {
  return typeof max === "number" && max > 0 ? { max } : {}
}

/** Converts players, dialogs, and components that a list can't contain. */
export function convertOther(
  component: A2uiComponent,
  form: CardForm,
  place: PlaceComponent,
  note: Note,
): ConvertedFields {
  const { component: kind, trigger, content, label, value, url, description } = component
  note(`${kind} isn't possible here: its texts are shown`)
  if (typeof trigger === "string" && typeof content === "string") {
    return { component: "Column", children: [trigger, content].map(place) }
  }
  if (kind === "Button") return { component: "Badge", text: findLabel(component, form.surface, note) }
  const name = convertText(label ?? description ?? kind, note) as unknown as Json
  const bound = convertText(value ?? url, note)
  if (typeof bound !== "object" || !("path" in bound)) return { component: "Text", text: name }
  if (url !== undefined) return { component: "Link", text: name, url: { path: bound.path } }
  return { component: "Text", text: { call: "join", args: { values: [name, ": ", { path: bound.path }] } } }
}
