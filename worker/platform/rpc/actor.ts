/** actor.ts: who made a change that the audit log records. */

import type { AuditEntry } from "../../../shared/protocol/audit-entry.ts"
import type { Role } from "./claims.ts"

/** The part of a request that the audit log keeps. `system`: a job that runs by itself. `anonymous`: not signed in. */
export type Actor = AuditEntry["actor"]

/**
 * Who administers the tenant. Users and API keys above `role` can't be changed; others than owners can only add a new issuer,
 * and remove one, that doesn't give the role `owner`.
 */
export interface Administrator {
  readonly actor: Actor
  readonly role: Role
}

export const SYSTEM_ACTOR: Actor = { kind: "system", id: "", address: null }
