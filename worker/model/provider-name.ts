/** provider-name.ts: who runs the model at an endpoint. Pure. */

/** Names of OpenTelemetry's `gen_ai.provider.name` where there is one, by the end of the host. Prices are listed by them. */
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

/** The provider of a host; the host itself if it is none of the known ones. */
export function findProviderName(host: string): string {
  const known = PROVIDERS.find(([end]) => host === end || host.endsWith(`.${end}`))
  return known?.[1] ?? host
}
