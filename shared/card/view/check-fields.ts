/**
 * check-fields.ts: the fields of each component and function, and what each field may contain. Pure. SPEC CV2, CV42.
 */

import { isJsonObject, type Json } from "../../json.ts"
import {
  ALIGN,
  CELL_ALIGN,
  type ComponentKind,
  DATE_STYLES,
  FORMAT_FUNCTIONS,
  type FormatFunction,
  IMAGE_VARIANTS,
  JUSTIFY,
  MAX_LITERAL_CHARS,
  MAX_POINTER_CHARS,
  TEXT_VARIANTS,
  type TemplateProblem,
  TONES,
} from "./card-template.ts"
import { CARD_NAME } from "../../protocol/cards/card-bounds.ts"
import { MAX_CHOICES, TEXT_FIELD_VARIANTS } from "../actions/card-actions.ts"
import { MAX_COLUMNS } from "./fill-rows.ts"
import { parseIconName } from "./icon-name.ts"
import { joinPointer } from "../../json-schema/json-pointer.ts"
import { isLinkAddress, MAX_ADDRESS_CHARS } from "./link-address.ts"
import { ENGLISH_LABELS } from "./view-labels.ts"

/** What the checks collect: the bindings and the ids of child components, with their pointers. */
export interface FieldNotes {
  readonly bindings: Map<object, string>
  readonly children: { readonly id: string; readonly pointer: string; readonly isItem: boolean }[]
  /** Bindings that are relative to an item of a list that contains the component. */
  readonly relative: Map<object, string>
}

export type Check = (value: Json, pointer: string, notes: FieldNotes) => TemplateProblem | null

interface Field {
  readonly check: Check
  readonly isRequired: boolean
}

const required = (check: Check): Field => ({ check, isRequired: true })
const optional = (check: Check): Field => ({ check, isRequired: false })

const MAX_TABS = 8
const MAX_JOINED = 20
const MAX_CASES = 30
const MAX_CHILDREN = 100

const literal: Check = (value, pointer) => {
  if (typeof value !== "string") return { pointer, problem: "must be a text" }
  return value.length <= MAX_LITERAL_CHARS
    ? null
    : { pointer, problem: `is longer than ${MAX_LITERAL_CHARS} characters` }
}

const oneOf =
  (names: readonly string[]): Check =>
  (value, pointer) =>
    typeof value === "string" && names.includes(value)
      ? null
      : { pointer, problem: `must be one of ${names.join(", ")}` }

const integerUpTo =
  (max: number): Check =>
  (value, pointer) =>
    Number.isInteger(value) && Number(value) >= 0 && Number(value) <= max
      ? null
      : { pointer, problem: `must be an integer from 0 to ${max}` }

const positive: Check = (value, pointer) =>
  typeof value === "number" && value > 0 && value <= 1e15 ? null : { pointer, problem: "must be a positive number" }

export const binding: Check = (value, pointer, notes) => {
  if (!isJsonObject(value) || typeof value["path"] !== "string" || Object.keys(value).length !== 1)
    return { pointer, problem: 'must be a binding, {"path": "/…"}' }
  const { path } = value
  if (path.length > MAX_POINTER_CHARS || /~(?![01])/.test(path))
    return { pointer: joinPointer(pointer, "path"), problem: "isn't a JSON Pointer" }
  notes.bindings.set(value, pointer)
  if (!path.startsWith("/")) notes.relative.set(value, pointer)
  return null
}

const either =
  (isFirst: (value: Json) => boolean, first: Check, second: Check): Check =>
  (value, pointer, notes) =>
    (isFirst(value) ? first : second)(value, pointer, notes)

const isText = (value: Json): boolean => typeof value === "string"
const isNumber = (value: Json): boolean => typeof value === "number"

const numberOrBinding = either(isNumber, positive, binding)

/** Accepts a string, a binding or a function call. */
const dynamic: Check = (value, pointer, notes) => {
  if (isText(value)) return literal(value, pointer, notes)
  if (!isJsonObject(value) || !("call" in value)) return binding(value, pointer, notes)
  const { call, args, ...rest } = value
  const [extra] = Object.keys(rest)
  if (extra !== undefined) return { pointer: joinPointer(pointer, extra), problem: "isn't a field of a function" }
  const name = FORMAT_FUNCTIONS.find((known) => known === call)
  if (name === undefined)
    return { pointer: joinPointer(pointer, "call"), problem: `must be one of ${FORMAT_FUNCTIONS.join(", ")}` }
  const fields = name === "label" ? listLabelFields(args) : FUNCTION_FIELDS[name]
  return checkFields(fields, args as Json, joinPointer(pointer, "args"), notes)
}

