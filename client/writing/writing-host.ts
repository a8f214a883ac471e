/** writing-host.ts: what the composer's tools need from the page. */

import type { ReadonlySignal, Signal } from "@preact/signals"
import type { Api } from "../net/api.ts"
import type { Draft } from "../session/draft.ts"

/** Implemented by the session router. */
export interface WritingHost {
  readonly api: Api
  /** The open session; null if the next message starts a new conversation. */
  readonly controller: ReadonlySignal<{ readonly id: string } | null>
  /** The name of the agent with which the next conversation starts; null: the general agent. */
  readonly nextAgent: Signal<string | null>
  readonly draft: Draft
}
