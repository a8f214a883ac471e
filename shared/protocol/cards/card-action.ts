/** card-action.ts: a click on a card's button, as the client sends it and as the server stores it. Decision 0071. */

import * as v from "valibot"
import { idSchema } from "../event.ts"
import { CARD_NAME, MAX_ACTION_FIELDS, MAX_FIELD_CHARS, MAX_VIEW_ROWS } from "./card-bounds.ts"

const nameSchema = v.pipe(v.string(), v.regex(CARD_NAME))

/** The index of a list item, counted from 0. */
export const itemSchema = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MAX_VIEW_ROWS - 1))

/**
 * The values of a form. The server takes no other arguments from the client: all others come from the stored result and
 * the template.
 */
const fieldsSchema = v.pipe(
  v.record(
    nameSchema,
    v.union([v.pipe(v.string(), v.maxLength(MAX_FIELD_CHARS)), v.pipe(v.number(), v.finite()), v.boolean()]),
  ),
  v.check((fields) => Object.keys(fields).length <= MAX_ACTION_FIELDS),
)

export const actionClickSchema = v.object({
  /** The call whose card was clicked. */
  call_id: idSchema,
  /** The name of the action in the card's template. */
  name: nameSchema,
  /** The list item that contains the button. Absent if the button is in no list. */
  item: v.optional(itemSchema),
  fields: v.optional(fieldsSchema),
})

export type ActionClick = v.InferOutput<typeof actionClickSchema>
export type FieldValues = v.InferOutput<typeof fieldsSchema>

/** The click that a user's message represents, as clients see it. */
export type ActionRef = Pick<ActionClick, "call_id" | "name" | "item">

/**
 * A click and the call that it makes. `args` is JSON text. An imported message has no tool and no arguments, because
 * its call is not made again.
 */
export interface CardAction extends ActionRef {
  readonly tool?: string
  readonly args?: string
}
