/** mcp-rows.ts: the SQL rows of a tenant's MCP servers. Loaded on demand. */

import type { McpFlaw } from "../../../shared/fault.ts"
import { parseJson } from "../../../shared/json.ts"
import type { McpServerConfig, McpTool, McpToolState, OfferedTool } from "../../settings/mcp-config.ts"

export interface StoredMcpServer {
  readonly name: string
  readonly config: McpServerConfig
  /** Sealed: the value of the header, or the client's secret. */
  readonly secret: string | null
  /** Sealed: the access token and its expiry. */
  readonly tokens: string | null
  readonly discover: string | null
  /** The tools as they were last listed. */
  readonly offered: readonly OfferedTool[]
  /** The definitions that an administrator has allowed. */
  readonly pinned: readonly OfferedTool[]
  readonly revision: string
  readonly fetched: number
  readonly ttl: number
  readonly flaw: McpFlaw | null
}

type McpRow = {
  name: string
  config: string
  secret: string | null
  tokens: string | null
  discover: string | null
  offered: string
  pinned: string
  revision: string
  fetched: number
  ttl: number
  flaw: string | null
}

/** All columns except `ready`, which is derived from the others. */
const COLUMNS = "name, config, secret, tokens, discover, offered, pinned, revision, fetched, ttl, flaw"

export function listMcpServers(sql: SqlStorage): StoredMcpServer[] {
  return sql.exec<McpRow>(`SELECT ${COLUMNS} FROM mcp_servers ORDER BY name`).toArray().map(toServer)
}

export function findMcpServer(sql: SqlStorage, name: string): StoredMcpServer | null {
  const [row] = sql.exec<McpRow>(`SELECT ${COLUMNS} FROM mcp_servers WHERE name = ?`, name).toArray()
  return row === undefined ? null : toServer(row)
}

export function writeMcpServer(sql: SqlStorage, server: StoredMcpServer): void {
  const { name, secret, tokens, discover, revision, fetched, ttl, flaw, config, offered, pinned } = server
  const texts = [config, offered, pinned, listReadyTools(server)].map((value) => JSON.stringify(value))
  const sqlText = `INSERT OR REPLACE INTO mcp_servers (name, secret, tokens, discover, config, offered, pinned, ready, revision,
    fetched, ttl, flaw) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
  sql.exec(sqlText, name, secret, tokens, discover, ...texts, revision, fetched, ttl, flaw)
}

export function removeMcpServer(sql: SqlStorage, name: string): boolean {
  return sql.exec("DELETE FROM mcp_servers WHERE name = ? RETURNING name", name).toArray().length > 0
}

/** Converts a row. `writeMcpServer` wrote its JSON. */
function toServer({ config, offered, pinned, flaw, ...row }: McpRow): StoredMcpServer {
  return {
    ...row,
    // Rows of earlier versions have no `app_hosts`.
    config: { app_hosts: [], ...(parseJson(config) as unknown as Omit<McpServerConfig, "app_hosts">) },
    offered: parseJson(offered) as unknown as OfferedTool[],
    pinned: parseJson(pinned) as unknown as OfferedTool[],
    flaw: flaw as McpFlaw | null,
  }
}

/** Returns a tool's state: whether agents can use it and, if not, why. `name` is the tool's name on the server. */
export function getToolState({ config, offered, pinned }: StoredMcpServer, name: string): McpToolState {
  if (!config.tools.includes(name)) return "not_allowed"
  const now = offered.find((tool) => tool.name === name)
  if (now === undefined) return "gone"
  return pinned.some(({ hash }) => hash === now.hash) ? "ready" : "changed"
}

export function isForModels({ visibility }: OfferedTool): boolean {
  return visibility === undefined || visibility === "model"
}

export function isForApps({ visibility }: OfferedTool): boolean {
  return visibility === undefined || visibility === "app"
}

/** Whether a user must allow a call. Only the administrator's settings decide, not the server's hints. */
export function asksFirst({ approval, reads }: McpServerConfig, name: string): boolean {
  return approval === "always" || (approval === "write" && !reads.includes(name))
}

/**
 * Returns the tools that agents can use. They are stored, so that reading an agent's configuration needs none of this
 * code.
 */
function listReadyTools(server: StoredMcpServer): McpTool[] {
  const { name, config, pinned } = server
  return pinned
    .filter((tool) => getToolState(server, tool.name) === "ready" && isForModels(tool))
    .map(({ slug, name: tool, description, schema }) => {
      const [asks, reads] = [asksFirst(config, tool), config.reads.includes(tool)]
      return { name: slug, server: name, tool, description, schema, asks, reads }
    })
}
