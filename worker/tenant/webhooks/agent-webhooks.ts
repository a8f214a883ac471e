/**
 * agent-webhooks.ts: the secrets of agents whose questions a webhook answers. Loaded on demand. Source: SPEC EA6.
 *
 * The agent's configuration contains the URL. The secret has a separate row, because configurations are listed and
 * exported.
 */

import { fail, type Result, succeed } from "../../../shared/fault.ts"
import type { Actor } from "../../platform/rpc/actor.ts"
import type { NewAgentSecret } from "../../settings/webhooks/agent-webhook.ts"
import type { WebhookEndpoint } from "../../settings/webhooks/webhook-tool.ts"
import type { TenantHost } from "../tenant-host.ts"
import {
  listSecrets,
  oldSecretUntil,
  openSecrets,
  rotateSecrets,
  sealSecrets,
  type SecretOwner,
} from "./webhook-secrets.ts"
import { findWebhookAgent, readAgentSecret, writeAgentSecret } from "./webhook-table.ts"

/** Creates a secret for the agent if it has none that can be opened. Returns the new secret. */
export async function keepAgentSecret(host: TenantHost, name: string): Promise<string | null> {
  if (findWebhookAgent(host.sql, name) === null) return null
  const before = readAgentSecret(host.sql, name)
  if ((await openSecrets(host, ownerOf(name), before)) !== null) return null
  const secrets = rotateSecrets(null, Date.now())
  const sealed = await sealSecrets(host, ownerOf(name), secrets)
  const kept = host.change(() => {
    // Another request may have created a secret in the meantime.
    const isCurrent = readAgentSecret(host.sql, name) === before
    if (isCurrent) writeAgentSecret(host.sql, name, sealed)
    return succeed(isCurrent ? secrets.current : null)
  })
  return kept.ok ? kept.value : null
}

export async function rotateAgentSecret(host: TenantHost, actor: Actor, name: string): Promise<Result<NewAgentSecret>> {
  if (findWebhookAgent(host.sql, name) === null) return fail({ reason: "agent_unknown" })
  const now = Date.now()
  const secrets = rotateSecrets(await openSecrets(host, ownerOf(name), readAgentSecret(host.sql, name)), now)
  const sealed = await sealSecrets(host, ownerOf(name), secrets)
  return host.change(() => {
    if (findWebhookAgent(host.sql, name) === null) return fail({ reason: "agent_unknown" })
    writeAgentSecret(host.sql, name, sealed)
    host.audit.append(actor, { action: "agent.secret_rotated", target: name }, now)
    return succeed({ secret: secrets.current, old_secret_until: oldSecretUntil(secrets, now) })
  })
}

/**
 * Returns the URL and the secrets; null if a webhook no longer answers the agent's questions, or if the agent has no
 * secret, as after an import.
 */
export async function openAgentWebhook(host: TenantHost, name: string): Promise<WebhookEndpoint | null> {
  const url = findWebhookAgent(host.sql, name)?.url
  const secrets = await openSecrets(host, ownerOf(name), readAgentSecret(host.sql, name))
  return url === undefined || secrets === null ? null : { url, secrets: listSecrets(secrets, Date.now()) }
}

function ownerOf(name: string): SecretOwner {
  return { purpose: "agent webhook secret", name }
}
