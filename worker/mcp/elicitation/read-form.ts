/**
 * read-form.ts: reads the form of an elicitation, within bounds. Pure. SPEC MP31.
 *
 * The schema is flat: strings, numbers, booleans and choices. A form with anything else is refused as a whole, because
 * a form without some of its fields would ask for something other than what the server meant. Keywords that only narrow
 * a value further, such as `pattern`, are left to the server.
 */

import { fail, type McpFlaw, type Result, succeed } from "../../../shared/fault.ts"
import { isJsonObject } from "../../../shared/json.ts"
import { INVISIBLE_CHARS } from "../../../shared/protocol/asset.ts"
import type { CallInput, InputField, InputFormat, InputOption } from "../../../shared/protocol/input/call-input.ts"
import { listInvalidFields } from "../../../shared/protocol/input/check-content.ts"

const MAX_FIELDS = 16
const MAX_OPTIONS = 64
/** In UTF-16 code units. */
const MAX_MESSAGE_CHARS = 2_000
const MAX_LABEL_CHARS = 200
const MAX_HINT_CHARS = 500
const MAX_NAME_CHARS = 64
const MAX_VALUE_CHARS = 200
/** A form is sent to every tab, in one frame. */
const MAX_FORM_CHARS = 16 * 1024

const FORMATS: readonly InputFormat[] = ["email", "uri", "date", "date-time"]

type Schema = { readonly [key: string]: unknown }
type Read<T> = Result<T, McpFlaw>

/** Reads a form. `params` are those of `elicitation/create` in form mode. */
export function readForm(params: Schema, id: string, server: string): Read<CallInput> {
  const { message, requestedSchema } = params
  if (typeof message !== "string" || !isJsonObject(requestedSchema)) return fail("input")
  if (message.length > MAX_MESSAGE_CHARS) return fail("too_large")
  const { type, properties, required = [] } = requestedSchema
  if (type !== "object" || !isJsonObject(properties) || !Array.isArray(required)) return fail("input")
  const entries = Object.entries(properties)
  if (entries.length > MAX_FIELDS || required.length > MAX_FIELDS) return fail("too_many")
  const fields: InputField[] = []
  for (const [name, schema] of entries) {
    const field = readField(name, schema, required.includes(name))
    if (!field.ok) return field
    fields.push(field.value)
  }
  const form = { id, server, message: cleanText(message, /\n/), fields }
  return JSON.stringify(form).length > MAX_FORM_CHARS ? fail("too_large") : succeed(form)
}

function readField(name: string, schema: unknown, isRequired: boolean): Read<InputField> {
  // Setting `__proto__` would change the prototype of an object.
  if (!isJsonObject(schema) || name === "" || name === "__proto__") return fail("input")
  const { title = name, description } = schema
  if (typeof title !== "string" || (description !== undefined && typeof description !== "string")) return fail("input")
  if (name.length > MAX_NAME_CHARS || title.length > MAX_LABEL_CHARS) return fail("too_large")
  if ((description?.length ?? 0) > MAX_HINT_CHARS) return fail("too_large")
  const hint = cleanText(description ?? "")
  const base = { name, label: cleanText(title) || cleanText(name), ...(hint !== "" && { hint }), isRequired }
  const kind = readKind(schema)
  return kind.ok ? succeed(withInitial({ ...base, ...kind.value }, schema["default"])) : kind
}

type Kind = InputField extends infer Field ? (Field extends InputField ? Omit<Field, BaseKey> : never) : never
type BaseKey = "name" | "label" | "hint" | "isRequired"

function readKind(schema: Schema): Read<Kind> {
  switch (schema["type"]) {
    case "string":
      return "enum" in schema || "oneOf" in schema ? readChoice("choice", schema) : readText(schema)
    case "number":
    case "integer":
      return succeed({ kind: schema["type"], ...readBounds(schema["minimum"], schema["maximum"]) })
    case "boolean":
      return succeed({ kind: "check" })
    case "array":
      return isJsonObject(schema["items"]) ? readChoices(schema, schema["items"]) : fail("input")
    default:
      return fail("input")
  }
}

/** Reads a text field. A field for a secret is refused, because secrets don't belong in a form. */
function readText({ format, writeOnly, minLength, maxLength }: Schema): Read<Kind> {
  const known = FORMATS.find((name) => name === format)
  if (writeOnly === true || (format !== undefined && known === undefined)) return fail("input")
  return succeed({ kind: "text", ...(known !== undefined && { format: known }), ...readBounds(minLength, maxLength) })
}

function readChoices(schema: Schema, items: Schema): Read<Kind> {
  if (items["type"] !== undefined && items["type"] !== "string") return fail("input")
  const choices = readChoice("choices", { enum: items["enum"], oneOf: items["anyOf"] ?? items["oneOf"] })
  return choices.ok ? succeed({ ...choices.value, ...readBounds(schema["minItems"], schema["maxItems"]) }) : choices
}

function readChoice(kind: "choice" | "choices", schema: Schema): Read<Kind> {
  const { enum: values, enumNames, oneOf } = schema
  const names = Array.isArray(enumNames) ? enumNames : []
  const listed = Array.isArray(values)
    ? values.map((value, at) => [value, names[at] ?? value])
    : Array.isArray(oneOf)
      ? oneOf.map((choice) => (isJsonObject(choice) ? [choice["const"], choice["title"] ?? choice["const"]] : []))
      : []
  if (listed.length === 0) return fail("input")
  if (listed.length > MAX_OPTIONS) return fail("too_many")
  const options: InputOption[] = []
  for (const [value, label] of listed) {
    if (typeof value !== "string" || typeof label !== "string") return fail("input")
    if (value.length > MAX_VALUE_CHARS || label.length > MAX_LABEL_CHARS) return fail("too_large")
    options.push({ value, label: cleanText(label) || cleanText(value) })
  }
  if (new Set(options.map(({ value }) => value)).size !== options.length) return fail("input")
  return succeed({ kind, options })
}

function readBounds(min: unknown, max: unknown): { readonly min?: number; readonly max?: number } {
  return { ...(typeof min === "number" && { min }), ...(typeof max === "number" && { max }) }
}

/** Adds the default value. A value that doesn't fit its field is omitted. */
function withInitial(field: InputField, initial: unknown): InputField {
  const isValue =
    typeof initial === "string" || typeof initial === "number" || typeof initial === "boolean" || isTextList(initial)
  if (!isValue || listInvalidFields([field], { [field.name]: initial }).length > 0) return field
  return { ...field, initial } as InputField
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string")
}

/** Removes characters that are invisible or reverse the text, except those that `allowed` matches. */
function cleanText(text: string, allowed?: RegExp): string {
  return text
    .toWellFormed()
    .replace(INVISIBLE_CHARS, (char) => (allowed?.test(char) === true ? char : ""))
    .trim()
}
