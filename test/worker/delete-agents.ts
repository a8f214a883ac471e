/**
 * delete-agents.ts: set-up of the worker project. Deletes the agents that a file has added to the default tenant.
 *
 * Several files share an isolate and its tenants, and a tenant can have up to `MAX_AGENTS` agents.
 */

import { env } from "cloudflare:test"
import { afterAll } from "vitest"
import { SYSTEM_ACTOR } from "../../worker/platform/rpc/actor.ts"
import { DEFAULT_AGENTS } from "../../worker/tool/default-agents.ts"

afterAll(async () => {
  const tenant = env.TENANT.getByName("acme")
  const kept = new Set(DEFAULT_AGENTS.map(({ name }) => name))
  for (const { name } of await tenant.listAgents()) {
    if (!kept.has(name)) await tenant.removeAgent(SYSTEM_ACTOR, name)
  }
})
