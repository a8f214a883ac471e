/**
 * check-template.ts: checks a card template before it is stored: its fields, its component tree, its schema, and
 * whether its samples fill it. Every problem is reported with its position. Pure. SPEC CV1 to CV4.
 */

import { isJsonObject, type Json } from "../../json.ts"
import { MAX_CARD_BYTES } from "../../limits.ts"
import { countUtf8Bytes } from "../../truncate.ts"
import {
  type CardTemplate,
  COMPONENT_KINDS,
  MAX_SAMPLES,
  MAX_TEMPLATE_BYTES,
  MAX_VIEW_COMPONENTS,
  MAX_VIEW_DEPTH,
  type TemplateProblem,
  type ViewComponent,
} from "./card-template.ts"
import { CARD_NAME } from "../../protocol/cards/card-bounds.ts"
import { checkActions } from "../actions/check-actions.ts"
import { checkComponentFields, checkTitle, type FieldNotes } from "./check-fields.ts"
import { checkSchema } from "../../json-schema/check-schema.ts"
import { checkValue } from "../../json-schema/match-schema.ts"
import { fillView } from "./fill-view.ts"
import { ENGLISH } from "./format-value.ts"
import { joinPointer } from "../../json-schema/json-pointer.ts"

export type CheckedTemplate =
  | { readonly ok: true; readonly template: CardTemplate }
  | ({ readonly ok: false } & TemplateProblem)

type Fields = { readonly [field: string]: Json }

/** The tools whose cards are built into the page. */
const OWN_CARDS = new Set(["weather", "chart"])
const FIELDS = new Set(["for", "title", "schema", "view", "actions", "samples"])

/** Checks the body of a request that sets a card. */
export function checkTemplate(body: Json): CheckedTemplate {
  const problem = isJsonObject(body) ? findProblem(body as Fields) : { pointer: "", problem: "must be an object" }
  return problem === null ? { ok: true, template: body as unknown as CardTemplate } : { ok: false, ...problem }
}

function findProblem(body: Fields): TemplateProblem | null {
  const { for: tool, title = "", schema = null, view = null, samples = null } = body
  const extra = Object.keys(body).find((name) => !FIELDS.has(name))
  if (extra !== undefined) return { pointer: joinPointer("", extra), problem: "isn't a known field" }
  if (typeof tool !== "string" || !CARD_NAME.test(tool))
    return { pointer: "/for", problem: "must be the name of a tool" }
  if (OWN_CARDS.has(tool)) return { pointer: "/for", problem: "is a tool with a card of its own" }
  const { samples: _, ...stored } = body
  if (countUtf8Bytes(JSON.stringify(stored)) > MAX_TEMPLATE_BYTES)
    return { pointer: "", problem: `is larger than ${MAX_TEMPLATE_BYTES} bytes without its samples` }
  const notes: FieldNotes = { bindings: new Map(), children: [], relative: new Map() }
  return (
    checkTitle(title, "/title", notes) ??
    checkSchema(schema, "/schema") ??
    checkComponents(view, notes, body["actions"]) ??
    checkSamples(body as unknown as CardTemplate, samples, notes)
  )
}

interface Placed {
  readonly pointer: string
  readonly notes: FieldNotes
}

function checkComponents(view: Json, all: FieldNotes, actions: Json | undefined): TemplateProblem | null {
  if (!Array.isArray(view) || view.length === 0 || view.length > MAX_VIEW_COMPONENTS)
    return { pointer: "/view", problem: `must be a list of 1 to ${MAX_VIEW_COMPONENTS} components` }
  const placed = new Map<string, Placed>()
  for (const [i, component] of view.entries()) {
    const pointer = joinPointer("/view", i)
    const notes = { ...all, children: [], relative: new Map<object, string>() }
    const problem = checkComponent(component, pointer, notes)
    if (problem !== null) return problem
    const { id } = component as { readonly id: string }
    if (placed.has(id)) return { pointer: `${pointer}/id`, problem: `"${id}" is used twice` }
    placed.set(id, { pointer, notes })
  }
  const lists = new Map<string, number>()
  return checkTree(placed, lists) ?? checkActions(actions, view as unknown as readonly ViewComponent[], lists, all)
}

