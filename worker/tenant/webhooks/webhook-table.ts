/**
 * webhook-table.ts: the tables of a tenant's webhook tools, and of the secrets of agents whose questions a webhook
 * answers.
 */

import { parseJson } from "../../../shared/json.ts"
import type { Agent } from "../../settings/agent-config.ts"
import type { WebhookTool, WebhookToolConfig } from "../../settings/webhooks/webhook-tool.ts"

/** `secret` is sealed (platform/crypto/seal-secret.ts). */
export const WEBHOOK_TABLE =
  "CREATE TABLE webhook_tools (name TEXT PRIMARY KEY, config TEXT NOT NULL, secret TEXT) WITHOUT ROWID"

/** One row for each agent whose questions a webhook answers. `secret` is sealed. */
export const AGENT_SECRET_TABLE =
  "CREATE TABLE agent_secrets (name TEXT PRIMARY KEY, secret TEXT NOT NULL) WITHOUT ROWID"

export interface StoredWebhookTool {
  readonly name: string
  readonly config: WebhookToolConfig
  readonly secret: string | null
}

type WebhookRow = { name: string; config: string; secret: string | null }

export function listWebhookTools(sql: SqlStorage): StoredWebhookTool[] {
  return sql.exec<WebhookRow>("SELECT * FROM webhook_tools ORDER BY name").toArray().map(rowToTool)
}

export function findWebhookTool(sql: SqlStorage, name: string): StoredWebhookTool | null {
  const [row] = sql.exec<WebhookRow>("SELECT * FROM webhook_tools WHERE name = ?", name).toArray()
  return row === undefined ? null : rowToTool(row)
}

export function writeWebhookTool(sql: SqlStorage, { name, config, secret }: StoredWebhookTool): void {
  const text = JSON.stringify(config)
  sql.exec("INSERT OR REPLACE INTO webhook_tools (name, config, secret) VALUES (?, ?, ?)", name, text, secret)
}

/** Returns the webhook tools among these names, in the form in which agents get them. */
export function listAgentWebhooks(sql: SqlStorage, names: readonly string[]): WebhookTool[] {
  return names.flatMap((name) => {
    const tool = findWebhookTool(sql, name)
    if (tool === null) return []
    const { description, schema, approval } = tool.config
    return [{ name, description, schema, asks: approval === "always" }]
  })
}

/** Converts a row. `writeWebhookTool` wrote its JSON. */
function rowToTool({ name, config, secret }: WebhookRow): StoredWebhookTool {
  return { name, config: parseJson(config) as unknown as WebhookToolConfig, secret }
}

/** Returns the agent if a webhook answers its questions. */
export function findWebhookAgent(sql: SqlStorage, name: string): Agent | null {
  const [row] = sql.exec<{ config: string | null }>("SELECT config FROM agents WHERE name = ?", name).toArray()
  // `putAgent` wrote this JSON.
  const agent = row?.config == null ? null : (parseJson(row.config) as unknown as Agent)
  return agent?.answered_by === "webhook" ? agent : null
}

export function readAgentSecret(sql: SqlStorage, name: string): string | null {
  const [row] = sql.exec<{ secret: string }>("SELECT secret FROM agent_secrets WHERE name = ?", name).toArray()
  return row?.secret ?? null
}

export function writeAgentSecret(sql: SqlStorage, name: string, secret: string): void {
  sql.exec("INSERT OR REPLACE INTO agent_secrets (name, secret) VALUES (?, ?)", name, secret)
}
