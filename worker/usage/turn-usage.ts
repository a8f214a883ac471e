/** turn-usage.ts: the model calls of one turn, including those that an earlier process made. */

import type { PricedCall } from "../../shared/usage/call-usage.ts"
import { CallMeter, type TokenEstimate } from "./call-meter.ts"
import type { PriceEntry } from "../../shared/usage/price-entry.ts"
import type { UsageRecorder } from "./usage-recorder.ts"

/** The properties of `Model` that metering needs. */
interface MeteredModel {
  readonly provider: string
  readonly name: string
  readonly listBuiltInPrices?: () => readonly PriceEntry[]
}

export class TurnUsage {
  readonly #recorder: UsageRecorder
  readonly #now: () => number
  #calls: readonly PricedCall[]
  #meter: CallMeter | null = null
  #listBuiltInPrices: () => readonly PriceEntry[] = () => []

  /** `stored`: the calls that the turn's rows already contain. */
  constructor(recorder: UsageRecorder, now: () => number, stored: readonly PricedCall[] = []) {
    this.#recorder = recorder
    this.#now = now
    this.#calls = stored
  }

  /** Returns all calls that have ended, oldest first. Each change creates a new array. */
  calls(): readonly PricedCall[] {
    return this.#calls
  }

  beginCall(model: MeteredModel, estimate: TokenEstimate): void {
    this.endCall()
    this.#listBuiltInPrices = model.listBuiltInPrices ?? (() => [])
    this.#meter = new CallMeter(model, estimate, this.#now)
  }

  observe(event: Parameters<CallMeter["observe"]>[0]): void {
    this.#meter?.observe(event)
  }

  /**
   * Records the call in progress, with the tokens that the provider has reported so far. Does nothing if no call is in
   * progress.
   */
  endCall(): void {
    if (this.#meter === null) return
    this.#calls = [...this.#calls, this.#recorder.recordCall(this.#meter.read(), this.#listBuiltInPrices())]
    this.#meter = null
  }
}
