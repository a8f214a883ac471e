/** webhook-tenant.ts: the tenant object's methods for webhooks. Their code is loaded on demand. */

import { fail, type Result } from "../../../shared/fault.ts"
import type { Actor } from "../../platform/rpc/actor.ts"
import type { NewAgentSecret } from "../../settings/webhooks/agent-webhook.ts"
import type {
  NewWebhookSecret,
  WebhookEndpoint,
  WebhookRpc,
  WebhookToolConfig,
  WebhookToolView,
} from "../../settings/webhooks/webhook-tool.ts"
import { McpTenant } from "../mcp/mcp-tenant.ts"

const load = () => import("./webhook-tools.ts")
const loadAgents = () => import("./agent-webhooks.ts")

/** Handles the calls about webhooks. A tenant without tables has no webhook tools. */
export abstract class WebhookTenant extends McpTenant implements WebhookRpc {
  async listWebhookTools(): Promise<WebhookToolView[]> {
    return this.host.tables.exist() ? await (await load()).listWebhookViews(this.host) : []
  }

  async putWebhookTool(
    actor: Actor,
    name: string,
    config: WebhookToolConfig,
  ): Promise<Result<WebhookToolView | NewWebhookSecret>> {
    return await (await load()).putWebhookTool(this.host, actor, name, config)
  }

  async removeWebhookTool(actor: Actor, name: string): Promise<Result<null>> {
    if (!this.host.tables.exist()) return fail({ reason: "webhook_tool_unknown" })
    return (await load()).removeWebhookTool(this.host, actor, name)
  }

  async rotateWebhookSecret(actor: Actor, name: string): Promise<Result<NewWebhookSecret>> {
    if (!this.host.tables.exist()) return fail({ reason: "webhook_tool_unknown" })
    return await (await load()).rotateWebhookSecret(this.host, actor, name)
  }

  async openWebhook(name: string, wasAsked: boolean): Promise<WebhookEndpoint | null> {
    return this.host.tables.exist() ? await (await load()).openWebhook(this.host, name, wasAsked) : null
  }

  async keepAgentSecret(name: string): Promise<string | null> {
    return this.host.tables.exist() ? await (await loadAgents()).keepAgentSecret(this.host, name) : null
  }

  async rotateAgentSecret(actor: Actor, name: string): Promise<Result<NewAgentSecret>> {
    if (!this.host.tables.exist()) return fail({ reason: "agent_unknown" })
    return await (await loadAgents()).rotateAgentSecret(this.host, actor, name)
  }

  async openAgentWebhook(name: string): Promise<WebhookEndpoint | null> {
    return this.host.tables.exist() ? await (await loadAgents()).openAgentWebhook(this.host, name) : null
  }
}
