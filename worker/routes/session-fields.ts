/**
 * session-fields.ts: fields and responses that several session routes share.
 */

import * as v from "valibot"
import { MAX_TITLE_CHARS } from "../../shared/limits.ts"
import { toTitle } from "../../shared/text/title.ts"
import type { PageText } from "../platform/rpc/session-types.ts"

export const decimalSchema = v.pipe(v.string(), v.regex(/^\d{1,15}$/), v.transform(Number))

export const titleSchema = v.pipe(
  v.string(),
  v.maxLength(MAX_TITLE_CHARS),
  // The response must show the title as it is stored.
  v.transform(toTitle),
)

/** Creates the response with a page of history. A header contains the number of rows read. */
export function pageToResponse({ json, rowsRead }: PageText): Response {
  return new Response(json, {
    headers: {
      "content-type": "application/json",
      "server-timing": `rows;desc="rows read";dur=${rowsRead}`,
    },
  })
}
