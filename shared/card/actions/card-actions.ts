/** card-actions.ts: the actions of a card template. Decision 0071. */

import type { Json } from "../../json.ts"
import type { Binding, ViewComponent } from "../view/card-template.ts"

export const MAX_ACTIONS = 8

/**
 * The source of an argument: the stored result, a form field, or the template itself. If the button is in a list, a
 * path without a leading slash is relative to the list item.
 */
export type ActionArg = Binding | { readonly field: string } | { readonly value: Json }

/** What a button does: it calls a tool. */
export interface CardActionTemplate {
  readonly tool: string
  readonly args: { readonly [name: string]: ActionArg }
  /** Whether the action can be repeated after it has succeeded. Default: no. */
  readonly repeatable?: boolean
}

export type CardActions = { readonly [name: string]: CardActionTemplate }

/** The kinds of components in which a user enters a value. Each such component has a `name`. */
export const FIELD_KINDS = ["TextField", "CheckBox", "ChoicePicker", "DateTimeInput"] as const

export type FieldKind = (typeof FIELD_KINDS)[number]

export const TEXT_FIELD_VARIANTS = ["shortText", "longText", "number"] as const
export const MAX_CHOICES = 50

export function isInteractive({ component }: Pick<ViewComponent, "component">): boolean {
  return component === "Button" || FIELD_KINDS.some((kind) => kind === component)
}
