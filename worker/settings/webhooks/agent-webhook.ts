/**
 * agent-webhook.ts: the tenant object's methods for agents whose questions a webhook answers. Pure. Source: SPEC EA6.
 */

import type { Result } from "../../../shared/fault.ts"
import type { Actor } from "../../platform/rpc/actor.ts"
import type { WebhookEndpoint } from "./webhook-tool.ts"

/** A secret that is shown once. */
export interface NewAgentSecret {
  readonly secret: string
  /** When the previous secret stops being valid, in milliseconds since 1970; null if there is none. */
  readonly old_secret_until: number | null
}

export interface AgentWebhookRpc {
  /**
   * Creates a secret for the agent if it has none. Returns the new secret; null if it already has one, or if no webhook
   * answers its questions.
   */
  keepAgentSecret(name: string): Promise<string | null>
  /** Creates a new secret. The previous one remains valid for another day. Errors: `agent_unknown`. */
  rotateAgentSecret(actor: Actor, name: string): Promise<Result<NewAgentSecret>>
  /** Returns the URL and the secrets for a question; null if the agent has none. */
  openAgentWebhook(name: string): Promise<WebhookEndpoint | null>
}
