/**
 * user-connections.ts: the connections of a tenant's users to MCP servers. Each is one row, which contains the user's
 * sealed tokens. Loaded on demand. Source: SPEC MP11-MP14, MP17.
 */

import { fail, type McpFlaw, type Result, succeed } from "../../../shared/fault.ts"
import { parseJson } from "../../../shared/json.ts"
import type { McpConnection } from "../../../shared/protocol/http-body.ts"
import { openSecret, type SecretLocation, sealSecret } from "../../platform/crypto/seal-secret.ts"
import { describeClient, isPerUser, type McpClient, type UserTokens } from "../../settings/mcp-config.ts"
import type { TenantHost } from "../tenant-host.ts"
import { findMcpServer, listMcpServers, type StoredMcpServer } from "./mcp-rows.ts"

/** A token is renewed this long before it expires, in milliseconds. */
const TOKEN_MARGIN_MS = 30_000

const UNKNOWN = fail({ reason: "mcp_server_unknown" } as const)

/**
 * Returns the value of a server's header, or its client's secret. Returns null if there is none, or if it can't be
 * opened.
 */
export async function openServerSecret(
  { env, tenant }: TenantHost,
  { name, secret }: StoredMcpServer,
): Promise<string | null> {
  const opened = secret === null ? null : await openSecret(env, { tenant, purpose: "mcp secret", name }, secret)
  return opened === null ? null : opened.text
}

export class UserConnections {
  readonly #host: TenantHost
  /** Renewals that are under way, keyed by user and server. A refresh token may be used only once. */
  readonly #renewing = new Map<string, Promise<Result<string, McpFlaw>>>()

  constructor(host: TenantHost) {
    this.#host = host
  }

  /** Returns the servers to which a user can connect. */
  list(user: string): McpConnection[] {
    const { tables, sql } = this.#host
    if (!tables.exist()) return []
    const rows = sql.exec<{ server: string }>("SELECT server FROM mcp_connections WHERE user = ?", user).toArray()
    const connected = new Set(rows.map(({ server }) => server))
    return listMcpServers(sql)
      .filter(({ config }) => isPerUser(config))
      .map(({ name }) => ({ server: name, connected: connected.has(name) }))
  }

  async getClient(name: string): Promise<Result<McpClient>> {
    const server = this.#findServer(name)
    return server === null ? UNKNOWN : await this.#openClient(server)
  }

