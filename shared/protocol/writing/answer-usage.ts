/** answer-usage.ts: the HTTP bodies about a session's agent, an answer's model calls, and the tools that are always allowed. */

import type { Effort } from "../../model-effort.ts"

/** The response of `GET /v1/sessions/:id/messages/:message/usage`. Counts that no provider reported are estimates. */
export interface AnswerUsage {
  readonly calls: number
  readonly input_tokens: number
  /** Part of `input_tokens`. */
  readonly cached_tokens: number
  readonly output_tokens: number
  /** Part of `output_tokens`. */
  readonly reasoning_tokens: number
  /** The models that answered, each once. */
  readonly models: readonly string[]
  /** Whether some of the counts are estimates. */
  readonly estimated: boolean
  /** In nano-dollars (1e-9 USD). Null if unknown or if the tenant doesn't show it. */
  readonly cost_nano_usd: number | null
}

/** The response of `GET /v1/sessions/:id/agent`. `effort`: the agent's own; null if messages can't choose one. */
export interface SessionAgent {
  readonly name: string
  readonly effort: Effort | null
}

/** A tool whose calls run in a session without asking. `since`: in milliseconds since 1970. */
export interface AllowedTool {
  readonly tool: string
  readonly since: number
}

/** The response of `GET /v1/sessions/:id/allowed-tools`. */
export interface AllowedTools {
  readonly tools: readonly AllowedTool[]
}
