/** provider-config.ts: the settings that each provider needs to call a model. */

import type { FileKinds } from "../model-files.ts"
import type { SilenceLimits } from "../silence-watch.ts"

export interface ProviderConfig extends Partial<SilenceLimits> {
  /** The URL to which the API's path (such as `/chat/completions`) is appended. */
  readonly baseUrl: string
  readonly modelName: string
  readonly apiKey?: string | undefined
  readonly fileKinds: FileKinds
  /** Headers of each request, besides those of the API. */
  readonly headers?: Readonly<Record<string, string>>
  /** Sends the requests of an OpenAI-compatible model. Default: over HTTP. */
  readonly fetch?: typeof fetch
}
