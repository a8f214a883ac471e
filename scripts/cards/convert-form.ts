/**
 * convert-form.ts: converts A2UI 0.9 buttons and fields to those of a card. A button's event becomes an action that
 * calls a tool with the event's name; the event's context becomes the tool's arguments. Pure.
 */

import { isJsonObject, type Json } from "../../shared/json.ts"
import type { ActionArg, CardActionTemplate } from "../../shared/card/actions/card-actions.ts"
import { readPointer } from "../../shared/json-schema/json-pointer.ts"
import type { A2uiComponent, A2uiSurface } from "./a2ui-surface.ts"
import type { ConvertedFields } from "./convert-component.ts"
import { convertText, type Note } from "./convert-text.ts"

type Fields = { readonly [field: string]: Json }

/** The parts of the card so far: its actions, and the names of its fields by the path that each is bound to. */
export interface CardForm {
  readonly surface: A2uiSurface
  readonly actions: Map<string, CardActionTemplate>
  readonly fields: ReadonlyMap<string, string>
}

const FIELD_KINDS: readonly string[] = ["TextField", "CheckBox", "ChoicePicker", "DateTimeInput"]

export function isField({ component }: A2uiComponent): boolean {
  return FIELD_KINDS.includes(component)
}

/** Names each field after the end of the path that it is bound to. */
export function nameFields(components: A2uiSurface["components"]): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  const used = new Set<string>()
  for (const component of components.values()) {
    if (!isField(component)) continue
    const path = readPath(component["value"]) ?? component.id
    const base = toName(path.split("/").at(-1) ?? component.id)
    let name = base
    for (let n = 2; used.has(name); n++) name = `${base}-${n}`
    used.add(name)
    names.set(path, name)
  }
  return names
}

function readPath(value: Json | undefined): string | null {
  return isJsonObject(value) && typeof value["path"] === "string" ? value["path"] : null
}

/** Converts text to the name of an action, a field or a tool. */
function toName(text: string): string {
  const name = text.replace(/[^A-Za-z0-9_-]+/g, "_").slice(0, 60)
  return /^[A-Za-z]/.test(name) ? name : `n${name}`
}

export function convertButton(button: A2uiComponent, form: CardForm, note: Note): ConvertedFields {
  const label = findLabel(button, form.surface, note)
  const { action, variant } = button
  const event = isJsonObject(action) && isJsonObject(action["event"]) ? (action["event"] as Fields) : null
  if (event === null || form.actions.size >= 8) {
    note("a button without an event, or beyond the eighth, is shown as a badge")
    return { component: "Badge", text: label }
  }
  if (button["checks"] !== undefined) note("checks of a button are left to the tool")
  const name = addAction(event, form, note)
  return { component: "Button", label, action: name, ...(variant === "primary" ? { variant } : {}) }
}

/** Adds the action for an event, and returns the action's name. Equal events share one action. */
function addAction(event: Fields, { actions, fields }: CardForm, note: Note): string {
  const tool = toName(String(event["name"] ?? "action"))
  const context = isJsonObject(event["context"]) ? (event["context"] as Fields) : {}
  const args = Object.entries(context).flatMap(([name, value]): [string, ActionArg][] => {
    const arg = convertArgument(value, fields)
    if (arg === null) note(`the argument ${name} is left out: it needs a path that begins with /, or a literal`)
    return arg === null ? [] : [[name, arg]]
  })
  const action: CardActionTemplate = { tool, args: Object.fromEntries(args) }
  for (let n = 1; ; n++) {
    const name = n === 1 ? tool : `${tool}-${n}`
    const known = actions.get(name)
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(action)) continue
    actions.set(name, action)
    return name
  }
}

function convertArgument(value: Json, fields: ReadonlyMap<string, string>): ActionArg | null {
  if (!isJsonObject(value)) return { value }
  const path = readPath(value as Json)
  if (path === null || !path.startsWith("/")) return null
  const field = fields.get(path)
  return field === undefined ? { path } : { field }
}

/** Returns the label of a button: its text, or the name of its icon. */
export function findLabel(button: A2uiComponent, { components }: A2uiSurface, note: Note): Json {
  const label = components.get(String(button["child"]))
  if (label?.component !== "Icon") return convertText(label?.["text"] ?? button.id, note) as unknown as Json
  note("the icon of a button is shown as its name")
  return typeof label["name"] === "string" ? label["name"] : toJson(convertText(label["name"], note))
}

function toJson(value: unknown): Json {
  return value as Json
}

export function convertField(field: A2uiComponent, form: CardForm, note: Note): ConvertedFields {
  const path = readPath(field["value"]) ?? field.id
  const name = form.fields.get(path) ?? toName(field.id)
  const label = field["label"] === undefined || field["label"] === "" ? name : toJson(convertText(field["label"], note))
  const checks = Array.isArray(field["checks"]) ? field["checks"] : []
  const isRequired = JSON.stringify(checks).includes('"call":"required"')
  if (checks.length > 0) note("checks of a field, except for required, are left to the tool")
  return {
    component: field.component,
    name,
    label,
    ...convertValue(field, form.surface),
    ...(isRequired ? { required: true } : {}),
    ...convertDetails(field, note),
  }
}

/** Returns the field's initial value, if the data has one. */
function convertValue({ component, value }: A2uiComponent, { data }: A2uiSurface): Fields {
  const path = readPath(value)
  if (path === null) return typeof value === "string" || typeof value === "boolean" ? { value } : {}
  const found = readPointer(path, data, undefined)
  if (Array.isArray(found))
    return found.length > 0 && component === "ChoicePicker" ? { value: { path: `${path}/0` } } : {}
  return found === undefined || found === null || found === "" ? {} : { value: { path } }
}

function convertDetails({ component, variant, options, enableTime }: A2uiComponent, note: Note): Fields {
  switch (component) {
    case "TextField":
      if (variant === "obscured") note("a card has no field for a password: what is entered is shown")
      return variant === "longText" || variant === "number" ? { variant } : {}
    case "ChoicePicker": {
      if (variant === "multipleSelection") note("one option can be chosen, not several")
      const list = Array.isArray(options) ? options.filter(isJsonObject) : []
      return {
        options: list.map((option) => ({
          value: String(option["value"]),
          label: String(option["label"] ?? option["value"]),
        })),
      }
    }
    case "DateTimeInput":
      if (enableTime === true) note("a date can be entered, but no time")
      return {}
    default:
      return {}
  }
}
