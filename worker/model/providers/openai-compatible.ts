/**
 * openai-compatible.ts: a model behind an endpoint that is compatible with OpenAI's chat completions (SPEC MO5–MO9).
 */

import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import type { Model } from "../model-adapter.ts"
import { createStreamedModel } from "../model-stream.ts"
import { fetchBounded } from "./bounded-fetch.ts"
import { createUsageReader } from "./openai-usage.ts"
import type { ProviderConfig } from "./provider-config.ts"

export function createOpenAiModel(config: ProviderConfig): Model {
  const endpoint = createOpenAICompatible({
    name: "model",
    baseURL: config.baseUrl,
    includeUsage: true,
    supportsStructuredOutputs: true,
    ...(config.apiKey === undefined ? {} : { apiKey: config.apiKey }),
    ...(config.headers === undefined ? {} : { headers: config.headers }),
    fetch: config.fetch ?? fetchBounded,
  })
  // The package keeps only some counts, and reports none for a response that is cut off.
  return createStreamedModel(endpoint.chatModel(config.modelName), config, { createUsageReader })
}