  async connect(user: string, name: string, client: McpClient, tokens: UserTokens): Promise<Result<null>> {
    const server = this.#findServer(name)
    if (server === null) return UNKNOWN
    const sealed = await this.#seal(user, server, tokens)
    return this.#host.change(() => {
      const now = this.#findServer(name)
      if (now === null || describeClient(toClient(now, null)) !== describeClient(client)) return UNKNOWN
      // The user may have been suspended or erased since the request.
      if (this.#host.users.find(user)?.status !== "active") return fail({ reason: "user_unknown" })
      this.#write(user, name, sealed)
      return succeed(null)
    })
  }

  async disconnect(user: string, name: string): Promise<Result<null>> {
    const server = this.#findServer(name)
    if (server === null) return UNKNOWN
    const sealed = this.#find(user, name)
    this.#remove(user, name)
    const tokens = sealed === null ? null : await this.#open(user, server, sealed)
    const client = await this.#openClient(server)
    const { revokeTokens } = await import("../../mcp/user-authorization.ts")
    if (tokens !== null && client.ok) await revokeTokens(this.#host.env, client.value, tokens)
    return succeed(null)
  }

  /** Removes all users' connections to a server. */
  removeServer(name: string): void {
    this.#host.sql.exec("DELETE FROM mcp_connections WHERE server = ?", name)
  }

  #findServer(name: string): StoredMcpServer | null {
    const server = this.#host.tables.exist() ? findMcpServer(this.#host.sql, name) : null
    return server !== null && isPerUser(server.config) ? server : null
  }

  /** Returns the client of a server. Errors: `mcp_refused` (`unauthorized`) if the stored secret can't be opened. */
  async #openClient(server: StoredMcpServer): Promise<Result<McpClient>> {
    const clientSecret = await openServerSecret(this.#host, server)
    const isLost = server.secret !== null && clientSecret === null
    return isLost ? fail({ reason: "mcp_refused", because: "unauthorized" }) : succeed(toClient(server, clientSecret))
  }

  async #seal(user: string, server: StoredMcpServer, tokens: UserTokens): Promise<string> {
    return await sealSecret(this.#host.env, this.#locationOf(user, server), JSON.stringify(tokens))
  }

  #write(user: string, server: string, sealed: string): void {
    const statement = "INSERT OR REPLACE INTO mcp_connections (user, server, tokens) VALUES (?, ?, ?)"
    this.#host.sql.exec(statement, user, server, sealed)
  }

  #remove(user: string, server: string): void {
    this.#host.sql.exec("DELETE FROM mcp_connections WHERE user = ? AND server = ?", user, server)
  }

  /** Returns a user's access token. Cost: one row read, and a request if the token expires soon. */
  async openToken(user: string, server: StoredMcpServer): Promise<Result<string, McpFlaw>> {
    const { name } = server
    const sealed = this.#find(user, name)
    if (sealed === null) return fail("not_connected")
    const tokens = await this.#open(user, server, sealed)
    if (tokens === null) return fail("not_connected")
    if (tokens.expires - TOKEN_MARGIN_MS > Date.now()) return succeed(tokens.access)
    if (tokens.refresh === null) return fail("not_connected")
    const key = `${name} ${user}`
    const renewal = this.#renewing.get(key) ?? this.#renew(user, server, sealed, tokens.refresh)
    this.#renewing.set(key, renewal)
    try {
      return await renewal
    } finally {
      this.#renewing.delete(key)
    }
  }

  async #renew(
    user: string,
    server: StoredMcpServer,
    sealed: string,
    refresh: string,
  ): Promise<Result<string, McpFlaw>> {
    const client = await this.#openClient(server)
    if (!client.ok) return fail("unauthorized")
    const { refreshTokens } = await import("../../mcp/user-authorization.ts")
    const renewed = await refreshTokens(this.#host.env, client.value, refresh)
    const next = renewed.ok ? await this.#seal(user, server, renewed.value) : null
    // The user has connected again or disconnected, or the server was changed in the meantime.
    if (this.#find(user, server.name) !== sealed) return fail("not_connected")
    if (next !== null) this.#write(user, server.name, next)
    // Any other error may be temporary or caused by our client, and the refresh token is still valid.
    else if (!renewed.ok && renewed.fault === "not_connected") this.#remove(user, server.name)
    return renewed.ok ? succeed(renewed.value.access) : renewed
  }

  #find(user: string, server: string): string | null {
    if (!this.#host.tables.exist()) return null
    const query = "SELECT tokens FROM mcp_connections WHERE user = ? AND server = ?"
    const [row] = this.#host.sql.exec<{ tokens: string }>(query, user, server).toArray()
    return row?.tokens ?? null
  }

  async #open(user: string, server: StoredMcpServer, sealed: string): Promise<UserTokens | null> {
    const opened = await openSecret(this.#host.env, this.#locationOf(user, server), sealed)
    // `#seal` made this JSON.
    return opened === null ? null : (parseJson(opened.text) as unknown as UserTokens)
  }

  /** Sealed tokens can be opened only for the user, the server and the client for which they were requested. */
  #locationOf(user: string, server: StoredMcpServer): SecretLocation {
    const name = JSON.stringify([server.name, user, describeClient(toClient(server, null))])
    return { tenant: this.#host.tenant, purpose: "mcp user token", name }
  }
}

/** Returns the client of a server. Only for servers for which `isPerUser` is true. */
function toClient({ config: { auth, url } }: StoredMcpServer, clientSecret: string | null): McpClient {
  const { issuer, client_id, scope } = auth as Extract<typeof auth, { type: "oauth" }>
  return { issuer, client_id, scope, resource: url, clientSecret }
}
