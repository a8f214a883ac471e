/** card-actions.ts: the actions of a card's template. Decision 0071. */

import type { Json } from "../../json.ts"
import type { Binding, ViewComponent } from "../view/card-template.ts"

export const MAX_ACTIONS = 8

/**
 * Where an argument comes from: the stored result, a field of the form, or the template itself. If the button is in a list, a
 * path without a leading slash is relative to the item.
 */
export type ActionArg = Binding | { readonly field: string } | { readonly value: Json }

/** What a button does: it calls a tool. */
export interface CardActionTemplate {
  readonly tool: string
  readonly args: { readonly [name: string]: ActionArg }
  /** Whether it can be done again after it has succeeded. Default: no. */
  readonly repeatable?: boolean
}

export type CardActions = { readonly [name: string]: CardActionTemplate }

/** The components in which a user enters a value. Each has a `name`. */
export const FIELD_KINDS = ["TextField", "CheckBox", "ChoicePicker", "DateTimeInput"] as const

export type FieldKind = (typeof FIELD_KINDS)[number]

export const TEXT_FIELD_VARIANTS = ["shortText", "longText", "number"] as const
export const MAX_CHOICES = 50

export function isInteractive({ component }: Pick<ViewComponent, "component">): boolean {
  return component === "Button" || FIELD_KINDS.some((kind) => kind === component)
}
