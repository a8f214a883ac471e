/**
 * mcp-servers.ts: registers, lists, reviews and opens the MCP servers of a tenant. Loaded on demand.
 *
 * The definitions of allowed tools are pinned when an administrator allows them. A tool whose definition differs from
 * its pin is disabled until a review. Source: SPEC MP1-MP9.
 */

import { type Fault, fail, type McpFlaw, type Result, succeed } from "../../../shared/fault.ts"
import { isPlainOrigin } from "../../platform/origin.ts"
import { checkProviderUrl, type ProviderEnv } from "../../auth/issuer/provider-fetch.ts"
import { computeRevision, readOfferedTools } from "../../mcp/tool-definitions.ts"
import { type Actor, SYSTEM_ACTOR } from "../../platform/rpc/actor.ts"
import { openSecret, sealSecret } from "../../platform/crypto/seal-secret.ts"
import {
  MAX_MCP_SERVERS,
  isPerUser,
  type McpCall,
  type McpEndpoint,
  type McpServerConfig,
  type McpServerInput,
  type McpServerView,
  type OfferedTool,
} from "../../settings/mcp-config.ts"
import type { TenantHost } from "../tenant-host.ts"
import {
  asksFirst,
  findMcpServer,
  getToolState,
  isForApps,
  isForModels,
  listMcpServers,
  removeMcpServer,
  type StoredMcpServer,
  writeMcpServer,
} from "./mcp-rows.ts"
import { requestClientToken } from "../../mcp/client-token.ts"
import { openServerSecret, UserConnections } from "./user-connections.ts"

/**
 * Minimum and maximum time for which a list of tools is valid, in milliseconds. The server chooses a time in between.
 */
const MIN_TTL_MS = 60_000
const DEFAULT_TTL_MS = 15 * 60_000
const MAX_TTL_MS = 24 * 60 * 60_000

/** Maximum number of characters in all definitions of a server. All definitions are stored in one row. */
const MAX_OFFERED_CHARS = 512 * 1024

/** An access token is renewed this long before it expires, in milliseconds. */
const TOKEN_MARGIN_MS = 30_000

/** A token without an expiry is used for this long, in milliseconds. */
const DEFAULT_TOKEN_MS = 5 * 60_000

function refuse(because: McpFlaw): { readonly ok: false; readonly fault: Fault } {
  return fail({ reason: "mcp_refused", because })
}

/** A server whose tools were never listed. */
const UNLISTED = { discover: null, offered: [], revision: "", fetched: 0, ttl: 0, flaw: null } as const

const UNKNOWN: { readonly ok: false; readonly fault: Fault } = fail({ reason: "mcp_server_unknown" })

export class McpServers {
  readonly #host: TenantHost
  readonly connections: UserConnections
  /** Listings that are under way, keyed by server. */
  readonly #refreshing = new Map<string, Promise<Result<StoredMcpServer>>>()

  constructor(host: TenantHost) {
    this.#host = host
    this.connections = new UserConnections(host)
  }

  list(): McpServerView[] {
    return this.#host.tables.exist() ? listMcpServers(this.#host.sql).map(toView) : []
  }

