/** answer-usage.ts: the HTTP bodies for a session's agent, an answer's model calls, and always-allowed tools. */

import type { Effort } from "../../model-effort.ts"

/** The response to `GET /v1/sessions/:id/messages/:message/usage`. Counts that no provider reported are estimates. */
export interface AnswerUsage {
  readonly calls: number
  readonly input_tokens: number
  /** Included in `input_tokens`. */
  readonly cached_tokens: number
  readonly output_tokens: number
  /** Included in `output_tokens`. */
  readonly reasoning_tokens: number
  /** The models that answered, without duplicates. */
  readonly models: readonly string[]
  /** Whether some of the counts are estimates. */
  readonly estimated: boolean
  /** In nano-dollars (1e-9 USD). Null if the cost is unknown or the tenant doesn't show it. */
  readonly cost_nano_usd: number | null
}

/**
 * The response to `GET /v1/sessions/:id/agent`. `effort`: the agent's own setting; null if users can't choose an effort
 * for a message.
 */
export interface SessionAgent {
  readonly name: string
  readonly effort: Effort | null
}

/** A tool whose calls run in a session without approval. `since`: in milliseconds since 1970. */
export interface AllowedTool {
  readonly tool: string
  readonly since: number
}

/** The response to `GET /v1/sessions/:id/allowed-tools`. */
export interface AllowedTools {
  readonly tools: readonly AllowedTool[]
}
