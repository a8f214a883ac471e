/** actor.ts: who made a change that the audit log records. */

import type { AuditEntry } from "../../../shared/protocol/audit-entry.ts"

/** The part of a request that the audit log keeps. `system`: a job that runs by itself. `anonymous`: not signed in. */
export type Actor = AuditEntry["actor"]

export const SYSTEM_ACTOR: Actor = { kind: "system", id: "", address: null }
