/**
 * mcp-config.ts: the configuration of a tenant's MCP servers, their tools, and the tenant object's methods
 * for them. Pure. Source: SPEC MP1-MP9, MA1, MA4.
 */

import * as v from "valibot"
import type { McpFlaw, Result } from "../../shared/fault.ts"
import type { McpConnection } from "../../shared/protocol/http-body.ts"
import { MAX_URL_CHARS } from "../../shared/limits.ts"
import type { Actor } from "../platform/rpc/actor.ts"

/** Maximum number of servers per tenant. */
export const MAX_MCP_SERVERS = 16

/** Maximum number of tools that a server can offer. Models choose poorly among more tools. */
export const MAX_MCP_TOOLS = 128

const MAX_HEADER_CHARS = 4_096

/** Maximum number of origins that a server's apps may use. */
const MAX_APP_HOSTS = 16

/** Matches a tool's name on its server. */
export const REMOTE_TOOL_NAME = /^[\w./-]{1,128}$/

const toolNames = v.pipe(
  v.array(v.pipe(v.string(), v.regex(REMOTE_TOOL_NAME))),
  v.maxLength(MAX_MCP_TOOLS),
  v.transform((names) => [...new Set(names)]),
)

/** Matches headers that the connection itself uses. */
const OWN_HEADERS = /^(?:accept|connection|content-|cookie|host|mcp-|origin|te$|trailer|transfer-encoding|upgrade)/

const headerName = v.pipe(
  v.string(),
  v.toLowerCase(),
  v.regex(/^[a-z][a-z0-9-]{0,63}$/),
  v.check((name) => !OWN_HEADERS.test(name)),
)
const printable = (max: number) => v.pipe(v.string(), v.maxLength(max), v.regex(/^[\x20-\x7e]+$/), v.trim())

const authSchema = v.variant("type", [
  v.strictObject({ type: v.literal("none") }),
  v.strictObject({
    type: v.literal("header"),
    name: v.optional(headerName, "authorization"),
    /** Absent: keeps the stored value if the server's origin doesn't change. */
    value: v.optional(printable(MAX_HEADER_CHARS)),
  }),
  v.strictObject({
    type: v.literal("oauth"),
    /** The authorization server. No other server ever receives the secret. */
    issuer: printable(MAX_URL_CHARS),
    client_id: printable(256),
    /** Absent: keeps the stored secret if the issuer doesn't change. */
    client_secret: v.optional(printable(MAX_HEADER_CHARS)),
    scope: v.optional(printable(512)),
    /** `user`: each user grants access to their own account. Default: the client's own credentials, for all users. */
    per: v.optional(v.picklist(["tenant", "user"])),
  }),
])

/** The body of `PUT /v1/mcp-servers/:name`. Strict: a misspelt `approval` must not silently mean the default. */
export const mcpServerSchema = v.strictObject({
  url: printable(MAX_URL_CHARS),
  auth: v.optional(authSchema, { type: "none" }),
  /** The tools that agents may use. */
  tools: v.optional(toolNames, []),
  /** Those of the allowed tools that change nothing. The server's own hints are not trusted. */
  reads: v.optional(toolNames, []),
  /** The origins that this server's apps may use, if the server also declares them for the app. SPEC MA4. */
  app_hosts: v.optional(v.pipe(v.array(printable(256)), v.maxLength(MAX_APP_HOSTS)), []),
  /** When a user must allow a call. `write`: unless the tool is in `reads`. */
  approval: v.optional(v.picklist(["always", "write", "never"]), "always"),
})

export type McpServerInput = v.InferOutput<typeof mcpServerSchema>

/** The configuration without the secret. */
export interface McpServerConfig extends Omit<McpServerInput, "auth"> {
  readonly auth:
    | { readonly type: "none" }
    | { readonly type: "header"; readonly name: string }
    | {
        readonly type: "oauth"
        readonly issuer: string
        readonly client_id: string
        readonly scope?: string | undefined
        readonly per?: "tenant" | "user" | undefined
      }
}

/** Whether each user connects to the server with their own account. */
export function isPerUser({ auth }: Pick<McpServerConfig, "auth">): boolean {
  return auth.type === "oauth" && auth.per === "user"
}

/** The deployment's client at an authorization server. */
export interface McpClient {
  readonly issuer: string
  readonly client_id: string
  /** Null: a public client. */
  readonly clientSecret: string | null
  readonly scope?: string | undefined
  /** The URL of the MCP server. */
  readonly resource: string
}

/** Identifies a client and the server for which its tokens are valid. */
export function describeClient({ issuer, client_id, scope = "", resource }: McpClient): string {
  return JSON.stringify([issuer, client_id, scope, resource])
}

/** The stored data of a user's connection to a server. */
export interface UserTokens {
  readonly access: string
  /** Null: the access can't be renewed. */
  readonly refresh: string | null
  /** Milliseconds since 1970. */
  readonly expires: number
}

