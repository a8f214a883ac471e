/**
 * webhook-tool.ts: the configuration of a tenant's webhook tools, and the tenant object's methods for them.
 * Pure. Source: SPEC TW1-TW7, TW9.
 */

import * as v from "valibot"
import type { Result } from "../../../shared/fault.ts"
import { MAX_URL_CHARS } from "../../../shared/limits.ts"
import type { Actor } from "../../platform/rpc/actor.ts"
import type { AgentWebhookRpc } from "./agent-webhook.ts"

/** Maximum number of webhook tools per tenant. */
export const MAX_WEBHOOK_TOOLS = 64
const MAX_DESCRIPTION_CHARS = 4_096
/** Maximum length of the arguments' JSON Schema as JSON text, in characters. */
export const MAX_ARGS_SCHEMA_CHARS = 16 * 1024

/** A tool's name. It is also part of card tags, which consist of lower-case letters, digits and underscores. */
export const webhookNameSchema = v.pipe(v.string(), v.regex(/^[a-z][a-z0-9_]{0,47}$/))

/** The body of `PUT /v1/tools/:name`. Strict: a misspelt `approval` must not silently mean the default. */
export const webhookToolSchema = v.strictObject({
  /** The model uses it to decide when to call the tool. */
  description: v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(MAX_DESCRIPTION_CHARS)),
  url: v.pipe(v.string(), v.maxLength(MAX_URL_CHARS)),
  /** A JSON Schema of the arguments. `checkSchema` determines which keywords are allowed. */
  schema: v.record(v.string(), v.unknown()),
  /** `write`: the call changes something at the tenant's service. */
  effects: v.picklist(["read", "write"]),
  /** Whether a user must allow each call. Absent: yes with `write`, no with `read`. */
  approval: v.optional(v.picklist(["always", "never"])),
})

export type WebhookToolInput = v.InferOutput<typeof webhookToolSchema>

export interface WebhookToolConfig {
  readonly description: string
  readonly url: string
  /** JSON text. */
  readonly schema: string
  readonly effects: "read" | "write"
  readonly approval: "always" | "never"
}

/** A tool as administrators see it. */
export interface WebhookToolView extends WebhookToolConfig {
  readonly name: string
  /** False after an import from another deployment, which can't contain secrets. */
  readonly has_secret: boolean
  /** When the previous secret stops being valid, in milliseconds since 1970; null if there is none. */
  readonly old_secret_until: number | null
}

/** A tool with its secret, which is shown once. */
export interface NewWebhookSecret extends WebhookToolView {
  readonly secret: string
}

/** A webhook tool in the configuration of an agent. */
export interface WebhookTool {
  readonly name: string
  readonly description: string
  /** JSON text. */
  readonly schema: string
  /** Whether a user must allow each call. */
  readonly asks: boolean
}

/** A tool in a tenant's archive, without its secret. */
export interface ArchivedWebhookTool {
  readonly name: string
  readonly config: WebhookToolConfig
}

/** What a call needs. */
export interface WebhookEndpoint {
  readonly url: string
  /** The current secret, then the previous one while it is valid. */
  readonly secrets: readonly string[]
}

export interface WebhookRpc extends AgentWebhookRpc {
  listWebhookTools(): Promise<WebhookToolView[]>
  /**
   * Adds or replaces a tool. A new one gets a secret. Errors: `tool_refused`, `webhook_tools_full`, `tenant_erased`;
   * `field_invalid` for the name of a built-in tool.
   */
  putWebhookTool(
    actor: Actor,
    name: string,
    config: WebhookToolConfig,
  ): Promise<Result<WebhookToolView | NewWebhookSecret>>
  /** Removes a tool. Errors: `webhook_tool_unknown`. */
  removeWebhookTool(actor: Actor, name: string): Promise<Result<null>>
  /** Creates a new secret. The previous one remains valid for another day. Errors: `webhook_tool_unknown`. */
  rotateWebhookSecret(actor: Actor, name: string): Promise<Result<NewWebhookSecret>>
  /**
   * Returns the URL and the secrets for a call; null if there is no such tool, if it has no secret, or if a user would
   * have to allow the call and was not asked.
   */
  openWebhook(name: string, wasAsked: boolean): Promise<WebhookEndpoint | null>
}
