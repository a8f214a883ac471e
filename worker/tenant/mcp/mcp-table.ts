/**
 * mcp-table.ts: the tables of a tenant's MCP servers and of its users' connections to them, and the tools that an agent
 * gets from these servers.
 */

import { parseJson } from "../../../shared/json.ts"
import type { McpTool } from "../../settings/mcp-config.ts"

export const MCP_TABLE = `CREATE TABLE mcp_servers (name TEXT PRIMARY KEY, config TEXT NOT NULL, secret TEXT, tokens TEXT,
  discover TEXT, offered TEXT NOT NULL, pinned TEXT NOT NULL, ready TEXT NOT NULL, revision TEXT NOT NULL,
  fetched INTEGER NOT NULL, ttl INTEGER NOT NULL, flaw TEXT) WITHOUT ROWID`

/** `tokens` is sealed. */
export const MCP_CONNECTION_TABLE = `CREATE TABLE mcp_connections (user TEXT, server TEXT, tokens TEXT NOT NULL,
  PRIMARY KEY (user, server)) WITHOUT ROWID`

/** Removes all of a user's connections. */
export function removeUserConnections(sql: SqlStorage, user: string): void {
  sql.exec("DELETE FROM mcp_connections WHERE user = ?", user)
}

/** Maximum number of characters in all tool definitions of an agent: about a quarter of a typical context. */
const MAX_DEFINITION_CHARS = 128 * 1024

/** Returns the usable tools of these servers, up to MAX_DEFINITION_CHARS. */
export function listAgentTools(sql: SqlStorage, servers: readonly string[]): McpTool[] {
  const query = "SELECT ready FROM mcp_servers WHERE name = ?"
  const tools = servers.flatMap((name) =>
    // `writeMcpServer` wrote this JSON.
    sql
      .exec<{ ready: string }>(query, name)
      .toArray()
      .flatMap(({ ready }) => parseJson(ready) as unknown as McpTool[]),
  )
  let charsLeft = MAX_DEFINITION_CHARS
  return tools.filter(({ description, schema }) => {
    charsLeft -= description.length + schema.length
    return charsLeft >= 0
  })
}
