/**
 * tenant-object.ts: the Durable Object of one tenant: its agents and its settings.
 *
 * Until something is configured, it stores nothing and has the default agents.
 */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import { parseJson } from "../../shared/json.ts"
import { MAX_AGENTS } from "../../shared/limits.ts"
import type { Env } from "../env.ts"
import { JOB_TABLES } from "../leaving/job-rows.ts"
import { hasSchema, runMigrations } from "../platform/migrate.ts"
import {
  type Agent,
  type AgentView,
  DEFAULT_AGENTS,
  GENERAL_AGENT_NAME,
  NO_SETTINGS,
  type TenantSettings,
  createAgentView,
} from "../settings/agent-config.ts"
import type { Actor } from "../platform/rpc/actor.ts"
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
} from "../settings/tenant-access.ts"
import type { NewUser, TenantRpc, TenantUser } from "../settings/tenant-rpc.ts"
import { isEmptySettings, mergeSettings, readDeploymentSettings } from "../settings/tenant-settings.ts"
import { API_KEY_TABLE } from "./api-key-rows.ts"
import { AUDIT_TABLE, AuditRows } from "./audit-rows.ts"
import { LeavingTenant } from "./leaving-tenant.ts"
import { TenantKeys } from "./tenant-keys.ts"
import { TENANT_TABLE, TenantRow } from "./tenant-row.ts"
import { FIRST_TOKEN_KEYS, TOKEN_KEY_TABLE } from "./token-key-rows.ts"
import { createUser, USER_TABLE, UserRows } from "./user-rows.ts"

/** A row of `agents` without a configuration is a default agent that was removed. */
const MIGRATIONS: readonly string[] = [
  "CREATE TABLE agents (name TEXT PRIMARY KEY, config TEXT) WITHOUT ROWID",
  "CREATE TABLE settings (one INTEGER PRIMARY KEY CHECK (one = 1), config TEXT NOT NULL)",
  USER_TABLE,
  AUDIT_TABLE,
  TENANT_TABLE,
  API_KEY_TABLE,
  TOKEN_KEY_TABLE,
  JOB_TABLES,
]

