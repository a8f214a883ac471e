/** tenant-content.ts: gives the jobs of `leaving/` access to the rows of the tenant object. */

import { parseJson } from "../../shared/json.ts"
import type { TenantConfig, TenantContent } from "../leaving/leaving-host.ts"
import { releaseIssuer } from "../auth/issuer/issuer-registry.ts"
import type { Env } from "../env.ts"
import { registryStub } from "../platform/rpc/object-stubs.ts"
import { TENANT_LIST_KEY } from "../platform/rpc/registry-rpc.ts"
import { getRegion } from "../platform/tenant-id.ts"
import { deleteAllRows } from "../platform/migrate.ts"
import type { Agent, TenantSettings } from "../settings/agent-config.ts"
import { ApiKeyRows } from "./rows/api-key-rows.ts"
import { BudgetRows } from "../usage/budget-rows.ts"
import { TenantBytes } from "../limits/tenant-bytes.ts"
import { readPrices, writePrices } from "../usage/price-rows.ts"
import { TenantUsage } from "../usage/tenant-usage.ts"
import { AuditRows } from "./rows/audit-rows.ts"
import { UserNotices } from "./user-notices.ts"
import { UserRows } from "./rows/user-rows.ts"

export function createTenantContent(env: Env, sql: SqlStorage, tenant: string): TenantContent {
  const users = new UserRows(sql)
  const notices = new UserNotices(sql, env, tenant, users)
  const apiKeys = new ApiKeyRows(sql)
  const budgets = new BudgetRows(sql)
  const storedBytes = new TenantBytes(sql)
  const usage = new TenantUsage(sql)
  const audit = new AuditRows(sql, tenant)
  return {
    listUsers: (after, limit) => users.list(after ?? "", "", limit),
    findUser: (id) => users.find(id),
    isLastOwner: (user) => users.isLastOwner(user),
    restoreUser: (user) => {
      users.restore(user)
      // Makes the directory of a suspended user refuse tokens. Later changes have a higher number in the audit log.
      if (user.status === "suspended") notices.addForAlarm(user.id, 1, Date.now())
    },
    countStoredBytes: () => storedBytes.count(),
    markErasing: (user) => users.update({ ...user, status: "erasing" }),
    removeUser: (id, ledger) => {
      users.remove(id)
      notices.remove(id)
      apiKeys.removeUser(id)
      budgets.removeUser(id)
      storedBytes.removeUser(id)
      usage.removeUser(id, ledger)
    },
    readConfig: () => readConfig(sql, budgets),
    writeConfig: (config) => writeConfig(sql, budgets, config),
    releaseClaims: async () => {
      const claims = sql
        .exec<{ issuer: string; audience: string }>("SELECT issuer, audience FROM issuer_claims")
        .toArray()
      for (const { issuer, audience } of claims) await releaseIssuer(env, tenant, issuer, audience)
      await registryStub(env, getRegion(tenant), TENANT_LIST_KEY).removeTenant(tenant)
    },
    deleteAllRows: () => deleteAllRows(sql),
    record: (actor, action, target, details = {}) => void audit.append(actor, { action, target, details }, Date.now()),
  }
}

type AgentRow = { name: string; config: string | null }

/** These rows contain JSON that `putAgent`, `setSettings`, `setPrices` and `changeBudgets` wrote. */
function readConfig(sql: SqlStorage, budgets: BudgetRows): TenantConfig {
  const agents = sql.exec<AgentRow>("SELECT name, config FROM agents ORDER BY name").toArray()
  const [settings] = sql.exec<{ config: string }>("SELECT config FROM settings").toArray()
  const prices = readPrices(sql)
  return {
    ...(prices.length === 0 ? {} : { prices }),
    ...(budgets.hasAny() ? { budgets: budgets.readTable() } : {}),
    agents: agents.map(({ name, config }) => [name, config === null ? null : (parseJson(config) as unknown as Agent)]),
    settings: settings === undefined ? null : (parseJson(settings.config) as unknown as TenantSettings),
  }
}

function writeConfig(sql: SqlStorage, budgetRows: BudgetRows, config: TenantConfig): void {
  const { agents, settings, prices, budgets } = config
  if (prices !== undefined) writePrices(sql, prices)
  if (budgets !== undefined) budgetRows.restore(budgets)
  for (const [name, agent] of agents) {
    const text = agent === null ? null : JSON.stringify(agent)
    sql.exec("INSERT OR REPLACE INTO agents (name, config) VALUES (?, ?)", name, text)
  }
  if (settings === null) return
  sql.exec("INSERT OR REPLACE INTO settings (one, config) VALUES (1, ?)", JSON.stringify(settings))
}
