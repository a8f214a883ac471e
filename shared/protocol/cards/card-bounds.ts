/**
 * card-bounds.ts: the format of names in cards, and the limits of forms in cards. This is a separate file so that the
 * page doesn't load the schemas.
 */

/** The format of the names of tools, components, actions and fields. */
export const CARD_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/

/** Maximum length of a field's value, in UTF-16 code units. */
export const MAX_FIELD_CHARS = 4_000
export const MAX_ACTION_FIELDS = 20

/** Maximum number of list items and of table rows that are shown. The rest are only counted. */
export const MAX_VIEW_ROWS = 100
