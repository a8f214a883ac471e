/**
 * tenant-rpc.ts: the RPC interface of a tenant object (`tenant-object.ts`).
 *
 * `Env` names this interface instead of the class, so that no module needs to import the class.
 */

import type { Result } from "../../shared/fault.ts"
import type { Role } from "../platform/rpc/claims.ts"
import type { Agent, AgentView, TenantSettings } from "./agent-config.ts"
import type { LeavingRpc } from "./leaving-rpc.ts"

/** A user at the first contact. */
export interface NewUser {
  readonly id: string
  readonly name?: string | undefined
  /** Default: `member`. */
  readonly role?: Role | undefined
  /** The name of the issuer at which the user signed in; absent for users of the tenant's own tokens. */
  readonly issuer?: string | undefined
}

export interface TenantUser {
  readonly id: string
  readonly name: string | null
  readonly role: Role
  readonly issuer: string | null
  /** `erasing`: the user's data is being erased. */
  readonly status: "active" | "suspended" | "erasing"
  /** Time of the first contact, in milliseconds since 1970. */
  readonly created: number
}

export interface TenantRpc extends Rpc.DurableObjectBranded, LeavingRpc {
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
  /** Adds a user at the first contact. Repeating the call changes nothing. Returns the stored user. */
  registerUser(user: NewUser): TenantUser
}
