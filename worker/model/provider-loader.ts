/** provider-loader.ts: loads a provider's code when one of its models is first called. Source: SPEC MO14. */

import type { ModelProvider } from "../settings/model-config.ts"
import type { Model } from "./model-adapter.ts"
import type { ProviderConfig } from "./providers/provider-config.ts"

export async function loadProviderModel(provider: ModelProvider, config: ProviderConfig): Promise<Model> {
  switch (provider) {
    case "openai-compatible":
      return (await import("./providers/openai-compatible.ts")).createOpenAiModel(config)
    case "openai":
      return (await import("./providers/openai-responses.ts")).createResponsesModel(config)
    case "anthropic":
      return (await import("./providers/anthropic.ts")).createAnthropicModel(config)
    case "google":
      return (await import("./providers/google.ts")).createGoogleModel(config)
  }
}
