/**
 * tenant-rpc.ts: the RPC interface of a tenant object (`tenant-object.ts`).
 *
 * `Env` names this interface instead of the class, so that no module needs to import the class.
 */

import type { Result } from "../../shared/fault.ts"
import type { AuditEntry, AuditFileHeader, AuditHead, AuditPage } from "../../shared/protocol/audit-entry.ts"
import type { FeedbackCount } from "../../shared/protocol/writing/feedback.ts"
import type { PageSettings, UserSummary } from "../../shared/protocol/http-body.ts"
import type { Actor, Administrator } from "../platform/rpc/actor.ts"
import type { Role } from "../platform/rpc/claims.ts"
import type { FeedbackChange } from "../platform/rpc/session-types.ts"
import type {
  ApiKeyInfo,
  ApiKeyUse,
  ApiKeyUser,
  NewApiKey,
  NewTenant,
  StoredKey,
  TenantAccess,
  TokenKeyInfo,
} from "./tenant-access.ts"
import type { Agent, AgentView, TenantSettings } from "./agent-config.ts"
import type { AuditCheck, AuditEvent, AuditFilter } from "./audit-event.ts"
import type { UserChange } from "./user-change.ts"
import type { TenantGrant } from "../../shared/usage/user-account.ts"
import type { BudgetRpc } from "./budget-rpc.ts"
import type { CardRpc } from "./cards/card-rpc.ts"
import type { McpRpc } from "./mcp-config.ts"
import type { ModelRpc } from "./model-config.ts"
import type { QuestionRpc } from "./question-rpc.ts"
import type { ThemeRpc } from "./theme-rpc.ts"
import type { UsageRpc } from "./usage-rpc.ts"
import type { WebhookRpc } from "./webhooks/webhook-tool.ts"
import type { LeavingRpc } from "./leaving-rpc.ts"
import type { IssuerInput, IssuerKeys, IssuerView, SignInClient } from "./issuer-config.ts"

/** A user on first contact. */
export interface NewUser {
  readonly id: string
  readonly name?: string | undefined
  /** Default: `member`. */
  readonly role?: Role | undefined
  /** The name of the issuer at which the user signed in; absent for users of the tenant's own tokens. */
  readonly issuer?: string | undefined
}

/** A user who signs in. */
export interface SignInUser {
  readonly id: string
  readonly name: string | null
  readonly issuer: string
  /** The issuer's generation when the sign-in began (`SignInClient`). */
  readonly generation: number
  /** The role from the issuer's role claim; null: the stored role applies. */
  readonly role: Role | null
  /** Whether this is the first time that the tenant learns of the sign-in. Absent: no. */
  readonly isNew?: boolean
}

export type TenantUser = UserSummary

/** A page of the users that a search found. */
export interface FoundUsers {
  readonly users: readonly TenantUser[]
  /** The `after` of the next page; null on the last one. */
  readonly next: string | null
  /** True if some users can't be found yet, because their names are still being indexed. */
  readonly incomplete?: true
}

/** The number of bytes that a user stores, as reported by the user's directory. */
export interface UserBytesReport {
  readonly user: string
  readonly bytes: number
  /** Increases with every report about the user. */
  readonly n: number
  /** True if the bytes are already stored. If so, the report is applied regardless of the limit. */
  readonly isRequired: boolean
}

