/**
 * card-template.ts: the format and the bounds of a card that a tenant defines. Decision 0070.
 *
 * A template is a list of components. Its strings are literals, or values from the stored tool result: a JSON Pointer
 * selects the value, and one of a fixed set of functions can format it. The components are a subset of A2UI 0.9.1.
 */

import type { Json } from "../../json.ts"
import type { CardActions } from "../actions/card-actions.ts"

export const MAX_VIEW_COMPONENTS = 200
/** Maximum number of levels of components, counted from `root`. */
export const MAX_VIEW_DEPTH = 12
/** Maximum size of a template's JSON, in bytes, excluding its samples. */
export const MAX_TEMPLATE_BYTES = 64 * 1024
export const MAX_SAMPLES = 5
/** Lengths in UTF-16 code units. */
export const MAX_LITERAL_CHARS = 2_000
export const MAX_POINTER_CHARS = 200

/** A string, or a description of how to get one from the tool's result. */
export type Dynamic = string | Binding | FormatCall

/** A JSON Pointer. Inside a list or table, a pointer without a leading slash is relative to the item. */
export interface Binding {
  readonly path: string
}

export interface FormatCall {
  readonly call: FormatFunction
  readonly args: { readonly [name: string]: Json }
}

export const FORMAT_FUNCTIONS = [
  "formatNumber",
  "formatPercent",
  "formatCurrency",
  "formatDate",
  "formatDuration",
  "pluralize",
  "choose",
  "join",
  "label",
] as const

export type FormatFunction = (typeof FORMAT_FUNCTIONS)[number]

export const TEXT_VARIANTS = ["h1", "h2", "h3", "h4", "h5", "caption", "body"] as const
export const IMAGE_VARIANTS = ["icon", "avatar", "smallFeature", "mediumFeature", "largeFeature", "header"] as const
export const JUSTIFY = ["center", "end", "spaceAround", "spaceBetween", "spaceEvenly", "start", "stretch"] as const
export const ALIGN = ["start", "center", "end", "stretch"] as const
export const TONES = ["neutral", "info", "good", "warning", "bad"] as const
export const CELL_ALIGN = ["start", "end"] as const
export const DATE_STYLES = ["date", "time", "dateTime", "weekday", "monthDay"] as const

/** One component. check-template.ts defines its fields. */
export interface ViewComponent {
  readonly id: string
  readonly component: ComponentKind
  readonly [field: string]: Json
}

export const COMPONENT_KINDS = [
  "Text",
  "Link",
  "Badge",
  "Icon",
  "Image",
  "Row",
  "Column",
  "List",
  "Card",
  "Tabs",
  "Divider",
  "Table",
  "Chart",
  "Progress",
  "Timer",
  "Button",
  "TextField",
  "CheckBox",
  "ChoicePicker",
  "DateTimeInput",
] as const

export type ComponentKind = (typeof COMPONENT_KINDS)[number]

/** What the page needs to draw a card. */
export interface CardView {
  /** The card's name for screen readers, and its heading in an export. */
  readonly title: Dynamic
  readonly view: readonly ViewComponent[]
  /** What the card's buttons do. Absent if the card has no buttons. */
  readonly actions?: CardActions
}

/** The body of `PUT /v1/cards/:name`. */
export interface CardTemplate extends CardView {
  /** The tool whose results the card shows. */
  readonly for: string
  /** A JSON Schema (check-schema.ts). A result that doesn't match it cues no card. */
  readonly schema: { readonly [keyword: string]: Json }
  readonly samples: readonly Json[]
}

/** A problem in a template: its position, as a JSON Pointer into the body, and a description in English. */
export interface TemplateProblem {
  readonly pointer: string
  readonly problem: string
}