  async put(actor: Actor, name: string, input: McpServerInput): Promise<Result<McpServerView>> {
    if (this.#host.isErased()) return fail({ reason: "tenant_erased" })
    const url = checkProviderUrl(input.url, this.#host.env)
    if (!url.ok) return refuse("address")
    const badHost = input.app_hosts.findIndex((host) => !isAppHost(host, this.#host.env))
    if (badHost >= 0) return fail({ reason: "field_invalid", field: `app_hosts.${badHost}` })
    const before = this.#find(name)
    if (before === null && this.list().length >= MAX_MCP_SERVERS)
      return fail({ reason: "mcp_servers_full", max: MAX_MCP_SERVERS })
    const config = toConfig(input, url.value)
    const secret = await this.#sealInput(name, input, config, before)
    const isSameAccess = before !== null && JSON.stringify(before.config.auth) === JSON.stringify(config.auth)
    const tokens = isSameAccess && secret === before.secret ? before.tokens : null
    const isSameServer = before !== null && isSameAccess && before.config.url === config.url
    const known = isSameServer ? before : UNLISTED
    const user = actor.kind === "user" ? actor.id : null
    const listed = await this.#listOrKeep({ ...known, name, config, secret, tokens, pinned: [] }, user)
    if (!listed.ok) return listed
    const unknown = config.tools.findIndex((tool) => !listed.value.offered.some((offered) => offered.name === tool))
    if (unknown >= 0) return fail({ reason: "field_invalid", field: `tools.${unknown}` })
    // Other changes to the settings don't count as a review: tools that were already allowed keep their pins.
    const earlierPins = before !== null && before.config.url === config.url ? before.pinned : []
    const pinned = pinTools(config.tools, listed.value.offered, earlierPins)
    const server = { ...listed.value, pinned }
    // Users' tokens must not be sent to another server.
    if (before !== null && !isSameServer) this.connections.removeServer(name)
    return this.#write(server, actor, before === null ? "mcp.added" : "mcp.changed")
  }

  remove(actor: Actor, name: string): Result<null> {
    if (this.#find(name) === null) return UNKNOWN
    return this.#host.change(() => {
      removeMcpServer(this.#host.sql, name)
      this.connections.removeServer(name)
      this.#host.audit.append(actor, { action: "mcp.removed", target: name }, Date.now())
      return succeed(null)
    })
  }

  async refresh(name: string, user: string): Promise<Result<McpServerView>> {
    const server = this.#find(name)
    if (server === null) return UNKNOWN
    const refreshed = await this.#refreshOnce(server, user)
    return refreshed.ok ? succeed(toView(refreshed.value)) : refreshed
  }

  review(actor: Actor, name: string, revision: string): Result<McpServerView> {
    const server = this.#find(name)
    if (server === null) return UNKNOWN
    if (server.revision !== revision) return refuse("changed")
    return this.#write({ ...server, pinned: pinTools(server.config.tools, server.offered, []) }, actor, "mcp.reviewed")
  }

  /** Opens a server for a call. Cost: one row read, and a request for the list if it has expired. */
  async openCall({ user, server: name, tool, asks, isFromApp = false }: McpCall): Promise<Result<McpEndpoint>> {
    const stored = this.#find(name)
    if (stored === null) return UNKNOWN
    // What a server offers to one user says nothing about what it offers to others, so only administrators renew the
    // tool list of a server to which users connect.
    const isFresh = isPerUser(stored.config) || Date.now() - stored.fetched < stored.ttl
    const current: Result<StoredMcpServer> = isFresh ? succeed(stored) : await this.#refreshOnce(stored, user)
    if (!current.ok) return current
    const state = getToolState(current.value, tool)
    if (state !== "ready") return refuse(state)
    const definition = current.value.pinned.find((pinned) => pinned.name === tool)
    const isVisible = definition !== undefined && (isFromApp ? isForApps(definition) : isForModels(definition))
    if (!isVisible) return refuse("not_allowed")
    // The session may have read an older rule.
    if (asksFirst(current.value.config, tool) && !asks) return refuse("approval")
    const opened = await this.#openEndpoint(current.value, user)
    if (!opened.ok) return opened
    this.#storeTokens(current.value, opened.value.tokens)
    return succeed({ ...opened.value.endpoint, app: definition.app })
  }

  listAppHosts(name: string): readonly string[] {
    return this.#find(name)?.config.app_hosts ?? []
  }

  /** Stores a new access token, unless the server was changed while the token was requested. */
  #storeTokens({ name, secret, tokens }: StoredMcpServer, next: string | null): void {
    const stored = next === tokens ? null : this.#find(name)
    if (stored !== null && stored.secret === secret) writeMcpServer(this.#host.sql, { ...stored, tokens: next })
  }

  #find(name: string): StoredMcpServer | null {
    return this.#host.tables.exist() ? findMcpServer(this.#host.sql, name) : null
  }

  #write(server: StoredMcpServer, actor: Actor, action: string): Result<McpServerView> {
    return this.#host.change(() => {
      writeMcpServer(this.#host.sql, server)
      const { url, tools, reads, app_hosts, approval, auth } = server.config
      const details = {
        url: new URL(url).origin,
        auth: auth.type,
        approval,
        tools: tools.join(" "),
        reads: reads.join(" "),
        app_hosts: app_hosts.join(" "),
      }
      this.#host.audit.append(actor, { action, target: server.name, details }, Date.now())
      return succeed(toView(server))
    })
  }

  /** Lists the tools again. Concurrent calls share one request to the server. */
  async #refreshOnce(server: StoredMcpServer, user: string): Promise<Result<StoredMcpServer>> {
    const running = this.#refreshing.get(server.name) ?? this.#refreshStored(server, user)
    this.#refreshing.set(server.name, running)
    try {
      return await running
    } finally {
      this.#refreshing.delete(server.name)
    }
  }