export interface TenantRpc
  extends Rpc.DurableObjectBranded,
    LeavingRpc,
    BudgetRpc,
    UsageRpc,
    ThemeRpc,
    CardRpc,
    QuestionRpc,
    ModelRpc,
    McpRpc,
    WebhookRpc {
  /** Applies a report. Returns the number of the newest applied report. Errors: `tenant_storage_full`. */
  tellUserBytes(report: UserBytesReport): Result<number>
  /** Returns all agents, the default ones first. */
  listAgents(): Agent[]
  /** Returns the agent with this name and its peers; null if there is no such agent. */
  getAgentView(name: string): AgentView | null
  /** Returns the tenant's own settings merged with those of the deployment. */
  getSettings(): TenantSettings
  /** Like `getSettings`, with the time at which the tenant will be erased. */
  getPageSettings(): PageSettings
  /** Replaces the tenant's own settings. Returns the merged ones. */
  setSettings(actor: Actor, settings: TenantSettings): TenantSettings
  /** Adds or replaces an agent. Errors: `agents_full`, `tenant_erased`. */
  putAgent(actor: Actor, agent: Agent): Result<null>
  /** Removes an agent, but not the general one, which every tenant needs. Errors: `agent_unknown`, `tenant_erased`. */
  removeAgent(actor: Actor, name: string): Result<null>

  /**
   * Adds a user on first contact. Repeating the call has no effect. Returns the stored user and, if the tenant has
   * budgets, the ones that the user's directory needs. `isLeaving`: the tenant is leaving, so a new user of an issuer
   * was not added.
   */
  registerUser(user: NewUser): TenantUser & { readonly grant?: TenantGrant; readonly isLeaving?: true }

  /** Returns the state that every request of the tenant needs. Stores nothing. */
  getAccess(): TenantAccess
  /** Creates the tenant with its first API key. Errors: `tenant_taken`, even if the tenant was erased. */
  createTenant(actor: Actor, tenant: NewTenant, key: NewApiKey): Promise<Result<null>>
  /** Returns all API keys, oldest first. */
  listKeys(): ApiKeyInfo[]
  /**
   * Adds an API key. Errors: `keys_full`; `scope_denied` if one of its roles is above the manager's; `tenant_erased`.
   */
  addKey(manager: Administrator, key: NewApiKey): Promise<Result<ApiKeyInfo>>
  /** Revokes an API key. Errors: `key_unknown`; `scope_denied` if one of its roles is above the manager's. */
  removeKey(manager: Administrator, id: string): Promise<Result<null>>
  /**
   * Adds a key with the name, roles and remaining lifetime of another key, which then expires after `graceMs`. Errors:
   * those of `addKey` and `removeKey`; `key_expired`.
   */
  rotateKey(manager: Administrator, id: string, successor: StoredKey, graceMs: number): Promise<Result<ApiKeyInfo>>
  /**
   * Checks an API key and records its use. Stores nothing for a tenant without keys. Errors: `key_invalid`,
   * `key_expired`; `user_suspended` or `scope_denied` if the user who is responsible for the key has lost the rights.
   */
  useKey(use: ApiKeyUse): Result<ApiKeyUser>
  /**
   * Registers the user for whom the API key `actor` makes a token. Returns the role of the token: `user.role`, or the
   * stored role if `user.role` is absent. Records the user's first token of each day. Errors: `key_invalid`;
   * `user_suspended`; `scope_denied` if the key cannot grant the role, or if the user's stored role is above that of
   * the key's creator; `tenant_leaving` for a new user of a tenant that is leaving.
   */
  admitTokenUser(actor: Actor, user: NewUser): Result<Role>
  /** Returns the token keys that are accepted, newest first. */
  listTokenKeys(): TokenKeyInfo[]
  /**
   * Adds a token key, which signs new tokens from now on. The others remain accepted for `retireMs`. Errors:
   * `token_keys_full`, `tenant_erased`.
   */
  rotateTokenKeys(actor: Actor, retireMs: number): Promise<Result<TokenKeyInfo[]>>
  /** Returns the user with this id; null if there is none. */
  findUser(id: string): TenantUser | null
  /** Returns the users whose ids begin with `prefix` and follow the id `after`, by id. */
  listUsers(after: string, prefix: string, limit: number): TenantUser[]
  /** Finds the users whose id or name matches a query (`searchUsers`). Errors: `field_invalid`. */
  searchUsers(text: string, after: string, limit: number): Promise<Result<FoundUsers>>
  /**
   * Changes a user's name or role. A new role revokes the user's tokens.
   *
   * Errors: `user_unknown`; `scope_denied` for a user or a role above the administrator's; `last_owner`;
   * `role_from_issuer` if the user's issuer determines the role.
   */
  changeUser(by: Administrator, id: string, change: UserChange): Promise<Result<TenantUser>>
  /**
   * Suspends or restores a user. Suspending revokes all of the user's tokens and closes the user's sockets. Errors:
   * those of `changeUser`.
   */
  setUserStatus(by: Administrator, id: string, status: "active" | "suspended"): Promise<Result<TenantUser>>

  /** Adds an entry to the audit log, for a change that another object has made. */
  recordEvent(actor: Actor, event: AuditEvent): void
  /**
   * Adds an entry for an attempt that was refused. If there are many in one minute or day, only their number is
   * recorded (SPEC AL6). Does nothing if nothing is stored for the tenant.
   */
  recordFailure(actor: Actor, event: AuditEvent): void
  /** Returns a page of the audit log, the newest entries first. */
  listAudit(filter: AuditFilter, limit: number): AuditPage
  /** Records that the log is being exported, and returns the first line of the file. */
  beginAuditExport(actor: Actor): AuditFileHeader
  /** Returns the entries after a position, oldest first. */
  listAuditAfter(seq: number, limit: number): AuditEntry[]
  /** Checks up to `limit` entries of the log (`checkAuditRows`). */
  checkAudit(after: AuditHead | null, known: AuditHead | null, limit: number): Promise<AuditCheck>
  /** Returns the OpenID providers of the tenant, oldest first. */
  listIssuers(): Promise<IssuerView[]>
  /**
   * Registers or replaces an issuer. Errors: `issuer_refused`, `issuer_taken`, `issuers_full`, `tenant_erased`;
   * `field_invalid` if the configuration differs from another registration of the issuer; `scope_denied` if the manager
   * is not an owner, unless the issuer is new and does not grant the role `owner`.
   */
  putIssuer(manager: Administrator, name: string, issuer: IssuerInput): Promise<Result<IssuerView>>
  /**
   * Removes an issuer. Errors: `issuer_unknown`; `scope_denied` if it grants the role `owner` and the manager is not an
   * owner.
   */
  removeIssuer(manager: Administrator, name: string): Promise<Result<null>>
  /**
   * Returns the keys for tokens of an issuer and audience; null if the pair is not registered. The keys are fetched
   * again if `kid` is unknown or they are old.
   */
  getIssuerKeys(issuer: string, audience: string, kid: string | null): Promise<IssuerKeys | null>
  /** Returns the keys for ID tokens of an issuer; null if it is not registered. */
  getSignInKeys(name: string, kid: string | null): Promise<IssuerKeys | null>
  /**
   * Returns the settings of an issuer that a sign-in needs; null if the issuer is not registered or has no client.
   * `secret_unreadable`: see `getClient`.
   */
  getSignInClient(name: string): Promise<SignInClient | "secret_unreadable" | null>
  /**
   * Adds a user on the first sign-in. Returns the user with the current role; null if the issuer was removed or
   * replaced. A tenant that is leaving adds nobody, and returns a new user as suspended.
   */
  admitSignIn(user: SignInUser): Promise<TenantUser | null>

  /** Counts a user's feedback for the agent that answered and the month. */
  countFeedback(change: FeedbackChange): Promise<void>
  listFeedbackCounts(): Promise<FeedbackCount[]>
}
