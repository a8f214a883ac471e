/** mcp-rows.ts: the SQL rows of a tenant's MCP servers, and their tools for an agent. */

import type { McpFlaw } from "../../../shared/fault.ts"
import { parseJson } from "../../../shared/json.ts"
import type { McpServerConfig, McpTool, McpToolState, OfferedTool } from "../../settings/mcp-config.ts"

/** Most characters of all tool definitions that an agent has: a quarter of a usual context. */
const MAX_AGENT_DEFINITION_CHARS = 128 * 1024

export const MCP_TABLE = `CREATE TABLE mcp_servers (name TEXT PRIMARY KEY, config TEXT NOT NULL, secret TEXT, tokens TEXT,
  discover TEXT, offered TEXT NOT NULL, pinned TEXT NOT NULL, revision TEXT NOT NULL, fetched INTEGER NOT NULL,
  ttl INTEGER NOT NULL, flaw TEXT) WITHOUT ROWID`

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

export function listMcpServers(sql: SqlStorage): StoredMcpServer[] {
  return sql.exec<McpRow>("SELECT * FROM mcp_servers ORDER BY name").toArray().map(toServer)
}

export function findMcpServer(sql: SqlStorage, name: string): StoredMcpServer | null {
  const [row] = sql.exec<McpRow>("SELECT * FROM mcp_servers WHERE name = ?", name).toArray()
  return row === undefined ? null : toServer(row)
}

export function writeMcpServer(sql: SqlStorage, { config, offered, pinned, ...row }: StoredMcpServer): void {
  const { name, secret, tokens, discover, revision, fetched, ttl, flaw } = row
  const texts = [config, offered, pinned].map((value) => JSON.stringify(value)) as [string, string, string]
  const sqlText = `INSERT OR REPLACE INTO mcp_servers (name, secret, tokens, discover, config, offered, pinned, revision, fetched,
    ttl, flaw) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
  sql.exec(sqlText, name, secret, tokens, discover, ...texts, revision, fetched, ttl, flaw)
}

export function removeMcpServer(sql: SqlStorage, name: string): boolean {
  return sql.exec("DELETE FROM mcp_servers WHERE name = ? RETURNING name", name).toArray().length > 0
}

/** `writeMcpServer` wrote the JSON. */
function toServer({ config, offered, pinned, flaw, ...row }: McpRow): StoredMcpServer {
  return {
    ...row,
    config: parseJson(config) as unknown as McpServerConfig,
    offered: parseJson(offered) as unknown as OfferedTool[],
    pinned: parseJson(pinned) as unknown as OfferedTool[],
    flaw: flaw as McpFlaw | null,
  }
}

/** Whether agents can use a tool, by its name at the server. */
export function getToolState({ config, offered, pinned }: StoredMcpServer, name: string): McpToolState {
  if (!config.tools.includes(name)) return "not_allowed"
  const now = offered.find((tool) => tool.name === name)
  if (now === undefined) return "gone"
  return pinned.some(({ hash }) => hash === now.hash) ? "ready" : "changed"
}

/** Whether a user must allow a call. Only the administrator's word counts. */
export function asksFirst({ approval, reads }: McpServerConfig, name: string): boolean {
  return approval === "always" || (approval === "write" && !reads.includes(name))
}

/** The tools of these servers that an agent can use, up to MAX_AGENT_DEFINITION_CHARS. */
export function listAgentTools(sql: SqlStorage, servers: readonly string[]): McpTool[] {
  let charsLeft = MAX_AGENT_DEFINITION_CHARS
  return servers.flatMap((name) => {
    const server = findMcpServer(sql, name)
    return (server?.pinned ?? []).flatMap((tool): McpTool[] => {
      if (server === null || getToolState(server, tool.name) !== "ready") return []
      const { slug, description, schema } = tool
      charsLeft -= description.length + schema.length
      const [asks, reads] = [asksFirst(server.config, tool.name), server.config.reads.includes(tool.name)]
      return charsLeft < 0 ? [] : [{ name: slug, server: name, tool: tool.name, description, schema, asks, reads }]
    })
  })
}
