/** google.ts: a model behind Google's Gemini API (SPEC MO14). */

import { createGoogleGenerativeAI } from "@ai-sdk/google"
import type { Model } from "../model-adapter.ts"
import { createStreamedModel } from "../model-stream.ts"
import { fetchBounded } from "./bounded-fetch.ts"
import type { ProviderConfig } from "./provider-config.ts"

export function createGoogleModel(config: ProviderConfig): Model {
  const endpoint = createGoogleGenerativeAI({
    baseURL: config.baseUrl,
    apiKey: config.apiKey ?? "",
    ...(config.headers === undefined ? {} : { headers: config.headers }),
    fetch: fetchBounded,
  })
  // Without this, the response doesn't contain the model's thinking.
  const providerOptions = { google: { thinkingConfig: { includeThoughts: true } } }
  return createStreamedModel(endpoint.chat(config.modelName), config, { providerOptions })
}
