/** tenant-audit.ts: the audit log of a tenant object: entries from other objects, pages, exports and checks. */

import type { AuditEntry, AuditFileHeader, AuditHead, AuditPage } from "../../shared/protocol/audit-entry.ts"
import type { Actor } from "../platform/rpc/actor.ts"
import type { AuditCheck, AuditEvent, AuditFilter } from "../settings/audit-event.ts"
import type { TenantHost } from "./tenant-host.ts"

export class TenantAudit {
  readonly #host: TenantHost

  constructor(host: TenantHost) {
    this.#host = host
  }

  recordFailure(actor: Actor, event: AuditEvent): void {
    // Anybody can name a tenant that does not exist, so nothing is stored for such a tenant.
    if (!this.#host.tables.exist() || this.#host.isErased()) return
    this.#host.audit.appendFailure(actor, event, Date.now())
  }

  list(filter: AuditFilter, limit: number): AuditPage {
    const { audit, tables } = this.#host
    // Otherwise nobody would see the number of refused attempts until the next entry is added.
    if (tables.exist() && filter.before === undefined && !this.#host.isErased()) audit.recordOmitted(Date.now())
    return tables.exist() ? audit.list(filter, limit) : { entries: [], next: null, head: audit.start }
  }

  beginExport(actor: Actor): AuditFileHeader {
    const { audit, tenant } = this.#host
    this.#host.record(actor, { action: "audit.exported" })
    return { type: "audit", version: 1, tenant, base: audit.readBase(), head: audit.readHead() }
  }

  listAfter(seq: number, limit: number): AuditEntry[] {
    return this.#host.tables.exist() ? this.#host.audit.listAfter(seq, limit) : []
  }

  /** Loads the code for the check, which few requests need. */
  async check(after: AuditHead | null, known: AuditHead | null, limit: number): Promise<AuditCheck> {
    const { audit, tables } = this.#host
    const { start } = audit
    if (!tables.exist()) return { rows: 0, firstBad: null, last: start, isDone: true, head: start }
    const { checkAuditRows } = await import("./audit-check.ts")
    return checkAuditRows(audit, after, known, limit)
  }
}
