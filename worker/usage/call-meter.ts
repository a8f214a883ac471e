/** call-meter.ts: measures one model call from its events. */

import { type CallUsage, cleanModelName, NO_TOKENS, type TokenCounts } from "../../shared/usage/call-usage.ts"

/** Events of a model that only metering reads. */
export type MeterEvent =
  /**
   * The first chunk of the response has arrived. Sent if no content follows immediately, for example before a tool
   * call.
   */
  | { readonly type: "started" }
  /** An attempt has failed and will be retried. */
  | { readonly type: "retry" }
  /** The call failed, and another model of the agent is called instead. */
  | { readonly type: "model"; readonly name: string; readonly provider: string }
  /** The tokens so far. A later event replaces an earlier one. */
  | { readonly type: "usage"; readonly tokens: TokenCounts }

/** Estimates tokens. Used only for a call whose provider has not reported them. */
export interface TokenEstimate {
  /** Tokens of the input that was sent to the model. */
  readonly countInput: () => number
  readonly countText: (text: string) => number
}

/** Any event of a model. An event that is not a `MeterEvent` is content, a finish or a fault. */
type ObservedEvent =
  | MeterEvent
  | { readonly type: Exclude<string, MeterEvent["type"]>; readonly delta?: string; readonly args?: string }

/** Events that carry no content of the response. */
const NO_CONTENT: ReadonlySet<string> = new Set(["retry", "model", "state", "usage", "finish", "fault"])

export class CallMeter {
  #model: Pick<CallUsage, "provider" | "model">
  readonly #now: () => number
  readonly #startedAt: number
  readonly #estimate: TokenEstimate
  #text = ""
  #firstChunkMs: number | null = null
  #retries = 0
  #tokens: TokenCounts | null = null

  constructor(
    { provider, name }: { readonly provider: string; readonly name: string },
    estimate: TokenEstimate,
    now: () => number,
  ) {
    this.#estimate = estimate
    this.#model = toModelNames(provider, name)
    this.#now = now
    this.#startedAt = now()
  }

  observe(event: ObservedEvent): void {
    if (event.type === "retry") this.#retries += 1
    if (event.type === "model" && "provider" in event) this.#model = toModelNames(event.provider, event.name)
    if (event.type === "usage" && "tokens" in event) this.#tokens = event.tokens
    if ("delta" in event) this.#text += event.delta ?? ""
    if ("args" in event) this.#text += event.args ?? ""
    if (this.#firstChunkMs === null && !NO_CONTENT.has(event.type)) {
      // The clock may have been set back.
      this.#firstChunkMs = Math.max(0, Math.round(this.#now() - this.#startedAt))
    }
  }

  read(): CallUsage {
    const call = { ...this.#model, firstChunkMs: this.#firstChunkMs, retries: this.#retries }
    if (this.#tokens !== null) return { ...call, ...this.#tokens, isReported: true }
    const unreported = { ...call, ...NO_TOKENS, isReported: false }
    if (this.#firstChunkMs === null) return unreported
    const { countInput, countText } = this.#estimate
    return { ...unreported, estimated: { input: countInput(), output: countText(this.#text) } }
  }
}

function toModelNames(provider: string, name: string): Pick<CallUsage, "provider" | "model"> {
  return { provider: cleanModelName(provider), model: cleanModelName(name) }
}
