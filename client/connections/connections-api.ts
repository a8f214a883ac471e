/** connections-api.ts: the HTTP requests for connections to MCP servers, and the parsers of their responses. */

import * as v from "valibot"
import type { McpConnection } from "../../shared/protocol/http-body.ts"
import type { Api } from "../net/api.ts"
import { createJsonRequest, parseBody, readJson } from "../net/http-request.ts"
import { createSchemaParser } from "../net/schema-parser.ts"

const PATH = "/v1/connections"

const parseList = createSchemaParser(
  v.object({ connections: v.array(v.object({ server: v.string(), connected: v.boolean() })) }),
)
const parseStart = createSchemaParser(v.object({ url: v.pipe(v.string(), v.regex(/^https?:\/\//)) }))

export async function listConnections(api: Api): Promise<readonly McpConnection[]> {
  return (await parseBody(await api.fetchAuthorized(PATH), parseList)).connections
}

/** Starts a connection. Returns the URL at which the user grants access. */
export async function startConnection(api: Api, server: string): Promise<string> {
  const path = `${PATH}/${encodeURIComponent(server)}`
  return (await parseBody(await api.fetchAuthorized(path, createJsonRequest("POST", {})), parseStart)).url
}

export async function endConnection(api: Api, server: string): Promise<void> {
  const response = await api.fetchAuthorized(`${PATH}/${encodeURIComponent(server)}`, { method: "DELETE" })
  if (!response.ok) await readJson(response)
}