/** A tool as its server offers it, within the limits. */
export interface OfferedTool {
  /** Its name on the server. */
  readonly name: string
  /** Its name for models: `<server>_<tool>`. */
  readonly slug: string
  readonly description: string
  /** The JSON schema of its arguments, as JSON text. */
  readonly schema: string
  /** Changes with the name, the description, the schema and the app. */
  readonly hash: string
  /** The `ui://` URI of the app that shows its results. Absent: none. */
  readonly app?: string
  /** Who may call it. Absent: models and apps. */
  readonly visibility?: ToolVisibility
}

/** `model`: agents only. `app`: the apps of its server only. */
export type ToolVisibility = "model" | "app" | "none"

/**
 * `ready`: agents can use it. `not_allowed`: it is not in `tools`. `changed`, `gone`: its definition differs from the
 * one that an administrator has allowed, or the server no longer offers it, so it is disabled.
 */
export type McpToolState = "ready" | "not_allowed" | "changed" | "gone"

/** A server as administrators see it. Times are milliseconds since 1970. */
export interface McpServerView extends McpServerConfig {
  readonly name: string
  readonly has_secret: boolean
  /** `2026-07-28` or later: no handshake. `2025-11-25`: one handshake per call. */
  readonly protocol: "2026-07-28" | "2025-11-25"
  /** Identifies the definitions in `offered`, for a review. */
  readonly revision: string
  readonly offered: readonly {
    readonly name: string
    readonly tool: string
    readonly description: string
    readonly schema: string
    readonly app?: string | undefined
    readonly visibility?: ToolVisibility | undefined
    readonly state: McpToolState
  }[]
  /** When the tools were last listed. */
  readonly fetched: number
  /** Why the last attempt to list the tools failed; null if it succeeded. */
  readonly flaw: McpFlaw | null
}

/** A tool of an MCP server in the configuration of an agent. */
export interface McpTool {
  readonly name: string
  readonly server: string
  readonly tool: string
  readonly description: string
  /** JSON text. */
  readonly schema: string
  /** Whether a user must allow each call. */
  readonly asks: boolean
  /** Whether the tool changes nothing. If so, a call can be repeated after a crash. */
  readonly reads: boolean
}

/** A server in a tenant's archive, without its secrets. */
export interface ArchivedMcpServer {
  readonly name: string
  readonly config: McpServerConfig
  readonly discover: string | null
  readonly offered: readonly OfferedTool[]
  readonly pinned: readonly OfferedTool[]
  readonly revision: string
  readonly fetched: number
  readonly ttl: number
}

/** What a call to a server needs. */
export interface McpEndpoint {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /**
   * The server's answer to `server/discover`, as JSON text; null for a server of 2025-11-25. Undefined: not known yet.
   */
  readonly discover?: string | null
  /** True if the token belongs to a user, who can connect again if the server refuses the token. */
  readonly isPerUser?: boolean
  /** The app of the called tool. */
  readonly app?: string | undefined
}

export interface McpCall {
  /** The user in whose conversation the tool is called. */
  readonly user: string
  readonly server: string
  readonly tool: string
  /** Whether a user was asked before this call. */
  readonly asks: boolean
  /** Whether the call comes from one of the server's apps instead of a model. */
  readonly isFromApp?: boolean
}

export interface McpRpc {
  listMcpServers(): Promise<McpServerView[]>
  /**
   * Adds or replaces a server, and lists its tools. Errors: `mcp_refused`, `mcp_servers_full`, `tenant_erased`;
   * `field_invalid` for an allowed tool that the server doesn't offer.
   */
  putMcpServer(actor: Actor, name: string, input: McpServerInput): Promise<Result<McpServerView>>
  /** Removes a server. Errors: `mcp_server_unknown`, `tenant_erased`. */
  removeMcpServer(actor: Actor, name: string): Promise<Result<null>>
  /**
   * Lists the tools again, as `user` if users connect with their own accounts. Errors: `mcp_server_unknown`,
   * `mcp_refused`.
   */
  refreshMcpServer(name: string, user: string): Promise<Result<McpServerView>>
  /**
   * Allows the definitions of a revision. Errors: `mcp_server_unknown`; `mcp_refused` (`changed`) if the server's tools
   * have changed since.
   */
  reviewMcpServer(actor: Actor, name: string, revision: string): Promise<Result<McpServerView>>
  /** Opens a server for a call. Errors: `mcp_server_unknown`, `mcp_refused`. */
  openMcpCall(call: McpCall): Promise<Result<McpEndpoint>>
  /** Returns the origins that a server's apps may use. Returns an empty list if there is no such server. */
  listMcpAppHosts(server: string): Promise<readonly string[]>
  /** Returns the servers to which a user can connect. */
  listMcpConnections(user: string): Promise<readonly McpConnection[]>
  /** Returns the OAuth client that users' connections to a server use. Errors: `mcp_server_unknown`. */
  getMcpClient(name: string): Promise<Result<McpClient>>
  /**
   * Stores the tokens that `client` has received for a user. Errors: `mcp_server_unknown` if the server was changed in
   * the meantime; `user_unknown` if the user was suspended or removed.
   */
  addMcpConnection(user: string, name: string, client: McpClient, tokens: UserTokens): Promise<Result<null>>
  /** Ends a user's connection, and revokes its tokens at the authorization server. Errors: `mcp_server_unknown`. */
  removeMcpConnection(user: string, name: string): Promise<Result<null>>
}
