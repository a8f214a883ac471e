/** record-failure.ts: entries of a tenant's audit log for attempts that were refused. */

import type { Env } from "../env.ts"
import { describeError, logError } from "../platform/log.ts"
import type { Actor } from "../platform/rpc/actor.ts"
import { tenantStub } from "../platform/rpc/object-stubs.ts"
import type { AuditEvent } from "../settings/audit-event.ts"

/**
 * Records a refused attempt, unless the tenant has nothing stored. The tenant's object bounds the number of entries (SPEC AL6). Never
 * throws: recording must not change the response.
 */
export async function recordFailure(env: Env, tenant: string, actor: Actor, event: AuditEvent): Promise<void> {
  try {
    await tenantStub(env, tenant).recordFailure(actor, event)
  } catch (error) {
    logError("audit_failed", { tenant, action: event.action, error: describeError(error) })
  }
}
