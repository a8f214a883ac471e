/** actor.ts: the actor of a change that the audit log records. */

import type { AuditEntry } from "../../../shared/protocol/audit-entry.ts"
import type { Role } from "./claims.ts"

/**
 * The part of a request that the audit log stores. `system`: a background job. `anonymous`: a caller who is not signed
 * in.
 */
export type Actor = AuditEntry["actor"]

/**
 * An actor who administers the tenant, with their role. They cannot change users or API keys with a role above `role`.
 * An administrator who is not an owner can add and remove issuers that do not grant the role `owner`, but cannot change
 * any issuer.
 */
export interface Administrator {
  readonly actor: Actor
  readonly role: Role
}

export const SYSTEM_ACTOR: Actor = { kind: "system", id: "", address: null }
