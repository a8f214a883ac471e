/** agent-view.ts: reads the configuration of an agent. */

import type { Env } from "../env.ts"
import { tenantStub } from "../platform/rpc/object-stubs.ts"
import type { AgentView } from "../settings/agent-config.ts"
import { readCachedConfig } from "../settings/config-cache.ts"

/**
 * Reads an agent's configuration, which may be up to CONFIG_TRUST_MS old. Returns null if the tenant has no agent with
 * that name.
 */
export async function readAgentView(env: Env, tenant: string, name: string): Promise<AgentView | null> {
  return await readCachedConfig(tenant, `agent ${name}`, () => tenantStub(env, tenant).getAgentView(name))
}