  async #refreshStored(server: StoredMcpServer, user: string): Promise<Result<StoredMcpServer>> {
    const listed = await this.#listTools(server, user)
    const stored = this.#find(server.name)
    // The server was replaced or removed in the meantime.
    if (stored === null || stored.config.url !== server.config.url) return UNKNOWN
    if (!listed.ok) {
      const flaw = listed.fault.reason === "mcp_refused" ? listed.fault.because : "unreachable"
      writeMcpServer(this.#host.sql, { ...stored, flaw })
      return listed
    }
    const { discover, offered, revision, fetched, ttl, tokens } = listed.value
    const next = { ...stored, discover, offered, revision, fetched, ttl, tokens, flaw: null }
    writeMcpServer(this.#host.sql, next)
    const disabled = stored.config.tools.filter(
      (tool) => getToolState(stored, tool) === "ready" && getToolState(next, tool) !== "ready",
    )
    const event = { action: "mcp.tools_disabled", target: server.name, details: { tools: disabled.join(" ") } }
    if (disabled.length > 0) this.#host.audit.append(SYSTEM_ACTOR, event, Date.now())
    return succeed(next)
  }

  /** Like `#listTools`, but keeps the stored tools if the administrator still has to connect. */
  async #listOrKeep(server: StoredMcpServer, user: string | null): Promise<Result<StoredMcpServer>> {
    const listed = await this.#listTools(server, user)
    const isUnconnected =
      !listed.ok && listed.fault.reason === "mcp_refused" && listed.fault.because === "not_connected"
    return isUnconnected ? succeed({ ...server, flaw: "not_connected" }) : listed
  }

  /**
   * Returns the server with its current tools. `user`: the user whose account is used, if users connect with their own
   * accounts.
   */
  async #listTools(server: StoredMcpServer, user: string | null): Promise<Result<StoredMcpServer>> {
    const opened = await this.#openEndpoint(server, user)
    if (!opened.ok) return opened
    const { listServerTools } = await import("../../mcp/mcp-client.ts")
    const { url, headers } = opened.value.endpoint
    const listed = await listServerTools(this.#host.env, { url, headers })
    if (!listed.ok) return refuse(listed.fault)
    const { discover, ttlMs } = listed.value
    const offered = await readOfferedTools(server.name, listed.value.tools)
    if (JSON.stringify(offered).length > MAX_OFFERED_CHARS) return refuse("too_large")
    const ttl = Math.min(Math.max(ttlMs ?? DEFAULT_TTL_MS, MIN_TTL_MS), MAX_TTL_MS)
    const revision = await computeRevision(offered)
    const { tokens } = opened.value
    return succeed({ ...server, tokens, discover, offered, revision, fetched: Date.now(), ttl, flaw: null })
  }

  async #openEndpoint(server: StoredMcpServer, user: string | null): Promise<Result<OpenedServer>> {
    const { config, tokens, discover } = server
    const { url, auth } = config
    if (auth.type === "none") return succeed({ endpoint: { url, headers: {}, discover }, tokens })
    if (auth.type === "oauth" && auth.per === "user") return await this.#openForUser(server, user)
    const opened = await openServerSecret(this.#host, server)
    if (opened === null) return refuse("unauthorized")
    if (auth.type === "header")
      return succeed({ endpoint: { url, headers: { [auth.name]: opened }, discover }, tokens })
    const access = await this.#openToken(server, auth, opened)
    if (!access.ok) return access
    const headers = { authorization: `Bearer ${access.value.token}` }
    return succeed({ endpoint: { url, headers, discover }, tokens: access.value.tokens })
  }

