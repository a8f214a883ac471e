/**
 * convert-a2ui.ts: converts an A2UI 0.9 surface to a card template. The surface's data becomes the sample, and the
 * schema is inferred from the data. Pure. SPEC CV40.
 */

import { isJsonObject, type Json } from "../../shared/json.ts"
import { MAX_VIEW_COMPONENTS } from "../../shared/card/view/card-template.ts"
import { readPointer } from "../../shared/json-schema/json-pointer.ts"
import { type A2uiSurface, setValue, splitPointer } from "./a2ui-surface.ts"
import { convertComponent, convertOther } from "./convert-component.ts"
import { type CardForm, isField, nameFields } from "./convert-form.ts"

type JsonObject = { readonly [field: string]: Json }

export interface ConvertedCard {
  /** The body of `PUT /v1/cards/:name`. */
  readonly template: JsonObject
  /** Notes about what a card can't show the way A2UI does, each with the id of its component. */
  readonly notes: readonly string[]
}

const ID = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/
/** Maximum depth of the schema. More deeply nested values don't get a schema of their own. */
const MAX_SCHEMA_LEVELS = 8

/** Converts a surface. `tool`: the tool whose results the card shows. */
export function convertSurface(surface: A2uiSurface, tool: string): ConvertedCard {
  const notes: string[] = []
  const form: CardForm = { surface, actions: new Map(), fields: nameFields(surface.components) }
  const view = convertComponents(form, notes)
  const sample = completeSample(isJsonObject(surface.data) ? (surface.data as JsonObject) : {}, view)
  const used = new Set(listPaths(view).map((path) => splitPointer(path)[0]))
  const schema: JsonObject = { ...inferSchema(sample, 1), required: Object.keys(sample).filter((key) => used.has(key)) }
  const actions = Object.fromEntries(form.actions) as unknown as JsonObject
  const more = form.actions.size === 0 ? {} : { actions }
  const template = { for: tool, title: surface.name || tool, schema, view, ...more, samples: [sample] }
  return { template, notes }
}

/** Converts the components reachable from `root`. A component that is used twice occurs twice in the card. */
function convertComponents(form: CardForm, notes: string[]): JsonObject[] {
  const { components } = form.surface
  const view: JsonObject[] = []
  const names = new Set<string>()
  const place = (id: string, above: ReadonlySet<string>, isInItem: boolean): string => {
    const component = components.get(id)
    if (component === undefined || above.has(id) || view.length >= MAX_VIEW_COMPONENTS) return id
    const name = findName(id, names)
    names.add(name)
    const at = view.push({}) - 1
    const inside = new Set([...above, id])
    const note = (text: string): void => {
      notes.push(`${id}: ${text}`)
    }
    const isEach = isInItem || isJsonObject(component["children"])
    const placeInner = (inner: string): string => place(inner, inside, isEach)
    // A click in a list would not identify its item.
    const isOut = isInItem && (component.component === "Button" || isField(component))
    const fields = (isOut ? convertOther : convertComponent)(component, form, placeInner, note)
    const { weight } = component
    view[at] = { id: name, ...fields, ...(typeof weight === "number" && weight > 0 ? { weight } : {}) }
    return name
  }
  place("root", new Set(), false)
  return view
}

/** Returns an id that no other component has. Fewer characters are allowed in card ids than in A2UI ids. */
function findName(id: string, names: ReadonlySet<string>): string {
  const base = ID.test(id) ? id : "part"
  for (let n = 1; ; n++) {
    const name = n === 1 ? base : `${base.slice(0, 58)}-${n}`
    if (!names.has(name)) return name
  }
}

/** Returns the absolute paths of all bindings. */
function listPaths(value: Json): string[] {
  if (Array.isArray(value)) return value.flatMap((item: Json) => listPaths(item))
  if (!isJsonObject(value)) return []
  const { path } = value as JsonObject
  const own = typeof path === "string" && path.startsWith("/") ? [path] : []
  return [...own, ...Object.values(value as JsonObject).flatMap(listPaths)]
}

/**
 * Adds a value for each path that has none. A surface may leave a value to the user, but a template's samples must have
 * one.
 */
function completeSample(data: JsonObject, view: readonly JsonObject[]): JsonObject {
  let sample: Json = data
  for (const path of listPaths(view)) {
    const keys = splitPointer(path)
    if (readPointer(path, sample, undefined) === undefined) sample = setValue(sample, keys, keys.at(-1) ?? "")
  }
  return sample as JsonObject
}

function inferSchema(value: Json, level: number): JsonObject {
  if (value === null || level > MAX_SCHEMA_LEVELS) return {}
  if (Array.isArray(value)) {
    const [first] = value as readonly Json[]
    return first === undefined ? { type: "array" } : { type: "array", items: inferSchema(first, level + 1) }
  }
  if (!isJsonObject(value)) return { type: typeof value }
  const entries = Object.entries(value as JsonObject).map(
    ([key, field]) => [key, inferSchema(field, level + 1)] as const,
  )
  return { type: "object", properties: Object.fromEntries(entries) }
}
