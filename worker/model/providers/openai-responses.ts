/** openai-responses.ts: a model behind OpenAI's Responses API (SPEC MO14). */

import { createOpenAI } from "@ai-sdk/openai"
import type { Model } from "../model-adapter.ts"
import { createStreamedModel } from "../model-stream.ts"
import { fetchBounded } from "./bounded-fetch.ts"
import type { ProviderConfig } from "./provider-config.ts"

export function createResponsesModel(config: ProviderConfig): Model {
  const endpoint = createOpenAI({
    baseURL: config.baseUrl,
    apiKey: config.apiKey ?? "",
    ...(config.headers === undefined ? {} : { headers: config.headers }),
    fetch: fetchBounded,
  })
  // Cuecard stores the history, so the provider need not.
  const providerOptions = { openai: { store: false } }
  return createStreamedModel(endpoint.responses(config.modelName), config, { providerOptions })
}
