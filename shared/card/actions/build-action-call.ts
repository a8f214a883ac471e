/**
 * build-action-call.ts: creates the tool call for a click on a card, and the message that represents the click in the
 * transcript.
 *
 * template, stored result, fields → BUILD → tool, arguments, message
 * The client only names an action and supplies field values; the rest comes from the template and the stored result.
 * Pure. SPEC KA2, KA9.
 */

import { isJsonObject, type Json } from "../../json.ts"
import { readPointer } from "../../json-schema/json-pointer.ts"
import type { ActionClick, FieldValues } from "../../protocol/cards/card-action.ts"
import { cutText } from "../../text/cut-text.ts"
import { type CardView, MAX_VIEW_DEPTH, type ViewComponent } from "../view/card-template.ts"
import { fillView } from "../view/fill-view.ts"
import { ENGLISH } from "../view/format-value.ts"
import type { FilledView, ViewNode } from "../view/view-node.ts"
import type { ActionArg, CardActionTemplate } from "./card-actions.ts"

export interface ActionCall {
  readonly tool: string
  /** JSON text. */
  readonly args: string
  /** The text of the message: the button's label, then each field's label and value. */
  readonly words: string
}

/** The reason why a click is refused. `field`: the name of the field whose value is invalid. */
export type ActionProblem = { readonly because: "unknown" } | { readonly because: "field"; readonly field: string }

type FieldNode = Extract<ViewNode, { readonly type: "field" }>

/** Checks only the format and the ranges. The tool checks whether the date exists. */
const DATE = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/
const MAX_WORDS_CHARS = 2_000
/** Half of the limit for a tool call by the model. */
const MAX_ACTION_ARGS_CHARS = 64 * 1024

export function buildActionCall(
  view: CardView,
  result: Json,
  { name, item, fields = {} }: Pick<ActionClick, "name" | "item" | "fields">,
): { readonly ok: true; readonly call: ActionCall } | { readonly ok: false; readonly problem: ActionProblem } {
  const unknown = { ok: false, problem: { because: "unknown" } } as const
  const action = view.actions !== undefined && Object.hasOwn(view.actions, name) ? view.actions[name] : undefined
  const filled = action === undefined ? null : fillView(view, result, ENGLISH)
  const button = filled === null ? null : findButton(filled, name, item)
  // A click on a button that the card doesn't show for this result is refused.
  if (action === undefined || filled === null || button === null) return unknown
  const shown = listActionFields(filled, action)
  const stray = Object.keys(fields).find((field) => shown.every((node) => node.name !== field))
  if (stray !== undefined) return { ok: false, problem: { because: "field", field: stray } }
  const invalid = shown.find((node) => !isValidField(node, fields[node.name]))
  if (invalid !== undefined) return { ok: false, problem: { because: "field", field: invalid.name } }
  const roots = { root: result, item: item === undefined ? undefined : readItem(view, result, name, item) }
  const args = Object.entries(action.args).flatMap(([arg, source]): [string, Json][] => {
    const value = readArg(source, roots, fields)
    return value === undefined ? [] : [[arg, value]]
  })
  const text = JSON.stringify(Object.fromEntries(args))
  if (text.length > MAX_ACTION_ARGS_CHARS) return unknown
  const lines = shown.flatMap((node) => describeField(node, fields[node.name]))
  const words = cutText([button.label.join(""), ...lines].join("\n"), MAX_WORDS_CHARS)
  return { ok: true, call: { tool: action.tool, args: text, words } }
}

/** The values that pointers are relative to. */
interface Roots {
  readonly root: Json
  readonly item: Json | undefined
}

function readArg(source: ActionArg, { root, item }: Roots, fields: FieldValues): Json | undefined {
  if ("path" in source) return readPointer(source.path, root, item)
  if ("value" in source) return source.value
  const value = fields[source.field]
  return value === "" ? undefined : value
}

/** Returns whether a field can have this value. The page makes the same check before it sends the value. */
export function isValidField(node: Omit<FieldNode, "weight">, value: string | number | boolean | undefined): boolean {
  if (value === undefined || value === "" || value === false) return !node.isRequired
  switch (node.kind) {
    case "check":
      return value === true
    case "number":
      return typeof value === "number"
    case "choice":
      return node.options.some((option) => option.value === value)
    case "date":
      return typeof value === "string" && DATE.test(value)
    case "text":
    case "longText":
      return typeof value === "string"
  }
}

export function describeField(node: FieldNode, value: string | number | boolean | undefined): string[] {
  if (value === undefined || value === "" || value === false) return []
  const label = node.label.join("")
  if (value === true) return [label]
  const shown = node.options.find((option) => option.value === value)?.label ?? String(value)
  return [`${label}: ${shown}`]
}

type ButtonNode = Extract<ViewNode, { readonly type: "button" }>

function findButton(view: FilledView, action: string, item: number | undefined): ButtonNode | null {
  for (const node of listNodes(view.root))
    if (node.type === "button" && node.action === action && node.item === item) return node
  return null
}

/**
 * Returns an item of the list that contains the action's button. The template check guarantees that only one list
 * contains it.
 */
function readItem({ view }: CardView, result: Json, action: string, item: number): Json | undefined {
  const byId = new Map(view.map((component) => [component.id, component]))
  const hasButton = (id: Json | undefined, depth: number): boolean => {
    const component = byId.get(String(id))
    if (component === undefined || depth > MAX_VIEW_DEPTH) return false
    const isButton = component.component === "Button" && component["action"] === action
    return isButton || listChildren(component).some((child) => hasButton(child, depth + 1))
  }
  for (const { children } of view) {
    if (!isJsonObject(children) || !hasButton(children["componentId"], 1)) continue
    const items = readPointer(String(children["path"]), result, undefined)
    return Array.isArray(items) ? (items as readonly Json[])[item] : undefined
  }
  return undefined
}

/** Returns the ids of a component's children, except those generated from a list's items. */
function listChildren({ children, child, tabs }: ViewComponent): readonly (Json | undefined)[] {
  const inTabs = Array.isArray(tabs) ? tabs.map((tab: Json) => (isJsonObject(tab) ? tab["child"] : undefined)) : []
  return [child, ...(Array.isArray(children) ? children : []), ...inTabs]
}

/** Returns the form fields that the action's arguments refer to. */
export function listActionFields({ root }: FilledView, { args }: CardActionTemplate): readonly FieldNode[] {
  const names = new Set(Object.values(args).flatMap((source) => ("field" in source ? [source.field] : [])))
  const fields: FieldNode[] = []
  for (const node of listNodes(root)) if (node.type === "field" && names.has(node.name)) fields.push(node)
  return fields
}

function* listNodes(node: ViewNode): Generator<ViewNode> {
  yield node
  if ("children" in node) for (const child of node.children) yield* listNodes(child)
  if (node.type === "card") yield* listNodes(node.child)
  if (node.type === "tabs") for (const { child } of node.tabs) yield* listNodes(child)
}
