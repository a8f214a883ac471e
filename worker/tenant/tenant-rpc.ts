/**
 * tenant-rpc.ts: the RPC interface of a tenant object (`tenant-object.ts`).
 *
 * `Env` names this interface instead of the class, so that no module needs to import the class.
 */

import type { Result } from "../../shared/fault.ts"
import type { Agent, AgentView, TenantSettings } from "./agent-config.ts"

export interface TenantRpc extends Rpc.DurableObjectBranded {
  /** All agents, the default ones first. */
  listAgents(): Agent[]
  /** The agent of this name and its peers; null if there is no such agent. */
  getAgentView(name: string): AgentView | null
  /** The tenant's own settings merged with those of the deployment. */
  getSettings(): TenantSettings
  /** Replaces the tenant's own settings. Returns the merged ones. */
  setSettings(settings: TenantSettings): TenantSettings
  /** Adds or replaces an agent. Errors: `agents_full`. */
  putAgent(agent: Agent): Result<null>
  /** Removes an agent. The general agent cannot be removed, because every tenant needs one. Errors: `agent_unknown`. */
  removeAgent(name: string): Result<null>
}
