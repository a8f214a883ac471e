/** tenant-content.ts: gives the jobs of `leaving/` access to the rows of the tenant object. */

import { parseJson } from "../../shared/json.ts"
import type { TenantConfig, TenantContent } from "../leaving/leaving-host.ts"
import { releaseIssuer } from "../auth/issuer/issuer-registry.ts"
import { registryStub } from "../platform/rpc/object-stubs.ts"
import { TENANT_LIST_KEY } from "../platform/rpc/registry-rpc.ts"
import { getRegion } from "../platform/tenant-id.ts"
import { deleteAllRows } from "../platform/migrate.ts"
import type { Agent, TenantSettings } from "../settings/agent-config.ts"
import type { BudgetRows } from "../usage/budget-rows.ts"
import { readPrices, writePrices } from "../usage/price-rows.ts"
import type { TenantHost } from "./tenant-host.ts"
import { addVersion, readVersions } from "./cards/card-table.ts"
import { listMcpServers, writeMcpServer } from "./mcp/mcp-rows.ts"
import { removeUserConnections } from "./mcp/mcp-table.ts"
import { readStoredTheme, restoreTheme } from "./theme/theme-rows.ts"
import { listWebhookTools, writeWebhookTool } from "./webhooks/webhook-table.ts"

export function createTenantContent(host: TenantHost): TenantContent {
  const { env, sql, tenant, users, notices, apiKeys, budgets, storedBytes, usage, audit, issuers } = host
  return {
    listUsers: (after, limit) => users.list(after ?? "", "", limit),
    findUser: (id) => users.find(id),
    isLastOwner: (user) => users.isLastOwner(user),
    restoreUser: (user) => {
      users.restore(user)
      // Makes the directory of a suspended user refuse tokens. Later changes have higher versions, which are numbers of
      // audit log entries.
      if (user.status === "suspended") notices.addForAlarm(user.id, 1, Date.now())
    },
    countStoredBytes: () => storedBytes.count(),
    markErasing: (user) => users.update({ ...user, status: "erasing" }),
    removeUser: (id, ledger) => {
      users.remove(id)
      notices.remove(id)
      apiKeys.removeUser(id)
      removeUserConnections(sql, id)
      budgets.removeUser(id)
      storedBytes.removeUser(id)
      usage.removeUser(id, ledger, Date.now())
    },
    readConfig: () => readConfig(sql, budgets),
    writeConfig: (config) => writeConfig(sql, budgets, config),
    releaseClaims: async () => {
      for (const { issuer, audience } of issuers.listClaims()) await releaseIssuer(env, tenant, issuer, audience)
      await registryStub(env, getRegion(tenant), TENANT_LIST_KEY).removeTenant(tenant)
    },
    deleteAllRows: () => {
      deleteAllRows(sql)
      usage.forgetSums()
    },
    record: (actor, action, target, details = {}) => void audit.append(actor, { action, target, details }, Date.now()),
  }
}

type AgentRow = { name: string; config: string | null }

/**
 * Reads the configuration. The rows contain JSON that `putAgent`, `setSettings`, `setPrices` and `changeBudgets` wrote.
 */
function readConfig(sql: SqlStorage, budgets: BudgetRows): TenantConfig {
  const agents = sql.exec<AgentRow>("SELECT name, config FROM agents ORDER BY name").toArray()
  const [settings] = sql.exec<{ config: string }>("SELECT config FROM settings").toArray()
  const prices = readPrices(sql)
  const theme = readStoredTheme(sql)
  const cards = readVersions(sql)
  // Another deployment could not open the secrets.
  const webhookTools = listWebhookTools(sql).map(({ name, config }) => ({ name, config }))
  const mcpServers = listMcpServers(sql).map(({ secret: _secret, tokens: _tokens, flaw: _flaw, ...server }) => server)
  return {
    ...(cards.length === 0 ? {} : { cards }),
    ...(theme === null ? {} : { theme }),
    ...(mcpServers.length === 0 ? {} : { mcpServers }),
    ...(webhookTools.length === 0 ? {} : { webhookTools }),
    ...(prices.length === 0 ? {} : { prices }),
    ...(budgets.hasAny() ? { budgets: budgets.readTable() } : {}),
    agents: agents.map(({ name, config }) => [name, config === null ? null : (parseJson(config) as unknown as Agent)]),
    settings: settings === undefined ? null : (parseJson(settings.config) as unknown as TenantSettings),
  }
}

function writeConfig(sql: SqlStorage, budgetRows: BudgetRows, config: TenantConfig): void {
  const { agents, settings, prices, budgets, theme, mcpServers, webhookTools, cards = [] } = config
  if (prices !== undefined) writePrices(sql, prices)
  if (budgets !== undefined) budgetRows.restore(budgets)
  if (theme !== undefined) restoreTheme(sql, theme)
  for (const server of mcpServers ?? []) writeMcpServer(sql, { ...server, secret: null, tokens: null, flaw: null })
  for (const tool of webhookTools ?? []) writeWebhookTool(sql, { ...tool, secret: null })
  for (const card of cards) addVersion(sql, card)
  for (const [name, agent] of agents) {
    const text = agent === null ? null : JSON.stringify(agent)
    sql.exec("INSERT OR REPLACE INTO agents (name, config) VALUES (?, ?)", name, text)
  }
  if (settings === null) return
  sql.exec("INSERT OR REPLACE INTO settings (one, config) VALUES (1, ?)", JSON.stringify(settings))
}
