/** card-bounds.ts: the format of names in cards, and the limits of their forms. They are in a separate file so that the page loads no schema. */

/** Names of tools, components, actions and fields. */
export const CARD_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/

/** In UTF-16 code units. */
export const MAX_FIELD_CHARS = 4_000
export const MAX_ACTION_FIELDS = 20

/** Items of a list, and rows of a table. Further ones are counted, not shown. */
export const MAX_VIEW_ROWS = 100
