/**
 * action-key.ts: identifies the card action that a click or a message refers to. This is a separate file so that the
 * page doesn't load the schemas.
 */

import type { ActionRef } from "./card-action.ts"

/** Returns an action's key, which is unique in the card. In a list, the action has one key per item. */
export function toActionKey({ name, item }: Pick<ActionRef, "name" | "item">): string {
  return item === undefined ? name : `${name}/${item}`
}

/** Returns only the fields of an action that clients see. */
export function toActionRef({ call_id, name, item }: ActionRef): ActionRef {
  return item === undefined ? { call_id, name } : { call_id, name, item }
}
