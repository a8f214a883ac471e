/** anthropic.ts: a model behind Anthropic's Messages API (SPEC MO14). */

import { createAnthropic } from "@ai-sdk/anthropic"
import type { Model } from "../model-adapter.ts"
import { createStreamedModel } from "../model-stream.ts"
import { fetchBounded } from "./bounded-fetch.ts"
import type { ProviderConfig } from "./provider-config.ts"

export function createAnthropicModel(config: ProviderConfig): Model {
  const endpoint = createAnthropic({
    baseURL: config.baseUrl,
    apiKey: config.apiKey ?? "",
    ...(config.headers === undefined ? {} : { headers: config.headers }),
    fetch: fetchBounded,
  })
  return createStreamedModel(endpoint.messages(config.modelName), config)
}
