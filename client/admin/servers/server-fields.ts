/** server-fields.ts: an MCP server as the server describes it, and the fields of its form. Pure. */

import { isJsonObject } from "../../../shared/json.ts"
import {
  createParser,
  hasShape,
  isBoolean,
  isListOf,
  isNumber,
  isOptional,
  isString,
} from "../../../shared/protocol/shape-check.ts"
import type { serversText } from "../../words/admin/servers-text.ts"
import { isNullOr } from "../admin-responses.ts"

export const SERVERS_PATH = "/v1/mcp-servers"

export type ToolState = keyof typeof serversText.state
export type Approval = keyof typeof serversText.approvals
/** The sign-in methods that the form offers, with a separate choice for each kind of `oauth`. */
export type AuthChoice = keyof typeof serversText.auths

export interface ServerTool {
  /** The tool's name on the server. */
  readonly name: string
  readonly description: string
  /** The JSON Schema of the tool's arguments, as JSON text. */
  readonly schema: string
  /** The URI of the MCP App that shows the tool's results; absent if there is none. */
  readonly app?: string
  readonly state: ToolState
}

export interface McpServer {
  readonly name: string
  readonly url: string
  readonly auth: {
    readonly type: "none" | "header" | "oauth"
    readonly name?: string
    readonly issuer?: string
    readonly client_id?: string
    readonly scope?: string
    readonly per?: string
  }
  readonly has_secret: boolean
  readonly tools: readonly string[]
  readonly reads: readonly string[]
  /** The origins that the server's apps may use. */
  readonly app_hosts: readonly string[]
  readonly approval: Approval
  readonly protocol: string
  /** Identifies the definitions in `offered`. */
  readonly revision: string
  readonly offered: readonly ServerTool[]
  readonly fetched: number
  /** Why the tools could not be listed; null if they could. */
  readonly flaw: string | null
}

const SERVER = {
  name: isString,
  url: isString,
  auth: isJsonObject,
  has_secret: isBoolean,
  tools: isListOf(isString),
  reads: isListOf(isString),
  app_hosts: isListOf(isString),
  approval: isString,
  protocol: isString,
  revision: isString,
  offered: isListOf(
    hasShape<ServerTool>({
      name: isString,
      description: isString,
      schema: isString,
      app: isOptional(isString),
      state: isString,
    }),
  ),
  fetched: isNumber,
  flaw: isNullOr(isString),
}

export const parseServer = createParser<McpServer>(SERVER)

export const parseServerList = createParser<{ readonly servers: readonly McpServer[] }>({
  servers: isListOf(hasShape<McpServer>(SERVER)),
})

/** Returns the tools that are disabled until they have been reviewed. */
export function listUnreviewed({ offered }: McpServer): readonly ServerTool[] {
  return offered.filter(({ state }) => state === "changed" || state === "gone")
}

/** The entered values. */
export interface ServerEntry {
  readonly name: string
  readonly url: string
  readonly auth: AuthChoice
  /** The name of the header. */
  readonly header: string
  /** The header's value, or the client secret. */
  readonly secret: string
  readonly issuer: string
  readonly clientId: string
  readonly scope: string
  readonly tools: readonly string[]
  readonly reads: readonly string[]
  /** The origins that apps may use, separated by spaces. */
  readonly appHosts: string
  readonly approval: Approval
}

export function serverToEntry(server: McpServer | null): ServerEntry {
  return {
    name: server?.name ?? "",
    url: server?.url ?? "",
    auth: server?.auth.per === "user" ? "user" : (server?.auth.type ?? "none"),
    header: server?.auth.name ?? "authorization",
    secret: "",
    issuer: server?.auth.issuer ?? "",
    clientId: server?.auth.client_id ?? "",
    scope: server?.auth.scope ?? "",
    tools: server?.tools ?? [],
    reads: server?.reads ?? [],
    appHosts: server?.app_hosts.join(" ") ?? "",
    approval: server?.approval ?? "always",
  }
}

export function entryToServer(entry: ServerEntry): object {
  const { url, tools, reads, appHosts, approval } = entry
  return {
    url: url.trim(),
    auth: entryToAuth(entry),
    tools,
    reads: reads.filter((name) => tools.includes(name)),
    app_hosts: appHosts.split(/\s+/).filter((host) => host !== ""),
    approval,
  }
}

function entryToAuth({ auth, header, secret, issuer, clientId, scope }: ServerEntry): object {
  switch (auth) {
    case "none":
      return { type: auth }
    case "header":
      return { type: auth, name: header.trim(), ...(secret === "" ? {} : { value: secret }) }
    case "oauth":
    case "user":
      return {
        type: "oauth",
        ...(auth === "user" && { per: "user" }),
        issuer: issuer.trim(),
        client_id: clientId.trim(),
        ...(secret === "" ? {} : { client_secret: secret }),
        ...(scope.trim() === "" ? {} : { scope: scope.trim() }),
      }
  }
}
