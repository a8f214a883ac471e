/**
 * a2ui-surface.ts: reads A2UI 0.9 messages and returns the surface that they build: its components and its data. Pure.
 *
 * The text is a file from A2UI's catalogs (`{name, messages}`), a list of messages, or one message per line.
 */

import { isJsonObject, type Json, parseJson } from "../../shared/json.ts"

type JsonObject = { readonly [field: string]: Json }

export interface A2uiComponent {
  readonly id: string
  readonly component: string
  readonly [field: string]: Json
}

export interface A2uiSurface {
  readonly name: string
  readonly components: ReadonlyMap<string, A2uiComponent>
  readonly data: Json
}

/** Reads a surface. Returns null if the text contains no components. */
export function readSurface(text: string): A2uiSurface | null {
  const { name, messages } = readMessages(text)
  const components = new Map<string, A2uiComponent>()
  let data: Json = {}
  for (const message of messages) {
    const { updateComponents, updateDataModel } = message
    if (isJsonObject(updateComponents)) {
      for (const component of listComponents(updateComponents["components"] as Json)) {
        components.set(component.id, component)
      }
    }
    if (isJsonObject(updateDataModel)) {
      const { path = "/", value = null } = updateDataModel as JsonObject
      data = setValue(data, splitPointer(String(path)), value)
    }
  }
  return components.size === 0 ? null : { name, components, data }
}

function readMessages(text: string): { readonly name: string; readonly messages: readonly JsonObject[] } {
  const whole = parseJson(text)
  if (whole === undefined) {
    const lines = text.split("\n").filter((line) => line.trim() !== "")
    return { name: "", messages: lines.map((line) => parseJson(line)).filter(isObject) }
  }
  if (Array.isArray(whole)) return { name: "", messages: whole.filter(isObject) }
  if (!isObject(whole)) return { name: "", messages: [] }
  const { name, messages } = whole
  if (!Array.isArray(messages)) return { name: "", messages: [whole] }
  return { name: typeof name === "string" ? name : "", messages: messages.filter(isObject) }
}

function isObject(value: Json | undefined): value is JsonObject {
  return isJsonObject(value)
}

function listComponents(list: Json | undefined): A2uiComponent[] {
  if (!Array.isArray(list)) return []
  return list.filter(
    (component): component is A2uiComponent =>
      isObject(component) && typeof component["id"] === "string" && typeof component["component"] === "string",
  )
}

/** Returns the keys of a JSON Pointer. */
export function splitPointer(pointer: string): string[] {
  const keys = pointer.replace(/^\//, "").split("/")
  return pointer === "" || pointer === "/" ? [] : keys.map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"))
}

/** Returns the data with the given value at a path. Missing parts of the path are created. */
export function setValue(data: Json, keys: readonly string[], value: Json): Json {
  const [key, ...rest] = keys
  if (key === undefined) return value
  if (Array.isArray(data) && /^\d{1,5}$/.test(key)) {
    const list = [...(data as readonly Json[])]
    list[Math.min(Number(key), list.length)] = setValue(list[Number(key)] ?? {}, rest, value)
    return list
  }
  const object = isObject(data) ? data : {}
  const inner = Object.hasOwn(object, key) ? (object[key] ?? {}) : {}
  return { ...object, [key]: setValue(inner, rest, value) }
}
