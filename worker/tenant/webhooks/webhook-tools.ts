/**
 * webhook-tools.ts: adds, lists and removes the webhook tools of a tenant, and opens their secrets. Loaded on demand.
 *
 * A secret signs the requests to the tenant's service, and verifies the results that the service sends later. The
 * secret is shown only once. Source: SPEC TW1, TW2.
 */

import { fail, type Result, succeed } from "../../../shared/fault.ts"
import type { Actor } from "../../platform/rpc/actor.ts"
import {
  MAX_WEBHOOK_TOOLS,
  type NewWebhookSecret,
  type WebhookEndpoint,
  type WebhookToolConfig,
  type WebhookToolView,
} from "../../settings/webhooks/webhook-tool.ts"
import { BUILT_IN_TOOL_NAMES } from "../../tool/built-in-tools.ts"
import type { TenantHost } from "../tenant-host.ts"
import {
  listSecrets,
  oldSecretUntil,
  openSecrets,
  rotateSecrets,
  sealSecrets,
  type SecretOwner,
  type Secrets,
} from "./webhook-secrets.ts"
import { findWebhookTool, listWebhookTools, type StoredWebhookTool, writeWebhookTool } from "./webhook-table.ts"

export async function listWebhookViews(host: TenantHost): Promise<WebhookToolView[]> {
  return await Promise.all(
    listWebhookTools(host.sql).map(async (tool) =>
      toView(tool, await openSecrets(host, ownerOf(tool.name), tool.secret), Date.now()),
    ),
  )
}

/** Adds or changes a tool. A changed tool keeps its secret. */
export async function putWebhookTool(
  host: TenantHost,
  actor: Actor,
  name: string,
  config: WebhookToolConfig,
): Promise<Result<WebhookToolView | NewWebhookSecret>> {
  if (host.isErased()) return fail({ reason: "tenant_erased" })
  if (BUILT_IN_TOOL_NAMES.includes(name)) return fail({ reason: "field_invalid", field: "name" })
  const known = host.tables.exist() ? findWebhookTool(host.sql, name) : null
  const sealed = known?.secret ?? null
  const secrets = (await openSecrets(host, ownerOf(name), sealed)) ?? rotateSecrets(null, Date.now())
  const isNew = known === null || sealed === null
  const secret = isNew ? await sealSecrets(host, ownerOf(name), secrets) : sealed
  return host.change(() => {
    const before = findWebhookTool(host.sql, name)
    // Another request may have added, removed or rotated the secret in the meantime.
    const isCurrent = (before?.secret ?? null) === sealed
    if (before === null && listWebhookTools(host.sql).length >= MAX_WEBHOOK_TOOLS)
      return fail({ reason: "webhook_tools_full", max: MAX_WEBHOOK_TOOLS })
    const tool = { name, config, secret: isCurrent ? secret : (before?.secret ?? secret) }
    writeWebhookTool(host.sql, tool)
    const { url, effects, approval } = config
    const details = { url: new URL(url).origin, effects, approval, is_new: before === null }
    host.audit.append(actor, { action: "tool.changed", target: name, details }, Date.now())
    const view = toView(tool, secrets, Date.now())
    return succeed(isNew && isCurrent ? { ...view, secret: secrets.current } : view)
  })
}

export function removeWebhookTool(host: TenantHost, actor: Actor, name: string): Result<null> {
  return host.change(() => {
    const removed = host.sql.exec("DELETE FROM webhook_tools WHERE name = ? RETURNING name", name).toArray()
    if (removed.length === 0) return fail({ reason: "webhook_tool_unknown" })
    host.audit.append(actor, { action: "tool.removed", target: name }, Date.now())
    return succeed(null)
  })
}

export async function rotateWebhookSecret(
  host: TenantHost,
  actor: Actor,
  name: string,
): Promise<Result<NewWebhookSecret>> {
  const known = findWebhookTool(host.sql, name)
  if (known === null) return fail({ reason: "webhook_tool_unknown" })
  const secrets = rotateSecrets(await openSecrets(host, ownerOf(name), known.secret), Date.now())
  const secret = await sealSecrets(host, ownerOf(name), secrets)
  return host.change(() => {
    const tool = findWebhookTool(host.sql, name)
    if (tool === null) return fail({ reason: "webhook_tool_unknown" })
    const rotated = { ...tool, secret }
    writeWebhookTool(host.sql, rotated)
    host.audit.append(actor, { action: "tool.secret_rotated", target: name }, Date.now())
    return succeed({ ...toView(rotated, secrets, Date.now()), secret: secrets.current })
  })
}

/**
 * Opens a tool for a call. Checks the stored approval rule, because the session may have read an older one. Returns
 * null if the tool can't be called.
 */
export async function openWebhook(host: TenantHost, name: string, wasAsked: boolean): Promise<WebhookEndpoint | null> {
  const tool = findWebhookTool(host.sql, name)
  if (tool === null || (tool.config.approval === "always" && !wasAsked)) return null
  const secrets = await openSecrets(host, ownerOf(name), tool.secret)
  return secrets === null ? null : { url: tool.config.url, secrets: listSecrets(secrets, Date.now()) }
}

function ownerOf(name: string): SecretOwner {
  return { purpose: "webhook secret", name }
}

function toView({ name, config }: StoredWebhookTool, secrets: Secrets | null, now: number): WebhookToolView {
  return {
    name,
    ...config,
    has_secret: secrets !== null,
    old_secret_until: oldSecretUntil(secrets, now),
  }
}
