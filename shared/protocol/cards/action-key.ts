/** action-key.ts: which action of a card a click or a message is about. In a file of its own, so that the page loads no schema. */

import type { ActionRef } from "./card-action.ts"

/** Returns the key of an action among those of its card. In a list, each item has its own. */
export function toActionKey({ name, item }: Pick<ActionRef, "name" | "item">): string {
  return item === undefined ? name : `${name}/${item}`
}

/** Only what clients see of an action. */
export function toActionRef({ call_id, name, item }: ActionRef): ActionRef {
  return item === undefined ? { call_id, name } : { call_id, name, item }
}
