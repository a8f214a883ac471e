/**
 * delete-agents.ts: a setup file of the worker project. It deletes the agents that a test file has added to the default
 * tenant.
 *
 * This is necessary because several test files share an isolate and its tenants, and a tenant can have only
 * `MAX_AGENTS` agents.
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
