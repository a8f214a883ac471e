/** audit-types.ts: the responses of the audit log. */

export interface AuditEntry {
  readonly seq: number
  /** Milliseconds since 1970. */
  readonly at: number
  readonly actor: { readonly kind: string; readonly id: string; readonly address: string | null }
  readonly action: string
  readonly target: string | null
  readonly details: Readonly<Record<string, string | number | boolean | null>> | null
  readonly hash: string
}

interface AuditHead {
  readonly seq: number
  readonly hash: string
}

export interface AuditPage {
  readonly entries: readonly AuditEntry[]
  /** The `before` of the next older page; null if there is none. */
  readonly next: number | null
  readonly head: AuditHead
}

export interface AuditVerification {
  readonly ok: boolean
  readonly rows: number
  readonly first_bad: number | null
  /** The `after` of the request that continues; null when the check is over. */
  readonly next: string | null
  readonly head: AuditHead
}
