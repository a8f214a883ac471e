/**
 * import-response.ts: reads the response to an import's upload, for clients. It is not part of the page's initial load.
 * Pure.
 */

import type { BadLine } from "./http-body.ts"
import { isCounts } from "./responses.ts"
import { createParser, hasShape, isListOf, isNumber, isOptional, isString } from "./shape-check.ts"

/** A line of an import that was skipped. If the file was sent in parts, `line` is counted within `part`. */
export type SkippedLine = Omit<BadLine, "code">

/**
 * The fields of the response to an upload that the page uses. If the file was sent in several parts, a response may
 * omit fields.
 */
export interface ImportResponse {
  /** The state of the import. Absent if the server has already finished. */
  readonly state?: string
  readonly records: number
  readonly skipped: number
  readonly bad: readonly SkippedLine[]
  /** Number of imported messages. Absent until the server has finished. */
  readonly messages?: number
  /** The amount of content that could not be imported in its original form, by kind. */
  readonly kinds?: Readonly<Record<string, number>>
}

const parsePartialImport = createParser<Partial<ImportResponse>>({
  state: isOptional(isString),
  records: isOptional(isNumber),
  skipped: isOptional(isNumber),
  messages: isOptional(isNumber),
  kinds: isOptional(isCounts),
  bad: isOptional(isListOf(hasShape<SkippedLine>({ part: isOptional(isNumber), line: isNumber, text: isString }))),
})

export function parseImportResponse(value: unknown): ImportResponse | null {
  const response = parsePartialImport(value)
  return response === null ? null : { records: 0, skipped: 0, bad: [], ...response }
}
