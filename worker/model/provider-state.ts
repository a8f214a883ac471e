/**
 * provider-state.ts: collects a provider's state from the stream of a step, and adds it to the next prompt.
 *
 * Anthropic signs its thinking, OpenAI encrypts it, and Google signs calls. These providers refuse the results of calls
 * unless they receive the signed or encrypted values again. The state is our own JSON around the provider's values,
 * which are sent back byte for byte. Source: SPEC MO16.
 */

import type { LanguageModelV4Prompt, LanguageModelV4StreamPart, SharedV4ProviderOptions } from "@ai-sdk/provider"
import { parseJson } from "../../shared/json.ts"

type AssistantContent = Extract<LanguageModelV4Prompt[number], { role: "assistant" }>["content"][number]

interface Reasoning {
  text: string
  options: SharedV4ProviderOptions
}

interface CollectedState {
  readonly reasoning: readonly Reasoning[]
  /** The states of the step's calls, in the order of the calls. */
  readonly calls: readonly (SharedV4ProviderOptions | null)[]
}

export class StateCollector {
  readonly #reasoning = new Map<string, Reasoning>()
  readonly #calls: (SharedV4ProviderOptions | null)[] = []

  observe(part: LanguageModelV4StreamPart): void {
    if (part.type === "reasoning-start" || part.type === "reasoning-delta" || part.type === "reasoning-end") {
      const known = this.#reasoning.get(part.id) ?? { text: "", options: {} }
      if (part.type === "reasoning-delta") known.text += part.delta
      known.options = mergeOptions(known.options, part.providerMetadata)
      this.#reasoning.set(part.id, known)
    }
    if (part.type === "tool-call") this.#calls.push(part.providerMetadata ?? null)
  }

  /** Returns the state as JSON; null if there is none. */
  read(): string | null {
    const reasoning = [...this.#reasoning.values()].filter(({ options }) => Object.keys(options).length > 0)
    const needsCalls = this.#calls.some((options) => options !== null)
    // Without calls there is no further step in this turn.
    if (this.#calls.length === 0 || (reasoning.length === 0 && !needsCalls)) return null
    return JSON.stringify({ reasoning, calls: this.#calls } satisfies CollectedState)
  }
}

function mergeOptions(
  options: SharedV4ProviderOptions,
  added: SharedV4ProviderOptions | undefined,
): SharedV4ProviderOptions {
  const merged = { ...options }
  for (const [provider, values] of Object.entries(added ?? {})) merged[provider] = { ...merged[provider], ...values }
  return merged
}

/** Adds the state of a step to its content: the thinking at the start, and the state of a call at the call. */
export function addState(content: readonly AssistantContent[], data: string): AssistantContent[] {
  // `StateCollector` wrote this JSON.
  const { reasoning, calls } = parseJson(data) as unknown as CollectedState
  let call = 0
  const withOptions = content.map((part) => {
    const providerOptions = part.type === "tool-call" ? (calls[call++] ?? null) : null
    return providerOptions === null ? part : { ...part, providerOptions }
  })
  return [
    ...reasoning.map(({ text, options }) => ({ type: "reasoning" as const, text, providerOptions: options })),
    ...withOptions,
  ]
}
