/** check-actions.ts: checks the actions of a card's template, and its buttons and fields. Pure. SPEC KA1. */

import { isJsonObject, type Json } from "../../json.ts"
import { joinPointer } from "../../json-schema/json-pointer.ts"
import { CARD_NAME, MAX_ACTION_FIELDS } from "../../protocol/cards/card-bounds.ts"
import type { TemplateProblem, ViewComponent } from "../view/card-template.ts"
import { binding, type FieldNotes } from "../view/check-fields.ts"
import { isInteractive, MAX_ACTIONS } from "./card-actions.ts"

const MAX_ARGS = 30
const MAX_VALUE_CHARS = 2_000
const ACTION_FIELDS = new Set(["tool", "args", "repeatable"])

/** `view`: components that were checked one by one. `items`: the ids of components inside lists with a pointer. */
export function checkActions(
  actions: Json | undefined,
  view: readonly ViewComponent[],
  items: ReadonlySet<string>,
  notes: FieldNotes,
): TemplateProblem | null {
  const names = new Set<string>()
  for (const [i, component] of view.entries()) {
    if (!isInteractive(component)) continue
    const pointer = joinPointer("/view", i)
    if (items.has(component.id)) return { pointer, problem: "can't be in a list that has one component for each item" }
    if (component.component === "Button") {
      const action = String(component["action"])
      if (!isJsonObject(actions) || !Object.hasOwn(actions, action))
        return { pointer: `${pointer}/action`, problem: `names "${action}", which isn't an action` }
      continue
    }
    const name = String(component["name"])
    if (names.has(name)) return { pointer: `${pointer}/name`, problem: `"${name}" is used twice` }
    names.add(name)
  }
  if (names.size > MAX_ACTION_FIELDS) return { pointer: "/view", problem: `has more than ${MAX_ACTION_FIELDS} fields` }
  return actions === undefined ? null : checkEach(actions, names, listActions(view), notes)
}

function listActions(view: readonly ViewComponent[]): ReadonlySet<string> {
  return new Set(view.filter(({ component }) => component === "Button").map((button) => String(button["action"])))
}

function checkEach(
  actions: Json,
  fields: ReadonlySet<string>,
  used: ReadonlySet<string>,
  notes: FieldNotes,
): TemplateProblem | null {
  if (!isJsonObject(actions)) return { pointer: "/actions", problem: "must be an object" }
  const entries = Object.entries(actions) as [string, Json][]
  if (entries.length > MAX_ACTIONS) return { pointer: "/actions", problem: `has more than ${MAX_ACTIONS} actions` }
  for (const [name, action] of entries) {
    const pointer = joinPointer("/actions", name)
    if (!CARD_NAME.test(name)) return { pointer, problem: "must have a name of letters, digits, - and _" }
    if (!used.has(name)) return { pointer, problem: "has no button" }
    const problem = checkAction(action, pointer, fields, notes)
    if (problem !== null) return problem
  }
  return null
}

function checkAction(
  action: Json,
  pointer: string,
  fields: ReadonlySet<string>,
  notes: FieldNotes,
): TemplateProblem | null {
  if (!isJsonObject(action)) return { pointer, problem: "must be an object" }
  const { tool, args, repeatable = false } = action
  const extra = Object.keys(action).find((name) => !ACTION_FIELDS.has(name))
  if (extra !== undefined) return { pointer: joinPointer(pointer, extra), problem: "isn't a known field" }
  if (typeof tool !== "string" || !CARD_NAME.test(tool))
    return { pointer: `${pointer}/tool`, problem: "must be the name of a tool" }
  if (typeof repeatable !== "boolean") return { pointer: `${pointer}/repeatable`, problem: "must be true or false" }
  if (!isJsonObject(args)) return { pointer: `${pointer}/args`, problem: "must be an object" }
  const entries = Object.entries(args) as [string, Json][]
  if (entries.length > MAX_ARGS) return { pointer: `${pointer}/args`, problem: `has more than ${MAX_ARGS} arguments` }
  for (const [name, source] of entries) {
    const problem = checkArg(source, joinPointer(`${pointer}/args`, name), fields, notes)
    if (problem !== null) return problem
  }
  return null
}

function checkArg(
  source: Json,
  pointer: string,
  fields: ReadonlySet<string>,
  notes: FieldNotes,
): TemplateProblem | null {
  const shape = { pointer, problem: "must be {path}, {field} or {value}" }
  if (!isJsonObject(source) || Object.keys(source).length !== 1) return shape
  if ("value" in source) {
    const isSmall = JSON.stringify(source["value"]).length <= MAX_VALUE_CHARS
    return isSmall ? null : { pointer, problem: `is longer than ${MAX_VALUE_CHARS} characters` }
  }
  if ("field" in source) {
    const { field } = source
    return typeof field === "string" && fields.has(field)
      ? null
      : { pointer: `${pointer}/field`, problem: "must be the name of a field of the card" }
  }
  if (!("path" in source)) return shape
  // An argument may be absent from a result, so its pointer needn't match a value in a sample.
  const problem = binding(source as Json, pointer, { ...notes, bindings: new Map(), relative: new Map() })
  if (problem !== null) return problem
  const isAbsolute = String(source["path"]).startsWith("/")
  return isAbsolute ? null : { pointer: `${pointer}/path`, problem: "must begin with /" }
}
