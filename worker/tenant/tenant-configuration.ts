/** tenant-configuration.ts: the agents and settings of a tenant, in the tenant object. */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import { parseJson } from "../../shared/json.ts"
import { MAX_AGENTS } from "../../shared/limits.ts"
import type { PageSettings } from "../../shared/protocol/http-body.ts"
import type { Actor } from "../platform/rpc/actor.ts"
import {
  type Agent,
  type AgentView,
  createAgentView,
  GENERAL_AGENT_NAME,
  NO_SETTINGS,
  type TenantSettings,
} from "../settings/agent-config.ts"
import { isEmptySettings, mergeSettings, readDeploymentSettings } from "../settings/tenant-settings.ts"
import { BUILT_IN_TOOL_NAMES } from "../tool/built-in-tools.ts"
import { DEFAULT_AGENTS } from "../tool/default-agents.ts"
import type { TenantHost } from "./tenant-host.ts"
import { listAgentTools } from "./mcp/mcp-table.ts"
import { findWebhookTool, listAgentWebhooks } from "./webhooks/webhook-table.ts"
import { findPageTheme } from "./theme/tenant-theme.ts"

/** A row without a configuration represents a default agent that was removed. */
export const AGENT_TABLE = "CREATE TABLE agents (name TEXT PRIMARY KEY, config TEXT) WITHOUT ROWID"

export const SETTINGS_TABLE = "CREATE TABLE settings (one INTEGER PRIMARY KEY CHECK (one = 1), config TEXT NOT NULL)"

export class TenantConfiguration {
  readonly #host: TenantHost

  constructor(host: TenantHost) {
    this.#host = host
  }

  listAgents(): Agent[] {
    const agents = new Map<string, Agent | null>(DEFAULT_AGENTS.map((agent) => [agent.name, agent]))
    // A replaced default agent keeps its position in the list. Null represents a removed agent.
    for (const [name, agent] of this.#readConfiguredAgents()) agents.set(name, agent)
    return [...agents.values()].filter((agent) => agent !== null)
  }

  /** Returns the agent with this name, its peers and the settings; null if there is no such agent. */
  createView(name: string): AgentView | null {
    const view = createAgentView(this.listAgents(), name)
    if (view === null) return null
    const tools = listAgentTools(this.#host.sql, view.self.mcp_servers ?? [])
    const webhooks = this.#host.tables.exist() ? listAgentWebhooks(this.#host.sql, listOwnTools(view.self)) : []
    const own = {
      ...view,
      ...(tools.length === 0 ? {} : { mcp: tools }),
      ...(webhooks.length === 0 ? {} : { webhooks }),
    }
    const settings = this.getSettings()
    return isEmptySettings(settings) ? own : { ...own, settings }
  }

  putAgent(actor: Actor, agent: Agent): Result<null> {
    if (this.#host.isErased()) return fail({ reason: "tenant_erased" })
    const unknown = agent.tools.findIndex((tool) => !this.#isTool(tool))
    if (unknown >= 0) return fail({ reason: "field_invalid", field: `tools.${unknown}` })
    const isKnown = this.listAgents().some(({ name }) => name === agent.name)
    if (!isKnown && this.listAgents().length >= MAX_AGENTS) return fail({ reason: "agents_full", max: MAX_AGENTS })
    this.#writeAgentRow(agent.name, JSON.stringify(agent))
    const { tools, model, answered_by, mcp_servers, url } = agent
    const details = {
      tools: tools.join(" "),
      model,
      is_new: !isKnown,
      ...(answered_by && { answered_by }),
      ...(url !== undefined && { url: new URL(url).origin }),
      ...(mcp_servers && { mcp_servers: mcp_servers.join(" ") }),
    }
    this.#host.audit.append(actor, { action: "agent.changed", target: agent.name, details }, Date.now())
    return succeed(null)
  }

  removeAgent(actor: Actor, name: string): Result<null> {
    if (this.#host.isErased()) return fail({ reason: "tenant_erased" })
    const isKnown = this.listAgents().some((agent) => agent.name === name)
    if (!isKnown || name === GENERAL_AGENT_NAME) return fail({ reason: "agent_unknown" })
    this.#writeAgentRow(name, null)
    this.#host.sql.exec("DELETE FROM agent_secrets WHERE name = ?", name)
    this.#host.audit.append(actor, { action: "agent.removed", target: name }, Date.now())
    return succeed(null)
  }

  getSettings(): TenantSettings {
    return mergeSettings(this.#readOwnSettings(), readDeploymentSettings(this.#host.env))
  }

  getPageSettings(): PageSettings {
    const { erases_at } = this.#host.getStanding()
    const theme = findPageTheme(this.#host)
    return {
      ...this.getSettings(),
      ...(erases_at === null ? {} : { erases_at }),
      ...(theme === null ? {} : { theme }),
    }
  }

  setSettings(actor: Actor, settings: TenantSettings): TenantSettings {
    if (this.#host.isErased()) return this.getSettings()
    this.#host.tables.create()
    const config = JSON.stringify(settings)
    this.#host.sql.exec("INSERT OR REPLACE INTO settings (one, config) VALUES (1, ?)", config)
    const details = {
      embed_origins: settings.embed_origins.join(" "),
      media_hosts: settings.media_hosts.join(" "),
      ...(settings.titles === undefined ? {} : { titles: String(settings.titles) }),
      ...(settings.embed_hosts === undefined ? {} : { embed_hosts: settings.embed_hosts.join(" ") }),
    }
    this.#host.audit.append(actor, { action: "settings.changed", details }, Date.now())
    return this.getSettings()
  }

  #isTool(name: string): boolean {
    if (BUILT_IN_TOOL_NAMES.includes(name)) return true
    return this.#host.tables.exist() && findWebhookTool(this.#host.sql, name) !== null
  }

  #readOwnSettings(): TenantSettings {
    if (!this.#host.tables.exist()) return NO_SETTINGS
    const [row] = this.#host.sql.exec<{ config: string }>("SELECT config FROM settings").toArray()
    // `setSettings` wrote this JSON.
    return row === undefined ? NO_SETTINGS : (parseJson(row.config) as unknown as TenantSettings)
  }

  #writeAgentRow(name: string, config: string | null): void {
    this.#host.tables.create()
    this.#host.sql.exec("INSERT OR REPLACE INTO agents (name, config) VALUES (?, ?)", name, config)
  }

  #readConfiguredAgents(): Map<string, Agent | null> {
    if (!this.#host.tables.exist()) return new Map()
    const rows = this.#host.sql.exec<{ name: string; config: string | null }>("SELECT * FROM agents").toArray()
    // `putAgent` wrote this JSON.
    return new Map(
      rows.map(({ name, config }) => [name, config === null ? null : (parseJson(config) as unknown as Agent)]),
    )
  }
}

/** Returns the tools of an agent that aren't built in. */
function listOwnTools({ tools }: Agent): readonly string[] {
  return tools.filter((name) => !BUILT_IN_TOOL_NAMES.includes(name))
}