  async #openForUser(server: StoredMcpServer, user: string | null): Promise<Result<OpenedServer>> {
    if (user === null) return refuse("not_connected")
    const token = await this.connections.openToken(user, server)
    if (!token.ok) return refuse(token.fault)
    const headers = { authorization: `Bearer ${token.value}` }
    const { config, discover } = server
    return succeed({ endpoint: { url: config.url, headers, discover, isPerUser: true }, tokens: null })
  }

  /** Returns the stored access token, or a new one if it expires soon. */
  async #openToken(
    { name, config, tokens }: StoredMcpServer,
    auth: OAuthAccess,
    clientSecret: string,
  ): Promise<Result<{ readonly token: string; readonly tokens: string | null }>> {
    const { env, tenant } = this.#host
    const location = { tenant, purpose: "mcp token", name }
    const opened = tokens === null ? null : await openSecret(env, location, tokens)
    const [expires = "", token = ""] = opened?.text.split(" ") ?? []
    if (Number(expires) - TOKEN_MARGIN_MS > Date.now()) return succeed({ token, tokens })
    const issued = await requestClientToken(env, { ...auth, clientSecret, resource: config.url })
    if (!issued.ok) return refuse(issued.fault)
    const lasts = Date.now() + (issued.value.lifetimeMs ?? DEFAULT_TOKEN_MS)
    const sealed = await sealSecret(env, location, `${lasts} ${issued.value.token}`)
    return succeed({ token: issued.value.token, tokens: sealed })
  }

  /**
   * Returns the sealed secret of a server after a change. A stored secret is dropped if it would be sent to another
   * origin or issuer.
   */
  async #sealInput(
    name: string,
    { auth }: McpServerInput,
    config: McpServerConfig,
    before: StoredMcpServer | null,
  ): Promise<string | null> {
    const { env, tenant } = this.#host
    if (auth.type === "none") return null
    const text = auth.type === "header" ? auth.value : auth.client_secret
    if (text !== undefined) return await sealSecret(env, { tenant, purpose: "mcp secret", name }, text)
    const isSameReceiver = before !== null && getReceiver(before.config) === getReceiver(config)
    return isSameReceiver ? before.secret : null
  }
}

interface OpenedServer {
  readonly endpoint: McpEndpoint
  /** The access token, sealed: the stored one or a new one, which the caller stores. */
  readonly tokens: string | null
}

type OAuthAccess = Extract<McpServerConfig["auth"], { type: "oauth" }>

/** Whether apps can use an origin: it must be a public https origin without a path. */
function isAppHost(host: string, env: ProviderEnv): boolean {
  return isPlainOrigin(host) && checkProviderUrl(host, env).ok
}

/** Returns a string that identifies where the secret is sent. */
function getReceiver({ auth, url }: McpServerConfig): string {
  switch (auth.type) {
    case "none":
      return ""
    case "header":
      return `header ${auth.name} ${new URL(url).origin}`
    case "oauth":
      return `oauth ${auth.issuer} ${auth.client_id}`
  }
}

function toConfig({ auth, ...input }: McpServerInput, url: string): McpServerConfig {
  switch (auth.type) {
    case "none":
      return { ...input, url, auth }
    case "header":
      return { ...input, url, auth: { type: "header", name: auth.name } }
    case "oauth": {
      const { issuer, client_id, scope, per } = auth
      return { ...input, url, auth: { type: "oauth", issuer, client_id, scope, per } }
    }
  }
}

/** Returns the definitions of the allowed tools: those that were allowed before, or else what the server offers now. */
function pinTools(
  allowed: readonly string[],
  offered: readonly OfferedTool[],
  kept: readonly OfferedTool[],
): OfferedTool[] {
  return allowed.flatMap((name) => [...kept, ...offered].find((tool) => tool.name === name) ?? [])
}

function toView(server: StoredMcpServer): McpServerView {
  const { name, config, secret, discover, offered, revision, fetched, flaw } = server
  return {
    ...config,
    name,
    has_secret: secret !== null,
    protocol: discover === null ? "2025-11-25" : "2026-07-28",
    revision,
    offered: offered.map((tool) => ({
      name: tool.name,
      tool: tool.slug,
      description: tool.description,
      schema: tool.schema,
      app: tool.app,
      visibility: tool.visibility,
      state: getToolState(server, tool.name),
    })),
    fetched,
    flaw,
  }
}
