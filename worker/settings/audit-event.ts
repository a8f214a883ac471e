/** audit-event.ts: the events that callers add to a tenant's audit log, and the queries on the log. */

import * as v from "valibot"
import type { AuditHead } from "../../shared/protocol/audit-entry.ts"

/** A recorded event. It never contains a secret or the text of a message. Long values are cut. */
export interface AuditEvent {
  /** A noun and a past participle: `key.created`, `user.suspended`. */
  readonly action: string
  /** The id of what was changed. */
  readonly target?: string
  readonly details?: Readonly<Record<string, string | number | boolean | null>>
}

/** Number of entries per page of the log. */
export const AUDIT_PAGE_ROWS = 100

/** The query of `GET /v1/audit`. */
export const auditFilterSchema = v.object({
  /** Only entries before this one. */
  before: v.optional(v.pipe(v.string(), v.regex(/^[1-9]\d{0,14}$/), v.transform(Number))),
  action: v.optional(v.pipe(v.string(), v.regex(/^[a-z_]+\.[a-z_]+$/), v.maxLength(64))),
  /** `user:ada`, `key:a1`, `operator`, `system` or `anonymous`. */
  actor: v.optional(v.pipe(v.string(), v.regex(/^[a-z]+(?::[\w-]+)?$/), v.maxLength(128))),
})

export type AuditFilter = v.InferOutput<typeof auditFilterSchema>

/** The result of one step of `POST /v1/audit/verify`. */
export interface AuditCheck {
  /** Number of entries that were checked. */
  readonly rows: number
  /** The `seq` of the first bad entry; null if there is none. */
  readonly firstBad: number | null
  /** The last entry that was checked. */
  readonly last: AuditHead
  /** True when the newest entry was checked, or a bad one was found. */
  readonly isDone: boolean
  readonly head: AuditHead
}

/** Parses a position in the log from the string that clients treat as one value. */
const headSchema = v.pipe(
  v.string(),
  v.regex(/^\d{1,15}\.[0-9a-f]{64}$/),
  v.transform((text): AuditHead => {
    const [seq, hash = ""] = text.split(".")
    return { seq: Number(seq), hash }
  }),
)

export function auditHeadToText({ seq, hash }: AuditHead): string {
  return `${seq}.${hash}`
}

/** The body of `POST /v1/audit/verify`. */
export const auditVerifySchema = v.strictObject({
  /** The `next` of the request that this one continues. */
  after: v.optional(headSchema),
  /** A `head` that was recorded earlier. It must still be part of the log. */
  known: v.optional(
    v.strictObject({
      seq: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
      hash: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
    }),
  ),
})
