/** record-failure.ts: records refused attempts in a tenant's audit log. */

import type { Env } from "../env.ts"
import { describeError, logError } from "../platform/log.ts"
import type { Actor } from "../platform/rpc/actor.ts"
import { tenantStub } from "../platform/rpc/object-stubs.ts"
import type { AuditEvent } from "../settings/audit-event.ts"

/**
 * Records a refused attempt, unless nothing is stored for the tenant. The tenant's object limits the number of entries
 * (SPEC AL6). Never throws: recording must not change the response.
 */
export async function recordFailure(env: Env, tenant: string, actor: Actor, event: AuditEvent): Promise<void> {
  try {
    await tenantStub(env, tenant).recordFailure(actor, event)
  } catch (error) {
    logError("audit_failed", { tenant, action: event.action, error: describeError(error) })
  }
}
