/**
 * tenant-rpc.ts: the RPC interface of a tenant object (`tenant-object.ts`).
 *
 * `Env` names this interface instead of the class, so that no module needs to import the class.
 */

import type { Result } from "../../shared/fault.ts"
import type { Actor } from "../platform/rpc/actor.ts"
import type { Role } from "../platform/rpc/claims.ts"
import type {
  ApiKeyInfo,
  ApiKeyUse,
  ApiKeyUser,
  KeyManager,
  NewApiKey,
  NewTenant,
  StoredKey,
  TenantAccess,
  TokenKeyInfo,
} from "./tenant-access.ts"
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

  /** What every request of the tenant must know. Stores nothing. */
  getAccess(): TenantAccess
  /** Creates the tenant with its first API key. Errors: `tenant_taken`, also for a tenant that was erased. */
  createTenant(actor: Actor, tenant: NewTenant, key: NewApiKey): Result<null>
  /** All API keys, the oldest first. */
  listKeys(): ApiKeyInfo[]
  /** Adds an API key. Errors: `keys_full`; `scope_denied` if one of its roles is above the manager's. */
  addKey(manager: KeyManager, key: NewApiKey): Result<ApiKeyInfo>
  /** Revokes an API key. Errors: `key_unknown`; `scope_denied` if one of its roles is above the manager's. */
  removeKey(manager: KeyManager, id: string): Result<null>
  /**
   * Adds a key with the name, roles and remaining lifetime of another one, which expires `graceMs` from now. Errors: those
   * of `addKey` and `removeKey`; `key_expired`.
   */
  rotateKey(manager: KeyManager, id: string, successor: StoredKey, graceMs: number): Result<ApiKeyInfo>
  /** Checks an API key and records its use. Stores nothing for a tenant without keys. Errors: `key_invalid`, `key_expired`. */
  useKey(use: ApiKeyUse): Result<ApiKeyUser>
  /** The token keys that are accepted, the newest first. */
  listTokenKeys(): TokenKeyInfo[]
  /** Adds a token key, which signs from now on. The others are accepted for `retireMs` more. Errors: `token_keys_full`. */
  rotateTokenKeys(actor: Actor, retireMs: number): Result<TokenKeyInfo[]>
}
