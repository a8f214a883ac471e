/** user-change.ts: the bodies and queries of the routes that list and change the users of a tenant. */

import * as v from "valibot"
import { MAX_ID_CHARS, MAX_TITLE_CHARS } from "../../shared/limits.ts"
import { toTitle } from "../../shared/text/title.ts"
import { ROLES } from "../platform/rpc/claims.ts"

/** A user's name: one line without control characters, like a title. An empty name means none. */
export const userNameSchema = v.pipe(
  v.string(),
  v.maxLength(MAX_TITLE_CHARS),
  v.transform((text) => {
    const name = toTitle(text).trim()
    return name === "" ? null : name
  }),
)

/**
 * The body of `PATCH /v1/users/:id`. Strict: a misspelt field must be an error, because it would otherwise change
 * nothing.
 */
export const userChangeSchema = v.strictObject({
  role: v.optional(v.picklist(ROLES)),
  name: v.optional(v.nullable(userNameSchema)),
})

export type UserChange = v.InferOutput<typeof userChangeSchema>

/** Number of users per page of `GET /v1/users`. */
export const USER_PAGE_ROWS = 100

/** An id or the beginning of one. */
const idPartSchema = v.pipe(v.string(), v.regex(new RegExp(`^[A-Za-z0-9_-]{0,${MAX_ID_CHARS}}$`)))

/** The query of `GET /v1/users`. */
export const userListSchema = v.object({
  after: v.optional(idPartSchema, ""),
  prefix: v.optional(idPartSchema, ""),
})

/** Maximum length of a search's `next`, in characters. The cursor encodes a key and an id. */
const MAX_CURSOR_CHARS = 512

/** The query of `GET /v1/users` with `q`. */
export const userSearchSchema = v.object({
  q: v.pipe(v.string(), v.maxLength(MAX_TITLE_CHARS)),
  after: v.optional(v.pipe(v.string(), v.maxLength(MAX_CURSOR_CHARS)), ""),
})