/** Accepts a literal, or a label without a value. */
const words: Check = (value, pointer, notes) => {
  if (!isJsonObject(value)) return literal(value, pointer, notes)
  return value["call"] === "label" && !takesValue(value["args"])
    ? dynamic(value, pointer, notes)
    : { pointer, problem: "must be a text, or a label without a value" }
}

const webAddress: Check = (value, pointer) =>
  typeof value === "string" && value.length <= MAX_ADDRESS_CHARS && isLinkAddress(value) && /^https:/i.test(value)
    ? null
    : { pointer, problem: "must be an https address or a binding" }

const address = either(isText, webAddress, binding)

const icon = either(
  isText,
  (value, pointer) => (parseIconName(value) === null ? { pointer, problem: "isn't a known icon" } : null),
  binding,
)

const childId =
  (isItem: boolean): Check =>
  (value, pointer, notes) => {
    if (typeof value !== "string" || !CARD_NAME.test(value))
      return { pointer, problem: "must be the id of a component" }
    notes.children.push({ id: value, pointer, isItem })
    return null
  }

const listOf =
  (check: Check, max: number): Check =>
  (value, pointer, notes) => {
    if (!Array.isArray(value) || value.length === 0 || value.length > max)
      return { pointer, problem: `must be a list of 1 to ${max}` }
    return firstProblem(value.map((item, i) => () => check(item, joinPointer(pointer, i), notes)))
  }

const objectOf =
  (fields: Fields): Check =>
  (value, pointer, notes) =>
    checkFields(fields, value, pointer, notes)

const children = either(
  (value) => Array.isArray(value),
  listOf(childId(false), MAX_CHILDREN),
  (value, pointer, notes) => {
    if (!isJsonObject(value)) return { pointer, problem: "must be a list of ids, or {componentId, path}" }
    const { path, ...rest } = value
    const problem = checkFields({ componentId: required(childId(true)) }, rest as Json, pointer, notes)
    if (problem !== null) return problem
    // The list's own object identifies this binding, because `fillView` reports that object when it finds a value.
    const bound = binding({ path: path as Json }, pointer, { ...notes, bindings: new Map(), relative: new Map() })
    if (bound !== null) return bound
    notes.bindings.set(value, pointer)
    if (!String(path).startsWith("/")) notes.relative.set(value, pointer)
    return null
  },
)

/** Checks the values in a row. Their bindings may be relative to the row. */
const inRow =
  (check: Check): Check =>
  (value, pointer, notes) =>
    check(value, pointer, { ...notes, relative: new Map() })

const cases: Check = (value, pointer, notes) => {
  if (!isJsonObject(value)) return { pointer, problem: "must be an object of texts" }
  const entries = Object.entries(value) as [string, Json][]
  if (entries.length > MAX_CASES) return { pointer, problem: `has more than ${MAX_CASES} cases` }
  return firstProblem(
    entries.map(
      ([key, text]) =>
        () =>
          words(text, joinPointer(pointer, key), notes),
    ),
  )
}

type Fields = { readonly [name: string]: Field }

const FUNCTION_FIELDS: { readonly [name in Exclude<FormatFunction, "label">]: Fields } = {
  formatNumber: { value: required(binding), decimals: optional(integerUpTo(6)), unit: optional(dynamic) },
  formatPercent: { value: required(binding), decimals: optional(integerUpTo(6)) },
  formatCurrency: {
    value: required(binding),
    currency: required(either(isText, literal, binding)),
    decimals: optional(integerUpTo(6)),
  },
  formatDate: { value: required(binding), style: optional(oneOf(DATE_STYLES)) },
  formatDuration: { value: required(binding) },
  pluralize: {
    value: required(binding),
    ...Object.fromEntries(["zero", "one", "two", "few", "many"].map((rule) => [rule, optional(literal)])),
    other: required(literal),
  },
  choose: { value: required(binding), cases: required(cases), other: optional(words) },
  join: { values: required(listOf((...at) => dynamic(...at), MAX_JOINED)) },
}

const labelName = required(oneOf(Object.keys(ENGLISH_LABELS)))

function listLabelFields(args: Json | undefined): Fields {
  return takesValue(args) ? { name: labelName, value: required(dynamic) } : { name: labelName }
}

/** Returns whether the arguments name a label that contains a placeholder for a value. */
function takesValue(args: Json | undefined): boolean {
  const name = isJsonObject(args) ? args["name"] : undefined
  return Object.entries(ENGLISH_LABELS).some(([label, text]) => label === name && text.includes("#"))
}

