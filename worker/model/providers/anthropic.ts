/**
 * anthropic.ts: a model behind Anthropic's Messages API (SPEC MO14).
 *
 * Anthropic caches what precedes a breakpoint. There are up to four breakpoints: after the tools, after the system
 * prompt, after the newest question and at the end. So each call reads what the previous call has written to the cache
 * (SPEC MO17).
 */

import { createAnthropic } from "@ai-sdk/anthropic"
import type { LanguageModelV4FunctionTool, LanguageModelV4Prompt } from "@ai-sdk/provider"
import type { Model } from "../model-adapter.ts"
import { createStreamedModel } from "../model-stream.ts"
import { fetchBounded } from "./bounded-fetch.ts"
import type { ProviderConfig } from "./provider-config.ts"

const BREAKPOINT = { anthropic: { cacheControl: { type: "ephemeral" } } } as const

export function createAnthropicModel(config: ProviderConfig): Model {
  const endpoint = createAnthropic({
    baseURL: config.baseUrl,
    apiKey: config.apiKey ?? "",
    ...(config.headers === undefined ? {} : { headers: config.headers }),
    fetch: fetchBounded,
  })
  return createStreamedModel(endpoint.messages(config.modelName), config, { markPrompt, markTools })
}

function markTools(tools: readonly LanguageModelV4FunctionTool[]): LanguageModelV4FunctionTool[] {
  return tools.map((tool, at) => (at === tools.length - 1 ? { ...tool, providerOptions: BREAKPOINT } : tool))
}

function markPrompt(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  const question = prompt.findLastIndex(({ role }) => role === "user")
  const marked = new Set([0, question, prompt.length - 1])
  // The package treats a breakpoint on a message as one after its last part.
  return prompt.map((message, at) => (marked.has(at) ? { ...message, providerOptions: BREAKPOINT } : message))
}
