/**
 * tenant-object.ts: the Durable Object of one tenant, named as it: which agents it has, and what it allows its transcripts.
 *
 * route → TENANT → agents → session
 * Until something is configured it stores nothing, and has the default ones.
 */

import { DurableObject } from "cloudflare:workers"
import { fail, type Result, succeed } from "../../shared/fault.ts"
import { parseJson } from "../../shared/protocol/frame.ts"
import { MAX_AGENTS } from "../../shared/limits.ts"
import type { Env } from "../env.ts"
import { isBegun, migrateTo } from "../platform/migrate.ts"
import {
  type Agent,
  type AgentView,
  DEFAULT_AGENTS,
  GENERAL,
  NO_SETTINGS,
  type TenantSettings,
  viewOf,
} from "./agent-config.ts"
import { allowsNothing, deploymentSettings, joinSettings } from "./tenant-settings.ts"

/** A default one that was taken away keeps a row without a configuration. */
const MIGRATIONS: readonly string[] = [
  "CREATE TABLE agents (name TEXT PRIMARY KEY, config TEXT) WITHOUT ROWID",
  "CREATE TABLE settings (one INTEGER PRIMARY KEY CHECK (one = 1), config TEXT NOT NULL)",
]

export function tenantOf(env: Env, tenant: string) {
  return env.TENANT.getByName(tenant)
}

export class Tenant extends DurableObject<Env> {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    if (isBegun(ctx.storage.sql)) migrateTo(ctx.storage, MIGRATIONS)
  }

  /** All of them, the default ones first. */
  agents(): Agent[] {
    const own = this.#configured()
    const defaults = DEFAULT_AGENTS.flatMap((agent) => own.get(agent.name) ?? (own.has(agent.name) ? [] : agent))
    const names = new Set(DEFAULT_AGENTS.map(({ name }) => name))
    return [...defaults, ...[...own].flatMap(([name, agent]) => (names.has(name) ? [] : (agent ?? [])))]
  }

  /** What a session with this agent has to know; null where there is none of that name. */
  view(name: string): AgentView | null {
    const view = viewOf(this.agents(), name)
    const settings = this.settings()
    return view === null || allowsNothing(settings) ? view : { ...view, settings }
  }

  /** What its transcripts may show beside our own: what it says, and what the deployment allows all. */
  settings(): TenantSettings {
    return joinSettings(this.#ownSettings(), deploymentSettings(this.env))
  }

  /** Takes the place of what it said before. */
  setSettings(settings: TenantSettings): TenantSettings {
    migrateTo(this.ctx.storage, MIGRATIONS)
    const config = JSON.stringify(settings)
    this.ctx.storage.sql.exec("INSERT OR REPLACE INTO settings (one, config) VALUES (1, ?)", config)
    return this.settings()
  }

  #ownSettings(): TenantSettings {
    if (!isBegun(this.ctx.storage.sql)) return NO_SETTINGS
    const [row] = this.ctx.storage.sql.exec<{ config: string }>("SELECT config FROM settings").toArray()
    // Our own row: `setSettings` wrote it.
    return row === undefined ? NO_SETTINGS : (parseJson(row.config) as unknown as TenantSettings)
  }

  /** Errors: `agents_full`. */
  put(agent: Agent): Result<null> {
    const known = this.agents().some(({ name }) => name === agent.name)
    if (!known && this.agents().length >= MAX_AGENTS) return fail({ reason: "agents_full", max: MAX_AGENTS })
    this.#write(agent.name, JSON.stringify(agent))
    return succeed(null)
  }

  /** The general one can be changed, but not taken away: somebody has to answer. Errors: `agent_unknown`. */
  remove(name: string): Result<null> {
    const isThere = this.agents().some((agent) => agent.name === name)
    if (!isThere || name === GENERAL) return fail({ reason: "agent_unknown" })
    this.#write(name, null)
    return succeed(null)
  }

  #write(name: string, config: string | null): void {
    migrateTo(this.ctx.storage, MIGRATIONS)
    this.ctx.storage.sql.exec("INSERT OR REPLACE INTO agents (name, config) VALUES (?, ?)", name, config)
  }

  #configured(): Map<string, Agent | null> {
    if (!isBegun(this.ctx.storage.sql)) return new Map()
    const rows = this.ctx.storage.sql.exec<{ name: string; config: string | null }>("SELECT * FROM agents").toArray()
    // Our own rows: `put` wrote them.
    return new Map(
      rows.map(({ name, config }) => [name, config === null ? null : (parseJson(config) as unknown as Agent)]),
    )
  }
}