const box: Fields = { children: required(children), justify: optional(oneOf(JUSTIFY)), align: optional(oneOf(ALIGN)) }

const textOrBinding = either(isText, literal, binding)

/** Accepts the name of an action. Whether the card has that action is checked in check-actions.ts. */
const actionName: Check = (value, pointer) =>
  typeof value === "string" && CARD_NAME.test(value) ? null : { pointer, problem: "must be the name of an action" }

const fieldName: Check = (value, pointer) =>
  typeof value === "string" && CARD_NAME.test(value)
    ? null
    : { pointer, problem: "must be a name of letters, digits, - and _" }

const flag: Check = (value, pointer) =>
  typeof value === "boolean" ? null : { pointer, problem: "must be true or false" }

const option = objectOf({ value: required(literal), label: required(literal) })

const field: Fields = { name: required(fieldName), label: required(dynamic), required: optional(flag) }

const COMPONENT_FIELDS: { readonly [kind in ComponentKind]: Fields } = {
  Text: { text: required(dynamic), variant: optional(oneOf(TEXT_VARIANTS)) },
  Link: { text: required(dynamic), url: required(address) },
  Badge: { text: required(dynamic), tone: optional(either(isText, oneOf(TONES), dynamic)) },
  Icon: { name: required(icon) },
  Image: {
    url: required(address),
    description: required(dynamic),
    variant: optional(oneOf(IMAGE_VARIANTS)),
  },
  Row: box,
  Column: box,
  List: { children: required(children), direction: optional(oneOf(["vertical", "horizontal"])) },
  Card: { child: required(childId(false)) },
  Tabs: {
    tabs: required(listOf(objectOf({ title: required(dynamic), child: required(childId(false)) }), MAX_TABS)),
  },
  Divider: {},
  Table: {
    rows: required(binding),
    columns: required(
      inRow(
        listOf(
          objectOf({ title: required(literal), value: required(dynamic), align: optional(oneOf(CELL_ALIGN)) }),
          MAX_COLUMNS,
        ),
      ),
    ),
  },
  Chart: {
    kind: required(oneOf(["bar", "line"])),
    title: required(dynamic),
    unit: optional(dynamic),
    rows: required(binding),
    label: required(inRow(dynamic)),
    value: required(inRow(binding)),
  },
  Progress: { label: required(dynamic), value: required(binding), max: optional(numberOrBinding) },
  Timer: { label: required(dynamic), endsAt: required(binding), done: optional(words) },
  Button: { label: required(dynamic), action: required(actionName), variant: optional(oneOf(["default", "primary"])) },
  TextField: { ...field, value: optional(textOrBinding), variant: optional(oneOf(TEXT_FIELD_VARIANTS)) },
  CheckBox: {
    ...field,
    value: optional(
      either(
        (value) => typeof value === "boolean",
        () => null,
        binding,
      ),
    ),
  },
  ChoicePicker: { ...field, value: optional(textOrBinding), options: required(listOf(option, MAX_CHOICES)) },
  DateTimeInput: { ...field, value: optional(textOrBinding) },
}

/** Checks the fields of a component, except for `id` and `component`. */
export function checkComponentFields(
  kind: ComponentKind,
  fields: Json,
  pointer: string,
  notes: FieldNotes,
): TemplateProblem | null {
  return checkFields({ ...COMPONENT_FIELDS[kind], weight: optional(positive) }, fields, pointer, notes)
}

export function checkTitle(title: Json, pointer: string, notes: FieldNotes): TemplateProblem | null {
  return dynamic(title, pointer, notes)
}

function checkFields(fields: Fields, value: Json, pointer: string, notes: FieldNotes): TemplateProblem | null {
  if (!isJsonObject(value)) return { pointer, problem: "must be an object" }
  for (const [name, { check, isRequired }] of Object.entries(fields)) {
    const at = joinPointer(pointer, name)
    const field = Object.hasOwn(value, name) ? (value[name] as Json) : undefined
    const missing = isRequired ? { pointer: at, problem: "is missing" } : null
    const problem = field === undefined ? missing : check(field, at, notes)
    if (problem !== null) return problem
  }
  const extra = Object.keys(value).find((name) => !Object.hasOwn(fields, name))
  return extra === undefined ? null : { pointer: joinPointer(pointer, extra), problem: "isn't a known field" }
}

function firstProblem(checks: readonly (() => TemplateProblem | null)[]): TemplateProblem | null {
  for (const check of checks) {
    const problem = check()
    if (problem !== null) return problem
  }
  return null
}
