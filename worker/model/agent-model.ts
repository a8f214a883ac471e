/**
 * agent-model.ts: creates an agent's model, which is one of the tenant's own or one of the deployment's, with its
 * fallbacks.
 *
 * Source: SPEC TM4 to TM7.
 */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import type { Env } from "../env.ts"
import { describeError, type Log } from "../platform/log.ts"
import { tenantStub } from "../platform/rpc/object-stubs.ts"
import { readTimeLimits } from "../platform/time-limits.ts"
import { readCachedConfig } from "../settings/config-cache.ts"
import type { Agent } from "../settings/agent-config.ts"
import type { TenantModel } from "../settings/model-config.ts"
import { type Model, type ModelEvent, type ModelRequest, readStatus } from "./model-adapter.ts"
import { withFallbacks } from "./model-fallback.ts"
import { createLazyModel, createModel } from "./model-registry.ts"
import { withRetries } from "./model-retry.ts"
import { loadProviderModel } from "./provider-loader.ts"
import { findProviderName } from "./provider-name.ts"

/** The HTTP statuses that a provider returns if it refuses a key. */
const REFUSED: ReadonlySet<number | null> = new Set([401, 403])

export interface AgentModel {
  /** A fault, for the log, if none of the agent's models is usable. */
  readonly model: Result<Model, string>
  /** Token limit of one call: the lowest limit that is configured for the agent's models; null if there is none. */
  readonly context: number | null
}

/** Creates an agent's model. `own`: those of the agent's models that the tenant has configured. */
export function createAgentModel(
  env: Env,
  log: Log,
  tenant: string,
  agent: Pick<Agent, "name" | "model" | "fallbacks" | "effort">,
  own: readonly TenantModel[],
): AgentModel {
  const names = [agent.model, ...(agent.fallbacks ?? [])]
  const results = names.map((name) => {
    const ownModel = own.find((model) => model.name === name)
    return ownModel === undefined
      ? createModel(env, log, name)
      : succeed(createTenantModel(env, log, { tenant, agent: agent.name }, ownModel))
  })
  const usable = results.flatMap((result) => (result.ok ? [result.value] : []))
  const [first] = results
  const contexts = own.flatMap(({ name, context }) => (names.includes(name) && context !== undefined ? [context] : []))
  const context = contexts.length === 0 ? null : Math.min(...contexts)
  if (usable.length === 0) return { model: first ?? fail("The agent has no model."), context }
  const model = withFallbacks(usable, log)
  const { effort } = agent
  return { model: succeed(effort === undefined ? withoutEffort(model) : withEffort(model, effort)), context }
}

/** Returns a model that ignores the effort of messages. Used if the agent's configuration has no effort (SPEC TM9). */
function withoutEffort(model: Model): Model {
  return { ...model, stream: ({ effort: _, ...request }) => model.stream(request) }
}

function withEffort(model: Model, effort: Agent["effort"]): Model {
  return effort === undefined ? model : { ...model, stream: (request) => model.stream({ effort, ...request }) }
}

/** The tenant, user and agent on whose behalf a model is called. */
interface Caller {
  readonly tenant: string
  readonly agent: string
}

/** Creates one of the tenant's own models. Its key is read on the first call, and again after CONFIG_TRUST_MS. */
function createTenantModel(env: Env, log: Log, caller: Caller, config: TenantModel): Model {
  const { tenant } = caller
  const { name, provider: api, base_url: baseUrl, model: modelName, takes, effort } = config
  const { retryMs, maxRetryAfterMs, firstByteMs, idleMs } = readTimeLimits(env)
  const fileKinds = new Set([...takes, "text"] as const)
  const keepsState = api !== "openai-compatible"
  const provider = findProviderName(new URL(baseUrl).hostname)
  const loadModel = async (): Promise<Model> => {
    const readKey = (): Promise<string | null> => tenantStub(env, tenant).getModelKey(name)
    const apiKey = (await readCachedConfig(tenant, `model key ${name}`, readKey)) ?? undefined
    const headers = createGatewayHeaders(baseUrl, caller)
    return await loadProviderModel(api, { baseUrl, modelName, apiKey, fileKinds, firstByteMs, idleMs, headers })
  }
  const lazy = withEffort(createLazyModel({ name: modelName, provider, fileKinds, keepsState }, loadModel), effort)
  const report = (status: number): void => {
    const reported = tenantStub(env, tenant).noteKeyRefusal(name, status)
    void Promise.resolve(reported).catch((error: unknown) =>
      log("refusal_not_reported", { error: describeError(error) }),
    )
  }
  return withRetries(watchKey(lazy, report), { retryMs, maxRetryAfterMs, random: Math.random, log })
}

/** Creates the header whose values Cloudflare's AI Gateway uses to count and limit spending. Source: SPEC TM10. */
export function createGatewayHeaders(baseUrl: string, { tenant, agent }: Caller): Readonly<Record<string, string>> {
  const isGateway = new URL(baseUrl).hostname === "gateway.ai.cloudflare.com"
  return isGateway ? { "cf-aig-metadata": JSON.stringify({ tenant, agent }) } : {}
}

/** Returns a model that reports each call whose key the provider refused. */
function watchKey(model: Model, report: (status: number) => void): Model {
  return {
    ...model,
    async *stream(request: ModelRequest): AsyncGenerator<ModelEvent> {
      for await (const event of model.stream(request)) {
        const status = event.type === "fault" ? readStatus(event.detail) : null
        if (status !== null && REFUSED.has(status)) report(status)
        yield event
      }
    },
  }
}
