/** check-actions.ts: checks the actions, buttons and fields of a card template. Pure. SPEC KA1, KA8. */

import { isJsonObject, type Json } from "../../json.ts"
import { joinPointer } from "../../json-schema/json-pointer.ts"
import { CARD_NAME, MAX_ACTION_FIELDS } from "../../protocol/cards/card-bounds.ts"
import type { TemplateProblem, ViewComponent } from "../view/card-template.ts"
import { binding, type FieldNotes } from "../view/check-fields.ts"
import { isInteractive, MAX_ACTIONS } from "./card-actions.ts"

const MAX_ARGS = 30
const MAX_VALUE_CHARS = 2_000
const ACTION_FIELDS = new Set(["tool", "args", "repeatable"])

/**
 * Checks the actions. `view`: components that have each been checked. `lists`: the number of item lists that contain
 * each component.
 */
export function checkActions(
  actions: Json | undefined,
  view: readonly ViewComponent[],
  lists: ReadonlyMap<string, number>,
  notes: FieldNotes,
): TemplateProblem | null {
  const names = new Set<string>()
  const buttons = new Map<string, ButtonUse>()
  for (const [i, component] of view.entries()) {
    if (!isInteractive(component)) continue
    const pointer = joinPointer("/view", i)
    const inLists = lists.get(component.id) ?? 0
    if (component.component === "Button") {
      const problem = checkButton(component, pointer, { actions, buttons, inLists })
      if (problem !== null) return problem
      continue
    }
    if (inLists > 0) return { pointer, problem: "can't be in a list that has one component for each item" }
    const name = String(component["name"])
    if (names.has(name)) return { pointer: `${pointer}/name`, problem: `"${name}" is used twice` }
    names.add(name)
  }
  if (names.size > MAX_ACTION_FIELDS) return { pointer: "/view", problem: `has more than ${MAX_ACTION_FIELDS} fields` }
  return actions === undefined ? null : checkEach(actions, names, buttons, notes)
}

/** How an action is used by buttons. */
interface ButtonUse {
  readonly isPerItem: boolean
}

interface ButtonPlace {
  readonly actions: Json | undefined
  /** The buttons checked so far, by action. */
  readonly buttons: Map<string, ButtonUse>
  readonly inLists: number
}

/**
 * A click identifies an action and an item's index, so a per-item action may have only one button, in only one list.
 */
function checkButton(
  button: ViewComponent,
  pointer: string,
  { actions, buttons, inLists }: ButtonPlace,
): TemplateProblem | null {
  const action = String(button["action"])
  if (!isJsonObject(actions) || !Object.hasOwn(actions, action))
    return { pointer: `${pointer}/action`, problem: `names "${action}", which isn't an action` }
  if (inLists > 1) return { pointer, problem: "can't be in a list that is in another list" }
  const other = buttons.get(action)
  if (other !== undefined && (other.isPerItem || inLists > 0))
    return { pointer: `${pointer}/action`, problem: `names "${action}", which has another button` }
  buttons.set(action, { isPerItem: inLists > 0 })
  return null
}

function checkEach(
  actions: Json,
  fields: ReadonlySet<string>,
  buttons: ReadonlyMap<string, ButtonUse>,
  notes: FieldNotes,
): TemplateProblem | null {
  if (!isJsonObject(actions)) return { pointer: "/actions", problem: "must be an object" }
  const entries = Object.entries(actions) as [string, Json][]
  if (entries.length > MAX_ACTIONS) return { pointer: "/actions", problem: `has more than ${MAX_ACTIONS} actions` }
  for (const [name, action] of entries) {
    const pointer = joinPointer("/actions", name)
    if (!CARD_NAME.test(name)) return { pointer, problem: "must have a name of letters, digits, - and _" }
    const used = buttons.get(name)
    if (used === undefined) return { pointer, problem: "has no button" }
    const problem = checkAction(action, pointer, { fields, notes, isPerItem: used.isPerItem })
    if (problem !== null) return problem
  }
  return null
}

/** What an action's arguments can refer to. */
interface ArgSources {
  readonly fields: ReadonlySet<string>
  readonly notes: FieldNotes
  readonly isPerItem: boolean
}

function checkAction(action: Json, pointer: string, sources: ArgSources): TemplateProblem | null {
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
    const problem = checkArg(source, joinPointer(`${pointer}/args`, name), sources)
    if (problem !== null) return problem
  }
  return null
}

function checkArg(source: Json, pointer: string, { fields, notes, isPerItem }: ArgSources): TemplateProblem | null {
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
  // An argument's value may be absent from a result, so its pointer needn't match a value in any sample.
  const problem = binding(source as Json, pointer, { ...notes, bindings: new Map(), relative: new Map() })
  if (problem !== null) return problem
  const isKnown = isPerItem || String(source["path"]).startsWith("/")
  return isKnown ? null : { pointer: `${pointer}/path`, problem: "must begin with /" }
}
