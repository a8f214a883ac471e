/** provider-name.ts: names the provider that runs the model at an endpoint. Pure. */

/**
 * Provider names by host suffix, taken from OpenTelemetry's `gen_ai.provider.name` where possible. Prices are listed
 * under these names.
 */
const PROVIDERS: readonly (readonly [string, string])[] = [
  ["openai.com", "openai"],
  ["anthropic.com", "anthropic"],
  ["generativelanguage.googleapis.com", "google"],
  ["mistral.ai", "mistral"],
  ["x.ai", "xai"],
  ["deepseek.com", "deepseek"],
  ["groq.com", "groq"],
  ["openrouter.ai", "openrouter"],
  ["openai.azure.com", "azure"],
]

/** Returns the provider of a host; the host itself if the provider is unknown. */
export function findProviderName(host: string): string {
  const known = PROVIDERS.find(([end]) => host === end || host.endsWith(`.${end}`))
  return known?.[1] ?? host
}
