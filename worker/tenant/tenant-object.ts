/**
 * tenant-object.ts: the Durable Object of one tenant, named as it: which agents it has, and what it allows its transcripts.
 *
 * route → TENANT → agents → session
 * Until something is configured it stores nothing, and has the default ones.
 */

import { DurableObject } from "cloudflare:workers"
import { fail, type Result, succeed } from "../../shared/fault.ts"
import { parseJson } from "../../shared/json.ts"
import { MAX_AGENTS } from "../../shared/limits.ts"
import type { Env } from "../env.ts"
import { hasSchema, runMigrations } from "../platform/migrate.ts"
import {
  type Agent,
  type AgentView,
  DEFAULT_AGENTS,
  GENERAL_AGENT_NAME,
  NO_SETTINGS,
  type TenantSettings,
  createAgentView,
} from "./agent-config.ts"
import { isEmptySettings, readDeploymentSettings, mergeSettings } from "./tenant-settings.ts"

/** A default one that was taken away keeps a row without a configuration. */
const MIGRATIONS: readonly string[] = [
  "CREATE TABLE agents (name TEXT PRIMARY KEY, config TEXT) WITHOUT ROWID",
  "CREATE TABLE settings (one INTEGER PRIMARY KEY CHECK (one = 1), config TEXT NOT NULL)",
]

export function getTenantStub(env: Env, tenant: string) {
  return env.TENANT.getByName(tenant)
}

export class Tenant extends DurableObject<Env> {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    if (hasSchema(ctx.storage.sql)) runMigrations(ctx.storage, MIGRATIONS)
  }

  /** All of them, the default ones first. */
  listAgents(): Agent[] {
    const own = this.#readConfiguredAgents()
    const defaults = DEFAULT_AGENTS.flatMap((agent) => own.get(agent.name) ?? (own.has(agent.name) ? [] : agent))
    const names = new Set(DEFAULT_AGENTS.map(({ name }) => name))
    return [...defaults, ...[...own].flatMap(([name, agent]) => (names.has(name) ? [] : (agent ?? [])))]
  }

  /** What a session with this agent has to know; null where there is none of that name. */
  getAgentView(name: string): AgentView | null {
    const view = createAgentView(this.listAgents(), name)
    const settings = this.getSettings()
    return view === null || isEmptySettings(settings) ? view : { ...view, settings }
  }

  /** What its transcripts may show beside our own: what it says, and what the deployment allows all. */
  getSettings(): TenantSettings {
    return mergeSettings(this.#readOwnSettings(), readDeploymentSettings(this.env))
  }

  /** Takes the place of what it said before. */
  setSettings(settings: TenantSettings): TenantSettings {
    runMigrations(this.ctx.storage, MIGRATIONS)
    const config = JSON.stringify(settings)
    this.ctx.storage.sql.exec("INSERT OR REPLACE INTO settings (one, config) VALUES (1, ?)", config)
    return this.getSettings()
  }

  #readOwnSettings(): TenantSettings {
    if (!hasSchema(this.ctx.storage.sql)) return NO_SETTINGS
    const [row] = this.ctx.storage.sql.exec<{ config: string }>("SELECT config FROM settings").toArray()
    // Our own row: `setSettings` wrote it.
    return row === undefined ? NO_SETTINGS : (parseJson(row.config) as unknown as TenantSettings)
  }

  /** Errors: `agents_full`. */
  putAgent(agent: Agent): Result<null> {
    const isKnown = this.listAgents().some(({ name }) => name === agent.name)
    if (!isKnown && this.listAgents().length >= MAX_AGENTS) return fail({ reason: "agents_full", max: MAX_AGENTS })
    this.#writeAgentRow(agent.name, JSON.stringify(agent))
    return succeed(null)
  }

  /** The general one can be changed, but not taken away: somebody has to answer. Errors: `agent_unknown`. */
  removeAgent(name: string): Result<null> {
    const isKnown = this.listAgents().some((agent) => agent.name === name)
    if (!isKnown || name === GENERAL_AGENT_NAME) return fail({ reason: "agent_unknown" })
    this.#writeAgentRow(name, null)
    return succeed(null)
  }

  #writeAgentRow(name: string, config: string | null): void {
    runMigrations(this.ctx.storage, MIGRATIONS)
    this.ctx.storage.sql.exec("INSERT OR REPLACE INTO agents (name, config) VALUES (?, ?)", name, config)
  }

  #readConfiguredAgents(): Map<string, Agent | null> {
    if (!hasSchema(this.ctx.storage.sql)) return new Map()
    const rows = this.ctx.storage.sql.exec<{ name: string; config: string | null }>("SELECT * FROM agents").toArray()
    // Our own rows: `put` wrote them.
    return new Map(
      rows.map(({ name, config }) => [name, config === null ? null : (parseJson(config) as unknown as Agent)]),
    )
  }
}
