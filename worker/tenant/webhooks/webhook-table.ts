/** webhook-table.ts: the table of a tenant's webhook tools, and the tools that an agent has from it. */

import { parseJson } from "../../../shared/json.ts"
import type { WebhookTool, WebhookToolConfig } from "../../settings/webhooks/webhook-tool.ts"

/** `secret` is sealed (platform/crypto/seal-secret.ts). */
export const WEBHOOK_TABLE =
  "CREATE TABLE webhook_tools (name TEXT PRIMARY KEY, config TEXT NOT NULL, secret TEXT) WITHOUT ROWID"

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

/** Those of these names that are webhook tools, as an agent has them. */
export function listAgentWebhooks(sql: SqlStorage, names: readonly string[]): WebhookTool[] {
  return names.flatMap((name) => {
    const tool = findWebhookTool(sql, name)
    if (tool === null) return []
    const { description, schema, approval } = tool.config
    return [{ name, description, schema, asks: approval === "always" }]
  })
}

/** `writeWebhookTool` wrote this JSON. */
function rowToTool({ name, config, secret }: WebhookRow): StoredWebhookTool {
  return { name, config: parseJson(config) as unknown as WebhookToolConfig, secret }
}
