/** mcp-tenant.ts: the tenant object's methods for MCP servers. Their code is loaded on demand. */

import type { Result } from "../../../shared/fault.ts"
import type { McpConnection } from "../../../shared/protocol/http-body.ts"
import type { Actor } from "../../platform/rpc/actor.ts"
import type {
  McpCall,
  McpClient,
  McpEndpoint,
  McpRpc,
  McpServerInput,
  McpServerView,
  UserTokens,
} from "../../settings/mcp-config.ts"
import { ModelTenant } from "../models/model-tenant.ts"
import type { McpServers } from "./mcp-servers.ts"

export abstract class McpTenant extends ModelTenant implements McpRpc {
  #servers: McpServers | undefined

  async listMcpServers(): Promise<McpServerView[]> {
    return (await this.#mcp()).list()
  }

  async putMcpServer(actor: Actor, name: string, input: McpServerInput): Promise<Result<McpServerView>> {
    return await (await this.#mcp()).put(actor, name, input)
  }

  async removeMcpServer(actor: Actor, name: string): Promise<Result<null>> {
    return (await this.#mcp()).remove(actor, name)
  }

  async refreshMcpServer(name: string, user: string): Promise<Result<McpServerView>> {
    return await (await this.#mcp()).refresh(name, user)
  }

  async reviewMcpServer(actor: Actor, name: string, revision: string): Promise<Result<McpServerView>> {
    return (await this.#mcp()).review(actor, name, revision)
  }

  async openMcpCall(call: McpCall): Promise<Result<McpEndpoint>> {
    return await (await this.#mcp()).openCall(call)
  }

  async listMcpAppHosts(server: string): Promise<readonly string[]> {
    return (await this.#mcp()).listAppHosts(server)
  }

  async listMcpConnections(user: string): Promise<readonly McpConnection[]> {
    return (await this.#mcp()).connections.list(user)
  }

  async getMcpClient(name: string): Promise<Result<McpClient>> {
    return await (await this.#mcp()).connections.getClient(name)
  }

  async addMcpConnection(user: string, name: string, client: McpClient, tokens: UserTokens): Promise<Result<null>> {
    return await (await this.#mcp()).connections.connect(user, name, client, tokens)
  }

  async removeMcpConnection(user: string, name: string): Promise<Result<null>> {
    return await (await this.#mcp()).connections.disconnect(user, name)
  }

  async #mcp(): Promise<McpServers> {
    const { McpServers: Servers } = await import("./mcp-servers.ts")
    this.#servers ??= new Servers(this.host)
    return this.#servers
  }
}