export class Tenant extends LeavingTenant implements TenantRpc {
  readonly #userRows: UserRows
  readonly #auditRows: AuditRows
  readonly #tenantRow: TenantRow
  readonly #keys: TenantKeys

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.#userRows = new UserRows(ctx.storage.sql)
    this.#auditRows = new AuditRows(ctx.storage.sql)
    this.#tenantRow = new TenantRow(ctx.storage.sql)
    this.#keys = new TenantKeys(ctx.storage, this.#auditRows)
    if (hasSchema(ctx.storage.sql)) runMigrations(ctx.storage, MIGRATIONS)
  }

  listAgents(): Agent[] {
    const agents = new Map<string, Agent | null>(DEFAULT_AGENTS.map((agent) => [agent.name, agent]))
    // A replaced default agent keeps its place in the list. Null: a removed one.
    for (const [name, agent] of this.#readConfiguredAgents()) agents.set(name, agent)
    return [...agents.values()].filter((agent) => agent !== null)
  }

  getAgentView(name: string): AgentView | null {
    const view = createAgentView(this.listAgents(), name)
    const settings = this.getSettings()
    return view === null || isEmptySettings(settings) ? view : { ...view, settings }
  }

  getSettings(): TenantSettings {
    return mergeSettings(this.#readOwnSettings(), readDeploymentSettings(this.env))
  }

  setSettings(settings: TenantSettings): TenantSettings {
    runMigrations(this.ctx.storage, MIGRATIONS)
    const config = JSON.stringify(settings)
    this.ctx.storage.sql.exec("INSERT OR REPLACE INTO settings (one, config) VALUES (1, ?)", config)
    return this.getSettings()
  }

  #readOwnSettings(): TenantSettings {
    if (!hasSchema(this.ctx.storage.sql)) return NO_SETTINGS
    const [row] = this.ctx.storage.sql.exec<{ config: string }>("SELECT config FROM settings").toArray()
    // Written by `setSettings`.
    return row === undefined ? NO_SETTINGS : (parseJson(row.config) as unknown as TenantSettings)
  }

  putAgent(agent: Agent): Result<null> {
    const isKnown = this.listAgents().some(({ name }) => name === agent.name)
    if (!isKnown && this.listAgents().length >= MAX_AGENTS) return fail({ reason: "agents_full", max: MAX_AGENTS })
    this.#writeAgentRow(agent.name, JSON.stringify(agent))
    return succeed(null)
  }

  removeAgent(name: string): Result<null> {
    const isKnown = this.listAgents().some((agent) => agent.name === name)
    if (!isKnown || name === GENERAL_AGENT_NAME) return fail({ reason: "agent_unknown" })
    this.#writeAgentRow(name, null)
    return succeed(null)
  }

  registerUser(user: NewUser): TenantUser {
    // A request that was admitted before the tenant was erased must not leave a row behind.
    if (this.getStanding().status === "erased") return createUser(user, Date.now())
    runMigrations(this.ctx.storage, MIGRATIONS)
    return this.#userRows.register(user, Date.now())
  }

  getAccess(): TenantAccess {
    const tokenKeys = this.listTokenKeys()
    return {
      status: this.getStanding().status,
      firstTokenKey: tokenKeys.at(-1)?.generation ?? 1,
      newestTokenKey: tokenKeys[0]?.generation ?? 1,
    }
  }

  createTenant(actor: Actor, { id, name }: NewTenant, key: NewApiKey): Result<null> {
    const now = Date.now()
    return this.#change(() => {
      // The id of an erased tenant stays taken, or its old tokens would be valid again.
      const isErased = this.getStanding().status === "erased"
      if (isErased || !this.#tenantRow.create(name ?? null, now)) return fail({ reason: "tenant_taken" })
      this.#auditRows.append(actor, { action: "tenant.created", target: id, details: { name: name ?? null } }, now)
      const added = this.#keys.addKey({ actor, role: "owner" }, key, now)
      return added.ok ? succeed(null) : added
    })
  }

  listKeys(): ApiKeyInfo[] {
    return hasSchema(this.ctx.storage.sql) ? this.#keys.listKeys() : []
  }

  addKey(manager: KeyManager, key: NewApiKey): Result<ApiKeyInfo> {
    if (this.getStanding().status === "erased") return fail({ reason: "tenant_erased" })
    return this.#change(() => this.#keys.addKey(manager, key, Date.now()))
  }

  removeKey(manager: KeyManager, id: string): Result<null> {
    if (!hasSchema(this.ctx.storage.sql)) return fail({ reason: "key_unknown" })
    return this.#keys.removeKey(manager, id, Date.now())
  }

  rotateKey(manager: KeyManager, id: string, successor: StoredKey, graceMs: number): Result<ApiKeyInfo> {
    if (!hasSchema(this.ctx.storage.sql)) return fail({ reason: "key_unknown" })
    return this.#keys.rotateKey(manager, id, successor, graceMs, Date.now())
  }

  useKey(use: ApiKeyUse): Result<ApiKeyUser> {
    return hasSchema(this.ctx.storage.sql) ? this.#keys.useKey(use, Date.now()) : fail({ reason: "key_invalid" })
  }

  listTokenKeys(): TokenKeyInfo[] {
    return hasSchema(this.ctx.storage.sql) ? this.#keys.listTokenKeys(Date.now()) : [...FIRST_TOKEN_KEYS]
  }

  rotateTokenKeys(actor: Actor, retireMs: number): Result<TokenKeyInfo[]> {
    return this.#change(() => this.#keys.rotateTokenKeys(actor, retireMs, Date.now()))
  }

  protected override migrate(): void {
    runMigrations(this.ctx.storage, MIGRATIONS)
  }

  /** Runs a change in one transaction, with its row of the audit log. */
  #change<T>(run: () => T): T {
    runMigrations(this.ctx.storage, MIGRATIONS)
    return this.ctx.storage.transactionSync(run)
  }

  #writeAgentRow(name: string, config: string | null): void {
    runMigrations(this.ctx.storage, MIGRATIONS)
    this.ctx.storage.sql.exec("INSERT OR REPLACE INTO agents (name, config) VALUES (?, ?)", name, config)
  }

  #readConfiguredAgents(): Map<string, Agent | null> {
    if (!hasSchema(this.ctx.storage.sql)) return new Map()
    const rows = this.ctx.storage.sql.exec<{ name: string; config: string | null }>("SELECT * FROM agents").toArray()
    // Written by `putAgent`.
    return new Map(
      rows.map(({ name, config }) => [name, config === null ? null : (parseJson(config) as unknown as Agent)]),
    )
  }
}