function checkComponent(value: Json, pointer: string, notes: FieldNotes): TemplateProblem | null {
  if (!isJsonObject(value)) return { pointer, problem: "must be a component, which is an object" }
  const { id, component, ...fields } = value
  if (typeof id !== "string" || !CARD_NAME.test(id))
    return { pointer: `${pointer}/id`, problem: "must be an id of letters, digits, - and _" }
  const kind = COMPONENT_KINDS.find((name) => name === component)
  if (kind === undefined)
    return { pointer: `${pointer}/component`, problem: `must be one of ${COMPONENT_KINDS.join(", ")}` }
  return checkComponentFields(kind, fields as Json, pointer, notes)
}

/**
 * Checks that the components form one tree, so that no component is shown twice or contains itself. For each component,
 * also stores in `lists` the number of item lists that contain it.
 */
function checkTree(placed: Map<string, Placed>, lists: Map<string, number>): TemplateProblem | null {
  const seen = new Set<string>()
  const visit = (id: string, from: string, depth: number, inLists: number): TemplateProblem | null => {
    const component = placed.get(id)
    if (component === undefined) return { pointer: from, problem: `names "${id}", which isn't a component` }
    if (seen.has(id)) return { pointer: from, problem: `names "${id}", which is already part of the card` }
    if (depth > MAX_VIEW_DEPTH) return { pointer: from, problem: `is nested deeper than ${MAX_VIEW_DEPTH} levels` }
    seen.add(id)
    lists.set(id, inLists)
    const { relative, children } = component.notes
    const [stray] = inLists > 0 ? [] : relative.values()
    if (stray !== undefined) return { pointer: stray, problem: "needs a path that begins with /, outside of a list" }
    for (const child of children) {
      const problem = visit(child.id, child.pointer, depth + 1, inLists + (child.isItem ? 1 : 0))
      if (problem !== null) return problem
    }
    return null
  }
  if (!placed.has("root")) return { pointer: "/view", problem: 'needs a component with the id "root"' }
  const problem = visit("root", "/view", 1, 0)
  if (problem !== null) return problem
  const unused = [...placed].find(([id]) => !seen.has(id))
  return unused === undefined ? null : { pointer: unused[1].pointer, problem: "isn't part of the card" }
}

/**
 * Every binding must have a value in at least one sample. A binding that has none in any sample is probably misspelt.
 */
function checkSamples(template: CardTemplate, samples: Json, { bindings }: FieldNotes): TemplateProblem | null {
  if (!Array.isArray(samples) || samples.length === 0 || samples.length > MAX_SAMPLES)
    return { pointer: "/samples", problem: `must be a list of 1 to ${MAX_SAMPLES} results of the tool` }
  const found = new Set<object>()
  for (const [i, sample] of (samples as readonly Json[]).entries()) {
    const pointer = joinPointer("/samples", i)
    if (!isJsonObject(sample)) return { pointer, problem: "must be an object, as a tool returns it" }
    if (countUtf8Bytes(JSON.stringify(sample)) > MAX_CARD_BYTES)
      return { pointer, problem: `is larger than ${MAX_CARD_BYTES} bytes` }
    const mismatch = checkValue(template.schema, sample as Json, pointer)
    if (mismatch !== null) return mismatch
    const inSample = new Set<object>()
    const filled = fillView(template, sample as Json, ENGLISH, (binding) => inSample.add(binding))
    for (const binding of inSample) found.add(binding)
    if (filled === null) return { pointer: findMissed(bindings, inSample) ?? pointer, problem: describeEmpty(i) }
  }
  const missed = findMissed(bindings, found)
  return missed === null ? null : { pointer: missed, problem: "finds no value in any sample" }
}

function findMissed(bindings: ReadonlyMap<object, string>, found: ReadonlySet<object>): string | null {
  return [...bindings].find(([binding]) => !found.has(binding))?.[1] ?? null
}

function describeEmpty(sample: number): string {
  return `finds no value in sample ${sample}, so that the card would be empty`
}
